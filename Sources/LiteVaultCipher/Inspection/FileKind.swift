/// What a file is, as far as its bytes tell without a key.
public enum FileKind: String, Sendable, CaseIterable {
    /// A SQLite database without encryption.
    case plain
    /// Encrypted; or anything else without a recognisable structure, which nobody can tell apart without the key.
    case encryptedOrUnknown = "encrypted"
    /// An encrypted database that leaves its first bytes in plaintext (`PRAGMA cipher_plaintext_header_size`).
    case plaintextHeader = "plaintext-header"
    /// A file of no bytes. SQLite takes it for a database without content, under any key.
    case empty
    /// Too short, or with a content that ciphertext cannot have.
    case notADatabase = "not-a-database"
}

extension FileKind {
    /// Classifies a file that `read` reads from.
    ///
    /// - Parameters:
    ///   - size: The file's size in bytes.
    ///   - read: Returns the bytes at an offset; the last may be missing.
    package static func classify(
        size: Int64, read: (_ offset: Int64, _ count: Int) throws -> [UInt8]
    ) rethrows -> FileKind {
        if size == 0 { return .empty }
        let start = try read(0, 4096)
        guard start.starts(with: PlainHeader.magic) else {
            return couldBeCiphertext(start, size: size) ? .encryptedOrUnknown : .notADatabase
        }
        guard size >= 512 else { return .notADatabase }
        guard let header = PlainHeader(start) else { return .plaintextHeader }
        // The header could be in plaintext beyond what was looked at. SQLCipher then still keeps an initialisation
        // vector at the end of each page, where SQLite leaves zeros.
        if header.reservedBytes >= 16 {
            let tail = try read(Int64(header.pageSize - header.reservedBytes), header.reservedBytes)
            if tail.contains(where: { $0 != 0 }) { return .plaintextHeader }
        }
        return .plain
    }

    /// Encrypted files consist of pages of at least 512 bytes, and their bytes are evenly distributed.
    ///
    /// A file that was cut off in the middle of a page is still worth a key, so a size that is not a multiple of 512
    /// rules encryption out only where the file is shorter than one page of the current format.
    private static func couldBeCiphertext(_ start: [UInt8], size: Int64) -> Bool {
        guard size >= 512, size % 512 == 0 || size >= 4096 else { return false }
        var counts = [Int](repeating: 0, count: 256)
        for byte in start { counts[Int(byte)] += 1 }
        let expected = Double(start.count) / 256
        let chiSquare = counts.reduce(0) { sum, count in
            let difference = Double(count) - expected
            return sum + difference * difference / expected
        }
        // 255 degrees of freedom: random bytes stay within 255 ± 23, so this is fifteen standard deviations off.
        return chiSquare < 600
    }
}
