internal import LiteVaultCore

extension DatabaseFile {
    /// Verifies the whole database: the authentication codes of all pages in the file and in the write-ahead log, the log's
    /// checksums, the file's length, the structure (`integrity_check`), the foreign keys (`foreign_key_check`), and that full-text
    /// indexes agree with their content (`integrity-check` of FTS4 and FTS5).
    ///
    /// The database may be in use. Nothing is repaired, written or removed: the database is verified as the next connection
    /// would find it, read through a pending log or journal.
    ///
    /// No check inside a file can detect that the file, or a page of it, was replaced by an older version of itself.
    ///
    /// - Parameters:
    ///   - key: the key; nil for a plaintext database.
    ///   - settings: the settings that the file is encrypted with.
    ///   - progress: called periodically; throws to cancel.
    /// - Returns: the problems found. A damaged database is a result, not an error, and so are foreign keys that refer to missing rows
    ///   (``DatabaseFile/VerificationReport/foreignKeyViolations``).
    /// - Throws: ``VaultError`` when the database cannot be verified: `keyRejected` for a wrong key, unless some page proves
    ///   the key; `unsupported` if the engine cannot parse the schema, which a newer SQLite may have written, and no page is damaged; `noInput`, `wrongKind`, `busy`, `io` and others.
    public func verify(
        key: DatabaseKey? = nil, settings: CipherSettings = .init(), progress: Progress.Report? = nil
    ) throws -> VerificationReport {
        let unlocker = try unlocker(key, settings)
        let file = try resolved()
        var verification = Verification(
            file: file, unlocker: unlocker, report: VerificationReport(kind: try file.kind()),
            progress: progress ?? { _ in })
        // First, and without a connection: SQLite would replay a log that belongs to another database.
        if try verification.logIsDangerous() { return verification.report }
        do {
            return try file.withoutWriting(unlocker) { connection, image in
                var verification = verification
                verification.report.pending = image.pending
                try connection.reading {
                    try verification.examine(connection)
                    try verification.checkFullText(connection, image)
                }
                return verification.report
            }
        } catch let error as VaultError where error.code == .damaged {
            try verification.examineUnopened(error)
        } catch let error as VaultError where (error.cause as? DatabaseError)?.isUnreadableDefinition == true {
            try verification.examinePages(besides: error)
        }
        return verification.report
    }
}

extension DatabaseFile {
    /// The result of verifying a database.
    public struct VerificationReport: Sendable, Equatable {
        /// The kind of the file, by its bytes.
        public internal(set) var kind: FileKind
        /// The page size in bytes; 0 when it is unknown.
        public internal(set) var pageSize = 0
        /// The size of the file in bytes, without its log.
        public internal(set) var fileSize: Int64 = 0
        /// The number of pages in the file whose authentication code is correct; nil for a plaintext database, and where pages
        /// have no code (HMAC off, SQLCipher 1).
        public internal(set) var authenticatedPages: Int?
        /// The number of pages of committed transactions in the write-ahead log.
        public internal(set) var logPages = 0
        /// The log or journal that has to be read with the file, if there is one.
        public internal(set) var pending: PendingLog?
        /// All problems, in the order in which they were found.
        public internal(set) var problems: [Problem] = []

        /// The foreign keys that refer to missing rows (`foreign_key_check`), at most 100 of them and a last entry with the number of the others.
        ///
        /// SQLite allows them while foreign keys are off, which is its default, so they are not damage and do not count as
        /// ``problems``: a copy or a restore has the same ones.
        public internal(set) var foreignKeyViolations: [Problem] = []

        /// The checks that could not be run, of the kinds `structure` and `foreignKey`, and why: the schema may need a collation or
        /// function of the database's application.
        public internal(set) var unchecked: [Problem] = []

        /// Whether `integrity_check` ran on the database as a whole. Where that needs what only the application has, it ran on the tables that
        /// do not need it, one by one; ``unchecked`` has the others.
        public internal(set) var isWholeStructureChecked = true

        /// Whether there are no problems. Foreign keys that refer to missing rows are not problems (``foreignKeyViolations``), and neither
        /// are checks that could not be run: they are in ``unchecked``.
        public var isIntact: Bool { problems.isEmpty }

        /// A problem of the database.
        public struct Problem: Sendable, Equatable, CustomStringConvertible {
            /// The kind of problem.
            public let kind: Kind
            /// The number of the affected page, from 1.
            public let page: UInt32?
            /// A sentence that describes the problem.
            public let message: String

            init(_ kind: Kind, _ message: String, page: UInt32? = nil) {
                self.kind = kind
                self.page = page
                self.message = message
            }

            /// The same as ``message``.
            public var description: String { message }
        }

        /// A kind of problem.
        public enum Kind: String, Sendable, CaseIterable {
            /// A page of the file does not match its authentication code: damaged, or not written by a holder of the key.
            case page
            /// The end of the file is missing.
            case truncated
            /// There is data after the end of the database.
            case excess
            /// The write-ahead log is damaged, or belongs to another database.
            case log
            /// The engine, or its `integrity_check`, reported a problem.
            case structure
            /// A foreign key refers to a missing row (`foreign_key_check`).
            case foreignKey = "foreign-key"
        }

        mutating func add(_ kind: Kind, _ message: String, page: UInt32? = nil) {
            let problem = Problem(kind, message, page: page)
            if kind == .foreignKey { foreignKeyViolations.append(problem) } else { problems.append(problem) }
        }
    }
}
