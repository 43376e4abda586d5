internal import CEngineSupport
internal import LiteVaultCore
internal import LiteVaultSystem

/// A new database: written under a temporary name, reopened and verified, and only then given its name.
struct NewDatabase {
    let destination: String
    let replacement: ReplacementFile
    /// Nil for a plaintext database.
    let unlocker: KeyUnlocker?

    /// Creates a file for a name that does not exist.
    ///
    /// - Throws: ``VaultError`` `cannotCreate` when the name exists, or a log or journal of another database would be
    ///   replayed into the new one.
    init(at destination: String, key: DatabaseKey?, settings: CipherSettings) throws {
        try EngineFile.requirePath(destination)
        try withErrorContext(path: destination, creating: true) {
            if let present = try FileMetadata.ifExists(path: destination) {
                let what =
                    present.kind == .regular ? "The file already exists" : "The path already exists"
                throw VaultError(
                    .cannotCreate, what, path: destination, remedy: "Choose another name, or remove it first.")
            }
            try Leftovers.refuse(beside: destination)
        }
        try self.init(replacing: destination, key: key, settings: settings)
    }

    /// Creates a file that will replace another.
    init(replacing destination: String, key: DatabaseKey?, settings: CipherSettings) throws {
        let unlocker = try key.map { try KeyUnlocker(key: $0, settings: settings, path: destination) }
        let replacement = try withErrorContext(path: destination, creating: true) {
            try ReplacementFile(destination: destination)
        }
        self.destination = destination
        self.replacement = replacement
        self.unlocker = unlocker?.unlocking(replacement.path, lockTimeout: .zero)
    }

    /// Opens the file under its temporary name.
    func open() throws -> Connection {
        guard let unlocker else { return try Connection(.existing(replacement.path)) }
        return try Connection(.existing(replacement.path), unlocker: unlocker, readonly: false)
    }

    /// Opens the file to write it: as it is private and discarded on any failure, a journal and syncs would only cost
    /// time. It is synced once, when it is complete.
    func openForWriting() throws -> Connection {
        let connection = try open()
        try connection.execute(
            """
            PRAGMA journal_mode = OFF;
            PRAGMA synchronous = OFF;
            PRAGMA locking_mode = EXCLUSIVE;
            PRAGMA temp_store = MEMORY;
            PRAGMA cache_size = -16384;
            """)
        return connection
    }

    /// Makes the file durable and gives it its name.
    ///
    /// - Parameters:
    ///   - original: the file it replaces, whose mode and owner it gets; nil when the name must not exist.
    ///   - beforeRename: the last check; throwing leaves everything unchanged.
    func publish(replacing original: FileMetadata? = nil, beforeRename: () throws -> Void = {}) throws {
        try withErrorContext(path: destination, creating: true) {
            try replacement.publish(replacing: original != nil, like: original, beforeRename: beforeRename)
        }
    }

    /// Runs a body and turns errors about the temporary name into errors about the destination.
    func reporting<T>(_ body: () throws -> T) throws -> T {
        let name = replacement.path.pathNames.last.map(String.init) ?? replacement.path
        do {
            return try body()
        } catch let error as DatabaseError where error.path?.ends(withText: name) == true {
            throw VaultError(error, path: destination, creating: true)
        } catch let error as VaultError where error.path == nil || error.path == replacement.path {
            throw error.at(destination)
        }
    }
}

// MARK: Content

extension NewDatabase {
    /// Copies all content, and verifies the copy. Works between any two formats.
    ///
    /// - Parameter source: outside of a transaction. The copy is a snapshot of it.
    func fill(from source: Connection, walMode: Bool, _ report: DatabaseFile.Progress.Report) throws {
        try source.withLock {
            try reporting {
                let size = try source.contentSize()
                let copy = try AttachedCopy(of: source, at: replacement.path, unlocker)
                let file = try copy.file()
                try reportingDisk(of: source) {
                    try Self.reportingDamage(of: source) {
                        try ContentCopier(in: source, to: AttachedCopy.schema).copy {
                            try report(.init(.copying, min(size, file.size()), of: size, .bytes))
                        }
                    }
                }
                let reopened = try open()
                try reopened.prepareForOperation()
                do { try compare(source, reopened, report) } catch let error as DatabaseError
                    where error.needsItsApplication
                {
                    throw VaultError(
                        .unsupported, "The copy cannot be compared: \(error.message)",
                        remedy: "It needs a function or collation that only its application defines.", cause: error)
                }
                // No check of the structure: the engine has built this file itself, record by record, and the comparison has
                // read all of it back. A defect of the source's file does not get here, unless it is one of its content.
                try report(.init(.checking, 0, of: nil, .pages))
                try checkBytes(reopened, isRead: true, report)
                try copy.detach()
                try finish(reopened, walMode: walMode)
            }
        }
    }

    func compare(_ source: Connection, _ copy: Connection, _ report: DatabaseFile.Progress.Report) throws {
        try Self.reportingDamage(of: source) {
            try ContentComparator(source, copy).compare { try report(.init(.comparing, $0, of: nil, .rows)) }
        }
    }

    /// The source's connection writes the new file, too: what the disk refuses is about that, unless it was a read.
    private func reportingDisk<T>(of source: Connection, _ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as DatabaseError
            where [.full, .ioError].contains(error.resultCode.primary)
        {
            // SQLITE_IOERR_READ, SQLITE_IOERR_SHORT_READ.
            let isRead = [10 | 1 << 8, 10 | 2 << 8].contains(error.extendedCode)
            throw VaultError(error, path: isRead ? source.description : destination, creating: true)
        }
    }

    /// A page of the source that cannot be read ends the copy with a code that depends on the codec
    /// (``DatabaseError/mayBeDamage``). Problems of the copy itself have other codes.
    static func reportingDamage<T>(of source: Connection, _ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as DatabaseError where error.mayBeDamage {
            throw VaultError(
                .damaged, "A page of the database cannot be read", path: source.description,
                remedy: "Verify it, and restore a backup. Nothing was written under the destination's name.",
                cause: error)
        }
    }

    /// Runs `quick_check`, which reads all pages but free ones and those of pointers (auto_vacuum). The modules of virtual tables
    /// are dropped from the connection first.
    ///
    /// Since SQLite 3.44 the check also asks a module whether its virtual table is consistent. That is a question about the content, which the
    /// copy has from its source, and `verify` answers it; for a full-text index it takes several times as long as for all pages.
    ///
    /// - Returns: false if the schema needs a collation or function of the database's application, and nothing was checked.
    func checkStructure(_ copy: Connection, _ report: DatabaseFile.Progress.Report) throws -> Bool {
        try report(.init(.checking, 0, of: nil, .pages))
        try copy.withHandle { lv_drop_modules($0) }
        switch try copy.structure("quick_check(1)") {
        case .sound: return true
        case .unchecked: return false
        case .broken(let complaint):
            throw VaultError(
                .damaged, "The copy did not pass the integrity check: \(complaint)", path: destination,
                remedy: "The source is unchanged; run verify on it.")
        }
    }

    /// Checks the kind of the bytes on disk, and the authentication codes of pages that the engine has not read: it verifies the
    /// code of each page that it reads.
    ///
    /// - Parameter isRead: whether the engine has read all pages but free ones and those of pointers (auto_vacuum), for a
    ///   comparison of rows or a check of the structure.
    func checkBytes(_ copy: Connection, isRead: Bool, _ report: DatabaseFile.Progress.Report) throws {
        try copy.withHandle { handle in
            let file = try EngineFile(connection: handle, path: destination)
            let kind = try FileKind.classify(size: file.size()) { try file.read(at: $0, count: $1) }
            let isRight = unlocker == nil ? kind == .plain : kind == .encryptedOrUnknown || kind == .plaintextHeader
            // A database without any content has no pages and no kind.
            guard try isRight || (kind == .empty && copy.integer("page_count") == 0) else {
                throw VaultError(.internalFailure, "The copy has the wrong kind, \(kind.rawValue)", path: destination)
            }
            let hasUnreadPages = try copy.integer("freelist_count") > 0 || copy.integer("auto_vacuum") > 0
            if hasUnreadPages || !isRead { try authenticate(file, copy, report) }
        }
    }

    private func authenticate(_ file: EngineFile, _ copy: Connection, _ report: DatabaseFile.Progress.Report) throws {
        guard let unlocker,
            let authenticator = try PageAuthenticator.ifPossible(
                key: unlocker.key, held: copy.cipherSettings(), salt: unlocker.settings.salt, file)
        else { return }
        let pages = try authenticator.report(
            size: file.size(), read: { try file.read(at: $0, count: $1) },
            progress: { try report(.init(.authenticating, Int64($0), of: Int64($1), .pages)) })
        guard pages.failureCount == 0, pages.trailingBytes == 0 else {
            throw VaultError(.internalFailure, "The pages of the copy failed authentication", path: destination)
        }
    }

    /// Sets the journal mode of the source: last, because the file is private until then.
    func finish(_ copy: Connection, walMode: Bool) throws {
        if walMode { try copy.setPragma(.journalMode, to: .wal) }
        try copy.close()
    }
}
