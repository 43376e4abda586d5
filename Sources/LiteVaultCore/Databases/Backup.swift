internal import Dispatch
internal import LiteVaultEngine
internal import LiteVaultSystem

/// Copies a database page by page while it is in use (https://sqlite.org/backup.html).
///
/// ```swift
/// let backup = try Backup(sourceConnection: db, targetConnection: target)
/// while try backup.advance(pages: .limited(number: 1000)) != .done {}
/// backup.finish()
/// ```
///
/// Under constant writes by other connections a stepwise copy restarts with each write and may never finish. A read
/// transaction on the source, in WAL mode, prevents that; so does copying everything in one step.
public final class Backup {
    /// A database of a connection.
    public enum DatabaseName: Sendable {
        /// The main database.
        case main
        /// The temporary database.
        case temp
        /// An attached database.
        case attached(name: String)

        var name: String {
            switch self {
            case .main: "main"
            case .temp: "temp"
            case .attached(let name): name
            }
        }
    }

    /// The number of pages that a step copies.
    public enum Pages: Sendable {
        /// All remaining pages.
        case all
        /// At most this many pages; none for 0 and below.
        case limited(number: Int32)

        var number: Int32 {
            switch self {
            case .all: -1
            case .limited(let number): max(number, 0)
            }
        }
    }

    /// The result of a step.
    public enum StepResult: Sendable, Equatable {
        /// The copy is complete.
        case done
        /// Pages remain.
        case more
        /// Another connection holds a lock; nothing is lost, try again.
        case busy
    }

    private let source: Connection
    private let target: Connection
    private var handle: OpaquePointer?
    private var isDone = false

    /// Begins a copy (`sqlite3_backup_init`). The target must not be used until the copy is finished.
    ///
    /// - Parameters:
    ///   - sourceConnection: the connection to copy from.
    ///   - sourceName: the database of that connection.
    ///   - targetConnection: another connection, whose database is overwritten.
    ///   - targetName: the database of that connection.
    /// - Throws: `DatabaseError` when the target is in use, when only one of the two is encrypted, or when the page sizes
    ///   differ and both are encrypted, or the target is in WAL mode: such copies would be unreadable, or plaintext, or
    ///   fail at the first step. The target is unchanged then.
    public init(
        sourceConnection: Connection, sourceName: DatabaseName = .main, targetConnection: Connection,
        targetName: DatabaseName = .main
    ) throws {
        source = sourceConnection
        target = targetConnection
        try Self.withBoth(sourceConnection, targetConnection) {
            try Self.refuseUnreadableCopy(
                from: sourceConnection, sourceName.name, to: targetConnection, targetName.name)
            handle = sqlite3_backup_init(
                targetConnection.db, targetName.name, sourceConnection.db, sourceName.name)
            guard handle != nil else {
                // sqlite3_backup_init leaves its error in the target.
                throw DatabaseError(
                    target.db, code: target.db.map { sqlite3_errcode($0) } ?? SQLITE_ERROR, sql: nil,
                    extended: target.extendedErrors)
            }
            source.backups += 1
            target.backups += 1
        }
    }

    deinit {
        guard let handle else { return }
        let (source, target) = (source, target)
        // Waiting here could deadlock: the thread may hold one of the locks, and another thread the other.
        if source.lock.tryLock() {
            if target.lock.tryLock() {
                if source.callbackDepth == 0, target.callbackDepth == 0 {
                    Self.finish(handle, source, target)
                    target.leave()
                    return source.leave()
                }
                target.leave()
            }
            source.leave()
        }
        // Used by the one block that it is handed to.
        nonisolated(unsafe) let abandoned = handle
        DispatchQueue.global().async { Self.finishWaiting(abandoned, source, target) }
    }

    /// The pages of the source, as of the last step (`sqlite3_backup_pagecount`).
    public var pageCount: Int32 { reading { sqlite3_backup_pagecount($0) } }

    /// The pages that remain to be copied, as of the last step (`sqlite3_backup_remaining`).
    public var remainingPages: Int32 { reading { sqlite3_backup_remaining($0) } }

    /// Copies pages (`sqlite3_backup_step`). A step after the copy is complete does nothing.
    ///
    /// While another connection holds a lock, it waits up to the source's `lockTimeout`.
    ///
    /// - Throws: `DatabaseError`: `SQLITE_BUSY` after the timeout; the copy can be continued later.
    public func step(pagesToCopy pages: Pages = .all) throws {
        let deadline = Deadline(seconds: source.lockTimeoutSeconds)
        while try advance(pages: pages) == .busy {
            guard !deadline.isOver else { return try source.withLock { try source.check(SQLITE_BUSY) } }
            // No lock is held meanwhile.
            SystemThread.sleep(seconds: 0.01)
        }
    }

    /// Copies pages (`sqlite3_backup_step`) without waiting for locks.
    ///
    /// - Returns: whether the copy is complete.
    /// - Throws: `DatabaseError`: the copy cannot be continued, and ``finish()`` rolls the target's transaction back.
    public func advance(pages: Pages = .all) throws -> StepResult {
        try Self.withBoth(source, target) {
            guard let handle else { throw DatabaseError(misuse: "the backup is finished") }
            guard !isDone else { return .done }
            switch sqlite3_backup_step(handle, pages.number) {
            case SQLITE_DONE:
                isDone = true
                return .done
            case SQLITE_OK: return .more
            case SQLITE_BUSY, SQLITE_LOCKED: return .busy
            case let code:
                throw DatabaseError(
                    target.db, code: code, sql: nil, extended: target.extendedErrors, namesFile: !target.isDropIn
                )
            }
        }
    }

    /// Ends the copy (`sqlite3_backup_finish`). A complete copy is kept; otherwise the target is rolled back. Further
    /// calls do nothing.
    public func finish() {
        guard let open = handle.take() else { return }
        Self.finishWaiting(open, source, target)
    }

    private static func finishWaiting(_ handle: OpaquePointer, _ source: Connection, _ target: Connection) {
        // Not through `withBoth`: that throws inside a callback, and the handle would leak.
        let (first, second) = ordered(source, target)
        first.lock.lock()
        second.lock.lock()
        finish(handle, source, target)
        second.leave()
        first.leave()
    }

    /// Called under both locks.
    private static func finish(_ handle: OpaquePointer, _ source: Connection, _ target: Connection) {
        sqlite3_backup_finish(handle)
        source.backups -= 1
        target.backups -= 1
    }

    private func reading(_ body: (OpaquePointer) -> Int32) -> Int32 {
        source.reading { _ in handle.map(body) ?? 0 } ?? 0
    }

    /// Takes both locks, in the same order for every pair: two backups between the same connections in opposite
    /// directions would deadlock otherwise.
    private static func withBoth<T>(_ one: Connection, _ other: Connection, _ body: () throws -> T) throws -> T {
        let (first, second) = ordered(one, other)
        return try first.withLock { try second.withLock(body) }
    }

    private static func ordered(_ one: Connection, _ other: Connection) -> (Connection, Connection) {
        ObjectIdentifier(one) < ObjectIdentifier(other) ? (one, other) : (other, one)
    }
}

extension Backup {
    /// Rejects copies that the engine makes without complaint but that would be unreadable, or readable by everybody.
    ///
    /// SQLCipher 3 copies an encrypted database into a plain file as plaintext, and a plain one into an encrypted file
    /// unreadably. Every version copies between encrypted databases of different page sizes into a file that no
    /// settings open.
    private static func refuseUnreadableCopy(
        from source: Connection, _ sourceName: String, to target: Connection, _ targetName: String
    ) throws {
        let isSourceKeyed = try source.isKeyed(sourceName)
        let isTargetKeyed = try target.isKeyed(targetName)
        guard isSourceKeyed == isTargetKeyed else {
            throw DatabaseError(
                misuse:
                    "a page copy cannot encrypt or decrypt: the \(isSourceKeyed ? "source" : "target") is encrypted "
                    + "and the other is not; use encrypt, decrypt or export")
        }
        guard isSourceKeyed else { return try refuseOtherPageSizeInWALMode(source, sourceName, target, targetName) }
        let sourceSize = try source.integer("\(quoted(sourceName)).page_size")
        let targetSize = try target.integer("\(quoted(targetName)).page_size")
        guard sourceSize == targetSize else {
            throw DatabaseError(
                misuse: "a page copy between encrypted databases needs equal page sizes: the source has \(sourceSize) "
                    + "bytes, the target \(targetSize); use export")
        }
    }

    /// The engine's own error at the first step is SQLITE_READONLY.
    private static func refuseOtherPageSizeInWALMode(
        _ source: Connection, _ sourceName: String, _ target: Connection, _ targetName: String
    ) throws {
        // What cannot be read fails at the first step, with its own error.
        guard let mode = try? target.untypedValue("PRAGMA \(quoted(targetName)).journal_mode") as? String,
            mode == "wal",
            let sourceSize = try? source.integer("\(quoted(sourceName)).page_size"),
            let targetSize = try? target.integer("\(quoted(targetName)).page_size"), sourceSize != targetSize
        else { return }
        throw DatabaseError(
            misuse: "a page copy cannot change the page size of a target in WAL mode: the source has \(sourceSize) "
                + "bytes, the target \(targetSize); run 'PRAGMA journal_mode = DELETE' on the target, or copy into a new file",
            path: target.isDropIn ? nil : target.description)
    }
}

extension Connection {
    /// Whether a database of this connection has a codec: only then does this pragma return a row, in every version.
    package func isKeyed(_ schema: String) throws -> Bool {
        guard EngineInfo.linked.encrypts else { return false }
        return try withLock { try trusted { try untypedValue("PRAGMA \(quoted(schema)).cipher_provider") != nil } }
    }
}
