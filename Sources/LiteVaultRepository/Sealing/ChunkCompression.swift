internal import CZlib
internal import LiteVaultCapture

/// Compresses chunks of sealed objects with zlib, where that helps.
enum ChunkCompression {
    /// Lower levels store up to 16 % more than restic does, which has zstd; this one stores as much.
    private static let level: Int32 = 6
    /// Below this size, the stream's own header outweighs what is saved.
    private static let minimum = 64
    /// The bytes that are looked at before a chunk is compressed: pieces from all over it.
    private static let (sampled, piece) = (4096, 256)

    /// The content compressed; nil if that would not make it at least a 64th smaller.
    static func compressed(_ content: UnsafeRawBufferPointer) -> [UInt8]? {
        guard content.count >= minimum, !looksRandom(content) else { return nil }
        let limit = content.count - max(1, content.count / 64)
        var length = uLongf(limit)
        var status = Z_OK
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            status = compress2(
                buffer.baseAddress, &length, content.bindMemory(to: UInt8.self).baseAddress, uLong(content.count),
                level)
            count = status == Z_OK ? Int(length) : 0
        }
        return status == Z_OK ? bytes : nil
    }

    /// The content of a compressed chunk.
    ///
    /// - Parameter count: its exact size: nothing is written beyond it, whatever the chunk says.
    /// - Returns: nil if the chunk is not the compressed form of that many bytes.
    static func expanded(_ bytes: UnsafeRawBufferPointer, to count: Int) -> [UInt8]? {
        var length = uLongf(count)
        var status = Z_OK
        let content = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            status = uncompress(
                buffer.baseAddress, &length, bytes.bindMemory(to: UInt8.self).baseAddress, uLong(bytes.count))
            filled = status == Z_OK ? Int(length) : 0
        }
        return status == Z_OK && content.count == count ? content : nil
    }

    /// Whether the bytes are distributed as those of encrypted pages are: then compressing is a waste of time.
    ///
    /// Of n random bytes, the squares of the numbers of each value sum up to n + n(n-1)/256 on average, here 69,616, with a
    /// standard deviation of 362.
    private static func looksRandom(_ content: UnsafeRawBufferPointer) -> Bool {
        guard content.count >= 2 * sampled else { return false }
        var counts = [Int](repeating: 0, count: 256)
        let stride = content.count / (sampled / piece)
        for start in 0..<(sampled / piece) {
            for byte in content[(start * stride)..<(start * stride + piece)] { counts[Int(byte)] += 1 }
        }
        return counts.reduce(0) { $0 + $1 * $1 } < 72_500
    }
}
