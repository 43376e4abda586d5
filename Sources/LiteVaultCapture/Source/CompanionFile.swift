internal import LiteVaultFoundation

/// A `-wal` or `-journal` file. It carries no locks, so its descriptors may be closed.
final class CompanionFile {
    private let file: LocalFile
    var path: String { file.path }

    /// Nil if the file does not exist.
    init?(path: String) throws {
        do {
            file = try LocalFile(reading: path)
        } catch let error as VaultError where error.code == .missing {
            return nil
        }
    }

    func size() throws -> Int64 { try file.size() }

    /// Reads until `buffer` is full or the file ends; returns the number of bytes.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try file.read(into: buffer, at: offset)
    }

    /// Reads `count` bytes, fewer at the end of the file.
    func read(count: Int, at offset: Int64) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
        }
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
    package func word(_ offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}

extension [UInt8] {
    /// The big-endian 32-bit number at `offset`.
    func word(_ offset: Int) -> UInt32 { withUnsafeBytes { $0.word(offset) } }
}
