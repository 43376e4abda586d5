internal import CSystem

/// Calls on an open file: a signal interrupts none of them, and each does all of its work.
package enum OpenFile {
    /// Writes all of `bytes`.
    ///
    /// - Parameter offset: where in the file (`pwrite`); nil for the position of the descriptor (`write`).
    /// - Throws: ``SystemError``; some of the bytes may have been written.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int64? = nil
    ) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let (start, rest) = (bytes.baseAddress.map { $0 + done }, bytes.count - done)
            let count =
                if let offset {
                    pwrite(descriptor, start, rest, off_t(offset) + off_t(done))
                } else {
                    LiteVaultSystem.write(descriptor, start, rest)
                }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemError(code: count < 0 ? errno : EIO) }
            done += count
        }
    }

    /// Reads until `buffer` is full or the file ends (`pread`).
    package static func read(
        into buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64
    ) throws(SystemError) -> Int {
        var done = 0
        while done < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset) + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError(code: errno) }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Flushes the file down to the storage medium (`fsync`; `F_FULLFSYNC` on Apple's systems).
    package static func sync(_ descriptor: Int32) throws(SystemError) {
        while cfs_sync(descriptor) != 0 {
            if errno != EINTR { throw SystemError(code: errno) }
        }
    }

    /// Makes creations, renames and removals in an open directory durable.
    package static func syncDirectory(_ descriptor: Int32) throws(SystemError) {
        do { try sync(descriptor) } catch {
            // File systems without directory data of their own report this; there is nothing to make durable then.
            if error.code == EINVAL || error.code == ENOTSUP { return }
            throw error
        }
    }
}

/// The limit of open files.
package enum OpenFileLimit {
    /// Raises it to 65,536, or as far as the system lets this process (`RLIMIT_NOFILE`), in the whole process and in those that it starts: for
    /// programs, not for libraries.
    package static func raise() { cps_raise_file_limit(65_536) }
}
