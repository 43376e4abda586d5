internal import CEngineSupport
package import LiteVaultCore
internal import LiteVaultSystem

/// Compares the pages of two encrypted databases under different keys in plaintext, byte by byte.
///
/// What is equal page by page has the same tables, indexes and free pages. The engine has written the copy; this decrypts both
/// files without it, so that an error of one is not repeated by the other. Codes are not verified: the engine does that when
/// it reads a page.
package struct PageComparator {
    private let source: PageDecryptor
    private let copy: PageDecryptor

    /// - Parameters:
    ///   - source: the database file without a log or journal, which nobody writes to.
    ///   - copy: the copy, likewise.
    /// - Returns: nil where pages cannot be decrypted without the engine, or the layouts differ.
    package init?(_ source: PageDecryptor?, _ copy: PageDecryptor?) {
        guard let source, let copy, source.pageSize == copy.pageSize, source.contentSize == copy.contentSize else {
            return nil
        }
        (self.source, self.copy) = (source, copy)
    }

    /// Compares all pages but that of the lock bytes, which is never written.
    ///
    /// - Parameters:
    ///   - pageCount: the number of pages of either database.
    ///   - report: called periodically with the number of pages done; may throw to cancel.
    /// - Throws: ``VaultError`` `internalFailure` naming the first page that differs, or `damaged` if that of the source is, `io`.
    package func compare(pageCount: Int64, _ report: (Int64) throws -> Void) throws {
        let lockPage = (1 << 30) / Int64(source.pageSize) + 1
        let batch = Int64(max(1, (1 << 20) / source.pageSize))
        var first: Int64 = 1
        while first <= pageCount {
            let count = min(batch, pageCount - first + 1)
            try source.withPages(from: first, count: count) { left in
                try copy.withPages(from: first, count: count) { right in
                    for index in 0..<count where first + index != lockPage {
                        if isEqual(left, right, at: Int(index), isFirst: first + index == 1) { continue }
                        throw try difference(page: first + index)
                    }
                }
            }
            first += count
            try report(first - 1)
        }
    }

    /// The backup API copies a page whose code does not match without an error (SQLCipher 4.6), with other content.
    private func difference(page: Int64) throws -> VaultError {
        guard try source.authenticates(page: page) else {
            return VaultError(
                .damaged, "Page \(page) of the database does not match its authentication code", path: source.file.path,
                remedy: "Verify it, and restore a backup. The source is unchanged.")
        }
        return VaultError(
            .internalFailure, "The copy differs from its source in page \(page)",
            remedy: "The source is unchanged and the copy was not published. Verify the source.")
    }

    private func isEqual(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, at index: Int, isFirst: Bool
    ) -> Bool {
        guard let left = left.baseAddress, let right = right.baseAddress else { return false }
        let offset = index * source.contentSize
        guard isFirst else { return memcmp(left + offset, right + offset, source.contentSize) == 0 }
        // The salt (0 to 15), the journal mode (18, 19), and what each write to a file counts: the change counter (24 to 27), the
        // count when the size was valid and the version of the library (92 to 99). https://sqlite.org/fileformat2.html
        // The backup API counts the version of the schema (40 to 43) on, as the connection of the copy has it.
        let compared = [16..<18, 20..<24, 28..<40, 44..<92, 100..<source.contentSize]
        return compared.allSatisfy { memcmp(left + $0.lowerBound, right + $0.lowerBound, $0.count) == 0 }
    }
}

/// Decrypts the pages of a database file without the engine: AES-256-CBC, with the initialization vector in the bytes that each
/// page reserves at its end.
package final class PageDecryptor {
    let pageSize: Int
    /// Bytes of a page that belong to the database: the others are reserved for vector and code.
    let contentSize: Int
    let file: EngineFile
    private let decryption: OpaquePointer
    private let authenticator: () throws -> PageAuthenticator

    /// - Parameters:
    ///   - key: the key of the file; a passphrase takes as long to derive as the engine takes.
    ///   - connection: a connection that has the file open.
    /// - Returns: nil for a layout without codes or with a plaintext header, and where no library for it is loaded.
    package init?(_ file: EngineFile, key: DatabaseKey, settings: CipherSettings, _ connection: Connection) throws {
        var held = try connection.cipherSettings()
        held.salt = settings.salt
        let layout = PageLayout(held, defaultCompatibility: 4)
        guard layout.hmacAlgorithm != nil, layout.plaintextHeaderSize == 0, lv_digests_available() else { return nil }
        let salt = try key.salt ?? file.read(at: 0, count: 16)
        let encryptionKey = try PageAuthenticator.encryptionKey(of: key, layout: layout, salt: salt)
        guard let decryption = encryptionKey.withBytes({ $0.baseAddress.flatMap { lv_decryption_create($0) } }) else {
            return nil
        }
        self.decryption = decryption
        self.file = file
        authenticator = { try PageAuthenticator(key: key, layout: layout, fileSalt: salt) }
        pageSize = layout.pageSize
        contentSize = layout.pageSize - layout.reservedBytes
    }

    deinit { lv_decryption_free(decryption) }

    /// Whether the code of a page matches. Derives the keys again.
    func authenticates(page: Int64) throws -> Bool {
        let bytes = try file.read(at: (page - 1) * Int64(pageSize), count: pageSize)
        let authenticator = try authenticator()
        return bytes.withUnsafeBytes { authenticator.authenticates($0, number: UInt32(truncatingIfNeeded: page)) }
    }

    /// Reads pages, and runs `body` with their contents, one after the other.
    ///
    /// A page of zeros is one that was never written, and stays as it is, as in the engine.
    func withPages<T>(from first: Int64, count: Int64, _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T {
        let bytes = try file.read(at: (first - 1) * Int64(pageSize), count: Int(count) * pageSize)
        guard bytes.count == Int(count) * pageSize else {
            throw VaultError(.damaged, "The file is shorter than its database", path: file.path)
        }
        let plaintext = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(count) * contentSize, alignment: 16)
        defer {
            SecretMemory.wipe(plaintext)
            plaintext.deallocate()
        }
        try bytes.withUnsafeBytes { bytes in
            for index in 0..<Int(count) {
                let page = UnsafeRawBufferPointer(rebasing: bytes[(index * pageSize)..<((index + 1) * pageSize)])
                let output = UnsafeMutableRawBufferPointer(
                    rebasing: plaintext[(index * contentSize)...].prefix(contentSize))
                guard decrypt(page, isFirst: first + Int64(index) == 1, into: output) else {
                    throw VaultError(.internalFailure, "A page could not be decrypted", path: file.path)
                }
            }
        }
        return try body(UnsafeRawBufferPointer(plaintext))
    }

    private func decrypt(
        _ page: UnsafeRawBufferPointer, isFirst: Bool, into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard let input = page.baseAddress, let base = output.baseAddress else { return false }
        // The salt of the file is in place of the first 16 bytes.
        let clear = isFirst ? 16 : 0
        if page[0] == 0, page.allSatisfy({ $0 == 0 }) {
            memset(base, 0, output.count)
            return true
        }
        memcpy(base, input, clear)
        return lv_decrypt(decryption, input + contentSize, input + clear, contentSize - clear, base + clear)
    }
}
