internal import LiteVaultEngine

/// Takes down what statements read, while they are prepared.
package final class ReadCollector {
    /// A column of a table. The column is empty where rows are only counted.
    package struct Column: Hashable {
        package let schema: String
        package let table: String
        package let column: String
    }

    package fileprivate(set) var columns: Set<Column> = []
    /// Whether something was read that the engine does not tell, or only newer engines do.
    package fileprivate(set) var isIncomplete = false

    package init() {}
}

extension Connection {
    /// Runs a block and takes down the tables and columns that its statements read (`sqlite3_set_authorizer`).
    ///
    /// The cache is emptied first: what is read is told only while a statement is prepared. An engine before 3.20 tells
    /// nothing of a table of which no column is read, as by `count(*)`: there every query makes the result incomplete.
    ///
    /// - Throws: what the block throws.
    package func trackingReads<T>(into collector: ReadCollector, _ body: () throws -> T) throws -> T {
        try withHandle { db in
            finalizeCache()
            let context = ReadContext(collector: collector, refusesKeys: refusesKeys)
            return try withExtendedLifetime(context) {
                sqlite3_set_authorizer(db, readAuthorizer, Unmanaged.passUnretained(context).toOpaque())
                defer { sqlite3_set_authorizer(db, refusesKeys ? keyAuthorizer : nil, nil) }
                return try body()
            }
        }
    }
}

private final class ReadContext {
    let collector: ReadCollector
    let refusesKeys: Bool

    init(collector: ReadCollector, refusesKeys: Bool) {
        self.collector = collector
        self.refusesKeys = refusesKeys
    }
}

private let tellsOfCountedTables = EngineInfo.linked.sqliteVersion >= SQLiteVersion(major: 3, minor: 20)

private func readAuthorizer(
    context: UnsafeMutableRawPointer?, action: Int32, first: UnsafePointer<CChar>?, second: UnsafePointer<CChar>?,
    schema: UnsafePointer<CChar>?, origin: UnsafePointer<CChar>?
) -> Int32 {
    guard let context else { return SQLITE_OK }
    let reading = Unmanaged<ReadContext>.fromOpaque(context).takeUnretainedValue()
    switch action {
    case SQLITE_READ:
        guard let first else { break }
        reading.collector.columns.insert(
            .init(
                schema: schema.map { String(cString: $0) } ?? "main", table: String(cString: first),
                column: second.map { String(cString: $0) } ?? ""))
    case SQLITE_SELECT where !tellsOfCountedTables: reading.collector.isIncomplete = true
    // Answers of pragmas depend on whatever they are about.
    case SQLITE_PRAGMA: reading.collector.isIncomplete = true
    default: break
    }
    guard reading.refusesKeys else { return SQLITE_OK }
    return keyAuthorizer(nil, action: action, first: first, second: second, schema, origin)
}
