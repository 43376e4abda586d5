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
    /// Classifies a file that `read` reads from, by what its first page is made of: see ``CiphertextTest``.
    ///
    /// - Parameters:
    ///   - size: The file's size in bytes.
    ///   - read: Returns the bytes at an offset; the last may be missing.
    package static func classify(
        size: Int64, read: (_ offset: Int64, _ count: Int) throws -> [UInt8]
    ) rethrows -> FileKind {
        if size == 0 { return .empty }
        return try read(0, 65536).withUnsafeBytes { classify(size: size, start: $0) }
    }

    /// Classifies a file by its first 65536 bytes, fewer if there are not as many.
    package static func classify(size: Int64, start: UnsafeRawBufferPointer) -> FileKind {
        if size == 0 { return .empty }
        guard size >= 512 else { return .notADatabase }
        let isEncrypted = CiphertextTest.clearBytes(ofFirstPage: start) != nil
        if CiphertextTest.startsInPlaintext(start) { return isEncrypted ? .plaintextHeader : .plain }
        // Encrypted files consist of pages of at least 512 bytes. One that was cut off in the middle of a page is still
        // worth a key, so another size rules encryption out only where it is less than a page of the current format.
        return isEncrypted && (size % 512 == 0 || size >= 4096) ? .encryptedOrUnknown : .notADatabase
    }
}
