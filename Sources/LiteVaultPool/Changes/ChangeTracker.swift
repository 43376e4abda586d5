internal import LiteVaultCore
internal import LiteVaultSystem

/// Records the changes that a connection commits. Changes that are rolled back, by a transaction, a savepoint or a statement
/// that failed, are discarded.
///
/// The update hook reports rows, not columns, and only rows of ordinary tables. It omits tables WITHOUT ROWID, virtual tables
/// and a DELETE without WHERE, but the engine counts their rows. The omitted changes are determined with the authorizer when
/// a transaction is committed: see ``ChangeResolver``.
///
/// Used only by the owner of the connection, and by its callbacks, which run under its lock.
final class ChangeTracker: ConnectionObserver, @unchecked Sendable {  // guarded by the writer's semaphore
    private unowned let connection: Connection
    private let resolver: ChangeResolver
    /// Whether the tracker itself is running statements.
    private var isQueryingSchema = false
    private var total: Int
    private var statement = TransactionChanges()
    private var reportedRowCount = 0
    /// The schema changes of statements that were prepared, but have not run.
    private var preparedSchema = ChangeSet()
    /// The changes of the transaction, and of each savepoint in it.
    private var levels: [(name: String, changes: TransactionChanges)] = [("", TransactionChanges())]
    private var isCommitting = false
    private var committed = TransactionChanges()
    /// The last table and the last text, which need not be parsed again.
    private var lastName: [CChar] = []
    private var lastSchema: [CChar] = []
    private var lastKey = TableName("", schema: "")
    private var lastText: [CChar] = []
    private var lastLevel = 0
    private var kinds: [ExactText: StatementKind] = [:]

    /// - Parameter connection: not in a transaction.
    init(_ connection: Connection, _ schemaCache: SchemaCache) {
        self.connection = connection
        resolver = ChangeResolver(connection, schemaCache)
        total = connection.totalChangedRowCount
    }

    /// Returns the changes committed since the last call. Call it outside of transactions.
    func takeCommitted() -> ChangeSet {
        settle(isNested: false)
        if !connection.isInTransaction { forgetTransaction() }
        isQueryingSchema = true
        defer {
            isQueryingSchema = false
            committed = TransactionChanges()
        }
        return resolver.resolve(committed)
    }

    func willRun(_ sql: UnsafePointer<CChar>, isNested: () -> Bool) {
        guard !isQueryingSchema else { return }
        // Only where it matters, because it iterates over all statements.
        settle(isNested: reportedRowCount > 0 && connection.totalChangedRowCount == total && isNested())
        if lastLevel == levels.count, !lastText.isEmpty, strcmp(lastText, sql) == 0 { return }
        let text = String(cString: sql)
        let kind = self.kind(of: text)
        if case .other = kind { return }
        lastText = []
        switch kind {
        case .other: break
        case .setting: resolver.forgetStatements()
        case .write(let clears):
            if clears { statement.clears = true }
            levels[levels.count - 1].changes.note(ExactText(text))
            lastText = Array(UnsafeBufferPointer(start: sql, count: strlen(sql) + 1))
            lastLevel = levels.count
        case .savepoint(let name): levels.append((name, TransactionChanges()))
        case .release(let name):
            guard let index = index(of: name) else { return }
            while levels.count > index {
                let last = levels.removeLast()
                levels[levels.count - 1].changes.merge(last.changes)
            }
        case .rollbackTo(let name):
            guard let index = index(of: name) else { return }
            levels.removeLast(levels.count - index - 1)
            levels[index].changes = TransactionChanges()
            // The analyzed statements may have referred to the schema that was rolled back.
            resolver.forgetStatements()
        case .schema(let renames): noteSchema(renames: renames)
        case .analyze:
            resolver.forgetStatements()
            for name in ["sqlite_stat1", "sqlite_stat3", "sqlite_stat4"] {
                statement.changes.tables[TableName(name, schema: "main")] = .unknown
            }
        case .outsideTransactions:
            resolver.forgetStatements()
            committed.changes.everything = true
        case .unknown:
            resolver.forgetStatements()
            statement.changes.everything = true
        }
    }

    func willChangeSchema(_ change: SchemaChange) {
        guard !isQueryingSchema else { return }
        switch change {
        case .table(let name):
            preparedSchema.tables[name] = .unknown
            preparedSchema.redefined.insert(SQLName(name.table))
        case .anything: preparedSchema.everything = true
        }
    }

    func didChange(
        _ operation: Connection.Operation, schema: UnsafePointer<CChar>, table: UnsafePointer<CChar>, rowid: Int64
    ) {
        reportedRowCount += 1
        let key = self.key(schema, table)
        statement.changes.tables[key, default: .init()].insert(rowid)
        if operation != .update { statement.changes.tables[key]?.columns = nil }
    }

    func didWriteBlob(schema: String, table: String, rowid: Int64) {
        let key = TableName(table, schema: schema)
        // Not part of a statement: it counts at once, also for columns generated from the blob.
        levels[levels.count - 1].changes.changes.tables[key, default: .init()].insert(rowid)
        levels[levels.count - 1].changes.changes.tables[key]?.columns = nil
    }

    func willCommit() { isCommitting = true }

    func didRollBack() {
        isCommitting = false
        statement = TransactionChanges()
        reportedRowCount = 0
        forgetTransaction()
        resolver.forgetStatements()
    }

    private func forgetTransaction() {
        levels = [("", TransactionChanges())]
        lastText = []
    }

    /// Adds the changes of the previous statement, which has ended, to the transaction.
    ///
    /// - Parameter isNested: whether it has not ended: a function, trigger or virtual table runs another one within it.
    private func settle(isNested: Bool) {
        guard !isNested else { return }
        let now = connection.totalChangedRowCount
        let counted = now - total
        total = now
        if counted > reportedRowCount { statement.hasUnreportedRows = true }
        // It failed, and its changes were rolled back.
        if counted == 0, reportedRowCount > 0, !statement.changes.everything { statement = TransactionChanges() }
        if !statement.isEmpty { levels[levels.count - 1].changes.merge(statement) }
        statement = TransactionChanges()
        reportedRowCount = 0
        guard isCommitting, !connection.isInTransaction else { return }
        for level in levels { committed.merge(level.changes) }
        forgetTransaction()
        isCommitting = false
    }

    private func kind(of text: String) -> StatementKind {
        let key = ExactText(text)
        if let known = kinds[key] { return known }
        if kinds.count > 500 { kinds = [:] }
        let kind = StatementKind(text)
        kinds[key] = kind
        return kind
    }

    private func noteSchema(renames: Bool) {
        resolver.forgetStatements()
        // It was prepared before the observation began, or several were prepared at once.
        if renames || preparedSchema.isEmpty { preparedSchema.everything = true }
        preparedSchema.tables[TableName("sqlite_master", schema: "main")] = .unknown
        statement.changes.merge(preparedSchema)
        statement.changesSchema = true
        preparedSchema = ChangeSet()
    }

    /// The innermost savepoint of a name; never the transaction itself.
    private func index(of name: String) -> Int? {
        guard let index = levels.lastIndex(where: { isSameName($0.name, name) }), index > 0 else { return nil }
        return index
    }

    private func key(_ schema: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>) -> TableName {
        if !lastName.isEmpty, strcmp(lastName, table) == 0, strcmp(lastSchema, schema) == 0 { return lastKey }
        lastName = Array(UnsafeBufferPointer(start: table, count: strlen(table) + 1))
        lastSchema = Array(UnsafeBufferPointer(start: schema, count: strlen(schema) + 1))
        lastKey = TableName(String(cString: table), schema: String(cString: schema))
        return lastKey
    }
}
