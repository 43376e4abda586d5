internal import LiteVaultSystem

/// A rollback journal left behind by a crash, as it is on disk: the pages as they were before the unfinished
/// transaction.
/// https://sqlite.org/fileformat2.html#the_rollback_journal
///
/// Its headers and checksums are in plaintext and computed over the ciphertext, so all of this works without a key.
package struct RollbackJournal: Sendable {
    package let pageSize: Int
    /// The number of pages in the database before the transaction.
    package let pageCount: UInt32
    /// The offset in the journal of each page's bytes.
    package private(set) var pages: [UInt32: Int64] = [:]

    private struct Header {
        let records: UInt32
        let nonce: UInt32
        let pageCount: UInt32
        let sectorSize: Int64
        let pageSize: Int
    }

    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    /// Reads a journal; nil when it contains nothing to roll back: it is finished, or was never started.
    ///
    /// Call it under a SHARED lock of the database while no connection holds the RESERVED lock: otherwise the journal
    /// belongs to a transaction in progress.
    ///
    /// - Parameter exists: whether a file exists. With a super-journal, the transaction is unfinished only as long as the
    ///   super-journal exists.
    package init?(
        size: Int64, exists: (String) -> Bool, read: (_ offset: Int64, _ count: Int) throws -> [UInt8]
    ) rethrows {
        guard size > 28, try read(0, 1) != [0], let first = try Self.header(at: 0, read) else { return nil }
        if let name = try Self.superJournal(size: size, read), !Self.exists(name, exists) { return nil }
        guard (512...65536).contains(first.pageSize), first.pageSize & (first.pageSize - 1) == 0,
            (32...65536).contains(first.sectorSize), first.sectorSize & (first.sectorSize - 1) == 0
        else { return nil }
        pageSize = first.pageSize
        pageCount = first.pageCount
        try collect(size: size, sector: first.sectorSize, read: read)
    }

    private mutating func collect(
        size: Int64, sector: Int64, read: (_ offset: Int64, _ count: Int) throws -> [UInt8]
    ) rethrows {
        let length = Int64(pageSize + 8)
        // The page of the lock bytes is never written.
        let lockPage = UInt32(0x4000_0000 / pageSize) + 1
        var offset: Int64 = 0
        while offset + sector <= size, let header = try Self.header(at: offset, read) {
            offset += sector
            let count = header.records == .max ? (size - offset) / length : Int64(header.records)
            for _ in 0..<count {
                guard offset + length <= size else { return }
                let record = try read(offset, Int(length))
                guard record.count == Int(length) else { return }
                let page = record.word(0)
                // A wrong checksum: the record never reached the disk, nor did the change of its page.
                guard page != 0, page != lockPage,
                    Self.checksum(record, pageSize, header.nonce) == record.word(4 + pageSize)
                else { return }
                if page <= pageCount { pages[page] = offset + 4 }
                offset += length
            }
            offset = (offset + sector - 1) / sector * sector
        }
    }

    private static func header(
        at offset: Int64, _ read: (_ offset: Int64, _ count: Int) throws -> [UInt8]
    ) rethrows -> Header? {
        let bytes = try read(offset, 28)
        guard bytes.count == 28, Array(bytes[..<8]) == magic else { return nil }
        return Header(
            records: bytes.word(8), nonce: bytes.word(12), pageCount: bytes.word(16),
            sectorSize: Int64(bytes.word(20)), pageSize: Int(bytes.word(24)))
    }

    private static func checksum(_ record: [UInt8], _ pageSize: Int, _ nonce: UInt32) -> UInt32 {
        var sum = nonce
        var position = pageSize - 200
        while position > 0 {
            sum &+= UInt32(record[4 + position])
            position -= 200
        }
        return sum
    }

    /// The path of the super-journal, which is at the end of the journal of a transaction over several databases.
    private static func superJournal(
        size: Int64, _ read: (_ offset: Int64, _ count: Int) throws -> [UInt8]
    ) rethrows -> [UInt8]? {
        let tail = try read(size - 16, 16)
        guard tail.count == 16, Array(tail[8...]) == magic else { return nil }
        let length = Int64(tail.word(0))
        guard length > 0, length < 65536, length <= size - 16 else { return nil }
        let name = try read(size - 16 - length, Int(length))
        // The engine adds the name's `char`, which have a sign on x86-64 and none on arm64: the machine that wrote the journal
        // may be another one.
        let unsigned = name.reduce(UInt32(0)) { $0 &+ UInt32($1) }
        let signed = name.reduce(UInt32(0)) { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }
        guard [unsigned, signed].contains(tail.word(4)) else { return nil }
        return Array(name.prefix { $0 != 0 })
    }

    /// Whether a super-journal exists. A path need not be valid UTF-8, as `exists` takes it.
    private static func exists(_ name: [UInt8], _ exists: (String) -> Bool) -> Bool {
        if let text = String(validating: name, as: UTF8.self) { return exists(text) }
        return (name + [0]).withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { $0.baseAddress.map { access($0, F_OK) == 0 } ?? false }
        }
    }
}
