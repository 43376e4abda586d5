internal import LiteVaultSystem
internal import LiteVaultCore

/// A database file, and the operations on it as a whole.
///
/// If an operation fails or the process dies, the source is intact and the destination is complete or absent. Operations
/// throw ``VaultError``, and the errors that the caller's progress report throws to cancel.
public struct DatabaseFile: Sendable {
    /// The path of the file. It is never treated as a URI.
    public let path: String
    /// How long to wait for locks of other connections.
    public var lockTimeout: Duration

    /// Creates a reference to a file. Nothing is opened yet.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - lockTimeout: how long to wait for locks of other connections, 5 seconds by default.
    public init(_ path: String, lockTimeout: Duration = .seconds(5)) {
        self.path = path
        self.lockTimeout = lockTimeout
    }

    /// Classifies the file by its bytes, without a key. Nothing is locked or recovered.
    ///
    /// - Throws: ``VaultError`` `noInput` when the file does not exist, `wrongKind` for a directory or device, `io`.
    public func kind() throws -> FileKind {
        let file = try EngineFile(path: path)
        return try FileKind.classify(size: file.size()) { try file.read(at: $0, count: $1) }
    }

    /// Detects the settings under which a key opens the file, by trying the defaults of SQLCipher 4 to 1. A hot journal is rolled
    /// back only under settings that open what it leaves.
    ///
    /// - Parameters:
    ///   - key: the key of the file.
    ///   - settings: the settings to try first.
    /// - Throws: ``VaultError`` `keyRejected` when the key opens the file in no known format; otherwise as for opening.
    public func probe(key: DatabaseKey, trying settings: CipherSettings = .init()) throws -> CipherSettings {
        let engine = try CipherEngine.require(for: path)
        var candidates = [settings]
        for format in [4, 3, 2, 1] where format <= engine.defaultCompatibility {
            let candidate = CipherSettings(compatibility: format)
            if format == engine.defaultCompatibility && settings == CipherSettings() { continue }
            candidates.append(candidate)
        }
        for candidate in candidates {
            let unlocker = try KeyUnlocker(
                key: key, settings: candidate, path: path, lockTimeout: lockTimeout, explainsFailure: false)
            do {
                try requireRollback(unlocker)
                _ = try Connection(.existing(path), unlocker: unlocker, readonly: false)
                return candidate
            } catch let error as VaultError where error.code == .keyRejected {
                continue
            }
        }
        // Once more, for the reason.
        _ = try Connection(.existing(path), key: key, settings: settings, lockTimeout: lockTimeout)
        throw VaultError(.keyRejected, "The key does not open the file in any known format", path: path)
    }
}

extension DatabaseFile {
    /// The progress of an operation.
    public struct Progress: Sendable, Equatable {
        /// A phase of an operation.
        public enum Phase: String, Sendable, CaseIterable {
            /// Writing the new file.
            case copying
            /// Comparing the reopened new file with the source.
            case comparing
            /// Verifying the authentication codes of the pages.
            case authenticating
            /// Checking the structure with the engine.
            case checking
        }

        /// A unit of progress.
        public enum Unit: String, Sendable, CaseIterable {
            /// Bytes of the new file; the total is an estimate.
            case bytes
            /// Rows of all tables.
            case rows
            /// Pages of the database.
            case pages
        }

        /// The current phase.
        public let phase: Phase
        /// The number of units done.
        public let completed: Int64
        /// The total number of units, if known.
        public let total: Int64?
        /// The unit of ``completed`` and ``total``.
        public let unit: Unit

        init(_ phase: Phase, _ completed: Int64, of total: Int64?, _ unit: Unit) {
            self.phase = phase
            self.completed = completed
            self.total = total
            self.unit = unit
        }

        /// A closure that an operation calls periodically. Throwing cancels the operation, which then leaves no trace.
        public typealias Report = (Progress) throws -> Void
    }
}

// MARK: Opening

extension DatabaseFile {
    /// The file behind symbolic links: replacing a link would leave its target, and SQLite keeps the log beside the target.
    func resolved() throws -> DatabaseFile {
        try EngineFile.requireRegularFile(path)
        let target = try withErrorContext(path: path) { try FileMetadata.resolvedPath(path) }
        return DatabaseFile(target, lockTimeout: lockTimeout)
    }

    /// Validates a key and settings for this file; nil without a key.
    func unlocker(_ key: DatabaseKey?, _ settings: CipherSettings) throws -> KeyUnlocker? {
        try key.map { try KeyUnlocker(key: $0, settings: settings, path: path, lockTimeout: lockTimeout) }
    }

    /// Opens the file for an operation: with a key exactly when it is encrypted. Opening never creates it.
    ///
    /// It is opened for writing, because only then can SQLite recover a database that a crash left behind; nothing is
    /// written otherwise.
    func open(key: DatabaseKey?, settings: CipherSettings = .init()) throws -> Connection {
        let unlocker = try unlocker(key, settings)
        try requireSuitable(hasKey: key != nil)
        try requireRollback(unlocker)
        return try withErrorContext(path: path) {
            let connection: Connection
            if let unlocker {
                connection = try Connection(.existing(path), unlocker: unlocker, readonly: false)
            } else {
                connection = try Connection(.existing(path))
                connection.lockTimeout = lockTimeout
            }
            try connection.prepareForOperation(size: FileMetadata(path: path, followingLinks: true).size)
            return connection
        }
    }

    /// Requires that the key opens what the rollback of a hot journal will leave, and that this is not an empty database.
    private func requireRollback(_ unlocker: KeyUnlocker?) throws {
        // The engine finds the journal beside the file, not beside a link to it.
        let target = try resolved().path
        try Self.requireRollback(of: target, unlocker?.unlocking(target, lockTimeout: .zero), acceptsEmpty: false)
    }

    /// Requires that the key opens what the rollback of a hot journal will leave. The engine rolls back before it reads the first
    /// page, whatever the key is. Without a journal, that is one `lstat`.
    ///
    /// - Parameters:
    ///   - target: the file itself, not a link to it.
    ///   - acceptsEmpty: whether a journal that leaves no page is accepted with any key, as an empty file is.
    static func requireRollback(of target: String, _ unlocker: KeyUnlocker?, acceptsEmpty: Bool) throws {
        let journal = try withErrorContext(path: target) { try FileMetadata.ifExists(path: target + "-journal") }
        guard let journal, journal.size > 0, journal.kind != .directory else { return }
        do {
            let image = try ReadOnlyImage(path: target, lockTimeout: .zero)
            guard image.pending?.kind == .rollbackJournal, !acceptsEmpty || image.byteCount > 0 else { return }
            try image.open(unlocker) { _ in }
        } catch let error as VaultError where error.code == .busy {
            // The journal is that of a process that is writing.
        }
    }

    /// Rejects files that cannot be databases, and encrypted ones without a key or the reverse.
    func requireSuitable(hasKey: Bool) throws { try Self.requireSuitable(kind(), hasKey: hasKey, path: path) }

    /// As ``requireSuitable(hasKey:)``, for a database of a kind that is known.
    static func requireSuitable(_ kind: FileKind, hasKey: Bool, path: String) throws {
        switch (kind, hasKey) {
        case (.empty, _):
            throw VaultError(
                .wrongKind, "The file is empty: it does not contain a database", path: path, remedy: "Check the path.")
        case (.notADatabase, false):
            throw VaultError(.wrongKind, "This is not a database", path: path, remedy: "Check the path.")
        case (.plain, true):
            throw VaultError(
                .wrongKind, "The database is not encrypted", path: path, remedy: "Use it without a key.")
        case (.encryptedOrUnknown, false), (.plaintextHeader, false):
            throw VaultError(
                .keyRejected, "The database is encrypted, but no key was given", path: path, remedy: "Pass its key.")
        default: break
        }
    }
}
