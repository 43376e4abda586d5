import Foundation
import LiteVault

/// A directory of one test, removed with it.
final class Workspace {
    let directory: URL
    /// The tool, run in this directory.
    var tool: Tool { Tool(directory: directory) }

    init() throws {
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("litevault-tool-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// The path of a file here.
    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    /// Writes a file that only its owner can read.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try write(Data(text.utf8), to: name)
    }

    @discardableResult
    func write(_ data: Data, to name: String) throws -> String {
        try data.write(to: directory.appendingPathComponent(name))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(name))
        return path(name)
    }

    /// The bytes of a file.
    func bytes(_ name: String) throws -> Data { try Data(contentsOf: directory.appendingPathComponent(name)) }

    /// The names of everything here.
    func names() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: directory.path)) }

    /// Makes a plaintext database.
    func makeDatabase(_ name: String, rows: Int = 100) throws {
        let database = try Connection(path(name))
        try database.execute(
            """
            PRAGMA user_version = 7;
            PRAGMA application_id = 1196444487;
            CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body BLOB);
            CREATE INDEX note_title ON note (title);
            CREATE VIEW titles AS SELECT title FROM note;
            """)
        try database.transaction {
            for row in 1...rows {
                try database.run(
                    "INSERT INTO note (title, body) VALUES (?, zeroblob(200))", with: "a title nobody should see \(row)")
            }
        }
        try database.close()
    }
}
