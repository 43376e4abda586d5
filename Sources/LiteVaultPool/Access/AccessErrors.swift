public import LiteVaultCore

// What a pool or queue refuses. The database is unchanged.
extension VaultError.Code {
    /// An access inside another access of the same database, on the same thread: it would deadlock.
    public static let reentrant = Self(rawValue: "reentrant")
    /// The pool or queue was closed.
    public static let closed = Self(rawValue: "closed")
    /// The pool or queue is suspended, or was suspended during the access.
    public static let suspended = Self(rawValue: "suspended")
    /// A closure returned without ending the transaction that it had begun, which was rolled back.
    public static let transactionLeftOpen = Self(rawValue: "transaction-left-open")
}

extension VaultError {
    static func reentrant(_ path: String) -> VaultError {
        access(
            .reentrant, "The database is accessed inside another access to it", path,
            "Use the connection passed to the closure, or start the access after the closure has returned.")
    }

    static func closed(_ path: String) -> VaultError {
        access(.closed, "The database was closed", path, "Open it again.")
    }

    static func suspended(_ path: String) -> VaultError {
        access(
            .suspended, "The database is suspended, so that no lock is held on it", path,
            "Call resume(), and start the access again.")
    }

    static func transactionEnded(_ path: String) -> VaultError {
        access(
            .transactionEnded, "The transaction ended before its closure; later statements were rejected",
            path, "Rethrow errors in the closure: some roll everything back. Leave COMMIT and ROLLBACK to the access.")
    }

    static func transactionLeftOpen(_ path: String) -> VaultError {
        access(
            .transactionLeftOpen, "A closure left a transaction open, which was rolled back", path,
            "Commit it, or use transaction(_:block:).")
    }

    /// - Parameter path: empty for a database in memory.
    private static func access(_ code: Code, _ message: String, _ path: String, _ remedy: String) -> VaultError {
        VaultError(code, message, path: path.isEmpty ? nil : path, remedy: remedy)
    }
}
