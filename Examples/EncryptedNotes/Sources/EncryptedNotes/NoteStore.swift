import Foundation
import LiteVault

/// Notes in an encrypted database. Nothing of them is ever on the disk in plaintext: not in the file, not in its
/// write-ahead log, not in temporary files.
struct NoteStore {
    private let database: DatabasePool

    /// Opens the store, and makes it when it is missing.
    ///
    /// - Throws: `VaultError`, `keyRejected` for a wrong key; the file is then as it was.
    init(path: String, key: DatabaseKey) throws {
        var configuration = DatabaseConfiguration()
        // Another process may be writing a note of its own: wait for it for up to two seconds.
        configuration.busyTimeout = 2
        database = try DatabasePool(path, key: key, configuration: configuration)
        try database.write(bringSchemaUpToDate)
    }

    /// Writes a note and returns its number.
    @discardableResult
    func add(title: String, body: String) throws -> Int64 {
        try database.write { db in
            try db.run("INSERT INTO note (title, body, written) VALUES (?, ?, ?)", with: title, body, Date()).insertedRowID
        }
    }

    /// All notes, the newest first; or those in which a text occurs.
    func notes(containing text: String = "") throws -> [Note] {
        let sql = """
            SELECT id, title, body, written FROM note
            WHERE ?1 = '' OR instr(title, ?1) OR instr(body, ?1) ORDER BY id DESC
            """
        return try database.read { db in
            try db.all(sql, with: text) { row in
                try Note(id: row.get(0), title: row.get(1), body: row.get(2), written: row.get(3))
            }
        }
    }

    /// Removes a note. Returns whether there was one of that number.
    func remove(_ id: Int64) throws -> Bool {
        try database.write { db in
            try db.run("DELETE FROM note WHERE id = ?", with: id).changes > 0
        }
    }

    /// `user_version` says which steps a file has been through; a new version of this app appends steps.
    private func bringSchemaUpToDate(_ db: Connection) throws {
        let steps = [
            "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, written TEXT NOT NULL)"
        ]
        let done = Int(try db.pragma(.userVersion))
        for step in steps.dropFirst(done) { try db.execute(step) }
        if done < steps.count { try db.setPragma(.userVersion, to: Int32(steps.count)) }
    }
}
