package import LiteVaultCore
internal import LiteVaultEngine

/// Copies all content of one database into another, empty one, between any two formats: plain, encrypted, of different
/// page sizes.
///
/// A page copy cannot do that, and `sqlcipher_export` loses `user_version`, `application_id`, `auto_vacuum` and the rowids of
/// tables without INTEGER PRIMARY KEY (and with them external-content full-text indexes). Here two connections are open, each
/// with its own format; the schema's own text runs on the destination, and every value is copied unconverted.
///
/// Views, triggers and virtual tables become rows of `sqlite_master`, as in VACUUM: no module creates tables that are copied
/// anyway, and no trigger fires.
package struct ContentCopier {
    private let source: Connection
    private let destination: Connection

    /// - Parameters:
    ///   - source: inside a read transaction of the caller, so that the copy is consistent.
    ///   - destination: a new, empty database.
    package init(from source: Connection, to destination: Connection) {
        self.source = source
        self.destination = destination
    }

    /// Copies everything but the journal mode, which cannot be changed inside a transaction.
    ///
    /// - Parameter report: called periodically with the number of rows copied so far; may throw to cancel.
    /// - Throws: `DatabaseError`, `VaultError`, and the errors of `report`. The destination is rolled back, or half-written
    ///   where its journal is off: discard it.
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
        // The engine does not notice the rows that were written to sqlite_master.
        try destination.execute("PRAGMA writable_schema = OFF")
    }

    /// Sets the properties that are fixed once the first page is written.
    private func prepareDestination() throws {
        guard let encoding = try source.value("PRAGMA encoding", as: String?.self) else {
            throw VaultError(.internalFailure, "The engine does not report the text encoding")
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
        // It remains from a table that was dropped. Only the engine can create it, for a table that needs it.
        try destination.execute(
            "CREATE TABLE litevault_sequence (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE litevault_sequence")
    }

    private func hasSequenceTable() throws -> Bool {
        try destination.value("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'", as: StoredValue.self)
            != .null
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
                .unsupported, "The \(object.type) '\(object.name)' cannot be created in the copy: \(error.message)",
                cause: error,
                remedy: "It may need a function, collation or module that only its application defines.")
        }
    }

    // MARK: Rows

    private func copyRows(_ objects: [SchemaObject], _ report: (Int64) throws -> Void) throws {
        var copied: Int64 = 0
        for table in objects where table.isStoredTable && !table.isSequenceTable {
            try copyRows(of: table, &copied, report)
        }
        // Last, because copying a table with AUTOINCREMENT adds entries to it.
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
                try source.forEach(shape.selection) { row in
                    try insert.runCopying(row)
                    copied += 1
                    if copied % 1000 == 0 { try report(copied) }
                }
            }
        }
    }
}

/// Compares all content of two databases, value by value: schema, rows with their rowids, and the fields of the header.
package struct ContentComparator {
    private let left: Connection
    private let right: Connection

    /// Both are inside read transactions of the caller, or used by no other connection.
    package init(_ left: Connection, _ right: Connection) {
        self.left = left
        self.right = right
    }

    /// Compares the databases.
    ///
    /// - Parameter report: called periodically with the number of rows compared so far; may throw to cancel.
    /// - Throws: `VaultError` `internalFailure` naming the first difference; `DatabaseError` when one of them cannot be
    ///   read; the errors of `report`.
    package func compare(rows report: (Int64) throws -> Void = { _ in }) throws {
        for field in ["encoding", "auto_vacuum", "user_version", "application_id"] {
            let values = try (left.untypedValue("PRAGMA \(field)"), right.untypedValue("PRAGMA \(field)"))
            guard String(describing: values.0) == String(describing: values.1) else {
                throw difference("PRAGMA \(field)")
            }
        }
        let objects = try SchemaObject.all(of: left)
        let others = try SchemaObject.all(of: right)
        guard objects.sorted(by: Self.order) == others.sorted(by: Self.order) else { throw difference("the schema") }
        var compared: Int64 = 0
        for table in objects where table.isStoredTable {
            try compareRows(of: table.name, &compared, report)
        }
        try report(compared)
    }

    private static func order(_ one: SchemaObject, _ other: SchemaObject) -> Bool {
        (one.type, one.name) < (other.type, other.name)
    }

    private func compareRows(of table: String, _ compared: inout Int64, _ report: (Int64) throws -> Void) throws {
        let selection = try TableShape(table, in: left).selection
        let others = try right.prepare(selection)
        try right.withLock {
            defer { others.clear() }
            try left.forEach(selection) { row in
                guard try others.advance(), others.isCurrentRowEqual(to: row) else {
                    throw difference("the table '\(table)'")
                }
                compared += 1
                if compared % 1000 == 0 { try report(compared) }
            }
            guard try !others.advance() else { throw difference("the table '\(table)'") }
        }
    }

    private func difference(_ what: String) -> VaultError {
        VaultError(
            .internalFailure, "The copy differs from its source in \(what)",
            remedy: "The source is unchanged and the copy was not published. Verify the source.")
    }
}
