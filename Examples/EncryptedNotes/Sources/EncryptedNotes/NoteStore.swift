import Foundation
import LiteVault

/// Notes in an encrypted database. Nothing of them is ever on the disk in plaintext: not in the file, not in its
/// write-ahead log, not in temporary files.
struct NoteStore {
    private let database: Connection

    /// Opens the store, and makes it when it is missing.
    ///
    /// - Throws: `VaultError`, `keyRejected` for a wrong key; the file is then as it was.
    init(path: String, key: DatabaseKey) throws {
        database = try Connection(.uri(path), key: key, journalMode: .wal)
        // Another process may be writing a note of its own: wait for it for up to two seconds.
        database.busyTimeout = 2
        try bringSchemaUpToDate()
    }

    /// Writes a note and returns its number.
    @discardableResult
    func add(title: String, body: String) throws -> Int64 {
        try database.run("INSERT INTO note (title, body, written) VALUES (?, ?, ?)", with: title, body, Date())
        return database.lastInsertRowid
    }

    /// All notes, the newest first; or those in which a text occurs.
    func notes(containing text: String = "") throws -> [Note] {
        let sql = """
            SELECT id, title, body, written FROM note
            WHERE ?1 = '' OR instr(title, ?1) OR instr(body, ?1) ORDER BY id DESC
            """
        return try database.all(sql, with: text) { row in
            try Note(id: row.get(0), title: row.get(1), body: row.get(2), written: row.get(3))
        }
    }

    /// Removes a note. Returns whether there was one of that number.
    func remove(_ id: Int64) throws -> Bool {
        try database.run("DELETE FROM note WHERE id = ?", id)
        return database.changes > 0
    }

    /// `user_version` says which steps a file has been through; a new version of this app appends steps.
    private func bringSchemaUpToDate() throws {
        let steps = [
            "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, written TEXT NOT NULL)"
        ]
        try database.transaction(.immediate) {
            let done = Int(try database.readUserVersion())
            for step in steps.dropFirst(done) { try database.execute(step) }
            if done < steps.count { try database.setUserVersion(UserVersion(steps.count)) }
        }
    }
}
