internal import CEngineSupport
internal import LiteVaultEngine

/// The prepared statements that a connection caches: the most recently used ones, by their SQL text.
///
/// It caches statements that are safe to run again later: queries, changes and transaction control. Never a PRAGMA (it
/// may take effect while it is prepared, including keys), ATTACH or a change of the schema.
///
/// An object: each change of a struct in the connection would be an access to check for overlap with others.
final class StatementCache {
    private var statements: [ExactText: PreparedStatement] = [:]
    /// The statement of the last lookup: for code that repeats one statement, its text is not even hashed.
    private var last: PreparedStatement?
    private var uses: UInt64 = 0
    let capacity = 64

    /// The statement for this text, if it is cached and not in use. It stays in the cache.
    func statement(for sql: String) -> PreparedStatement? {
        if let last, !last.isInUse, last.isOf(sql) { return last }
        guard let found = statements[ExactText(sql)], !found.isInUse else { return nil }
        uses += 1
        found.lastUse = uses
        last = found
        return found
    }

    /// The statement of the last lookup, if it is for this text and not in use.
    func lastStatement(for utf8: UnsafeBufferPointer<UInt8>) -> PreparedStatement? {
        if let last, !last.isInUse, last.isOf(utf8) { return last }
        return nil
    }

    /// Removes the statement for this text from the cache, for an owner of its own.
    func remove(_ sql: String) -> PreparedStatement? {
        guard let found = statements[ExactText(sql)], !found.isInUse else { return nil }
        remove(found)
        return found
    }

    /// Caches an unused statement. Returns the one that has to be dropped: this one, or the least recently used.
    func insert(_ statement: PreparedStatement) -> PreparedStatement? {
        guard statement.isCacheable, statements[ExactText(statement.sql)] == nil else { return statement }
        uses += 1
        statement.lastUse = uses
        var evicted: PreparedStatement?
        if statements.count >= capacity {
            guard let oldest else { return statement }
            remove(oldest)
            evicted = oldest
        }
        statements[ExactText(statement.sql)] = statement
        statement.isCached = true
        return evicted
    }

    /// The statement that was not used for the longest time; nil if all are in use.
    private var oldest: PreparedStatement? {
        var oldest: PreparedStatement?
        // A loop, without an array of all of them: a script drops one for each of its statements.
        for statement in statements.values where !statement.isInUse && statement.lastUse < oldest?.lastUse ?? .max {
            oldest = statement
        }
        return oldest
    }

    private func remove(_ statement: PreparedStatement) {
        statements[ExactText(statement.sql)] = nil
        statement.isCached = false
        if last === statement { last = nil }
    }

    /// Removes all statements that are not in use.
    func removeAll() -> [PreparedStatement] {
        let idle = statements.values.filter { !$0.isInUse }
        for statement in idle { remove(statement) }
        return idle
    }

    static func isCacheable(_ sql: String) -> Bool {
        for token in SQLTokens(sql) {
            switch token.kind {
            case .space, .comment: continue
            case .word:
                return [
                    "SELECT", "VALUES", "WITH", "INSERT", "REPLACE", "UPDATE", "DELETE", "BEGIN", "COMMIT", "END",
                    "ROLLBACK",
                ].contains(foldedKeyword(token.text))
            default: return false
            }
        }
        return false
    }
}
