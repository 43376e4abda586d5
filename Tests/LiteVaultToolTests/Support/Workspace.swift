import Foundation
import LiteVault
import LiteVaultTestSupport

/// A directory of one test, with the tool that runs in it.
final class Workspace {
    private let scratch = Scratch()
    let directory: URL
    var tool: Tool { Tool(directory: directory) }

    init() throws { directory = URL(fileURLWithPath: scratch.directory, isDirectory: true) }

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
