internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultSystem

/// Verifies packs that are local files.
enum PackFile {
    /// Blocks that are read at a time: 1 MiB.
    private static let step = 256

    /// Compares a pack with all hashes in it.
    ///
    /// - Parameters:
    ///   - name: the object's name, which tells what kind of pack it is.
    ///   - repository: the identifier of the repository that it belongs to.
    /// - Throws: `VaultError` `damaged` with the object's name as path.
    static func verify(_ file: LocalFile, as name: String, repository: [UInt8]) throws {
        guard let pack = name.split(separator: "/").last.flatMap({ PackID(hexadecimal: $0) }) else {
            throw VaultError(.damaged, "invalid name of a pack", path: name)
        }
        if name == RepositoryFormat.tree(pack) {
            guard try isIntact(file.path, pack, of: repository) else {
                throw VaultError(.damaged, "its hash does not match", path: name)
            }
            return
        }
        let size = try file.size()
        guard let blocks = RepositoryFormat.blocks(inDataPackOf: size) else {
            throw VaultError(.damaged, "invalid length of a data pack", path: name)
        }
        let header = try file.read(at: 0, count: RepositoryFormat.packHeader)
        let tableStart = RepositoryFormat.packHeader + blocks * blockSize
        let tail = try file.read(at: Int64(tableStart), count: Int(size) - tableStart)
        let table = Array(tail.dropLast(RepositoryFormat.hashBytes))
        guard header == PackWriter.header(RepositoryFormat.dataMagic, repository: repository, pack: pack),
            Array(tail.suffix(RepositoryFormat.hashBytes)) == Hash256(of: header + table).withBytes(Array.init)
        else { throw VaultError(.damaged, "its header or its table is damaged", path: name) }
        for first in stride(from: 0, to: blocks, by: step) {
            let count = min(step, blocks - first)
            let start = Int64(RepositoryFormat.packHeader + first * blockSize)
            let bytes = try file.read(at: start, count: count * blockSize)
            if let block = try damaged(bytes, table, from: first, count, name).first {
                throw damaged(block: block, name)
            }
        }
    }

    /// Whether a file is an intact tree pack, by the hash at its end; false if it cannot be read.
    static func isWhole(_ path: String, _ pack: PackID) -> Bool { (try? isIntact(path, pack)) ?? false }

    /// Whether a file is an intact tree pack, by the hash at its end. Reads it in pieces of 1 MiB.
    ///
    /// - Parameter repository: the identifier of the repository that it has to belong to; nil for any.
    static func isIntact(_ path: String, _ pack: PackID, of repository: [UInt8]? = nil) throws -> Bool {
        let file = try LocalFile(reading: path)
        // A sparse file of terabytes takes no space, and would be read to its end.
        guard try file.size() <= Int64(RepositoryFormat.wholeTreePack) else {
            throw VaultError.tooLarge(RepositoryFormat.wholeTreePack, path: RepositoryFormat.tree(pack))
        }
        let content = try file.size() - Int64(RepositoryFormat.hashBytes)
        guard content > Int64(RepositoryFormat.packHeader) else { return false }
        let header = try file.read(at: 0, count: RepositoryFormat.packHeader)
        let expected = PackWriter.header(
            RepositoryFormat.treeMagic, repository: repository ?? Array(header[8..<24]), pack: pack)
        guard header == expected else { return false }
        var digest = SHA256()
        try file.forEachPiece { offset, bytes in
            let count = min(Int64(bytes.count), max(0, content - offset))
            digest.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes[..<Int(count)]))
        }
        return try Array(digest.finalize()) == file.read(at: content, count: RepositoryFormat.hashBytes)
    }

    /// Compares blocks of a data pack with its table of hashes, and returns the numbers of the damaged ones.
    ///
    /// - Parameters:
    ///   - bytes: `count` blocks, the first of which has the number `first`.
    ///   - table: the hashes of all blocks of the pack.
    /// - Throws: `VaultError` `damaged` if there are too few bytes.
    static func damaged(
        _ bytes: [UInt8], _ table: [UInt8], from first: Int, _ count: Int, _ name: String
    ) throws -> [Int] {
        guard bytes.count == count * blockSize else { throw VaultError(.damaged, "is too short", path: name) }
        return bytes.withUnsafeBytes { bytes in
            table.withUnsafeBytes { table in
                (0..<count).filter { index in
                    let block = UnsafeRawBufferPointer(
                        rebasing: bytes[(index * blockSize)..<((index + 1) * blockSize)])
                    let place = (first + index) * RepositoryFormat.hashBytes
                    return Hash256(of: block)
                        != Hash256(UnsafeRawBufferPointer(rebasing: table[place..<(place + 32)]))
                }.map { first + $0 }
            }
        }
    }

    static func damaged(block: Int, _ name: String) -> VaultError {
        VaultError(.damaged, "block \(block) is damaged", path: name)
    }
}

/// The block hashes recorded in data packs, in a temporary file: one for every 4096 bytes of packs.
final class PackTables {
    private let file: LocalFile
    private var places: [PackID: (offset: Int64, blocks: Int)] = [:]
    private var end: Int64 = 0
    /// Blocks that do not match their hashes.
    private var damaged: [PackID: BlockSet] = [:]

    init(directory: String) throws {
        // The next run sweeps the file if this process is killed before it is unlinked.
        let (named, file) = try PackSpool(directory: directory).create()
        // Removed with the descriptor, however the process ends.
        named.discard()
        self.file = file
    }

    /// Reads a pack's table of hashes, and with `readsData` compares it with the blocks.
    ///
    /// - Throws: `VaultError` `damaged`. If its table is intact, ``has(_:)`` tells the intact blocks of the pack from the others.
    func add(
        _ object: ObjectAttributes, repository: [UInt8], store: any ObjectStore, readsData: Bool
    ) async throws {
        guard let pack = object.name.split(separator: "/").last.flatMap({ PackID(hexadecimal: $0) }),
            RepositoryFormat.data(pack) == object.name
        else { throw VaultError(.damaged, "invalid name of a data pack", path: object.name) }
        // What is read a second time counts.
        (places[pack], damaged[pack]) = (nil, nil)
        let size = try await store.contentSize(object)
        guard let blocks = RepositoryFormat.blocks(inDataPackOf: size) else {
            throw VaultError(.damaged, "invalid length of a data pack", path: object.name)
        }
        let header = try await store.get(object.name, range: 0..<Int64(RepositoryFormat.packHeader))
        let tableStart = Int64(RepositoryFormat.packHeader + blocks * blockSize)
        let tail = try await store.get(object.name, range: tableStart..<size)
        let table = Array(tail.dropLast(RepositoryFormat.hashBytes))
        guard header == PackWriter.header(RepositoryFormat.dataMagic, repository: repository, pack: pack),
            Array(tail.suffix(RepositoryFormat.hashBytes)) == Hash256(of: header + table).withBytes(Array.init)
        else { throw VaultError(.damaged, "its header or its table is damaged", path: object.name) }
        try file.write(table, at: end)
        places[pack] = (end, blocks)
        end += Int64(table.count)
        guard readsData else { return }
        do {
            try await compare(pack, object.name, table, blocks, store)
        } catch let error as VaultError where error.isDamage {
            // It ends before its last block, or is gone.
            places[pack] = nil
            throw error
        }
        if let first = damaged[pack]?.first { throw PackFile.damaged(block: first, object.name) }
    }

    private func compare(
        _ pack: PackID, _ name: String, _ table: [UInt8], _ blocks: Int, _ store: any ObjectStore
    ) async throws {
        let step = 2048
        for first in stride(from: 0, to: blocks, by: step) {
            let count = min(step, blocks - first)
            let start = Int64(RepositoryFormat.packHeader + first * blockSize)
            let bytes = try await store.get(name, range: start..<(start + Int64(count * blockSize)))
            for block in try PackFile.damaged(bytes, table, from: first, count, name) {
                damaged[pack, default: BlockSet()].insert(UInt32(block))
            }
        }
    }

    /// Whether the pack records that hash for the block, which was not found damaged.
    func has(_ entry: TreeEntry) throws -> Bool {
        guard let place = places[entry.pack], entry.position < place.blocks,
            damaged[entry.pack]?.contains(entry.position) != true
        else { return false }
        let bytes = try file.read(at: place.offset + Int64(entry.position) * 32, count: 32)
        return entry.hash.withBytes { $0.elementsEqual(bytes) }
    }
}

/// A set of blocks of a pack: one bit for each.
struct BlockSet {
    private var words = [UInt64](repeating: 0, count: RepositoryFormat.packBlocks / 64)

    mutating func insert(_ block: UInt32) {
        guard block < UInt32(RepositoryFormat.packBlocks) else { return }
        words[Int(block / 64)] |= 1 << UInt64(block % 64)
    }

    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    func contains(_ block: UInt32) -> Bool {
        block < UInt32(RepositoryFormat.packBlocks) && words[Int(block / 64)] & 1 << UInt64(block % 64) != 0
    }

    /// The lowest of them.
    var first: Int? {
        words.firstIndex { $0 != 0 }.map { $0 * 64 + words[$0].trailingZeroBitCount }
    }
}
