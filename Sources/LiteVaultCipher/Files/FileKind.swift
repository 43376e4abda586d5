internal import CEngineSupport

/// The kind of a file, as far as its bytes reveal it without a key.
public enum FileKind: String, Sendable, CaseIterable {
    /// A SQLite database without encryption.
    case plain
    /// Encrypted, or anything else without a recognizable structure: without the key these cannot be told apart.
    case encryptedOrUnknown = "encrypted"
    /// An encrypted database whose first bytes are plaintext (`PRAGMA cipher_plaintext_header_size`).
    case plaintextHeader = "plaintext-header"
    /// An empty file. SQLite treats it as a database without content, under any key.
    case empty
    /// Too short, or with content that is neither a database nor ciphertext.
    case notADatabase = "not-a-database"
}

extension FileKind {
    /// Classifies a file by the distribution of the bytes in its first page: see ``CiphertextTest``.
    ///
    /// - Parameter read: returns the bytes at an offset, fewer at the end of the file.
    package static func classify(
        size: Int64, read: (_ offset: Int64, _ count: Int) throws -> [UInt8]
    ) rethrows -> FileKind {
        if size == 0 { return .empty }
        return try read(0, 65536).withUnsafeBytes { classify(size: size, start: $0) }
    }

    /// Classifies a file by its first 65536 bytes, or the whole file if it is shorter.
    package static func classify(size: Int64, start: UnsafeRawBufferPointer) -> FileKind {
        if size == 0 { return .empty }
        guard size >= 512 else { return .notADatabase }
        let isEncrypted = CiphertextTest.clearBytes(ofFirstPage: start) != nil
        if CiphertextTest.startsInPlaintext(start) { return isEncrypted ? .plaintextHeader : .plain }
        // Encrypted files consist of pages of at least 512 bytes. One that was truncated in the middle of a page is still worth
        // trying a key on, so another size rules encryption out only below a page of the current format.
        return isEncrypted && (size % 512 == 0 || size >= 4096) ? .encryptedOrUnknown : .notADatabase
    }
}

/// Distinguishes plaintext from ciphertext by the distribution of the bytes, without a key.
///
/// The pages of SQLCipher are uniformly distributed bytes: the output of AES-CBC, a random vector, an HMAC, and random bytes
/// that fill the rest of the reserved space. SQLite's own pages are not: they have page numbers with leading zeros,
/// repeating record headers, text, and free space. Two numbers are computed for each window of 512 bytes, and for every 4096
/// bytes together: how often the most frequent byte occurs (m), and the sum of the squares of the 256 counts (s). A window
/// is plaintext when either reaches its limit. (The windows of a block are examined one by one only where the block as a
/// whole is unusual: that misses a few windows that just reach their limit, and takes a third of the time.)
///
/// **False alarms.** The limits are such that n uniform bytes reach one of them with a probability of at most 2^-80:
///
/// * P(m ≥ k) ≤ 256 · C(n,k) · 256^-k: the union over the bytes, and over the places where k of them could be.
/// * Counts of n uniform bytes are distributed as 256 independent Poisson variables X with mean n/256, given that their
///   sum is n. So P(s ≥ a and m < k) ≤ P(ΣX² ≥ a and all X < k) / P(Poisson(n) = n), and by Chernoff's bound the numerator
///   is at most e^-ta · (Σ_{x<k} P(X=x) · e^(t·x²))^256 for every t > 0; the best t is taken.
///
/// Each gets one half. A database of 1 TB has 2^31 windows and 2^28 blocks, whatever its page size: the probability of one
/// false alarm in it is below (2^31 + 2^28) · 2^-80 < 2^-48. The same holds for each terabyte of followed log.
///
/// **What is found.** At least 33 equal bytes in 512 or 86 in 4096, or an alphabet of fewer than 92 (182) letters: text in
/// every encoding, free space, integers, pointer maps, the free list. **What cannot be found:** pages that contain only bytes
/// that are already compressed or encrypted, such as overflow pages of large values; no statistic distinguishes these from
/// ciphertext. Every database has other pages: at least the first.
///
/// Windows of zeros are skipped. They reveal nothing, and encrypted databases have them: the page of the lock bytes (at
/// 1 GiB), pages that were freed before they were ever written, and space that was allocated ahead.
package enum CiphertextTest {
    /// The first 16 bytes of an encrypted database are its salt, which need not be random.
    private static let saltLength = 16
    private static let magic = Array("SQLite format 3\0".utf8)

    static func startsInPlaintext(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.starts(with: magic) }

    /// The offset of bytes that cannot be ciphertext; nil if there are none.
    ///
    /// - Parameters:
    ///   - bytes: a page, or part of one.
    ///   - clear: the number of bytes at the start to skip, from ``clearBytes(ofFirstPage:)``.
    package static func plaintext(in bytes: UnsafeRawBufferPointer, after clear: Int = 0) -> Int? {
        var offset = clear
        while offset < bytes.count, let base = bytes.baseAddress {
            let found = lv_find_structure(base + offset, min(4096, bytes.count - offset))
            if found >= 0 { return offset + found }
            offset += 4096
        }
        return nil
    }

    /// The number of bytes at the start of a database that are not encrypted although the rest of its first page is: the salt,
    /// or a plaintext header (`PRAGMA cipher_plaintext_header_size`). Nil if the page is not encrypted.
    ///
    /// The header is trusted only for where the page ends: ciphertext is at the end of the first page if it is anywhere in
    /// it, and there SQLite keeps the oldest rows of the schema.
    ///
    /// - Parameter bytes: the first page, or the whole file if it is shorter, up to 65536 bytes.
    package static func clearBytes(ofFirstPage bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= 512 else { return nil }
        guard startsInPlaintext(bytes) else {
            let start = UnsafeRawBufferPointer(rebasing: bytes.prefix(4096))
            // Whatever the salt is, the rest of the page was written.
            let isWritten = start.prefix(512).dropFirst(saltLength).contains { $0 != 0 }
            return isWritten && plaintext(in: start, after: saltLength) == nil ? saltLength : nil
        }
        let end = endOfFirstPage(bytes)
        func isCiphertext(_ range: Range<Int>) -> Bool {
            let part = UnsafeRawBufferPointer(rebasing: bytes[range])
            return range.count >= 128 && part.contains { $0 != 0 } && plaintext(in: part) == nil
        }
        guard end > 512 else { return isCiphertext(128..<max(128, end)) ? 128 : nil }
        guard isCiphertext((end - 512)..<end) else { return nil }
        if isCiphertext(128..<512) { return 128 }
        // A header of unusual length: up to the first window that could be ciphertext.
        return stride(from: 512, to: end - 512, by: 512).first { isCiphertext($0..<($0 + 512)) } ?? end - 512
    }

    /// The page size in a plaintext header; nil for an impossible one.
    package static func pageSize(inHeader start: UnsafeRawBufferPointer) -> Int? {
        guard start.count >= 18 else { return nil }
        let number = Int(start[16]) << 8 | Int(start[17])
        let size = number == 1 ? 65536 : number
        return size >= 512 && size & (size - 1) == 0 ? size : nil
    }

    /// The offset of the reserved bytes of the first page, as far as its header can be trusted.
    private static func endOfFirstPage(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let pageSize = pageSize(inHeader: bytes) else { return min(4096, bytes.count) }
        let reserved = Int(bytes[20])
        return min(pageSize - (pageSize - reserved >= 480 ? reserved : 0), bytes.count)
    }
}
