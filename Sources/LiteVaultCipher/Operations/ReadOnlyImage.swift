internal import CEngineSupport
internal import LiteVaultCore
internal import LiteVaultSystem

extension DatabaseFile {
    /// A log or journal beside a database that has to be read with it: a connection is still open, or was not closed
    /// properly.
    public struct PendingLog: Sendable, Equatable {
        /// The kind of a log or journal.
        public enum Kind: String, Sendable {
            /// A `-wal` with transactions that may not be in the file yet.
            case writeAheadLog = "wal"
            /// A `-journal` of an unfinished transaction, which the next connection with write access will roll back.
            case rollbackJournal = "journal"
        }

        /// The kind.
        public let kind: Kind
        /// The number of pages of the database to read from it.
        public let pages: Int
    }
}

/// A database as the next connection would find it, read without writing a byte: the file, with some of its pages replaced by
/// those of a write-ahead log or of a hot rollback journal.
///
/// The engine cannot do that by itself. Opened for writing it recovers, checkpoints and deletes logs; opened read-only it
/// refuses a hot journal and needs an index beside a log, and `immutable` ignores both. So the engine gets a file system of its
/// own (`lv_read_only_files`), which contains a single, read-only database. Pages stay as they are, ciphertext where the
/// database is encrypted; nothing is copied, so size does not matter.
///
/// Three locks, none of which changes a byte, make the image consistent: SHARED on the file keeps others from writing
/// to it and from removing the log; two read marks of the log's index, if there is one, keep the log from being
/// checkpointed and reset. Without an index to lock, a connection that starts to use the database meanwhile changes the
/// file or the log, which ``isUnchanged`` reports afterwards.
final class ReadOnlyImage: DatabaseBytes {
    private let file: EngineFile
    private let size: Int64
    private var side: SideFile?
    private var pageSize = 0
    /// Where the pages of a journal are.
    private var pages: [UInt32: Int64] = [:]
    /// Where those of a log are.
    private var frames: NewestFrames?
    /// Nil if locks prevent changes.
    private var stamps: [[Int64]?]?
    let pending: DatabaseFile.PendingLog?

    /// Locks the database and reads its log or journal. The locks are held as long as this object exists.
    ///
    /// - Parameter lockTimeout: how long to wait for connections that are writing.
    /// - Throws: ``VaultError`` `busy`, `damaged` for a log with a damaged header, `io`.
    init(path: String, lockTimeout: Duration) throws {
        let file = try EngineFile(path: path)
        self.file = file
        try Self.wait(lockTimeout, path) { try file.lockShared() }
        let stamps = Self.stamps(path)
        if let log = try SideFile(path: path + "-wal"), try file.size() > 0 {
            var hold = EngineFile.LogHold.busy
            try Self.wait(lockTimeout, path) {
                hold = try file.holdLog()
                return hold != .busy
            }
            self.stamps = hold == .held ? nil : stamps
            let content = try WriteAheadLog(size: log.size(), path: log.path) { try log.read(at: $0, count: $1) }
            if let content, let pageCount = content.pageCount {
                let frames = NewestFrames(of: content.committed, upTo: pageCount)
                (side, pageSize, self.frames) = (log, content.pageSize, frames)
                size = Int64(pageCount) * Int64(pageSize)
                pending = DatabaseFile.PendingLog(kind: .writeAheadLog, pages: frames.count)
                return
            }
        } else {
            self.stamps = stamps
        }
        // The engine rolls back a hot journal also beside a log, if that is empty for example.
        if let journal = try SideFile(path: path + "-journal"), try file.size() > 0, try !file.isReserved(),
            let content = try RollbackJournal(
                size: journal.size(), exists: { FileManager.default.fileExists(atPath: $0) },
                read: { try journal.read(at: $0, count: $1) })
        {
            (side, pageSize, pages) = (journal, content.pageSize, content.pages)
            size = Int64(content.pageCount) * Int64(pageSize)
            pending = DatabaseFile.PendingLog(kind: .rollbackJournal, pages: pages.count)
            return
        }
        size = try file.size()
        pending = nil
    }

    /// Opens a connection to the image for `body`, and closes it.
    ///
    /// - Parameter writable: whether the engine takes the image for writable, for statements that write nothing but need that. What
    ///   does write fails.
    func open<T>(
        _ unlocker: KeyUnlocker?, writable: Bool = false, _ body: (Connection) throws -> T
    ) throws -> T {
        let path = file.path
        let database = try SourcedDatabase(self, path: path, name: path, unlocker, writable: writable)
        return try withExtendedLifetime(database) {
            try withErrorContext(path: path) { try body(database.connection) }
        }
    }

    /// Copies the bytes of the image.
    ///
    /// - Parameters:
    ///   - limit: bytes of the database, if its file may be longer; what a log says counts more.
    ///   - write: takes the next bytes and their offset.
    /// - Returns: how many bytes were copied, and their hash.
    /// - Throws: ``VaultError`` `damaged` when the file is shorter than the database, `io`; what `write` throws.
    func copy(
        limit: Int64, _ write: (UnsafeRawBufferPointer, Int64) throws -> Void
    ) throws -> (size: Int64, hash: UInt64) {
        let end = pending == nil ? limit : size
        guard end <= size else {
            throw VaultError(
                .damaged, "The file is \(end - size) bytes too short", path: file.path,
                remedy: "Verify it, and restore a backup.")
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var (offset, hash): (Int64, UInt64) = (0, 0)
        while offset < end {
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(min(1 << 20, end - offset))))
            guard read(into: piece, at: offset) == piece.count else {
                throw VaultError(.io, "Reading failed", path: file.path)
            }
            hash = lv_hash_bytes(hash, piece.baseAddress, piece.count)
            try write(UnsafeRawBufferPointer(piece), offset)
            offset += Int64(piece.count)
        }
        return (end, hash)
    }

    /// Whether the file and its log are unchanged since this was created.
    var isUnchanged: Bool { stamps.map { $0 == Self.stamps(file.path) } ?? true }

    var byteCount: Int64 { size }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
        guard offset >= 0 else { return nil }
        let count = Int(max(0, min(Int64(buffer.count), size - offset)))
        guard count > 0 else { return 0 }
        do {
            let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            guard let side, pageSize > 0 else {
                try file.read(into: wanted, at: offset)
                return count
            }
            var done = 0
            while done < count {
                let position = offset + Int64(done)
                let within = Int(position % Int64(pageSize))
                let length = min(pageSize - within, count - done)
                let part = UnsafeMutableRawBufferPointer(rebasing: wanted[done..<(done + length)])
                let page = UInt32(truncatingIfNeeded: position / Int64(pageSize) + 1)
                if let place = frames?.offset(of: page) ?? pages[page] {
                    let bytes = try side.read(at: place + Int64(within), count: length)
                    guard bytes.count == length else { return nil }
                    part.copyBytes(from: bytes)
                } else {
                    try file.read(into: part, at: position)
                }
                done += length
            }
            return count
        } catch {
            return nil
        }
    }

    /// Size, identity and times of the file and of its log; nil for one that does not exist.
    private static func stamps(_ path: String) -> [[Int64]?] {
        ["", "-wal"].map { ending in
            var status = stat()
            guard stat(path + ending, &status) == 0 else { return nil }
            let (written, changed) = (status.modificationTime, status.statusChangeTime)
            return [
                Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_size), Int64(written.tv_sec),
                Int64(written.tv_nsec), Int64(changed.tv_sec), Int64(changed.tv_nsec),
            ]
        }
    }

    private static func wait(_ limit: Duration, _ path: String, until isDone: () throws -> Bool) throws {
        let deadline = Deadline(in: limit)
        while try !isDone() {
            guard !deadline.isOver else {
                throw VaultError(
                    .busy, "The database is locked: another connection writes to it", path: path,
                    remedy: "Try again, or wait longer.")
            }
            SystemThread.sleep(seconds: 0.005)
        }
    }
}

extension DatabaseFile {
    /// Runs `body` on the current state of the database, including pending logs, without writing anything anywhere.
    ///
    /// - Parameters:
    ///   - unlocker: nil for a plaintext database.
    ///   - body: called again if another connection changed the database meanwhile.
    func withoutWriting<T>(
        _ unlocker: KeyUnlocker?, _ body: (Connection, ReadOnlyImage) throws -> T
    ) throws -> T {
        try requireSuitable(hasKey: unlocker != nil)
        let unlocker = unlocker?.unlocking(path, lockTimeout: .zero)
        for _ in 0..<4 {
            let image = try ReadOnlyImage(path: path, lockTimeout: lockTimeout)
            let result = Result { try image.open(unlocker) { try body($0, image) } }
            if image.isUnchanged { return try result.get() }
        }
        throw VaultError(
            .busy, "The database was changed while it was read", path: path, remedy: "Try again.")
    }
}
