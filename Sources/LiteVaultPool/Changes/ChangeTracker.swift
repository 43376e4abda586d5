internal import Foundation
internal import LiteVaultCore

/// Takes down what a connection changes and commits. What is rolled back, be it a transaction, a savepoint or a statement
/// that failed, is forgotten.
///
/// The update hook tells rows, not columns, and rows of ordinary tables only. It leaves out tables WITHOUT ROWID, virtual
/// tables and a DELETE without WHERE, but the engine counts their rows. What it leaves out is asked of the authorizer when a
/// transaction is committed: see ``ChangeResolver``.
///
/// Only used by whoever has the connection, and from its callbacks, which run under its lock.
final class ChangeTracker: ConnectionObserver, @unchecked Sendable {  // guarded by the gate of the writer
    private unowned let connection: Connection
    private let resolver: ChangeResolver
    /// While this asks something itself.
    private var isQueryingSchema = false
    private var total: Int
    /// Of the statement that runs.
    private var statement = TransactionChanges()
    private var reportedRowCount = 0
    /// What statements change of the schema that were prepared and are yet to run.
    private var preparedSchema = ChangeSet()
    /// Of the transaction, and of each savepoint in it.
    private var levels: [(name: String, changes: TransactionChanges)] = [("", TransactionChanges())]
    private var isCommitting = false
    private var committed = TransactionChanges()
    /// The last table and the last text, which need not be looked at again.
    private var lastName: [CChar] = []
    private var lastSchema: [CChar] = []
    private var lastKey = TableName("", schema: "")
    private var lastText: [CChar] = []
    private var lastLevel = 0
    private var kinds: [String: StatementKind] = [:]

    /// - Parameter connection: not in a transaction.
    init(_ connection: Connection, _ schemaCache: SchemaCache) {
        self.connection = connection
        resolver = ChangeResolver(connection, schemaCache)
        total = connection.totalChanges
    }

    /// What was committed since this was asked last. Outside of transactions.
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
        // Only where it matters: it goes through all statements.
        settle(isNested: reportedRowCount > 0 && connection.totalChanges == total && isNested())
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
            levels[levels.count - 1].changes.note(text)
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
            // What was known of statements may have been of the schema that is gone.
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
            preparedSchema.redefined.insert(name.table)
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

    /// The statement before is over: takes over what it changed.
    ///
    /// - Parameter isNested: it is not: a function, a trigger or a virtual table runs another one in the middle of it.
    private func settle(isNested: Bool) {
        guard !isNested else { return }
        let now = connection.totalChanges
        let counted = now - total
        total = now
        if counted > reportedRowCount { statement.hasUnreportedRows = true }
        // It failed, and what it had changed until then was undone.
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
        if let known = kinds[text] { return known }
        if kinds.count > 500 { kinds = [:] }
        let kind = StatementKind(text)
        kinds[text] = kind
        return kind
    }

    private func noteSchema(renames: Bool) {
        resolver.forgetStatements()
        // It was prepared before somebody listened, or more than one were at once.
        if renames || preparedSchema.isEmpty { preparedSchema.everything = true }
        preparedSchema.tables[TableName("sqlite_master", schema: "main")] = .unknown
        statement.changes.merge(preparedSchema)
        statement.changesSchema = true
        preparedSchema = ChangeSet()
    }

    /// The innermost savepoint of a name; never the transaction itself.
    private func index(of name: String) -> Int? {
        guard let index = levels.lastIndex(where: { $0.name == name }), index > 0 else { return nil }
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
