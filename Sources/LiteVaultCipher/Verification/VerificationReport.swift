/// What verifying a database found.
public struct VerificationReport: Sendable, Equatable {
    /// What the file is, by its bytes.
    public internal(set) var kind: FileKind
    /// The page size in bytes; 0 when it could not be found out.
    public internal(set) var pageSize = 0
    /// The size of the file in bytes, without its log.
    public internal(set) var fileSize: Int64 = 0
    /// How many pages of the file had their authentication code verified; nil for a plaintext database, and where the
    /// pages have none (HMAC off, SQLCipher 1).
    public internal(set) var authenticatedPages: Int?
    /// How many pages in the write-ahead log belong to committed transactions.
    public internal(set) var logPages = 0
    /// A log or journal beside the file that is to be read with it, if there is one.
    public internal(set) var pending: PendingLog?
    /// Everything that is wrong, in the order in which it was found.
    public internal(set) var problems: [Problem] = []

    /// What could not be checked, and why: the schema may need a collation or function of the database's application.
    public internal(set) var unchecked: [String] = []

    /// Whether nothing is wrong.
    public var isIntact: Bool { problems.isEmpty }

    init(kind: FileKind) { self.kind = kind }

    /// Something that is wrong.
    public struct Problem: Sendable, Equatable, CustomStringConvertible {
        /// What kind of problem it is.
        public let kind: Kind
        /// The page it is about, from 1.
        public let page: UInt32?
        /// What is wrong, as a sentence.
        public let message: String

        init(_ kind: Kind, _ message: String, page: UInt32? = nil) {
            self.kind = kind
            self.page = page
            self.message = message
        }

        /// The same as ``message``.
        public var description: String { message }
    }

    /// The kinds of problem.
    public enum Kind: String, Sendable, CaseIterable {
        /// A page of the file does not match its authentication code: damaged, or not written by a holder of the key.
        case page
        /// The end of the file is missing.
        case truncated
        /// There is something behind the end of the database.
        case excess
        /// The write-ahead log is damaged, or belongs to another database.
        case log
        /// The engine's `integrity_check` or the engine itself complained.
        case structure
        /// A foreign key leads nowhere (`foreign_key_check`).
        case foreignKey = "foreign-key"
    }

    mutating func add(_ kind: Kind, _ message: String, page: UInt32? = nil) {
        problems.append(Problem(kind, message, page: page))
    }
}
