extension Connection {
    /// Attaches a database under a name (`ATTACH DATABASE`).
    ///
    /// With SQLCipher, a database attached to an encrypted one is expected, or created, under the main database's key.
    ///
    /// - Parameters:
    ///   - location: created when it is missing, as by opening it.
    ///   - schemaName: the name for use in SQL: any text.
    /// - Throws: `DatabaseError`, for example when the name is taken, or when a new file would be plaintext although the main
    ///   database is encrypted. Nothing is attached then.
    public func attach(_ location: Location, as schemaName: String) throws {
        try location.refuseNUL()
        try withLock {
            try Statement(self, sql: "ATTACH DATABASE ? AS \(quoted(schemaName, by: "'"))").run(location.description)
            try refuseAccidentalPlaintext(schemaName)
        }
    }

    /// SQLCipher 3 hands the main database's key on only after it read or wrote a page with it: a new file attached to a
    /// new encrypted database would be plaintext.
    private func refuseAccidentalPlaintext(_ schemaName: String) throws {
        guard EngineInfo.linked.sqlcipherMajorVersion == 3, try scalar("PRAGMA main.cipher_provider") != nil,
            try scalar("PRAGMA \(quoted(schemaName)).cipher_provider") == nil,
            try integer("\(quoted(schemaName)).page_count") == 0
        else { return }
        try detach(schemaName)
        throw DatabaseError(
            misuse: "the new file would be plaintext beside an encrypted database: attach it with a key")
    }

    /// Detaches a database (`DETACH DATABASE`).
    ///
    /// - Throws: `DatabaseError` when there is none of that name, or statements are using it.
    public func detach(_ schemaName: String) throws {
        try withLock {
            // A cached statement on the database would keep it busy.
            finalizeCache()
            try Statement(self, sql: "DETACH DATABASE \(quoted(schemaName, by: "'"))").run()
        }
    }
}

/// A name as an SQL identifier, whatever characters it holds.
package func quoted(_ identifier: String) -> String { quoted(identifier, by: "\"") }

/// A text in quotes, those within it doubled.
///
/// By Unicode scalars, as SQLite reads it: a quote with a combining accent is one `Character`, and no quote among those.
func quoted(_ text: String, by quote: Unicode.Scalar) -> String {
    var result = String.UnicodeScalarView()
    result.append(quote)
    for scalar in text.unicodeScalars {
        if scalar == quote { result.append(quote) }
        result.append(scalar)
    }
    result.append(quote)
    return String(result)
}
