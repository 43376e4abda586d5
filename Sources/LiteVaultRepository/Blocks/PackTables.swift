internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultSystem

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
