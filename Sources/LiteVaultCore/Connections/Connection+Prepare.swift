internal import CEngineSupport
internal import LiteVaultEngine

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
        if !isCacheable { forgetSchema(before: sql) }
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
        do { try check(code, sql: sql) } catch let error as DatabaseError {
            // An engine that is too old for the text is reported as such.
            throw EngineRequirement.unmet(by: sql, error) ?? error
        }
        guard let handle else { return nil }
        // The engine ends the statement there, and the rest, such as a condition, would be missing.
        if let end = rest.utf8.firstIndex(of: 0), Self.holdsStatement(String(rest[end...])) {
            sqlite3_finalize(handle)
            throw DatabaseError(misuse: "the SQL text contains a NUL", sql: sql)
        }
        // SQLite.swift runs the first statement of a text and ignores the others; clients of it rely on that.
        guard isDropIn || !Self.holdsStatement(rest) else {
            sqlite3_finalize(handle)
            throw DatabaseError(misuse: "the text holds more than one statement: use execute(_:) for several", sql: sql)
        }
        return PreparedStatement(handle: handle, sql: sql, isCacheable: isCacheable)
    }

    /// Whether anything but white space, comments and semicolons follows a statement.
    private static func holdsStatement(_ rest: String) -> Bool {
        SQLTokens(rest).contains { token in
            token.isSignificant && token.text != ";" && token.text != "\0"
        }
    }

    /// Lets `PRAGMA encoding` do what it is documented to: nothing in a file that has an encoding.
    ///
    /// The engine lets the encoding of a file be changed whose tables were all dropped, if it has read its schema. It then writes text that no
    /// connection can read: its header keeps the former encoding, which counts when the schema is read again.
    func forgetSchema(before sql: String) {
        guard Self.setsEncoding(sql) else { return }
        trusted { _ = sqlite3_exec(db, "PRAGMA writable_schema = RESET", nil, nil, nil) }
    }

    /// Whether a text begins with statements that set an encoding: scripts do so before their first table.
    private static func setsEncoding(_ sql: String) -> Bool {
        guard sql.utf8.withContiguousStorageIfAvailable(Self.mentionsEncoding) ?? true else { return false }
        let words = SQLTokens(String(decoding: sql.utf8.prefix(searchedLength), as: UTF8.self)).filter(\.isSignificant)
        return words.indices.contains { index in
            guard words[index].kind == .word, isSameName(words[index].text, "PRAGMA") else { return false }
            // PRAGMA NAME, or PRAGMA SCHEMA . NAME
            let name = words.dropFirst(index + 1).dropFirst(words.dropFirst(index + 2).first?.text == "." ? 2 : 0)
            return isSameName(name.first?.unquoted ?? "", "encoding")
                && ["=", "("].contains(name.dropFirst().first?.text)
        }
    }

    private static let searchedLength = 4096

    /// Whether the word is at the beginning of a text, without a copy of it: most texts do not have it.
    private static func mentionsEncoding(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let word: StaticString = "encoding"
        let count = word.utf8CodeUnitCount
        let length = min(text.count, searchedLength)
        guard length >= count else { return false }
        return (0...length - count).contains { start in
            (0..<count).allSatisfy { text[start + $0] | 0x20 == word.utf8Start[$0] }
        }
    }

    /// SQLCipher 3 crashes when it exports while a trace is installed (sqlcipher issue 216).
    func requireUntracedExport(_ sql: String) throws {
        guard hooks.tracing != nil, EngineInfo.linked.sqlcipherMajorVersion == 3,
            foldedName(sql).contains("sqlcipher_export")
        else { return }
        throw DatabaseError(misuse: "SQLCipher 3 cannot export while a trace is installed: remove it first", sql: sql)
    }

    /// Caches or finalizes a statement whose owner was released. Called under the lock.
    func recycle(_ statement: PreparedStatement) {
        // A pending end of an iteration over it no longer applies.
        statement.execution &+= 1
        guard db != nil else { return }
        statement.isInUse = false
        statement.reset()
        if let evicted = cache.insert(statement) { sqlite3_finalize(evicted.handle) }
    }
}
