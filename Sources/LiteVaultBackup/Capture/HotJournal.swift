internal import CEngineSupport
internal import Foundation

/// A rollback journal that a crash left behind: what a reader with the right to write would roll back first.
/// https://sqlite.org/fileformat2.html#the_rollback_journal
enum HotJournal {
    /// The pages as they were before the interrupted transaction; nil if there is nothing to roll back.
    ///
    /// To be called under the SHARED lock: whoever holds RESERVED meanwhile has written nothing to the file yet.
    static func overlay(of file: SourceFile) throws -> PageOverlay? {
        guard let journal = try CompanionFile(path: file.path + "-journal") else { return nil }
        // The journal of a transaction in progress: its pages are still those of the file.
        if try file.isReserved() { return nil }
        let size = try journal.size()
        guard size > 28, try journal.read(count: 1, at: 0) != [0], try file.size() > 0 else { return nil }
        // With a super-journal, the transaction counts as rolled back only as long as that exists.
        if let name = try superJournal(of: journal, size: size), !CompanionFile.exists(name) { return nil }
        return try playback(journal, size: size)
    }

    private struct Header {
        let records: UInt32
        let nonce: UInt32
        let pageCount: UInt32
        let sectorSize: Int64
        let pageSize: Int
    }

    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    private static func header(_ journal: CompanionFile, at offset: Int64) throws -> Header? {
        let bytes = try journal.read(count: 28, at: offset)
        guard bytes.count == 28, Array(bytes[..<8]) == magic else { return nil }
        return Header(
            records: bytes.word(8), nonce: bytes.word(12), pageCount: bytes.word(16), sectorSize: Int64(bytes.word(20)),
            pageSize: Int(bytes.word(24)))
    }

    private static func playback(_ journal: CompanionFile, size: Int64) throws -> PageOverlay? {
        guard let first = try header(journal, at: 0) else { return nil }
        let pageSize = first.pageSize
        let sector = first.sectorSize
        guard (512...65536).contains(pageSize), pageSize & (pageSize - 1) == 0, (32...65536).contains(sector),
            sector & (sector - 1) == 0
        else { return nil }
        let recordLength = Int64(pageSize + 8)
        // The page that holds the bytes used for locking is never written.
        let lockPage = UInt32(0x4000_0000 / pageSize) + 1
        var pages: [UInt32: Int64] = [:]
        var offset: Int64 = 0
        reading: while offset + sector <= size, let header = try header(journal, at: offset) {
            offset += sector
            let count =
                header.records == .max ? (size - sector) / recordLength : Int64(header.records)
            for _ in 0..<count {
                guard offset + recordLength <= size else { break reading }
                let record = try journal.read(count: Int(recordLength), at: offset)
                guard record.count == Int(recordLength) else { break reading }
                let page = record.word(0)
                // A checksum that does not hold: the record never reached the disk, nor did the change of its page.
                guard page != 0, page != lockPage, checksum(record, pageSize, header.nonce) == record.word(4 + pageSize)
                else { break reading }
                if page <= first.pageCount { pages[page] = offset + 4 }
                offset += recordLength
            }
            offset = (offset + sector - 1) / sector * sector
        }
        return PageOverlay(file: journal, pageSize: pageSize, pageCount: first.pageCount, pages: pages)
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

    /// The path at the end of a journal that took part in a transaction over several databases.
    private static func superJournal(of journal: CompanionFile, size: Int64) throws -> String? {
        guard size >= 16 else { return nil }
        let tail = try journal.read(count: 16, at: size - 16)
        guard tail.count == 16, Array(tail[8...]) == magic else { return nil }
        let length = Int64(tail.word(0))
        guard length > 0, length < 65536, length <= size - 16 else { return nil }
        let name = try journal.read(count: Int(length), at: size - 16 - length)
        let sum = name.reduce(UInt32(0)) { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }
        guard sum == tail.word(4) else { return nil }
        return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    }
}
