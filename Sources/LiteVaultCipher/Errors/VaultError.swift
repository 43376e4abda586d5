/// What a file operation or an unlock failed with.
///
/// Each error names the file it is about and what to do about it. It never holds a key, and nothing it prints does.
public struct VaultError: Error, Sendable {
    /// What kind of failure this is.
    public var code: Code
    /// What happened, as a sentence without the path and without the remedy.
    public var message: String
    /// The file that the error is about.
    public var path: String?
    /// The error of the layer below, if one led to this.
    public var cause: (any Error)?
    /// What the caller can do about it, as a sentence.
    public var remedy: String?

    /// Makes an error.
    public init(
        _ code: Code, _ message: String, path: String? = nil, cause: (any Error)? = nil, remedy: String? = nil
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.cause = cause
        self.remedy = remedy
    }
}

extension VaultError {
    /// The kinds of failure. New kinds may be added; `switch` over them with a `default`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case damaged
            case noInput = "no-input"
            case wrongKind = "wrong-kind"
            case noEncryption = "no-encryption"
            case unsupported
            case cannotCreate = "cannot-create"
            case io
            case noSpace = "no-space"
            case busy
            case keyRejected = "key-rejected"
            case usage
            case internalFailure = "internal"
        }

        private let kind: Kind

        private init(_ kind: Kind) { self.kind = kind }

        /// The data is damaged, or a verification failed.
        public static let damaged = Code(.damaged)
        /// The source is missing.
        public static let noInput = Code(.noInput)
        /// The source is not a database of the kind that was asked for.
        public static let wrongKind = Code(.wrongKind)
        /// The linked engine does not encrypt.
        public static let noEncryption = Code(.noEncryption)
        /// The linked engine encrypts, but its version lacks what was asked for.
        public static let unsupported = Code(.unsupported)
        /// The destination exists, has another database's leftovers beside it, or cannot be created.
        public static let cannotCreate = Code(.cannotCreate)
        /// Input or output failed.
        public static let io = Code(.io)
        /// The disk is full.
        public static let noSpace = Code(.noSpace)
        /// The database is locked or in use by somebody else.
        public static let busy = Code(.busy)
        /// The key is missing, wrong or malformed.
        public static let keyRejected = Code(.keyRejected)
        /// The call itself was wrong.
        public static let usage = Code(.usage)
        /// A failure that no other code describes.
        public static let internalFailure = Code(.internalFailure)

        /// The code's stable name, as the command line prints it: `key-rejected`.
        public var name: String { kind.rawValue }

        /// The same as ``name``.
        public var description: String { name }
    }
}

extension VaultError: CustomStringConvertible {
    /// One sentence or more: the file, what happened, what can be done.
    public var description: String {
        var text = path.map { "\($0): " } ?? ""
        text += message
        if !text.hasSuffix(".") { text += "." }
        if let remedy { text += " " + remedy }
        return text
    }
}
