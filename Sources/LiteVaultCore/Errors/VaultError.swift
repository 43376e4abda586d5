/// The error of this package: whatever is not a result code of the engine (``DatabaseError``) or an unsuitable column or value
/// (``QueryError``).
///
/// All targets throw this one type. Its ``code`` says what kind of failure it is, and each target adds codes of its own:
///
/// ```swift
/// do {
///     let db = try Connection("vault.db", key: key)
///     …
/// } catch let error as VaultError where error.code == .keyRejected {
///     …
/// }
/// ```
///
/// What a program may want to know beyond that is a typed ``cause``: the engine's ``DatabaseError``, an ``EngineInfo/UnsupportedFeature``
/// with the required version, or the error that a migration threw. Neither the error nor its description contains a key.
public struct VaultError: Error, Sendable {
    /// The kind of failure.
    public let code: Code
    /// What happened, without the path and the remedy.
    public let message: String
    /// The file, directory or object that the error is about, where there is one.
    public private(set) var path: String?
    /// What the caller can do about it: one or more sentences.
    public let remedy: String?
    /// The underlying error, if any.
    public let cause: (any Error)?
    /// The remedy as a value that a program words in its own terms, where a target has a type for that.
    package private(set) var typedRemedy: (any Sendable & CustomStringConvertible)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: what happened, without the path and the remedy.
    ///   - path: the file, directory or object that it is about.
    ///   - remedy: what the caller can do about it. It is worded in terms of the library, without options of a command line.
    ///   - cause: the underlying error.
    public init(
        _ code: Code, _ message: String, path: String? = nil, remedy: String? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.remedy = remedy
        self.cause = cause
    }

    /// Creates an error with a remedy that a program may word itself.
    package init(
        _ code: Code, _ message: String, path: String?, typedRemedy: (any Sendable & CustomStringConvertible)?,
        cause: (any Error)? = nil
    ) {
        self.init(code, message, path: path, remedy: typedRemedy?.description, cause: cause)
        self.typedRemedy = typedRemedy
    }

    /// The same error about another file.
    package func at(_ path: String) -> VaultError {
        var error = self
        error.path = path
        return error
    }
}

extension VaultError: CustomStringConvertible {
    /// The path, what happened and the remedy.
    public var description: String {
        var text = path.map { "\($0): " } ?? ""
        text += message
        if !text.hasSuffix(".") { text += "." }
        if let remedy { text += " " + remedy }
        return text
    }
}

extension VaultError {
    /// A kind of failure, by a stable name. Each target adds its own, and new ones may be added: a `switch` needs a `default`.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The stable name, as printed by the command line: `key-rejected`.
        public let rawValue: String

        /// A code by its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The same as ``rawValue``.
        public var description: String { rawValue }
    }
}

// What several targets have in common.
extension VaultError.Code {
    /// The data is damaged, or a verification failed.
    public static let damaged = Self(rawValue: "damaged")
    /// The source is missing.
    public static let noInput = Self(rawValue: "no-input")
    /// The source is not a database of the expected kind.
    public static let wrongKind = Self(rawValue: "wrong-kind")
    /// The linked engine, the file system or the store does not support the request.
    public static let unsupported = Self(rawValue: "unsupported")
    /// The destination exists, has the journal or log of another database beside it, or cannot be created.
    public static let cannotCreate = Self(rawValue: "cannot-create")
    /// Input or output failed.
    public static let io = Self(rawValue: "io")
    /// The disk is full.
    public static let noSpace = Self(rawValue: "no-space")
    /// It is locked, or in use by another connection, process or machine.
    public static let busy = Self(rawValue: "busy")
    /// The arguments are invalid.
    public static let usage = Self(rawValue: "usage")
    /// Any other failure.
    public static let internalFailure = Self(rawValue: "internal")
    /// The call has to be made outside of a transaction.
    public static let insideTransaction = Self(rawValue: "inside-transaction")
    /// The transaction of a closure or migration ended before it did: an error rolled it back, or it ended it itself. Later
    /// statements of a closure were refused; changes that a migration committed stay, and it is not recorded.
    public static let transactionEnded = Self(rawValue: "transaction-ended")
}
