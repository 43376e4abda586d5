internal import LiteVaultEngine

/// Records what statements read, when they are prepared, and which statements ran.
package final class ReadCollector {
    package struct Column: Hashable {
        /// Nil if the text has none, and the engine does not report it.
        package let schema: SQLName?
        package let table: SQLName
        /// Empty if rows are only counted.
        package let column: SQLName
    }

    package fileprivate(set) var columns: Set<Column> = []
    /// The texts of the statements that ran, including those run by virtual tables.
    package fileprivate(set) var texts: Set<ExactText> = []
    /// Whether something was read that the engine does not report.
    package fileprivate(set) var isIncomplete = false

    package init() {}

    func note(
        _ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
        _ schema: UnsafePointer<CChar>?
    ) {
        switch action {
        case SQLITE_READ:
            guard let first else { return }
            columns.insert(
                Column(
                    schema: schema.map { SQLName(String(cString: $0)) }, table: SQLName(String(cString: first)),
                    column: second.map { SQLName(String(cString: $0)) } ?? ""))
        // The results of pragmas depend on their subject.
        case SQLITE_PRAGMA: isIncomplete = true
        default: break
        }
    }

    func noteStatement(_ sql: UnsafePointer<CChar>) { texts.insert(ExactText(String(cString: sql))) }
}

extension Connection {
    /// Runs a block and records the tables and columns that its statements read (`sqlite3_set_authorizer`).
    ///
    /// It empties the cache first: the engine reports reads only when a statement is prepared. It does not report the
    /// columns of `NATURAL` and `USING` joins, nor, before 3.20, a table of which no column is read, as by `count(*)`.
    package func trackingReads<T>(into collector: ReadCollector, _ body: () throws -> T) throws -> T {
        try withHandle { db in
            finalizeCache()
            authorizer.reads = collector
            installAuthorizer(db)
            installTrace(db)
            defer {
                authorizer.reads = nil
                installAuthorizer(db)
                installTrace(db)
            }
            return try body()
        }
    }
}

/// What a statement would write, itself, through triggers or through foreign key actions.
package struct WrittenColumns: Sendable {
    /// Tables whose rows are inserted or deleted.
    package fileprivate(set) var tables: Set<TableName> = []
    package fileprivate(set) var columns: [TableName: Set<SQLName>] = [:]
    /// Tables with an UPDATE in a trigger.
    package fileprivate(set) var updatedByTriggers: Set<TableName> = []
}

/// Records what a statement would write, when it is prepared.
final class WriteCollector {
    fileprivate(set) var written = WrittenColumns()

    func note(
        _ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
        _ schema: UnsafePointer<CChar>?, _ origin: UnsafePointer<CChar>?
    ) {
        guard action == SQLITE_INSERT || action == SQLITE_DELETE || action == SQLITE_UPDATE, let first else { return }
        let name = TableName(
            String(cString: first), schema: schema.map { String(cString: $0) } ?? "main")
        // The engine's own writes there, as when it declares a virtual table, are reported as a change of the schema.
        guard name.table != "sqlite_master", name.table != "sqlite_temp_master" else { return }
        guard action == SQLITE_UPDATE, let second else {
            written.tables.insert(name)
            return
        }
        written.columns[name, default: []].insert(SQLName(String(cString: second)))
        if origin != nil { written.updatedByTriggers.insert(name) }
    }
}

extension Connection {
    /// What a statement would write: prepares it once more, without running it.
    ///
    /// Rows deleted to make room for another (`REPLACE`) are not reported by the engine.
    ///
    /// - Parameter sql: an INSERT, REPLACE, UPDATE or DELETE, with or without WITH: preparing these has no effect.
    /// - Returns: nil when it cannot be prepared, for instance because one of its tables was dropped.
    package func writtenColumns(of sql: String) -> WrittenColumns? {
        try? withLock { () -> WrittenColumns? in
            guard let db else { return nil }
            let collector = WriteCollector()
            let wasInstalled = authorizer.isNeeded
            authorizer.writes = collector
            // Installing it again would make the engine prepare every statement again.
            if !wasInstalled { installAuthorizer(db) }
            defer {
                authorizer.writes = nil
                if !wasInstalled { installAuthorizer(db) }
            }
            var statement: OpaquePointer?
            let code = sqlite3_prepare_v2(db, sql, -1, &statement, nil)
            sqlite3_finalize(statement)
            return code == SQLITE_OK ? collector.written : nil
        }
    }
}
