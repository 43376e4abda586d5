internal import LiteVaultEngine

/// Takes down what statements read, while they are prepared, and which statements ran.
package final class ReadCollector {
    /// A column of a table.
    package struct Column: Hashable {
        /// nil: the text names none, and the engine does not tell.
        package let schema: String?
        package let table: String
        /// Empty where rows are only counted.
        package let column: String
    }

    package fileprivate(set) var columns: Set<Column> = []
    /// The texts of the statements that ran, those that virtual tables run included.
    package fileprivate(set) var texts: Set<String> = []
    /// Whether something was read that the engine does not tell.
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
                    schema: schema.map { String(cString: $0) }, table: String(cString: first),
                    column: second.map { String(cString: $0) } ?? ""))
        // Answers of pragmas depend on whatever they are about.
        case SQLITE_PRAGMA: isIncomplete = true
        default: break
        }
    }

    func noteStatement(_ sql: UnsafePointer<CChar>) { texts.insert(String(cString: sql)) }
}

extension Connection {
    /// Runs a block and takes down the tables and columns that its statements read (`sqlite3_set_authorizer`).
    ///
    /// The cache is emptied first: what is read is told only while a statement is prepared. The engine does not tell the
    /// columns by which `NATURAL` and `USING` join, and before 3.20 no table of which no column is read, as by `count(*)`.
    ///
    /// - Throws: what the block throws.
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
