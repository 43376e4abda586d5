internal import Foundation
internal import LiteVaultCore

/// Takes down what a connection changes and commits. What is rolled back, be it a transaction, a savepoint or a statement
/// that failed, is forgotten.
///
/// The engine tells of rows of ordinary tables only. It leaves out tables WITHOUT ROWID, virtual tables and a DELETE
/// without WHERE, but counts their rows: a statement that changed more rows than it told of changed something unknown.
///
/// Only used by whoever has the connection, and from its callbacks, which run under its lock.
final class ChangeTracker: ConnectionObserver, @unchecked Sendable {  // guarded by the gate of the writer
    private unowned let connection: Connection
    private var total: Int
    /// Of the statement that runs.
    private var statement = ChangeSet()
    private var toldRows = 0
    /// Of the transaction, and of each savepoint in it.
    private var levels: [(name: String, changes: ChangeSet)] = [("", ChangeSet())]
    private var isCommitting = false
    private var committed = ChangeSet()
    /// The last table, whose name need not be converted again.
    private var lastName: [CChar] = []
    private var lastSchema: [CChar] = []
    private var lastKey = ""

    init(_ connection: Connection) {
        self.connection = connection
        total = connection.totalChanges
    }

    /// What was committed since this was asked last.
    func takeCommitted() -> ChangeSet {
        settle()
        if !connection.isInTransaction { levels = [("", ChangeSet())] }
        defer { committed = ChangeSet() }
        return committed
    }

    func willRun(_ sql: UnsafePointer<CChar>) {
        // A statement of a trigger is part of the one that fired it.
        guard !(sql[0] == 0x2d && sql[1] == 0x2d) else { return }
        settle()
        let first = UInt8(bitPattern: sql[0]) | 0x20
        // SELECT, INSERT, UPDATE, BEGIN … need no second look.
        guard !"iubpw".utf8.contains(first) else { return }
        note(String(cString: sql))
    }

    func didChange(
        _ operation: Connection.Operation, schema: UnsafePointer<CChar>, table: UnsafePointer<CChar>, rowid: Int64
    ) {
        toldRows += 1
        statement.tables[key(schema, table), default: .init()].insert(rowid)
    }

    func willCommit() { isCommitting = true }

    func didRollBack() {
        isCommitting = false
        statement = ChangeSet()
        toldRows = 0
        levels = [("", ChangeSet())]
    }

    /// The statement before is over: takes over what it changed.
    private func settle() {
        let now = connection.totalChanges
        let counted = now - total
        total = now
        if counted > toldRows { statement.everything = true }
        // It failed, and what it had changed until then was undone.
        if counted == 0, toldRows > 0, !statement.everything { statement = ChangeSet() }
        if !statement.isEmpty { levels[levels.count - 1].changes.merge(statement) }
        statement = ChangeSet()
        toldRows = 0
        guard isCommitting, !connection.isInTransaction else { return }
        for level in levels { committed.merge(level.changes) }
        levels = [("", ChangeSet())]
        isCommitting = false
    }

    /// Savepoints, which no hook tells of, and changes of the schema.
    private func note(_ sql: String) {
        var words: [SQLTokens.Token] = []
        for token in SQLTokens(sql) where token.kind != .space && token.kind != .comment {
            words.append(token)
            if words.count == 5 { break }
        }
        let keywords = words.map { $0.text.uppercased() }
        switch keywords.first {
        case "SAVEPOINT": if words.count > 1 { levels.append((words[1].unquoted.lowercased(), ChangeSet())) }
        case "RELEASE":
            guard let name = words.dropFirst().first(where: { $0.text.uppercased() != "SAVEPOINT" }),
                let index = index(of: name.unquoted)
            else { return }
            while levels.count > index {
                let last = levels.removeLast()
                levels[levels.count - 1].changes.merge(last.changes)
            }
        case "ROLLBACK":
            guard let to = keywords.firstIndex(of: "TO"),
                let name = words.dropFirst(to + 1).first(where: { $0.text.uppercased() != "SAVEPOINT" }),
                let index = index(of: name.unquoted)
            else { return }
            levels.removeLast(levels.count - index - 1)
            levels[index].changes = ChangeSet()
        case "CREATE", "DROP", "ALTER": statement.everything = true
        default: break
        }
    }

    /// The innermost savepoint of a name; never the transaction itself.
    private func index(of name: String) -> Int? {
        let name = name.lowercased()
        guard let index = levels.lastIndex(where: { $0.name == name }), index > 0 else { return nil }
        return index
    }

    private func key(_ schema: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>) -> String {
        if !lastName.isEmpty, strcmp(lastName, table) == 0, strcmp(lastSchema, schema) == 0 { return lastKey }
        lastName = Array(UnsafeBufferPointer(start: table, count: strlen(table) + 1))
        lastSchema = Array(UnsafeBufferPointer(start: schema, count: strlen(schema) + 1))
        lastKey = DatabaseRegion.key(String(cString: table), schema: String(cString: schema))
        return lastKey
    }
}
