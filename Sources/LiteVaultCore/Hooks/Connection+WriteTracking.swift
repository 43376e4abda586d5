internal import LiteVaultEngine

/// What a statement would write, be it by itself, by its triggers or by actions of foreign keys.
package struct WrittenColumns: Sendable {
    /// Tables of which rows come or go.
    package fileprivate(set) var tables: Set<TableName> = []
    /// The columns that UPDATE sets, in lower case.
    package fileprivate(set) var columns: [TableName: Set<String>] = [:]
    /// Tables with an UPDATE in a trigger.
    package fileprivate(set) var updatedByTriggers: Set<TableName> = []
}

/// Takes down what a statement would write, while it is prepared.
final class WriteCollector {
    fileprivate(set) var written = WrittenColumns()

    func note(
        _ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
        _ schema: UnsafePointer<CChar>?, _ origin: UnsafePointer<CChar>?
    ) {
        guard action == SQLITE_INSERT || action == SQLITE_DELETE || action == SQLITE_UPDATE, let first else { return }
        let name = TableName(
            String(cString: first), schema: schema.map { String(cString: $0) } ?? "main")
        // What the engine writes there by itself, as when it declares a virtual table, is told as a change of the schema.
        guard name.table != "sqlite_master", name.table != "sqlite_temp_master" else { return }
        guard action == SQLITE_UPDATE, let second else {
            written.tables.insert(name)
            return
        }
        written.columns[name, default: []].insert(String(cString: second).lowercased())
        if origin != nil { written.updatedByTriggers.insert(name) }
    }
}

extension Connection {
    /// What a statement would write: prepares it once more, and does not run it.
    ///
    /// A row that is deleted to make room for another (`REPLACE`) is not told by the engine.
    ///
    /// - Parameter sql: an INSERT, REPLACE, UPDATE or DELETE, with or without WITH: such can be prepared without effect.
    /// - Returns: nil when it cannot be prepared, as when a table of it is gone.
    package func writtenColumns(of sql: String) -> WrittenColumns? {
        try? withLock { () -> WrittenColumns? in
            guard let db else { return nil }
            let collector = WriteCollector()
            let wasInstalled = authorizer.observer != nil || authorizer.refusesKeys
            authorizer.writes = collector
            // Giving it again would have every statement prepared again.
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
