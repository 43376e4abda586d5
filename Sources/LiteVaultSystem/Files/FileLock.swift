/// The lock of an open file (`flock`), which the kernel drops however the process ends.
package enum FileLock {
    /// Takes the lock without waiting. It is released with the descriptor.
    ///
    /// - Parameter isShared: whether others may share it; false by default.
    /// - Returns: false if another descriptor holds it.
    /// - Throws: ``SystemError``, for example `ENOLCK` where the file system has no locks.
    package static func take(_ descriptor: Int32, isShared: Bool = false) throws(SystemError) -> Bool {
        while flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { throw SystemError(code: errno) }
        }
        return true
    }

    /// Whether this descriptor now has the lock alone; false also where the file system has no locks.
    package static func isTaken(_ descriptor: Int32) -> Bool { (try? take(descriptor)) == true }
}

/// A file of mode 0600 that one process at a time has locked, under its name: a lock file, or one that is its own.
///
/// The file may stay behind when a process is killed. It is not locked then, so it keeps nobody out.
package final class LockFile: Sendable {
    /// Why there is no lock.
    package enum Failure: Error {
        /// Another process had it for all of the time.
        case busy
        case cannotOpen(SystemError)
        case cannotLock(SystemError)
        /// Something else than a regular file has the name.
        case notRegular
    }

    /// Of the locked file, open for reading and writing.
    package let descriptor: Int32
    private let path: String
    private let isOpen = Locked(true)

    /// Creates the file if there is none, and locks it once nobody else does, in another process or in this one.
    ///
    /// - Parameters:
    ///   - appending: whether each write goes to the end (`O_APPEND`); false by default.
    ///   - timeout: how long to wait for another one's lock; none by default.
    package init(_ path: String, appending: Bool = false, timeout: Duration = .zero) throws(Failure) {
        self.path = path
        let deadline = Deadline(in: timeout)
        var pause = Backoff(0.005...0.1)
        var replacements = 0
        while true {
            let opened = try Self.open(path, appending)
            let isLocked: Bool
            do { isLocked = try FileLock.take(opened) } catch {
                close(opened)
                throw .cannotLock(error)
            }
            if isLocked, Self.hasName(opened, path) {
                descriptor = opened
                return
            }
            close(opened)
            if isLocked, replacements < 100 {
                // The process that had it removed the file before we locked it.
                replacements += 1
                continue
            }
            guard !deadline.isOver else { throw .busy }
            SystemThread.sleep(seconds: pause.next())
        }
    }

    private static func open(_ path: String, _ appending: Bool) throws(Failure) -> Int32 {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (appending ? O_APPEND : 0)
        var opened: Int32
        repeat { opened = LiteVaultSystem.open(path, flags, 0o600) } while opened < 0 && errno == EINTR
        guard opened >= 0 else { throw .cannotOpen(SystemError(code: errno)) }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw .notRegular
        }
        return opened
    }

    /// Whether the path leads to the open file.
    private static func hasName(_ descriptor: Int32, _ path: String) -> Bool {
        var (ours, named) = (stat(), stat())
        return fstat(descriptor, &ours) == 0 && lstat(path, &named) == 0 && ours.st_ino == named.st_ino
            && ours.st_dev == named.st_dev
    }

    /// Removes the file and unlocks it, in this order: nobody else can lock a file that still has the name.
    package func remove() {
        isOpen.withLock { isOpen in
            guard isOpen else { return }
            unlink(path)
            close(descriptor)
            isOpen = false
        }
    }

    deinit { isOpen.withLock { if $0 { close(descriptor) } } }
}
