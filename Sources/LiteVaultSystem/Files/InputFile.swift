/// A file that is read once from its start to its end: a configuration, a list, standard input.
package final class InputFile {
    private let descriptor: Int32
    private let isOwned: Bool

    /// Opens the file at `path`, which is closed with the object.
    ///
    /// - Parameter allowsPipes: whether anything that can be read will do, such as a FIFO, for whose writer this waits. Otherwise it has
    ///   to be a regular file.
    /// - Throws: ``SystemError`` if it cannot be opened or is not a regular file.
    package init(path: String, allowsPipes: Bool = false) throws(SystemError) {
        var opened: Int32
        let waiting = allowsPipes ? 0 : O_NONBLOCK
        repeat { opened = open(path, O_RDONLY | O_CLOEXEC | waiting) } while opened < 0 && errno == EINTR
        guard opened >= 0 else { throw SystemError(code: errno) }
        var status = stat()
        guard allowsPipes || (fstat(opened, &status) == 0 && status.st_mode & S_IFMT == S_IFREG) else {
            let isDirectory = status.st_mode & S_IFMT == S_IFDIR
            close(opened)
            throw SystemError(code: isDirectory ? EISDIR : EINVAL, isNotRegular: true)
        }
        descriptor = opened
        isOwned = true
    }

    /// Reads from an open descriptor, from its position on. It stays open.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
        isOwned = false
    }

    deinit { if isOwned { close(descriptor) } }

    /// The next bytes: fewer than `count` at the end only, none after it.
    ///
    /// - Throws: ``SystemError`` if they cannot be read, such as those of a directory.
    package func read(upTo count: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var failure: Int32 = 0
        while bytes.count < count, failure == 0 {
            // In steps: a large count does not need its memory at once.
            let step = min(count - bytes.count, max(1 << 16, bytes.count))
            let part = [UInt8](unsafeUninitializedCapacity: step) { buffer, initialized in
                var got = 0
                repeat {
                    got = LiteVaultSystem.read(descriptor, buffer.baseAddress, step)
                } while got < 0 && errno == EINTR
                if got < 0 { failure = errno }
                initialized = max(got, 0)
            }
            if part.isEmpty { break }
            bytes += part
        }
        guard failure == 0 else { throw SystemError(code: failure) }
        return bytes
    }

    /// The bytes up to the end.
    ///
    /// - Throws: ``SystemError`` if they cannot be read.
    package func readToEnd() throws(SystemError) -> [UInt8] { try read(upTo: .max) }
}

/// A call of the system that failed.
package struct SystemError: Error, CustomStringConvertible {
    /// The value of `errno`.
    package let code: Int32

    /// Whether it is that a regular file was needed.
    package let isNotRegular: Bool

    package init(code: Int32, isNotRegular: Bool = false) { (self.code, self.isNotRegular) = (code, isNotRegular) }

    package var description: String {
        isNotRegular && code != EISDIR ? "not a regular file" : String(cString: strerror(code))
    }
}
