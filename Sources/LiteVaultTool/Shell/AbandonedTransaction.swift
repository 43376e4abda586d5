internal import LiteVaultCore
internal import LiteVaultQuoting

/// A transaction that was rolled back because something in it failed, in a script that continues after errors. What is left of it
/// is not run: its COMMIT would store one half without the other.
struct AbandonedTransaction {
    /// The savepoint that began it, whose RELEASE then ends it; nil for BEGIN.
    ///
    /// Savepoints inside a transaction end nothing: they are left out with the rest.
    private let savepoint: SQLName?

    /// Rolls back the transaction in which something has failed. The engine may have done so.
    ///
    /// - Parameter opening: the statement that began it; nil if that is not known.
    init(of connection: Connection, begunBy opening: String?) {
        if connection.isInTransaction { try? connection.execute("ROLLBACK") }
        let words = Self.words(opening ?? "")
        savepoint = words.first == "savepoint" && words.count > 1 ? SQLName(words[1]) : nil
    }

    /// Whether a statement would have ended the transaction.
    func isEnded(by sql: String) -> Bool {
        let words = Self.words(sql)
        switch words.first {
        case "commit", "end": return true
        // ROLLBACK TO a savepoint stays in the transaction.
        case "rollback": return !words.contains("to")
        case "release":
            guard let savepoint, let name = words.last else { return false }
            return SQLName(name) == savepoint
        default: return false
        }
    }

    /// The first words of a statement, in lower case and without quotes. No more are needed for those about transactions, and a
    /// script may have statements of megabytes.
    private static func words(_ sql: String) -> [String] {
        Array(
            SQLTokens(sql).lazy.filter { $0.isSignificant && $0.text != ";" }
                .map { foldedName($0.unquoted) }.prefix(5))
    }
}
