internal import LiteVaultBackup
internal import NIOCore

/// A part of a file, read in pieces: what is sent is never in memory as a whole.
struct FileSlice: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let file: LocalFile
    let start: Int64
    let count: Int64

    private static let chunk: Int64 = 256 << 10

    struct AsyncIterator: AsyncIteratorProtocol {
        let slice: FileSlice
        var done: Int64 = 0

        mutating func next() async throws -> ByteBuffer? {
            let count = Swift.min(FileSlice.chunk, slice.count - done)
            guard count > 0 else { return nil }
            let bytes = try slice.file.read(at: slice.start + done, count: Int(count))
            done += count
            return ByteBuffer(bytes: bytes)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(slice: self) }

    /// Reads it without waiting for anybody.
    func forEachChunk(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(Self.chunk), alignment: 4096)
        defer { buffer.deallocate() }
        var done: Int64 = 0
        while done < count {
            let wanted = Int(Swift.min(Self.chunk, count - done))
            let read = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: start + done)
            guard read == wanted else {
                throw BackupError(.damaged, "was cut off while it was stored", path: file.path)
            }
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<read]))
            done += Int64(read)
        }
    }
}
