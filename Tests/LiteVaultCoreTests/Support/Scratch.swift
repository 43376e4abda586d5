import Foundation
import LiteVaultCore

/// A directory of its own, removed with the object.
final class Scratch: Sendable {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("litevault-core-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func path(_ name: String) -> String { directory.path + "/" + name }

    /// The names of everything in the directory, sorted.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }

    /// Makes a database with the rows 1, 2 and 3 in `t(x)`.
    @discardableResult
    func database(_ name: String = "test.db") throws -> String {
        let db = try Connection(path(name))
        try db.execute("CREATE TABLE t(x); INSERT INTO t VALUES (1), (2), (3)")
        try db.close()
        return path(name)
    }
}
