import Foundation

/// A directory that is removed after the test.
final class Scratch: Sendable {
    let folder: String

    init() {
        folder = FileManager.default.temporaryDirectory.path + "/litevault-" + UUID().uuidString
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            preconditionFailure("no directory for a test: \(error)")
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func path(_ name: String) -> String { folder + "/" + name }
}
