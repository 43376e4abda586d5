import Foundation

/// A directory of its own, removed with the object.
final class Scratch: Sendable {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("litevault-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    /// Copies a fixture, with its `-wal` or `-journal` if it has one, and returns the copy's path.
    func copy(_ fixture: String, as name: String = "copy.db") throws -> String {
        for suffix in ["", "-wal", "-journal"] {
            let source = Fixture.path(fixture + suffix)
            guard FileManager.default.fileExists(atPath: source) else { continue }
            try FileManager.default.copyItem(atPath: source, toPath: path(name + suffix))
        }
        return path(name)
    }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: directory.appendingPathComponent(name))) }

    func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
        try Data(bytes).write(to: directory.appendingPathComponent(name))
        return path(name)
    }

    /// The names of everything in the directory, sorted.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
}
