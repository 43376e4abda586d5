package import LiteVaultCore
internal import LiteVaultEngine
internal import LiteVaultSystem

/// Copies all content of the main database of a connection into an attached, empty one, between any two formats: plain,
/// encrypted, of different page sizes.
///
/// A page copy cannot do that, and `sqlcipher_export` loses `user_version`, `application_id`, `auto_vacuum` and the rowids of
/// tables that have neither an INTEGER PRIMARY KEY nor an index (and with them external-content full-text indexes).
///
/// Tables and their indexes are created empty, by the schema's own text; then the engine copies their records as they are, in
/// order. Nothing is sorted, so memory does not grow with the database. Views, triggers and virtual tables become rows of
/// `sqlite_master`, as in VACUUM: no module creates tables that are copied anyway, and no trigger fires.
package struct ContentCopier {
    private let connection: Connection
    private let schema: String

    /// - Parameters:
    ///   - connection: its main database is the source.
    ///   - schema: the name of the new, empty database that is attached to it: a plain identifier.
    package init(in connection: Connection, to schema: String) {
        self.connection = connection
        self.schema = schema
    }

    /// Copies everything but the journal mode, which cannot be changed inside a transaction.
    ///
    /// - Parameter report: called periodically; may throw to cancel.
    /// - Throws: `DatabaseError`, `VaultError`, and the errors of `report`. The destination is rolled back, or half-written
    ///   where its journal is off: discard it.
    package func copy(_ report: () throws -> Void = {}) throws {
        // Sets what is settled once the first page is written. The encoding is the connection's.
        try connection.execute("PRAGMA \(schema).auto_vacuum = \(try connection.integer("main.auto_vacuum"))")
        try connection.execute("PRAGMA writable_schema = ON")
        defer { try? connection.execute("PRAGMA writable_schema = OFF") }
        try connection.watching(report) {
            // Deferred: the source is only read.
            try connection.transaction(.deferred) {
                let objects = try SchemaObject.allExact(of: connection)
                // Before anything of it is run.
                for object in objects { try object.requireSingleStatement() }
                try create(objects, report)
                for table in objects where table.isStoredTable && !table.isSequenceTable {
                    try copyRows(of: table)
                    // The engine counts the steps of each statement by itself: many small tables would never report.
                    try report()
                }
                // Last, because copying a table with AUTOINCREMENT adds entries to it.
                for table in objects where table.isSequenceTable {
                    try connection.execute("DELETE FROM \(schema).sqlite_sequence")
                    try copyRows(of: table)
                }
                for object in objects where !object.hasPages && object.type != "index" {
                    try connection.run(
                        "INSERT INTO \(sql: schema).sqlite_master (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, 0, ?)",
                        with: object.type, object.name, object.tableName, object.sql)
                }
                for field in ["user_version", "application_id", "schema_version"] {
                    try connection.execute("PRAGMA \(schema).\(field) = \(try connection.integer("main.\(field)"))")
                }
            }
        }
        try report()
    }

    /// Creates tables and indexes. The table of sequences comes first: the engine would create it for the first table that
    /// needs it, and none may need it any longer.
    private func create(_ objects: [SchemaObject], _ report: () throws -> Void) throws {
        let tables = objects.filter(\.isStoredTable)
        for table in tables.filter(\.isSequenceTable) + tables.filter({ !$0.isSequenceTable }) {
            try create(table)
            try report()
        }
        for index in objects where index.type == "index" { try create(index) }
    }

    private func create(_ object: SchemaObject) throws {
        // Without a text: the index of a constraint, which its table has created.
        guard let sql = object.sql else { return }
        // As the engine stores them, the texts begin with these words, and the name follows.
        // A name may begin with a combining mark, which is one character with the space before it.
        let verbs = ["CREATE TABLE ", "CREATE INDEX ", "CREATE UNIQUE INDEX "]
        guard let verb = verbs.first(where: { sql.starts(withText: $0) }) else {
            throw VaultError(
                .unsupported, "The definition of the \(object.type) '\(object.name)' cannot be read",
                remedy: "A copy of the file (backup, rekey) keeps it as it is.")
        }
        let rest = String(decoding: sql.utf8.dropFirst(verb.utf8.count), as: UTF8.self)
        // Runs one statement: `execute` would run all that a text holds.
        do { try connection.run(SQL(sql: verb + schema + "." + rest)) } catch let error as DatabaseError
            where error.code == SQLITE_ERROR
        {
            throw VaultError(
                .unsupported, "The \(object.type) '\(object.name)' cannot be created in the copy: \(error.message)",
                remedy: "It may need a function, collation or module that only its application defines.",
                cause: error)
        }
    }

    private func copyRows(of table: SchemaObject) throws {
        let shape = try TableShape(table.name, in: connection)
        let transfer =
            "INSERT OR ABORT INTO \(schema).\(quoted(table.name)) SELECT * FROM main.\(quoted(table.name))"
        if try isTransfer(transfer) { return try connection.execute(transfer) }
        let limit = try connection.columnLimit()
        guard shape.fits(limit) else {
            throw VaultError(
                .unsupported,
                "The table '\(table.name)' has \(shape.columns.count) columns, and its rowids cannot be written beside them",
                remedy:
                    "A copy of the file (backup, rekey) keeps it as it is. An INTEGER PRIMARY KEY makes a rowid one of the columns."
            )
        }
        // The clause of the statement overrides those of the table, which could silently drop rows.
        let insertion = """
            INSERT OR ABORT INTO \(schema).\(quoted(table.name)) (\(shape.columnList)) \(shape.selection)
            """
        try connection.execute(insertion)
    }

    /// Whether the engine runs a statement by copying records with their rowids. It gives the rows of a table without
    /// INTEGER PRIMARY KEY and without an index other rowids, and takes records apart where anything differs: such tables are copied
    /// row by row, which needs no sorting either, as a table without an index has nothing to sort.
    private func isTransfer(_ sql: String) throws -> Bool {
        let operations: [String]
        do { operations = try connection.all("EXPLAIN \(sql: sql)") { try $0.get(1, as: String.self) } } catch let error
            as DatabaseError where error.code == SQLITE_ERROR
        {
            // The columns do not match one by one: some are generated.
            return false
        }
        // Behind them is the way for a destination that is not empty.
        let copies = ["RowCell", "RowData", "RowKey"]
        guard let first = operations.firstIndex(where: copies.contains) else { return false }
        return !operations[..<first].contains("NewRowid")
    }
}

extension Connection {
    /// Runs `body`, and calls `report` periodically while the engine works (`sqlite3_progress_handler`). An error of `report`
    /// interrupts the statement, and is thrown.
    func watching<T>(_ report: () throws -> Void, _ body: () throws -> T) throws -> T {
        try withoutActuallyEscaping(report) { report in
            let callback = ProgressCallback { _ in try report() }
            return try withHandle { handle in
                let context = Unmanaged.passUnretained(callback).toOpaque()
                // The engine counts steps, not rows: the report takes no number.
                sqlite3_progress_handler(handle, 100_000, { ProgressCallback.call($0, 0) }, context)
                defer { withExtendedLifetime(callback) { sqlite3_progress_handler(handle, 0, nil, nil) } }
                do { return try body() } catch { throw callback.error ?? error }
            }
        }
    }
}
