package import LiteVaultCore
internal import LiteVaultEngine

/// Copies all content of one database into another, empty one, between any two formats: plain, encrypted, of different
/// page sizes.
///
/// A page copy cannot do that, and `sqlcipher_export` loses `user_version`, `application_id`, `auto_vacuum` and the
/// rowids of tables without INTEGER PRIMARY KEY (with them external-content full-text indexes). Here two connections
/// are open, each in its own way; the schema's own text runs on the destination, and every value goes over unconverted.
///
/// Views, triggers and virtual tables become rows of `sqlite_master`, as VACUUM does it: no module is asked to create
/// tables that are copied anyway, and no trigger fires.
package struct ContentCopier {
    private let source: Connection
    private let destination: Connection

    /// - Parameters:
    ///   - source: inside a read transaction of the caller, so that everything is of one moment.
    ///   - destination: a new database that nothing was written to.
    package init(from source: Connection, to destination: Connection) {
        self.source = source
        self.destination = destination
    }

    /// Copies. The journal mode is left to the caller: it is changed outside of a transaction.
    ///
    /// - Parameter report: called now and then with the number of rows copied so far; it may throw to end the copy.
    /// - Throws: `DatabaseError`, `VaultError`, and what `report` throws. The destination is rolled back, or
    ///   half-written where its journal is off: it is to be thrown away.
    package func copy(rows report: (Int64) throws -> Void = { _ in }) throws {
        let objects = try SchemaObject.all(of: source)
        try prepareDestination()
        try destination.transaction(.immediate) {
            try createTables(objects)
            try copyRows(objects, report)
            try createIndexes(objects)
            try addObjectsWithoutPages(objects)
            try copyHeaderFields()
        }
        // The rows of sqlite_master were written behind the engine's back.
        try destination.execute("PRAGMA writable_schema = OFF")
    }

    /// These are fixed with the first page that is written.
    private func prepareDestination() throws {
        guard let encoding = try source.scalar("PRAGMA encoding") as? String else {
            throw VaultError(.internalFailure, "The engine does not tell the text encoding")
        }
        try destination.execute(
            """
            PRAGMA encoding = '\(encoding)';
            PRAGMA auto_vacuum = \(try source.integer("auto_vacuum"));
            PRAGMA foreign_keys = OFF;
            PRAGMA ignore_check_constraints = ON;
            PRAGMA writable_schema = ON;
            """)
    }

    private func createTables(_ objects: [SchemaObject]) throws {
        for table in objects where table.isStoredTable && !table.isSequenceTable {
            guard let sql = table.sql else { continue }
            try run(sql, for: table)
        }
        guard objects.contains(where: \.isSequenceTable), try !hasSequenceTable() else { return }
        // It is left from a table that was dropped. Only the engine can make it, for a table that needs it.
        try destination.execute(
            "CREATE TABLE litevault_sequence (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE litevault_sequence")
    }

    private func hasSequenceTable() throws -> Bool {
        try destination.scalar("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'") != nil
    }

    private func createIndexes(_ objects: [SchemaObject]) throws {
        for index in objects where index.type == "index" {
            if let sql = index.sql { try run(sql, for: index) }
        }
    }

    private func addObjectsWithoutPages(_ objects: [SchemaObject]) throws {
        for object in objects where !object.hasPages && object.type != "index" {
            try destination.run(
                "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, 0, ?)",
                with: object.type, object.name, object.tableName, object.sql)
        }
    }

    private func copyHeaderFields() throws {
        for field in ["user_version", "application_id", "schema_version"] {
            try destination.execute("PRAGMA \(field) = \(try source.integer(field))")
        }
    }

    /// Runs a statement of the source's schema.
    private func run(_ sql: String, for object: SchemaObject) throws {
        do { try destination.execute(sql) } catch let error as DatabaseError where error.code == SQLITE_ERROR {
            throw VaultError(
                .unsupported, "The \(object.type) '\(object.name)' cannot be made anew: \(error.message)", cause: error,
                remedy: "It may need a function, collation or module that only its application defines.")
        }
    }

    // MARK: Rows

    private func copyRows(_ objects: [SchemaObject], _ report: (Int64) throws -> Void) throws {
        var copied: Int64 = 0
        for table in objects where table.isStoredTable && !table.isSequenceTable {
            try copyRows(of: table, &copied, report)
        }
        // Last, since copying a table with AUTOINCREMENT made entries of its own in it.
        if let table = objects.first(where: \.isSequenceTable) {
            try destination.execute("DELETE FROM sqlite_sequence")
            try copyRows(of: table, &copied, report)
        }
        try report(copied)
    }

    private func copyRows(
        of table: SchemaObject, _ copied: inout Int64, _ report: (Int64) throws -> Void
    ) throws {
        let shape = try TableShape(table.name, in: source)
        let insert = try destination.prepare(shape.insertion)
        try source.withLock {
            try destination.withLock {
                try source.forEachRow(shape.selection) { row in
                    try insert.runCopying(row)
                    copied += 1
                    if copied % 1000 == 0 { try report(copied) }
                }
            }
        }
    }
}
