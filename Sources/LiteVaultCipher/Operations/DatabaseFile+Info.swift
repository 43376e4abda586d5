public import LiteVaultCore

extension DatabaseFile {
    /// Information about a database file.
    public struct Info: Sendable {
        /// The kind of the file, by its bytes.
        public let kind: FileKind
        /// The size of the file in bytes, without its log.
        public let fileSize: Int64
        /// The log or journal that has to be read with the file; nil if there is none, or another connection is writing.
        public internal(set) var pending: PendingLog?
        /// The information that requires opening the file; nil without the key of an encrypted one.
        public internal(set) var content: Content?

        /// Information from inside the database.
        public struct Content: Sendable {
            /// The cipher settings in effect; nil for a plaintext database.
            public let settings: CipherSettings?
            /// The page size in bytes.
            public let pageSize: Int64
            /// The number of pages, as of the last commit.
            public let pageCount: Int64
            /// The number of free pages.
            public let freePageCount: Int64
            /// The text encoding, such as `UTF-8`.
            public let encoding: String
            /// The journal mode.
            public let journalMode: Connection.JournalMode
            /// `PRAGMA auto_vacuum`: 0 none, 1 full, 2 incremental.
            public let autoVacuum: Int64
            /// `PRAGMA user_version`
            public let userVersion: Int32
            /// `PRAGMA application_id`
            public let applicationID: Int32
            /// `PRAGMA schema_version`: the number of schema changes.
            public let schemaVersion: Int64
            /// The names of the tables, including virtual ones, without the engine's own.
            public let tables: [String]
            /// The names of the indexes, without automatic ones.
            public let indexes: [String]
            /// The names of the views.
            public let views: [String]
            /// The names of the triggers.
            public let triggers: [String]
        }
    }
}

extension DatabaseFile {
    /// Returns information about the file and, with its key or if it is not encrypted, about its content.
    ///
    /// Nothing is written, recovered, created or removed: neither the file nor its log, journal and index. A pending
    /// log is read with the file.
    ///
    /// - Parameters:
    ///   - key: the key. Without it, only kind and size of an encrypted file are returned.
    ///   - settings: the settings that the file is encrypted with.
    /// - Throws: ``VaultError``, as for opening, if a key is passed or the file is plaintext; `damaged` when the log
    ///   beside it is damaged or belongs to another database.
    public func info(key: DatabaseKey? = nil, settings: CipherSettings = .init()) throws -> Info {
        let kind = try kind()
        let file = try resolved()
        var info = Info(kind: kind, fileSize: try EngineFile(path: path).size(), pending: nil, content: nil)
        guard key != nil || kind == .plain else {
            info.pending = try? ReadOnlyImage(path: file.path, lockTimeout: .zero).pending
            return info
        }
        let unlocker = try unlocker(key, settings)
        try file.requireOwnLog(unlocker, kind)
        try file.withoutWriting(unlocker) { connection, image in
            info.pending = image.pending
            info.content = try connection.reading {
                try Info.Content(connection, isEncrypted: key != nil)
            }
        }
        return info
    }

    /// The engine accepts any log with valid checksums, and uses its pages as those of the database.
    func requireOwnLog(_ unlocker: KeyUnlocker?, _ kind: FileKind) throws {
        var verification = Verification(
            file: self, unlocker: unlocker, report: VerificationReport(kind: kind), progress: { _ in })
        guard try verification.logIsDangerous(), let problem = verification.report.problems.first else { return }
        throw VaultError(
            .damaged, problem.message, path: path + "-wal",
            remedy: "Do not open the database with it: the engine would copy it into the file. Move the log away, "
                + "unless it is this database's, and verify the database.")
    }
}

extension DatabaseFile.Info.Content {
    init(_ connection: Connection, isEncrypted: Bool) throws {
        func names(_ type: String) throws -> [String] {
            try connection.all(
                "SELECT name FROM sqlite_master WHERE type = ? AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
                with: type
            ) { try $0.get(0, as: String.self) }
        }
        settings = isEncrypted ? try connection.cipherSettings() : nil
        pageSize = try connection.pageSize()
        pageCount = try connection.integer("page_count")
        freePageCount = try connection.integer("freelist_count")
        encoding = try connection.value("PRAGMA encoding", as: String?.self) ?? ""
        journalMode = try connection.pragma(.journalMode)
        autoVacuum = try connection.integer("auto_vacuum")
        userVersion = try connection.pragma(.userVersion)
        applicationID = try connection.pragma(.applicationID)
        schemaVersion = try connection.integer("schema_version")
        tables = try names("table")
        indexes = try names("index")
        views = try names("view")
        triggers = try names("trigger")
    }
}
