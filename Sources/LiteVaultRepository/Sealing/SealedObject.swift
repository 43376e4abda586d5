internal import CZlib
internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultSystem

/// The form of a sealed object:
///
///     magic (8 bytes), salt (32), the size of its content, sealed (24)
///     a table, sealed: for each chunk its length as it is stored, without its tag (4 bytes each), and a tag (16)
///     the chunks, sealed
///
/// All numbers are big-endian. Each chunk is 64 KiB of the content (the last one: what remains), compressed or as it is. Everything
/// is sealed with ChaCha20-Poly1305 under a key of the object's own, which depends on its name: parts cannot change places, and the
/// size in front says how many there are.
struct SealedObject {
    /// How sealed objects start.
    static let magic = Array("LVseal".utf8) + [0, 2]
    /// The bytes of content in a chunk. Larger ones compress hardly better, and reading a block takes a whole chunk.
    static let chunkBytes = 64 << 10
    /// The bytes before the table.
    static let headBytes = 64
    static let saltBytes = 32
    static let tagBytes = 16
    /// The bit of a length in the table that says that the chunk is compressed.
    static let compressedBit: UInt32 = 1 << 31

    private let key: SymmetricKey
    /// The object's name, for messages.
    let name: String
    /// The size of its content in bytes.
    let size: Int64

    /// The number of chunks of a content.
    static func chunks(_ size: Int64) -> Int { Int((size + Int64(chunkBytes) - 1) / Int64(chunkBytes)) }

    /// The bytes before the first chunk.
    static func start(_ size: Int64) -> Int64 { Int64(headBytes + 4 * chunks(size) + tagBytes) }

    /// The maximum size of a sealed object with that much content.
    static func limit(_ size: Int64) -> Int64 {
        let size = min(max(size, 0), RepositoryFormat.imageBytes)
        return start(size) + size + Int64(chunks(size) * tagBytes)
    }

    /// What a nonce counts: no two parts of an object have the same.
    private enum Part {
        case size
        case table
        case chunk(Int)

        var nonce: [UInt8] {
            let (kind, index): (UInt32, UInt64) =
                switch self {
                case .size: (0, 0)
                case .table: (1, 0)
                case .chunk(let index): (2, UInt64(index))
                }
            return withUnsafeBytes(of: kind.bigEndian) { Array($0) }
                + withUnsafeBytes(of: index.bigEndian) { Array($0) }
        }
    }

    private func seal(_ content: UnsafeRawBufferPointer, _ part: Part) throws -> [UInt8] {
        let nonce = try ChaChaPoly.Nonce(data: part.nonce)
        let box = try ChaChaPoly.seal(Data(content), using: key, nonce: nonce)
        return Array(box.ciphertext) + Array(box.tag)
    }

    /// - Throws: `VaultError` `damaged`.
    private func open(_ bytes: ArraySlice<UInt8>, _ part: Part) throws -> [UInt8] {
        guard bytes.count >= Self.tagBytes else { throw damaged("is truncated") }
        do {
            let box = try ChaChaPoly.SealedBox(
                nonce: ChaChaPoly.Nonce(data: part.nonce), ciphertext: bytes.dropLast(Self.tagBytes),
                tag: bytes.suffix(Self.tagBytes))
            return Array(try ChaChaPoly.open(box, using: key))
        } catch {
            throw damaged("authentication failed: it was changed, or stored under another name")
        }
    }

    func damaged(_ problem: String) -> VaultError { VaultError(.damaged, problem, path: name, advice: .repair) }
}

extension SealedObject {
    /// Seals a content, chunk by chunk.
    ///
    /// - Parameters:
    ///   - size: the content's size in bytes.
    ///   - read: returns the content's bytes in a range.
    ///   - write: stores bytes at an offset of the object. The first chunk comes first, what precedes it last.
    static func seal(
        _ name: String, _ sealing: SealingKey, size: Int64, read: (Range<Int64>) throws -> [UInt8],
        write: ([UInt8], Int64) throws -> Void
    ) throws {
        let salt = SymmetricKey(size: .init(bitCount: 8 * saltBytes)).withUnsafeBytes { Array($0) }
        let object = SealedObject(key: sealing.object(name, salt: salt), name: name, size: size)
        var table: [UInt8] = []
        table.reserveCapacity(4 * chunks(size))
        var offset = start(size)
        for index in 0..<chunks(size) {
            let first = Int64(index) * Int64(chunkBytes)
            let content = try read(first..<min(size, first + Int64(chunkBytes)))
            let (entry, sealed) = try content.withUnsafeBytes { content -> (UInt32, [UInt8]) in
                guard let small = ChunkCompression.compressed(content) else {
                    return (UInt32(content.count), try object.seal(content, .chunk(index)))
                }
                return (
                    UInt32(small.count) | compressedBit,
                    try small.withUnsafeBytes { try object.seal($0, .chunk(index)) }
                )
            }
            withUnsafeBytes(of: entry.bigEndian) { table.append(contentsOf: $0) }
            try write(sealed, offset)
            offset += Int64(sealed.count)
        }
        let size = try withUnsafeBytes(of: UInt64(size).bigEndian) { try object.seal($0, .size) }
        try write(magic + salt + size + table.withUnsafeBytes { try object.seal($0, .table) }, 0)
    }

    /// Seals a content in memory.
    static func seal(_ content: [UInt8], _ name: String, _ sealing: SealingKey) throws -> [UInt8] {
        let size = Int64(content.count)
        var chunks: [UInt8] = []
        var head: [UInt8] = []
        try seal(name, sealing, size: size) {
            Array(content[Int($0.lowerBound)..<Int($0.upperBound)])
        } write: { bytes, offset in
            if offset == 0 { head = bytes } else { chunks += bytes }
        }
        return head + chunks
    }
}

extension SealedObject {
    /// Reads the first 64 bytes of an object.
    ///
    /// - Throws: `VaultError` `damaged` if it is not sealed, or not under this key and name.
    init(head: [UInt8], _ name: String, _ sealing: SealingKey) throws {
        guard Self.isSealed(head) else {
            throw VaultError(
                .damaged, "is not sealed: it was stored by other software, or replaced", path: name, advice: .repair)
        }
        let salt = Array(head[Self.magic.count..<(Self.magic.count + Self.saltBytes)])
        key = sealing.object(name, salt: salt)
        self.name = name
        let unknown = SealedObject(key: key, name: name, size: 0)
        let number = try unknown.open(head[(Self.magic.count + Self.saltBytes)..<Self.headBytes], .size)
        let size = number.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard size <= UInt64(RepositoryFormat.imageBytes) else { throw unknown.damaged("is too large") }
        self.size = Int64(size)
    }

    /// Opens a whole object in memory.
    ///
    /// - Parameter limit: the maximum size of its content.
    /// - Throws: `VaultError` `damaged` if it was changed, or sealed under another key or name; as `tooLarge` beyond the limit.
    static func content(
        _ stored: [UInt8], _ name: String, _ sealing: SealingKey, upTo limit: Int
    ) throws -> [UInt8] {
        let object = try SealedObject(head: stored, name, sealing)
        let end = start(object.size)
        guard end <= Int64(stored.count) else { throw object.damaged("is truncated") }
        let layout = try object.layout(stored[headBytes..<Int(end)], stored: Int64(stored.count))
        guard object.size <= Int64(limit) else { throw VaultError.tooLarge(limit, path: name) }
        var content: [UInt8] = []
        content.reserveCapacity(Int(object.size))
        for index in 0..<layout.count {
            content += try layout.open(index, stored[Int(layout.offsets[index])..<Int(layout.offsets[index + 1])])
        }
        return content
    }

    /// Whether an object starts as sealed ones do.
    static func isSealed(_ bytes: [UInt8]) -> Bool { bytes.count >= headBytes && bytes.starts(with: magic) }

    /// Reads the table.
    ///
    /// - Parameters:
    ///   - bytes: the bytes between the first 64 and the first chunk.
    ///   - stored: the size of the object in the store.
    /// - Throws: `VaultError` `damaged` if the object is truncated, too long or was changed.
    func layout(_ bytes: ArraySlice<UInt8>, stored: Int64) throws -> Layout {
        let table = try open(bytes, .table)
        let count = Self.chunks(size)
        guard table.count == 4 * count else { throw damaged("has a table of another length") }
        var layout = Layout(object: self, offsets: [Self.start(size)], compressed: [])
        layout.offsets.reserveCapacity(count + 1)
        layout.compressed.reserveCapacity(count)
        var end = Self.start(size)
        for index in 0..<count {
            let entry = table[(4 * index)..<(4 * index + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let (length, isCompressed) = (Int(entry & ~Self.compressedBit), entry & Self.compressedBit != 0)
            let content = layout.content(index)
            guard isCompressed ? length < content : length == content else { throw damaged("has a wrong table") }
            end += Int64(length + Self.tagBytes)
            layout.offsets.append(end)
            layout.compressed.append(isCompressed)
        }
        guard end == stored else {
            throw damaged(end > stored ? "is truncated" : "has data after its end")
        }
        return layout
    }

    /// Where the chunks of an object are.
    struct Layout: Sendable {
        let object: SealedObject
        /// Where each chunk starts, and where the last one ends.
        fileprivate(set) var offsets: [Int64]
        fileprivate(set) var compressed: [Bool]

        var count: Int { SealedObject.chunks(object.size) }

        /// The bytes of content of a chunk.
        func content(_ index: Int) -> Int {
            Int(min(Int64(SealedObject.chunkBytes), object.size - Int64(index) * Int64(SealedObject.chunkBytes)))
        }

        /// The chunks that have a part of the content.
        func chunks(_ range: Range<Int64>) -> Range<Int> {
            let size = Int64(SealedObject.chunkBytes)
            return Int(range.lowerBound / size)..<Int((range.upperBound + size - 1) / size)
        }

        /// Opens a chunk.
        ///
        /// - Throws: `VaultError` `damaged`.
        func open(_ index: Int, _ bytes: ArraySlice<UInt8>) throws -> [UInt8] {
            let content = try object.open(bytes, .chunk(index))
            guard compressed[index] else { return content }
            guard let expanded = content.withUnsafeBytes({ ChunkCompression.expanded($0, to: self.content(index)) })
            else { throw object.damaged("chunk \(index) cannot be expanded to its size") }
            return expanded
        }
    }
}

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
