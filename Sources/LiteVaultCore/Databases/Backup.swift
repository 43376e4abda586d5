internal import Foundation
internal import LiteVaultEngine

/// Copies a database page by page while it is in use (https://sqlite.org/backup.html).
///
/// ```swift
/// let backup = try Backup(sourceConnection: db, targetConnection: target)
/// while try backup.advance(pages: .limited(number: 1000)) != .done {}
/// backup.finish()
/// ```
///
/// Under constant writes of other connections a copy in steps starts over with each write and may never end: a read
/// transaction on the source, in WAL mode, keeps it from that; so does copying everything in one step.
public final class Backup {
    /// The name of a database of a connection.
    public enum DatabaseName: Sendable {
        /// The main database.
        case main
        /// The temporary one.
        case temp
        /// An attached one.
        case attached(name: String)

        var name: String {
            switch self {
            case .main: "main"
            case .temp: "temp"
            case .attached(let name): name
            }
        }
    }

    /// How many pages a step copies.
    public enum Pages: Sendable {
        /// All that remain.
        case all
        /// At most this many; none, or fewer than none, for 0 and below.
        case limited(number: Int32)

        var number: Int32 {
            switch self {
            case .all: -1
            case .limited(let number): max(number, 0)
            }
        }
    }

    /// The outcome of a step.
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

    /// Begins a copy (`sqlite3_backup_init`). The target must not be used until it is finished.
    ///
    /// - Parameters:
    ///   - sourceConnection: the connection to copy from.
    ///   - sourceName: the database of it.
    ///   - targetConnection: another connection, with what is to be overwritten.
    ///   - targetName: the database of it.
    /// - Throws: `DatabaseError` when the target is in use, or when one of the two is encrypted and the other is not, or both
    ///   are with different page sizes: such copies would be unreadable, or in the clear. The target is unchanged.
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
                // The error of sqlite3_backup_init is left in the target.
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
        // Waiting here could deadlock: this thread may hold one of the locks, and another thread the other.
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
        let abandoned = Abandoned(handle: handle)
        DispatchQueue.global().async { Self.finishWaiting(abandoned.handle, source, target) }
    }

    /// A backup whose object is gone.
    private struct Abandoned: @unchecked Sendable {  // used by the one block that it is handed to
        let handle: OpaquePointer
    }

    /// The pages of the source, as of the last step (`sqlite3_backup_pagecount`).
    public var pageCount: Int32 { reading { sqlite3_backup_pagecount($0) } }

    /// The pages that remain to be copied, as of the last step (`sqlite3_backup_remaining`).
    public var remainingPages: Int32 { reading { sqlite3_backup_remaining($0) } }

    /// Copies pages (`sqlite3_backup_step`). A step after the last one does nothing.
    ///
    /// While another connection holds a lock it waits, as long as the source's `lockTimeout` says.
    ///
    /// - Throws: `DatabaseError`: `SQLITE_BUSY` when the time is over; the copy can continue later.
    public func step(pagesToCopy pages: Pages = .all) throws {
        let deadline = Date().addingTimeInterval(source.lockTimeoutSeconds)
        while try advance(pages: pages) == .busy {
            guard Date() < deadline else { return try source.withLock { try source.check(SQLITE_BUSY) } }
            // No lock is held meanwhile.
            Thread.sleep(forTimeInterval: 0.01)
        }
    }

    /// Copies pages (`sqlite3_backup_step`), and returns the outcome. Does not wait for locks.
    ///
    /// - Throws: `DatabaseError`: the copy cannot continue, and the target's transaction is rolled back by ``finish()``.
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

    /// Ends the copy (`sqlite3_backup_finish`). What was copied stays when it was complete, else the target is rolled
    /// back. Further calls do nothing.
    public func finish() {
        guard let handle else { return }
        self.handle = nil
        Self.finishWaiting(handle, source, target)
    }

    private static func finishWaiting(_ handle: OpaquePointer, _ source: Connection, _ target: Connection) {
        // Not through `withBoth`: that throws inside a callback, and the handle would stay.
        let (first, second) = ordered(source, target)
        first.lock.lock()
        second.lock.lock()
        finish(handle, source, target)
        second.leave()
        first.leave()
    }

    /// Under both locks.
    private static func finish(_ handle: OpaquePointer, _ source: Connection, _ target: Connection) {
        sqlite3_backup_finish(handle)
        source.backups -= 1
        target.backups -= 1
    }

    private func reading(_ body: (OpaquePointer) -> Int32) -> Int32 {
        source.reading { _ in handle.map(body) ?? 0 } ?? 0
    }

    /// Takes both locks, in an order that is the same for every pair: two backups between the same connections in
    /// opposite directions would deadlock otherwise.
    private static func withBoth<T>(_ one: Connection, _ other: Connection, _ body: () throws -> T) throws -> T {
        let (first, second) = ordered(one, other)
        return try first.withLock { try second.withLock(body) }
    }

    private static func ordered(_ one: Connection, _ other: Connection) -> (Connection, Connection) {
        ObjectIdentifier(one) < ObjectIdentifier(other) ? (one, other) : (other, one)
    }
}

extension Backup {
    /// Refuses copies that the engine makes without complaint and that nobody can read afterwards, or everybody.
    ///
    /// SQLCipher 3 copies an encrypted database into a plain file in the clear, and a plain one into an encrypted file
    /// unreadably. Every version copies between encrypted databases of different page sizes into a file that no setting
    /// opens.
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
        guard isSourceKeyed else { return }
        let sourceSize = try source.integer("\(quoted(sourceName)).page_size")
        let targetSize = try target.integer("\(quoted(targetName)).page_size")
        guard sourceSize == targetSize else {
            throw DatabaseError(
                misuse: "a page copy between encrypted databases needs equal page sizes: the source has \(sourceSize) "
                    + "bytes, the target \(targetSize); use export")
        }
    }
}

extension Connection {
    /// Whether a database of this connection has a codec: this pragma returns a row only then, in every version.
    package func isKeyed(_ schema: String) throws -> Bool {
        guard EngineInfo.linked.encryption != .none else { return false }
        return try withLock { try trusted { try untypedValue("PRAGMA \(quoted(schema)).cipher_provider") != nil } }
    }
}
