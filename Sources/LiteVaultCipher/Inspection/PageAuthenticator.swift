internal import CEngineSupport
internal import LiteVaultSupport

/// Verifies the authentication codes of pages without the engine.
///
/// The engine answers a wrong key and a damaged first page alike, and looks at a page only when it needs it. This
/// derives the keys itself and verifies any page of the file or of its write-ahead log by itself:
///
/// * key = PBKDF2(passphrase, salt, iterations), or the raw key;
/// * authentication key = PBKDF2(key, salt with every byte XOR 0x3a, 2 iterations), with the same digest;
/// * each page ends in its reserved bytes: initialisation vector (16), HMAC, padding. The HMAC covers the page from its
///   first encrypted byte to the end of the vector, then the page number as four bytes, lowest first.
package struct PageAuthenticator: Sendable {
    package let layout: PageLayout
    private let authenticationKey: SecretBytes
    private let hmac: CipherAlgorithm

    /// Derives the keys. Takes as long as the engine's own derivation.
    ///
    /// - Parameter fileSalt: The first 16 bytes of the file; used where neither key nor settings bring a salt.
    /// - Throws: ``VaultError`` `unsupported` when the layout has no authentication or no digests are loaded, `usage`
    ///   when there is no salt.
    package init(key: DatabaseKey, layout: PageLayout, fileSalt: [UInt8]) throws {
        guard let hmac = layout.hmacAlgorithm else {
            throw VaultError(.unsupported, "The pages are not authenticated (HMAC is off)")
        }
        guard (512...65536).contains(layout.pageSize), (1...Int(Int32.max)).contains(layout.kdfIterations) else {
            throw VaultError(.usage, "The cipher settings are not possible")
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
        from secret: SecretBytes, digest: CipherAlgorithm, salt: [UInt8], iterations: Int
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
    ///   - page: A whole page.
    ///   - number: The page's number; the first is 1.
    package func authenticates(_ page: UnsafeRawBufferPointer, number: UInt32) -> Bool {
        guard page.count == layout.pageSize, let base = page.baseAddress else { return false }
        let start = number == 1 ? layout.clearBytesOfFirstPage : 0
        let end = layout.pageSize - layout.reservedBytes + 16
        guard start < end else { return false }
        let suffix: [UInt8] = [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
        var digest = [UInt8](repeating: 0, count: 64)
        let length = authenticationKey.withBytes { key in
            key.baseAddress.map {
                lv_hmac(hmac.shimValue, $0, key.count, base + start, end - start, suffix, suffix.count, &digest)
            } ?? 0
        }
        guard length == hmac.digestLength else { return false }
        return zip(digest.prefix(length), page[end..<(end + length)]).allSatisfy { $0 == $1 }
    }
}

extension CipherAlgorithm {
    fileprivate var shimValue: lv_digest {
        switch self {
        case .sha1: LV_SHA1
        case .sha256: LV_SHA256
        case .sha512: LV_SHA512
        }
    }
}
