package import LiteVaultCore

/// A database as SQL text, in the form of the `.dump` of SQLite's shell: running it in an empty database makes the same schema
/// with the same rows.
package struct SQLDump {
    package struct Content: Sendable {
        package var rows = true
        /// Whether rows keep their implicit rowids, as an external-content full-text index needs.
        package var rowids = false
        /// The tables, with their indexes and triggers; nil for the whole database.
        package var tables: [String]?

        package init() {}
    }

    package struct Summary: Sendable, Equatable {
        package var tables = 0
        package var rows: Int64 = 0
    }

    private let connection: Connection
    private let content: Content
    private let write: (borrowing SQLText) throws -> Void
    private var summary = Summary()

    /// Writes a dump.
    ///
    /// - Parameters:
    ///   - connection: a connection in a read transaction.
    ///   - write: receives the text in order, a statement at a time.
    /// - Throws: `VaultError` `usage` for a table that does not exist; `DatabaseError`; what `write` throws.
    package static func write(
        _ connection: Connection, _ content: Content, to write: (borrowing SQLText) throws -> Void
    ) throws -> Summary {
        try withoutActuallyEscaping(write) { write in
            var dump = SQLDump(connection: connection, content: content, write: write)
            try dump.writeAll()
            return dump.summary
        }
    }

    private mutating func writeAll() throws {
        let all = try SchemaObject.allExact(of: connection)
        let named = content.tables.map { Set($0.map { SQLName($0) }) }
        if let named {
            let known = Set(all.filter { $0.type == "table" || $0.type == "view" }.map { SQLName($0.name) })
            if let unknown = named.subtracting(known).map(\.text).min() {
                throw VaultError(
                    .usage, "There is no table '\(unknown)'", remedy: "Compare the name with those in the schema.")
            }
        }
        let shadows = ShadowTables(all)
        let objects = all.filter { object in
            guard let named else { return true }
            // What a virtual table keeps its content in is part of it.
            return named.contains(SQLName(object.tableName)) || shadows.belongs(object.tableName, to: named)
        }
        for object in objects { try object.requireSingleStatement() }
        let encoding = try TextEncoding(of: connection)

        if encoding != .utf8 { try line("PRAGMA encoding = '\(encoding.rawValue)';") }
        guard content.rows else {
            // Without a transaction of its own: a migration may run it, which is one.
            try writeEmptyTables(objects, shadows)
            return try writeRest(objects)
        }
        try line("PRAGMA foreign_keys = OFF;")
        try line("BEGIN TRANSACTION;")
        try writeTables(objects, encoding)
        try writeRest(objects)
        try line("COMMIT;")
    }

    /// Virtual tables come after those that they may read their columns from, and make their own shadow tables: an empty one that
    /// somebody else made is damage to them. Those of a module that is not known may be ordinary tables.
    private func writeEmptyTables(_ objects: [SchemaObject], _ shadows: ShadowTables) throws {
        let tables = objects.filter { $0.type == "table" && !$0.isEngines }.sorted { isBefore($0.name, $1.name) }
        for table in tables where table.hasPages && shadows.place(of: table.name) == .ordinary { try writeTable(table) }
        for table in tables where !table.hasPages { try line(Quoting.definitionStatement(table.sql ?? "")) }
        for table in tables where table.hasPages && shadows.place(of: table.name) == .unknown {
            // The engine keeps each statement with this beginning.
            let (sql, start) = (table.sql ?? "", "CREATE TABLE ")
            guard sql.utf8.starts(with: start.utf8) else { continue }
            let rest = String(decoding: sql.utf8.dropFirst(start.utf8.count), as: UTF8.self)
            try line("CREATE TABLE IF NOT EXISTS " + Quoting.definitionStatement(rest))
        }
    }

    /// Tables first, each with its rows. They are in the order of their names, so that equal databases have equal dumps; those
    /// of the engine come last, as it makes them for others.
    private mutating func writeTables(_ objects: [SchemaObject], _ encoding: TextEncoding) throws {
        let tables = objects.filter { $0.type == "table" }.sorted {
            $0.isEngines != $1.isEngines ? $1.isEngines : isBefore($0.name, $1.name)
        }
        let hasVirtual = tables.contains { !$0.hasPages }
        // The row of a virtual table: its CREATE would make its shadow tables, which have statements of their own here.
        if hasVirtual { try line("PRAGMA writable_schema = ON;") }
        for table in tables {
            if table.isSequenceTable {
                for statement in SchemaObject.emptySequence(after: tables) { try line(statement) }
            } else {
                try writeTable(table)
            }
            guard table.hasPages else { continue }
            summary.tables += 1
            try writeRows(of: table, encoding)
        }
        if hasVirtual { try line("PRAGMA writable_schema = OFF;") }
    }

    private func writeTable(_ table: SchemaObject) throws {
        switch table.name {
        // The engine makes these; their rows follow.
        case "sqlite_stat1": try line("ANALYZE sqlite_master;")
        case let name where name.hasPrefix("sqlite_stat"): return
        default:
            guard let sql = table.sql else { return }
            guard !table.hasPages else { return try line(Quoting.definitionStatement(sql)) }
            let name = Quoting.sqlText(table.name)
            try line(
                "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql)"
                    + " VALUES ('table', \(name), \(name), 0, \(Quoting.sqlText(sql)));")
        }
    }

    private mutating func writeRows(of table: SchemaObject, _ encoding: TextEncoding) throws {
        do { try writeAll(of: table, encoding) } catch let error as DatabaseError where error.isUnknownCollation {
            // A table WITHOUT ROWID, in whose order the engine cannot read: nothing of it was written.
            throw VaultError(
                .unsupported,
                "The table '\(table.name)' is in the order of a collation that only its application defines",
                remedy: "Dump the other tables (--table), or copy the file as it is (backup).", cause: error)
        }
    }

    private mutating func writeAll(of table: SchemaObject, _ encoding: TextEncoding) throws {
        let shape = try TableShape(table.name, in: connection)
        // Statistics of the source engine may have columns that another one lacks; it computes its own.
        guard table.name == "sqlite_stat1" || !table.name.hasPrefix("sqlite_stat") else { return }
        let alias = content.rowids ? shape.rowidAlias : nil
        let names = ((alias.map { [$0] } ?? []) + shape.columns.map(quoted)).joined(separator: ", ")
        let start = "INSERT INTO \(quoted(table.name)) (\(names)) VALUES ("
        // The engine's own tables have no order of their own.
        let order = table.isEngines ? " ORDER BY \(names)" : shape.rowidAlias.map { " ORDER BY \($0)" } ?? ""
        var text = SQLText(encoding)
        try connection.forEach("SELECT \(sql: names) FROM \(table: table.name, in: "main") NOT INDEXED\(sql: order)") {
            row in
            try text.set(row, 0..<row.count, after: start)
            try write(text)
            summary.rows += 1
        }
    }

    /// Indexes, views and triggers, once the rows are there: triggers must not run, and indexes are faster to build. A trigger may
    /// be on a view.
    private func writeRest(_ objects: [SchemaObject]) throws {
        for type in ["index", "view", "trigger"] {
            let found = objects.filter { $0.type == type }
            // Triggers of one event run in the order of their creation.
            for object in type == "trigger" ? found : found.sorted(by: { isBefore($0.name, $1.name) }) {
                if let sql = object.sql { try line(Quoting.definitionStatement(sql)) }
            }
        }
    }

    private func line(_ sql: String) throws { try write(SQLText(line: sql)) }
}

extension SchemaObject {
    /// Whether the engine makes and fills the table: `sqlite_sequence` and statistics.
    fileprivate var isEngines: Bool { name.hasPrefix("sqlite_") }
}
