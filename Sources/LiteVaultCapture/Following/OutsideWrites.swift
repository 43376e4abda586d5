internal import LiteVaultSystem

/// Finds out whether something other than a checkpoint has written to a followed database file: a copy over it, for instance. The segments that
/// follow would not fit the file.
///
/// In WAL mode only checkpoints write to the file, and none does while the follower holds the lock of read mark 0. A file whose size or time of
/// modification changes meanwhile was written to by something else. Nothing is concluded while a checkpoint may run.
///
/// Reading, and changes of the mode, the owner, the links or the time of access do not count. A program that sets the modification time without
/// writing does, except to the same time with fewer digits, as programs set it that restore the time of access.
struct OutsideWrites {
    private let path: String
    /// The file when the lock was taken; nil while checkpoints may write to it.
    private var stamp: WriteStamp?

    init(path: String) { self.path = path }

    /// No checkpoint writes to the file from now on: the caller has just taken the lock of read mark 0.
    mutating func block() { stamp = WriteStamp(path) }

    /// Checkpoints may write to it: the caller is about to release the lock.
    mutating func unblock() { stamp = nil }

    /// - Throws: ``LogLostError`` if something has written to the file while no checkpoint could.
    func requireNone() throws {
        guard let stamp, let found = WriteStamp(path), !found.isSame(as: stamp) else { return }
        throw LogLostError.overwritten
    }
}

/// The size of a file, and when it was written to.
private struct WriteStamp {
    private let size: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    /// Nil if there is no file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        size = Int64(status.st_size)
        let time = status.modificationTime
        (seconds, nanoseconds) = (Int64(time.tv_sec), Int64(time.tv_nsec))
    }

    /// Whether nothing was written since the earlier one. A program that sets the time back may know fewer of its digits.
    func isSame(as earlier: WriteStamp) -> Bool {
        guard size == earlier.size, seconds == earlier.seconds else { return false }
        return [1, 100, 1000, 1_000_000, 1_000_000_000].contains { unit in
            nanoseconds == earlier.nanoseconds / unit * unit
        }
    }
}
