internal import CEngineSupport
internal import LiteVaultEngine

/// The prepared statements that a connection caches: the most recently used ones, by their SQL text.
///
/// It caches statements that are safe to run again later: queries, changes and transaction control. Never a PRAGMA (it
/// may take effect while it is prepared, including keys), ATTACH or a change of the schema.
struct StatementCache {
    private var statements: [String: PreparedStatement] = [:]
    /// The statement of the last lookup: for code that repeats one statement, its text is not even hashed.
    private var last: PreparedStatement?
    private var uses: UInt64 = 0
    let capacity = 64

    /// The statement for this text, if it is cached and not in use. It stays in the cache.
    mutating func statement(for sql: String) -> PreparedStatement? {
        if let last, !last.isInUse, last.isOf(sql) { return last }
        guard let found = statements[sql], !found.isInUse, found.isOf(sql) else { return nil }
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
    mutating func remove(_ sql: String) -> PreparedStatement? {
        guard let found = statements[sql], !found.isInUse, found.isOf(sql) else { return nil }
        remove(found)
        return found
    }

    /// Caches an unused statement. Returns the one that has to be dropped: this one, or the least recently used.
    mutating func insert(_ statement: PreparedStatement) -> PreparedStatement? {
        guard statement.isCacheable, statements[statement.sql] == nil else { return statement }
        uses += 1
        statement.lastUse = uses
        var evicted: PreparedStatement?
        if statements.count >= capacity {
            evicted = statements.values.filter { !$0.isInUse }.min { $0.lastUse < $1.lastUse }
            guard let evicted else { return statement }
            remove(evicted)
        }
        statements[statement.sql] = statement
        statement.isCached = true
        return evicted
    }

    private mutating func remove(_ statement: PreparedStatement) {
        statements[statement.sql] = nil
        statement.isCached = false
        if last === statement { last = nil }
    }

    /// Removes all statements that are not in use.
    mutating func removeAll() -> [PreparedStatement] {
        let idle = statements.values.filter { !$0.isInUse }
        for statement in idle { remove(statement) }
        return idle
    }

    /// Whether a statement that begins like this may be cached.
    static func isCacheable(_ sql: String) -> Bool {
        for token in SQLTokens(sql) {
            switch token.kind {
            case .space, .comment: continue
            case .word:
                return [
                    "SELECT", "VALUES", "WITH", "INSERT", "REPLACE", "UPDATE", "DELETE", "BEGIN", "COMMIT", "END",
                    "ROLLBACK",
                ].contains(token.text.uppercased())
            default: return false
            }
        }
        return false
    }
}

extension Connection {
    /// Takes a statement from the cache, or prepares one, and marks it as in use until `checkIn`. Called under the
    /// lock.
    func checkOut(_ sql: String) throws -> PreparedStatement {
        let statement = try cache.statement(for: sql) ?? compileForUse(sql)
        statement.isInUse = true
        return statement
    }

    private func compileForUse(_ sql: String) throws -> PreparedStatement {
        guard let statement = try compile(sql) else { throw DatabaseError(misuse: "the SQL text is empty", sql: sql) }
        if statement.isCacheable, let evicted = cache.insert(statement), evicted !== statement {
            sqlite3_finalize(evicted.handle)
        }
        return statement
    }

    /// Ends the use of a statement that was checked out. Called under the lock.
    func checkIn(_ statement: PreparedStatement) {
        statement.isInUse = false
        statement.reset()
        if !statement.isCached { sqlite3_finalize(statement.handle) }
    }

    /// Prepares one statement; nil when the text contains none. Called under the lock.
    func compile(_ sql: String) throws -> PreparedStatement? {
        guard let db else { throw DatabaseError(misuse: "the connection is closed", sql: sql) }
        try requireUntracedExport(sql)
        let isCacheable = StatementCache.isCacheable(sql)
        var handle: OpaquePointer?
        var text = sql
        let (code, rest) = text.withUTF8 { utf8 -> (Int32, String) in
            utf8.withMemoryRebound(to: CChar.self) { bytes in
                guard let start = bytes.baseAddress else { return (SQLITE_OK, "") }
                var tail: UnsafePointer<CChar>?
                let code = lv_prepare(db, start, Int32(clamping: bytes.count), isCacheable, &handle, &tail)
                guard let tail, tail > start, tail < start + bytes.count else { return (code, "") }
                let remaining = UnsafeRawBufferPointer(start: tail, count: start + bytes.count - tail)
                return (code, String(decoding: remaining, as: UTF8.self))
            }
        }
        try checkPrepared(code, sql: sql)
        guard let handle else { return nil }
        guard !Self.holdsStatement(rest) else {
            sqlite3_finalize(handle)
            throw DatabaseError(misuse: "the text holds more than one statement: use execute(_:) for several", sql: sql)
        }
        return PreparedStatement(handle: handle, sql: sql, isCacheable: isCacheable)
    }

    /// Whether anything but white space, comments and semicolons follows a statement.
    private static func holdsStatement(_ rest: String) -> Bool {
        SQLTokens(rest).contains { token in
            switch token.kind {
            case .space, .comment: false
            default: token.text != ";" && token.text != "\0"
            }
        }
    }

    /// SQLCipher 3 crashes when it exports while a trace is installed (sqlcipher issue 216).
    func requireUntracedExport(_ sql: String) throws {
        guard hooks.tracing != nil, EngineInfo.linked.sqlcipherMajorVersion == 3,
            sql.lowercased().contains("sqlcipher_export")
        else { return }
        throw DatabaseError(misuse: "SQLCipher 3 cannot export while a trace is installed: remove it first", sql: sql)
    }

    /// Caches or finalizes a statement whose owner was released. Called under the lock.
    func recycle(_ statement: PreparedStatement) {
        guard db != nil else { return }
        statement.isInUse = false
        statement.reset()
        if let evicted = cache.insert(statement) { sqlite3_finalize(evicted.handle) }
    }
}
