import LiteVault

/// One note, a row of the table `note`.
struct Note: Codable {
    let id: Int64
    let title: String
    let body: String
}

/// Notes in an encrypted database. Nothing of them is ever on the disk in plaintext: not in the file, not in its
/// write-ahead log, not in temporary files.
struct NoteStore {
    private let pool: DatabasePool

    private static let notes = Table("note")
    private static let id = SQLExpression<Int64>("id")
    private static let title = SQLExpression<String>("title")
    private static let body = SQLExpression<String>("body")

    /// What was done to the schema, in order. A new version of this app registers further migrations at the end.
    private static var migrator: Migrator {
        var migrator = Migrator()
        migrator.registerMigration("notes") { db in
            try db.create(table: "note") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("title", .text).notNull()
                t.column("body", .text).notNull()
            }
        }
        return migrator
    }

    /// Opens the store, creates it if it is missing, and brings its schema up to date.
    ///
    /// - Throws: `VaultError` with the code `keyRejected` for a wrong key; the file is unchanged then.
    init(path: String, key: DatabaseKey) throws {
        pool = try DatabasePool(path, key: key)
        try Self.migrator.migrate(pool)
    }

    /// Writes a note and returns its number.
    func add(title: String, body: String) throws -> Int64 {
        try pool.write { db in try db.run(Self.notes.insert(Self.title <- title, Self.body <- body)).insertedRowID }
    }

    /// Returns all notes, the newest first, or those that contain a text.
    func notes(containing text: String?) throws -> [Note] {
        var query = Self.notes.order(Self.id.desc)
        if let text {
            let place: SQLExpression<Int> = function("instr", Self.title + "\n" + Self.body, text)
            query = query.filter(place > 0)
        }
        return try pool.read { db in try db.all(query, as: Note.self) }
    }

    /// Removes a note. Returns whether it existed.
    func remove(_ id: Int64) throws -> Bool {
        try pool.write { db in try db.run(Self.notes.filter(Self.id == id).delete()).changes } > 0
    }

    /// Copies the notes into a new file under the same key, also while another process writes.
    func backUp(to path: String) throws {
        try pool.backup(to: path)
    }
}
