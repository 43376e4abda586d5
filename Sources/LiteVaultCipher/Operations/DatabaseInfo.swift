public import LiteVaultCore

/// What is known of a database file.
public struct DatabaseInfo: Sendable {
    /// What the file is, by its bytes.
    public let kind: FileKind
    /// Its size in bytes, without its log.
    public let fileSize: Int64
    /// What lies beside it and is to be read with it; nil if there is nothing, or it could not be looked at because
    /// somebody is writing.
    public internal(set) var pending: PendingLog?
    /// What could only be learned by opening it; nil without the key of an encrypted file.
    public internal(set) var content: Content?

    /// What the open database says of itself.
    public struct Content: Sendable {
        /// The cipher settings that hold; nil for a plaintext database.
        public let settings: CipherSettings?
        /// Bytes in a page.
        public let pageSize: Int64
        /// Pages in the database, as of the last commit.
        public let pageCount: Int64
        /// How many of them are free.
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
        /// `PRAGMA schema_version`: how often the schema was changed.
        public let schemaVersion: Int64
        /// The names of the tables, virtual ones included, without the engine's own.
        public let tables: [String]
        /// The names of the indexes that were made by name.
        public let indexes: [String]
        /// The names of the views.
        public let views: [String]
        /// The names of the triggers.
        public let triggers: [String]
    }
}

extension DatabaseFile {
    /// What the file is, and with the key, or without encryption, what is in it.
    ///
    /// - Parameters:
    ///   - key: Nil for a plaintext database; of an encrypted one only kind and size are told then.
    ///   - settings: What the file is encrypted with.
    /// Nothing is written, recovered, created or removed: neither the file nor its log, journal and index. A log that is
    /// pending is read through.
    ///
    /// - Throws: ``VaultError``, as by opening, if there is a key or the file is plain; `damaged` when the log beside it is,
    ///   or is of another database.
    public func info(key: DatabaseKey? = nil, settings: CipherSettings = .init()) throws -> DatabaseInfo {
        let kind = try kind()
        var info = DatabaseInfo(kind: kind, fileSize: try EngineFile(path: path).size(), pending: nil, content: nil)
        guard key != nil || kind == .plain else {
            info.pending = try? ReadOnlyImage(path: resolved().path, busyTimeout: 0).pending
            return info
        }
        try refuseForeignLog(key, settings)
        try withoutWriting(key: key, settings: settings) { connection, image in
            info.pending = image.pending
            info.content = try connection.reading {
                try DatabaseInfo.Content(connection, isEncrypted: key != nil)
            }
        }
        return info
    }

    /// The engine believes every log whose checksums hold, and takes its pages for those of the database.
    private func refuseForeignLog(_ key: DatabaseKey?, _ settings: CipherSettings) throws {
        if key != nil { _ = try CipherEngine.require(for: path) }
        try VaultError.about(path) { try settings.validate(with: key) }
        var verification = Verification(
            file: try resolved(), key: key, settings: settings, report: VerificationReport(kind: try kind()),
            progress: { _ in })
        guard try verification.logIsDangerous(), let problem = verification.report.problems.first else { return }
        throw VaultError(
            .damaged, problem.message, path: verification.file.path + "-wal",
            remedy: "Do not open the database with it: the engine would copy it into the file. Move the log away, "
                + "unless it is this database's, and verify the database.")
    }
}

extension DatabaseInfo.Content {
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
        encoding = try connection.scalar("PRAGMA encoding") as? String ?? ""
        journalMode = connection.journalMode
        autoVacuum = try connection.integer("auto_vacuum")
        userVersion = try connection.readUserVersion()
        applicationID = try connection.readApplicationID()
        schemaVersion = try connection.integer("schema_version")
        tables = try names("table")
        indexes = try names("index")
        views = try names("view")
        triggers = try names("trigger")
    }
}
