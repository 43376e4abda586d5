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
            let header = try file.read(at: 0, count: RepositoryFormat.packHeader)
            guard header == PackWriter.header(RepositoryFormat.treeMagic, repository: repository, pack: pack),
                isWhole(file.path, pack)
            else { throw VaultError(.damaged, "its hash does not match", path: name) }
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
    static func isWhole(_ path: String, _ pack: PackID) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return (try? isIntact(path, pack)) ?? false
    }

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
