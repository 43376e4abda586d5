internal import Foundation

// What module `SQLite` offers publicly, for this package's own code until that is written in the new spelling.

extension Connection {
    @discardableResult
    package func run(_ statement: String, _ bindings: (any Binding)?...) throws -> Statement {
        bindings.isEmpty ? try Statement(self, sql: statement).run() : try Statement(self, sql: statement).run(bindings)
    }

    @discardableResult
    package func run(_ statement: String, _ bindings: [(any Binding)?]) throws -> Statement {
        try Statement(self, sql: statement).run(bindings)
    }

    @discardableResult
    package func run(_ statement: String, _ bindings: [String: (any Binding)?]) throws -> Statement {
        try Statement(self, sql: statement).run(bindings)
    }

    package func scalar(_ statement: String, _ bindings: (any Binding)?...) throws -> (any Binding)? {
        bindings.isEmpty
            ? try Statement(self, sql: statement).scalar() : try Statement(self, sql: statement).scalar(bindings)
    }

    package func scalar(_ statement: String, _ bindings: [(any Binding)?]) throws -> (any Binding)? {
        try Statement(self, sql: statement).scalar(bindings)
    }

    package func scalar(_ statement: String, _ bindings: [String: (any Binding)?]) throws -> (any Binding)? {
        try Statement(self, sql: statement).scalar(bindings)
    }

    package func prepare(_ statement: String, _ bindings: (any Binding)?...) throws -> Statement {
        bindings.isEmpty ? try Statement(self, sql: statement) : try prepare(statement, bindings)
    }

    package func prepare(_ statement: String, _ bindings: [(any Binding)?]) throws -> Statement {
        let prepared = try Statement(self, sql: statement)
        try prepared.setBindings(bindings)
        return prepared
    }

    package func prepare(_ statement: String, _ bindings: [String: (any Binding)?]) throws -> Statement {
        let prepared = try Statement(self, sql: statement)
        try prepared.setBindings(bindings)
        return prepared
    }

    package func forEachRow<
        A: StatementArgument, B: StatementArgument, C: StatementArgument, D: StatementArgument
    >(
        _ sql: String, with a: A = Unbound(), _ b: B = Unbound(), _ c: C = Unbound(), _ d: D = Unbound(),
        body: (borrowing RowView) throws -> Void
    ) throws { try forEach(sql, with: a, b, c, d, body: body) }

    package func forEachRow(_ sql: String, bindings: [(any Binding)?], body: (borrowing RowView) throws -> Void) throws {
        try forEach(sql, with: Bindings(bindings), body: body)
    }

    package func prepareRowIterator(_ statement: String, bindings: (any Binding)?...) throws -> RowIterator {
        RowIterator(try prepare(statement, bindings))
    }

    package func prepareRowIterator(_ statement: String, bindings: [(any Binding)?]) throws -> RowIterator {
        RowIterator(try prepare(statement, bindings))
    }

    package var sqliteVersion: SQLiteVersion { EngineInfo.linked.sqliteVersion }
    package var lastInsertRowid: Int64 { lastInsertedRowID }
    package var changes: Int { changedRowCount }
    package var totalChanges: Int { totalChangedRowCount }
    package var readonly: Bool { isReadOnly }
    package var handle: OpaquePointer { unguardedHandle }

    package var usesExtendedErrorCodes: Bool {
        get { throwsExtendedErrors }
        set { throwsExtendedErrors = newValue }
    }

    package var busyTimeout: Double {
        get { lockTimeoutSeconds }
        set { lockTimeoutSeconds = newValue }
    }

    package func busyHandler(_ callback: ((Int) -> Bool)?) { setBusyHandler(callback) }
    package func trace(_ callback: ((String) -> Void)?) { setTrace(callback) }

    @discardableResult
    package func savepoint<T>(_ name: String = UUID().uuidString, block: () throws -> T) throws -> T {
        try withSavepoint(named: name, block)
    }

    package func backup(
        databaseName: Backup.DatabaseName = .main, usingConnection targetConnection: Connection,
        andDatabaseName targetDatabaseName: Backup.DatabaseName = .main
    ) throws -> Backup {
        try Backup(
            sourceConnection: self, sourceName: databaseName, targetConnection: targetConnection,
            targetName: targetDatabaseName)
    }

    package var userVersion: Int32? {
        get { try? readUserVersion() }
        set { if let newValue { try? setUserVersion(newValue) } }
    }

    package func readUserVersion() throws -> Int32 { try pragma(.userVersion) }
    package func setUserVersion(_ version: Int32) throws { try setPragma(.userVersion, to: version) }
    package func readApplicationID() throws -> Int32 { try pragma(.applicationID) }
    package func setApplicationID(_ id: Int32) throws { try setPragma(.applicationID, to: id) }

    package var foreignKeys: Bool {
        get { (try? pragma(.foreignKeys)) ?? false }
        set { try? setForeignKeys(newValue) }
    }

    package func setForeignKeys(_ isOn: Bool) throws { try setPragma(.foreignKeys, to: isOn) }

    package var deferForeignKeys: Bool {
        get { (try? pragma(.deferForeignKeys)) ?? false }
        set { try? setDeferForeignKeys(newValue) }
    }

    package func setDeferForeignKeys(_ isOn: Bool) throws { try setPragma(.deferForeignKeys, to: isOn) }

    package var synchronous: Synchronous {
        get { (try? pragma(.synchronous)) ?? .full }
        set { try? setSynchronous(newValue) }
    }

    package func setSynchronous(_ mode: Synchronous) throws { try setPragma(.synchronous, to: mode) }

    package var journalMode: JournalMode {
        get { (try? currentJournalMode()) ?? .delete }
        set { _ = try? setJournalMode(newValue) }
    }

    @discardableResult
    package func setJournalMode(_ mode: JournalMode) throws -> JournalMode {
        try setPragma(.journalMode, to: mode)
        return try currentJournalMode()
    }

    @discardableResult
    package func enableWAL() throws -> JournalMode { try setJournalMode(.wal) }

    package var walAutoCheckpoint: Int {
        get { (try? pragma(.walAutoCheckpoint)) ?? 0 }
        set { try? setWALAutoCheckpoint(newValue) }
    }

    package func setWALAutoCheckpoint(_ pages: Int) throws { try setPragma(.walAutoCheckpoint, to: pages) }
    package func createFunction(
        _ functionName: String, argumentCount: UInt? = nil, deterministic: Bool = false,
        _ block: @escaping (_ args: [(any Binding)?]) -> (any Binding)?
    ) {
        try? defineFunction(functionName, argumentCount: argumentCount, deterministic: deterministic, block)
    }
    package func createAggregation<T>(
        _ functionName: String, argumentCount: UInt? = nil, deterministic: Bool = false,
        step: @escaping ([(any Binding)?], UnsafeMutablePointer<T>) -> Void,
        final: @escaping (UnsafeMutablePointer<T>) -> (any Binding)?,
        state: @escaping () -> UnsafeMutablePointer<T>
    ) {
        try? defineAggregation(
            functionName, argumentCount: argumentCount, deterministic: deterministic, state: state, step: step,
            final: final)
    }
    package func createAggregation<T: AnyObject>(
        _ aggregate: String, argumentCount: UInt? = nil, deterministic: Bool = false, initialValue: T,
        reduce: @escaping (T, [(any Binding)?]) -> T, result: @escaping (T) -> (any Binding)?
    ) {
        try? defineAggregation(
            aggregate, argumentCount: argumentCount, deterministic: deterministic, initialValue: initialValue,
            step: { $0 = reduce($0, $1) }, result: result)
    }
    package func createAggregation<T>(
        _ aggregate: String, argumentCount: UInt? = nil, deterministic: Bool = false, initialValue: T,
        reduce: @escaping (T, [(any Binding)?]) -> T, result: @escaping (T) -> (any Binding)?
    ) {
        try? defineAggregation(
            aggregate, argumentCount: argumentCount, deterministic: deterministic, initialValue: initialValue,
            step: { $0 = reduce($0, $1) }, result: result)
    }

}
