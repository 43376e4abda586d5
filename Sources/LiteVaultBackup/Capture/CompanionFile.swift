internal import Foundation

/// A `-wal`, a `-journal`: files beside a database that carry no locks, so that a descriptor of our own may be closed.
final class CompanionFile {
    let path: String
    private let descriptor: Int32

    /// Nil if there is no such file.
    init?(path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else {
            throw BackupError(.io, "cannot be opened: \(String(cString: strerror(errno)))", path: path)
        }
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    func size() throws -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failed("fstat") }
        return Int64(status.st_size)
    }

    /// Reads until `buffer` is full or the file ends; how many bytes that were.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        var done = 0
        while done < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done, off_t(offset) + off_t(done))
            if count < 0 {
                if errno == EINTR { continue }
                throw failed("pread")
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    func read(count: Int, at offset: Int64) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
        }
    }

    private func failed(_ call: String) -> BackupError {
        BackupError(.io, "\(call) failed: \(String(cString: strerror(errno)))", path: path)
    }

    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    static func size(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }
}

extension UnsafeRawBufferPointer {
    /// The big-endian 32-bit number at `offset`.
    func word(_ offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}

extension [UInt8] {
    /// The big-endian 32-bit number at `offset`.
    func word(_ offset: Int) -> UInt32 { withUnsafeBytes { $0.word(offset) } }
}
