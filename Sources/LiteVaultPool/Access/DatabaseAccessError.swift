/// An access that a pool or queue refuses. The database is unchanged.
public struct DatabaseAccessError: Error, Sendable {
    /// A kind of refusal. New kinds may be added: a `switch` needs a `default`.
    public enum Code: String, Sendable {
        /// An access inside another access of the same database, on the same thread: it would deadlock.
        case reentrant
        /// The pool or queue was closed.
        case closed
        /// A closure returned without ending the transaction that it had begun, which was rolled back.
        case transactionLeftOpen
        /// The transaction of a closure ended before the closure: an error rolled it back, or the closure ended it itself.
        /// Later statements were refused.
        case transactionEnded
    }

    /// The kind of refusal.
    public let code: Code
    /// A sentence that describes what happened.
    public let message: String
    /// The path of the database; empty for one in memory.
    public let path: String
    /// What to do next.
    public let remedy: String
}

extension DatabaseAccessError: CustomStringConvertible {
    /// The file, what happened and what to do.
    public var description: String { (path.isEmpty ? "" : path + ": ") + message + " " + remedy }
}

extension DatabaseAccessError {
    static func reentrant(_ path: String) -> DatabaseAccessError {
        DatabaseAccessError(
            code: .reentrant, message: "The database is accessed inside another access to it.", path: path,
            remedy: "Use the connection passed to the closure, or start the access after the closure has returned.")
    }

    static func closed(_ path: String) -> DatabaseAccessError {
        DatabaseAccessError(code: .closed, message: "The database was closed.", path: path, remedy: "Open it again.")
    }

    static func transactionEnded(_ path: String) -> DatabaseAccessError {
        DatabaseAccessError(
            code: .transactionEnded,
            message: "The transaction ended before its closure; later statements were rejected.",
            path: path,
            remedy: "Rethrow errors in the closure: some roll everything back. Leave COMMIT and ROLLBACK to the access."
        )
    }

    static func transactionLeftOpen(_ path: String) -> DatabaseAccessError {
        DatabaseAccessError(
            code: .transactionLeftOpen, message: "A closure left a transaction open, which was rolled back.",
            path: path,
            remedy: "Commit it, or use transaction(_:block:).")
    }
}
