/// The start of a SQLite database in plaintext, with every field checked: https://sqlite.org/fileformat2.html
package struct PlainHeader {
    package static let magic = Array("SQLite format 3\0".utf8)

    package let pageSize: Int
    package let reservedBytes: Int

    /// Nil unless the header and the b-tree header behind it make sense.
    ///
    /// Ciphertext in any field from byte 16 on fails one of the checks with a probability that grows with every field:
    /// the twenty zero bytes alone leave 2^-160.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= 108, bytes.starts(with: Self.magic) else { return nil }
        func number(_ offset: Int, _ length: Int) -> Int {
            bytes[offset..<(offset + length)].reduce(0) { $0 << 8 | Int($1) }
        }
        let size = number(16, 2) == 1 ? 65536 : number(16, 2)
        guard size >= 512, size & (size - 1) == 0 else { return nil }
        let reserved = Int(bytes[20])
        guard (1...2).contains(bytes[18]), (1...2).contains(bytes[19]), size - reserved >= 480 else { return nil }
        guard bytes[21] == 64, bytes[22] == 32, bytes[23] == 32 else { return nil }
        guard number(44, 4) <= 4, number(56, 4) <= 3, number(64, 4) <= 1 else { return nil }
        guard bytes[72..<92].allSatisfy({ $0 == 0 }) else { return nil }
        guard Self.isBTreePage(bytes, at: 100, limit: size - reserved) else { return nil }
        pageSize = size
        reservedBytes = reserved
    }

    /// Whether the header of a table b-tree page and its cell pointers are possible. Page 1 is always a table's.
    private static func isBTreePage(_ bytes: [UInt8], at offset: Int, limit: Int) -> Bool {
        func number(_ at: Int) -> Int { Int(bytes[at]) << 8 | Int(bytes[at + 1]) }
        guard bytes[offset] == 0x0d || bytes[offset] == 0x05, bytes[offset + 7] <= 60 else { return false }
        let headerLength = bytes[offset] == 0x05 ? 12 : 8
        let cells = number(offset + 3)
        let content = number(offset + 5) == 0 ? 65536 : number(offset + 5)
        let pointers = offset + headerLength
        guard pointers + 2 * cells <= limit, content <= limit, content >= pointers + 2 * cells else { return false }
        guard number(offset + 1) < limit else { return false }
        for cell in 0..<cells where pointers + 2 * cell + 1 < bytes.count {
            let target = number(pointers + 2 * cell)
            guard target >= content, target < limit else { return false }
        }
        return true
    }
}
