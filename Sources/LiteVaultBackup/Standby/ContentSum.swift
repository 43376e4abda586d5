internal import LiteVaultCapture
internal import LiteVaultRepository
internal import LiteVaultSystem

/// A sum of the hashes of a database's pieces of 512 bytes, each with its number: it tells whether a database has exactly this
/// content, and changes with a page without the others being read.
///
/// It detects what has changed by mistake or by another program; the repository's own hashes detect forgery.
struct ContentSum: Equatable, Sendable {
    private static let piece = 512
    private var words: [UInt64] = [0, 0, 0, 0]

    init() {}

    /// Reads 64 hexadecimal digits.
    init?(hexadecimal digits: String) {
        guard let bytes = [UInt8](hexadecimal: digits), bytes.count == 32 else { return nil }
        for place in words.indices {
            words[place] = bytes[(8 * place)..<(8 * place + 8)].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    var hexadecimal: String { words.map(\.hexadecimal).joined() }

    /// Adds the content at an offset, a multiple of 512 bytes; what is missing to the next one counts as zeros.
    mutating func add(_ bytes: [UInt8], at offset: Int64) { change(bytes, offset) { $0 &+ $1 } }

    /// Removes the content at an offset.
    mutating func remove(_ bytes: [UInt8], at offset: Int64) { change(bytes, offset) { $0 &- $1 } }

    private mutating func change(_ bytes: [UInt8], _ offset: Int64, _ combine: (UInt64, UInt64) -> UInt64) {
        bytes.withUnsafeBytes { content in
            for start in stride(from: 0, to: content.count, by: Self.piece) {
                let piece = UnsafeRawBufferPointer(rebasing: content[start..<min(start + Self.piece, content.count)])
                let hash = Self.hash(of: piece, at: offset + Int64(start))
                hash.withBytes { hash in
                    for place in words.indices {
                        words[place] = combine(
                            words[place], hash.loadUnaligned(fromByteOffset: 8 * place, as: UInt64.self))
                    }
                }
            }
        }
    }

    /// The hash of the offset of a piece, and its content.
    private static func hash(of piece: UnsafeRawBufferPointer, at offset: Int64) -> Hash256 {
        guard piece.count == Self.piece else {
            let whole = Array(piece) + [UInt8](repeating: 0, count: Self.piece - piece.count)
            return whole.withUnsafeBytes { hash(of: $0, at: offset) }
        }
        return withUnsafeBytes(of: offset.bigEndian) { Hash256(of: $0, piece) }
    }

    /// The sum of a whole file, one that no process has open as a database.
    init(file path: String) throws {
        try LocalFile(reading: path).forEachPiece { offset, bytes in add(Array(bytes), at: offset) }
    }

    /// The sum of a standby as its readers see it.
    init(_ database: StandbyDatabase) throws {
        guard database.pageCount > 0 else { return }
        for number in 1...database.pageCount { add(try database.page(number), at: database.offset(of: number)) }
    }

    /// The sum after a commit.
    func after(_ pages: NewestPages, in database: StandbyDatabase) throws -> ContentSum {
        var sum = self
        let (old, new) = (database.pageCount, pages.pageCount)
        let written = pages.numbers
        for number in written {
            let offset = database.offset(of: number)
            if number <= old { sum.remove(try database.page(number), at: offset) }
            if number <= new { sum.add(try pages.page(number), at: offset) }
        }
        let known = Set(written)
        if new < old {
            for number in (new + 1)...old where !known.contains(number) {
                sum.remove(try database.page(number), at: database.offset(of: number))
            }
        } else if old < new {
            // SQLite does not write every page that it adds: a free one may keep its old content.
            for number in (old + 1)...new where !known.contains(number) {
                sum.add(try database.page(number), at: database.offset(of: number))
            }
        }
        return sum
    }
}

extension StandbyDatabase {
    /// The offset of a page in the database.
    fileprivate func offset(of page: UInt32) -> Int64 { Int64(page - 1) * Int64(pageSize) }
}
