internal import CEngineSupport
internal import LiteVaultCore
internal import LiteVaultSystem

/// Verifies the authentication codes of pages without the engine.
///
/// The engine reports a wrong key and a damaged first page alike, and reads a page only when it needs it. This derives the
/// keys itself and verifies any page of the file or of its write-ahead log on its own:
///
/// * key = PBKDF2(passphrase, salt, iterations), or the raw key;
/// * authentication key = PBKDF2(key, salt with every byte XOR 0x3a, 2 iterations), with the same digest;
/// * each page ends in its reserved bytes: initialization vector (16), HMAC, padding. The HMAC covers the page from its
///   first encrypted byte to the end of the vector, then the page number as four bytes, lowest first.
package struct PageAuthenticator: Sendable {
    package let layout: PageLayout
    private let authenticationKey: SecretBytes
    private let hmac: CipherSettings.Algorithm

    /// Derives the keys. Takes as long as the engine's own derivation.
    ///
    /// - Parameter fileSalt: the first 16 bytes of the file; used if neither key nor settings contain a salt.
    /// - Throws: ``VaultError`` `unsupported` when the layout has no authentication or no digests are loaded, `usage`
    ///   when there is no salt.
    package init(key: DatabaseKey, layout: PageLayout, fileSalt: [UInt8]) throws {
        guard let hmac = layout.hmacAlgorithm else {
            throw VaultError(.unsupported, "The pages are not authenticated (HMAC is off)")
        }
        guard (512...65536).contains(layout.pageSize), (1...Int(Int32.max)).contains(layout.kdfIterations) else {
            throw VaultError(.usage, "The cipher settings are invalid")
        }
        var salt = key.salt ?? layout.salt ?? (layout.plaintextHeaderSize > 0 ? [] : fileSalt)
        guard salt.count == 16 else { throw VaultError(.usage, "The salt is missing") }
        defer { salt.wipe() }
        self.hmac = hmac
        self.layout = layout
        if key.form == .rawWithAuthenticationKeyAndSalt {
            authenticationKey = try key.secret.withBytes { try .secret($0[32..<64]) }
            return
        }
        let encryptionKey = try Self.encryptionKey(of: key, layout: layout, salt: salt)
        for index in salt.indices { salt[index] ^= 0x3a }
        authenticationKey = try Self.derive(
            from: encryptionKey, digest: layout.kdfAlgorithm, salt: salt, iterations: 2)
    }

    /// The key that encrypts: derived from a passphrase, or the raw key itself.
    static func encryptionKey(of key: DatabaseKey, layout: PageLayout, salt: [UInt8]) throws -> SecretBytes {
        if key.form == .passphrase {
            return try derive(
                from: key.secret, digest: layout.kdfAlgorithm, salt: salt, iterations: layout.kdfIterations)
        }
        return try key.secret.withBytes { try .secret($0.prefix(32)) }
    }

    private static func derive(
        from secret: SecretBytes, digest: CipherSettings.Algorithm, salt: [UInt8], iterations: Int
    ) throws -> SecretBytes {
        try .secret(count: 32) { key in
            guard let base = key.baseAddress else { return }
            let done = secret.withBytes { bytes in
                bytes.baseAddress.map {
                    lv_pbkdf2(digest.shimValue, $0, bytes.count, salt, salt.count, UInt32(iterations), base, 32)
                } ?? false
            }
            guard done else { throw VaultError(.unsupported, "No digest library is loaded") }
        }
    }

    /// Whether the page's code matches its content and its number.
    ///
    /// - Parameters:
    ///   - page: a whole page.
    ///   - number: the page number; the first is 1.
    package func authenticates(_ page: UnsafeRawBufferPointer, number: UInt32) -> Bool {
        withHMAC { isAuthentic(page, number: number, $0) }
    }

    /// The key goes into a context once for all pages of `body`; nil when there is no digest library or no memory.
    private func withHMAC<T>(_ body: (OpaquePointer?) throws -> T) rethrows -> T {
        let context = authenticationKey.withBytes { key in
            key.baseAddress.flatMap { lv_hmac_create(hmac.shimValue, $0, key.count) }
        }
        defer { if let context { lv_hmac_free(context) } }
        return try body(context)
    }

    private func isAuthentic(_ page: UnsafeRawBufferPointer, number: UInt32, _ context: OpaquePointer?) -> Bool {
        guard page.count == layout.pageSize, let base = page.baseAddress, let context else { return false }
        let start = number == 1 ? layout.clearBytesOfFirstPage : 0
        let end = layout.pageSize - layout.reservedBytes + 16
        let length = hmac.digestLength
        guard start < end, end + length <= page.count else { return false }
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { digest in
            guard let output = digest.baseAddress else { return false }
            var suffix = number.littleEndian
            return lv_hmac_of(context, base + start, end - start, &suffix, 4, output) == length
                && memcmp(output, base + end, length) == 0
        }
    }
}

extension CipherSettings.Algorithm {
    fileprivate var shimValue: lv_digest {
        switch self {
        case .sha1: LV_SHA1
        case .sha256: LV_SHA256
        case .sha512: LV_SHA512
        }
    }
}

// MARK: Whole files

package struct PageReport: Sendable, Equatable {
    package var pages = 0
    /// Numbers of the pages whose code does not match, at most ``limit`` of them.
    package var failures: [UInt32] = []
    /// The number of all such pages.
    package var failureCount = 0
    /// Bytes after the last whole page: the file was truncated in the middle of one.
    package var trailingBytes = 0

    package static let limit = 100

    /// How often the reading of failed pages waits for a write that may be under way: for at most this many megabytes.
    package static let retries = 16

    package mutating func fail(_ page: UInt32) {
        failureCount += 1
        if failures.count < Self.limit { failures.append(page) }
    }
}

extension PageAuthenticator {
    /// The page that holds SQLite's lock bytes (offset 2^30) is never written.
    private var lockPage: UInt32 { UInt32((1 << 30) / layout.pageSize + 1) }

    /// Page numbers have 32 bits, whatever the size of a file says.
    private func pageCount(_ size: Int64) -> Int { Int(min(size / Int64(layout.pageSize), Int64(UInt32.max - 1))) }

    /// Authenticates every page of the main file.
    ///
    /// A page of zeros counts as unwritten, as in the engine: a page that was freed before it was ever written remains
    /// a hole. `PRAGMA integrity_check` finds zero pages that are in use.
    ///
    /// - Parameters:
    ///   - retry: called before failed pages are read again, as they may have been read during a write; at most
    ///     ``PageReport/retries`` times. Whatever fails after that fails for another reason.
    ///   - progress: called with the number of pages done and of all pages; may throw to cancel.
    package func report(
        size: Int64, read: (_ offset: Int64, _ count: Int) throws -> [UInt8],
        retry: () -> Void = {}, progress: (_ done: Int, _ total: Int) throws -> Void = { _, _ in }
    ) throws -> PageReport {
        var report = PageReport()
        let pageSize = layout.pageSize
        report.pages = pageCount(size)
        report.trailingBytes = Int(size % Int64(pageSize))
        let batch = max(1, (1 << 20) / pageSize)
        var first = 0
        var retries = 0
        try withHMAC { context in
            while first < report.pages {
                let count = min(batch, report.pages - first)
                let bytes = try read(Int64(first) * Int64(pageSize), count * pageSize)
                let failed = (0..<count).filter {
                    !accepts(bytes, at: $0 * pageSize, number: UInt32(first + $0 + 1), context)
                }
                if !failed.isEmpty, retries < PageReport.retries {
                    retries += 1
                    retry()
                }
                for index in failed {
                    let number = UInt32(first + index + 1)
                    let again = try read(Int64(first + index) * Int64(pageSize), pageSize)
                    if !accepts(again, at: 0, number: number, context) { report.fail(number) }
                }
                first += count
                try progress(first, report.pages)
            }
        }
        return report
    }

    /// Whether some page other than the first authenticates: then the key is right, even if the first page is damaged.
    ///
    /// Samples up to 17 pages spread over the file.
    package func authenticatesSomeLaterPage(
        size: Int64, read: (_ offset: Int64, _ count: Int) throws -> [UInt8]
    ) rethrows -> Bool {
        let pages = Int64(pageCount(size))
        guard pages > 1 else { return false }
        let samples = Int64(16)
        let candidates = Set((0..<samples).map { 2 + $0 * max(1, (pages - 1) / samples) }).filter { $0 <= pages }
        for number in candidates.sorted() {
            let bytes = try read((number - 1) * Int64(layout.pageSize), layout.pageSize)
            if bytes.withUnsafeBytes({ authenticates($0, number: UInt32(number)) }) { return true }
        }
        return false
    }

    private func accepts(_ bytes: [UInt8], at offset: Int, number: UInt32, _ context: OpaquePointer?) -> Bool {
        guard bytes.count >= offset + layout.pageSize else { return false }
        if number == lockPage { return true }
        return bytes.withUnsafeBytes { all in
            let page = UnsafeRawBufferPointer(rebasing: all[offset..<(offset + layout.pageSize)])
            return isAuthentic(page, number: number, context) || page.allSatisfy { $0 == 0 }
        }
    }
}

/// The digests that page authentication calls directly: OpenSSL's, found in what was linked with the engine.
package enum PageDigests {
    /// Whether they were found. With another provider than OpenSSL they are not, and the engine alone authenticates.
    package static var areAvailable: Bool { lv_digests_available() }
}

// MARK: Derived keys

extension DatabaseKey {
    /// Derives the raw key, with salt, equivalent to the passphrase for a file with this salt. The file opens with
    /// either.
    ///
    /// Takes as long as the engine's own derivation.
    ///
    /// - Parameter salt: the salt of the file, 16 bytes.
    /// - Returns: nil if only the engine can do it, because no digest library is loaded.
    /// - Throws: ``VaultError`` when memory for a key cannot be allocated, or without encryption.
    package func derived(salt: [UInt8], settings: CipherSettings) throws -> DatabaseKey? {
        guard needsDerivation else { return self }
        guard lv_digests_available(), salt.count == 16 else { return nil }
        let layout = PageLayout(settings, defaultCompatibility: try CipherEngine.require().defaultCompatibility)
        return try DatabaseKey(PageAuthenticator.encryptionKey(of: self, layout: layout, salt: salt), salt: salt)
    }
}

extension PageAuthenticator {
    /// An authenticator for a file by a layout that it may have; nil when nothing can be authenticated.
    static func ifPossible(key: DatabaseKey, _ layout: PageLayout, _ file: EngineFile) throws -> PageAuthenticator? {
        do {
            return try PageAuthenticator(key: key, layout: layout, fileSalt: file.read(at: 0, count: 16))
        } catch let error as VaultError where error.code == .unsupported || error.code == .usage {
            return nil
        }
    }

    /// An authenticator for the file of an open connection; nil if the pages have no codes (HMAC is off) or no digest
    /// library is loaded.
    ///
    /// - Parameter salt: the salt of the settings, which the engine does not report.
    static func ifPossible(
        key: DatabaseKey, held: CipherSettings, salt: [UInt8]?, _ file: EngineFile
    ) throws -> PageAuthenticator? {
        var held = held
        held.salt = salt
        let layout = PageLayout(held, defaultCompatibility: 4)
        do {
            return try PageAuthenticator(key: key, layout: layout, fileSalt: file.read(at: 0, count: 16))
        } catch let error as VaultError where error.code == .unsupported {
            // Settings that do not fit the file are an error here, unlike a layout that is only tried.
            return nil
        }
    }
}
