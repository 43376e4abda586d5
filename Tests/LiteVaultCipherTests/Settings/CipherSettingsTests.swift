import LiteVault
import Testing

@Suite struct CipherSettingsTests {
    static let v3 = CipherVersion(3, 4, 1)
    static let v4 = CipherVersion(4, 6, 1)

    private func refusal(_ settings: CipherSettings, key: DatabaseKey? = nil) -> VaultError.Code? {
        #expect(throws: VaultError.self) { try settings.validate(with: key) }?.code
    }

    @Test(arguments: [0, 1, 256, 1000, 131072, -4096]) func `a page size that no engine takes is refused`(size: Int) {
        #expect(refusal(.init(pageSize: size)) == .usage)
    }

    @Test(arguments: [1024, 4096, 65536]) func `a power of two from 1024 to 65536 is a page size`(size: Int) throws {
        try CipherSettings(pageSize: size).validate(with: nil)
    }

    @Test func `a page of 512 bytes has no room for authentication`() throws {
        #expect(refusal(.init(pageSize: 512)) == .usage)
        #expect(refusal(.init(pageSize: 512, hmacAlgorithm: .sha1, compatibility: 3)) == .usage)
        try CipherSettings(pageSize: 512, usesHMAC: false).validate(with: nil)
        try CipherSettings(pageSize: 512, compatibility: 1).validate(with: nil)
    }

    @Test(arguments: [0, -1, Int.min, Int.max])
    func `key derivation without iterations is refused`(count: Int) {
        #expect(refusal(.init(kdfIterations: count)) == .usage)
    }

    @Test(arguments: [0, 5, 9, -1]) func `a compatibility that the engine takes for 4 is refused`(level: Int) {
        #expect(refusal(.init(compatibility: level)) == .usage)
    }

    @Test func `a plaintext header needs its salt, from the settings or from the key`() throws {
        #expect(refusal(.init(plaintextHeaderSize: 32)) == .usage)
        try CipherSettings(plaintextHeaderSize: 32, salt: Fixture.saltBytes).validate(with: nil)
        try CipherSettings(plaintextHeaderSize: 32).validate(with: .hex(Fixture.rawKey + Fixture.salt))
    }

    @Test(arguments: [8, 31, -16, 1024]) func `a plaintext header of an odd size is refused`(size: Int) {
        #expect(refusal(.init(plaintextHeaderSize: size, salt: Fixture.saltBytes)) == .usage)
    }

    @Test func `two different salts are refused`() throws {
        let key = try DatabaseKey.hex(Fixture.rawKey + Fixture.salt)
        #expect(refusal(.init(salt: [UInt8](repeating: 9, count: 16)), key: key) == .usage)
        try CipherSettings(salt: Fixture.saltBytes).validate(with: key)
    }

    @Test func `compatibility comes first, because it sets all the others`() throws {
        let settings = CipherSettings(
            pageSize: 8192, kdfIterations: 5, kdfAlgorithm: .sha256, hmacAlgorithm: .sha1, usesHMAC: true,
            plaintextHeaderSize: 32, salt: Fixture.saltBytes, compatibility: 4)
        #expect(
            settings.pragmas(for: Self.v4) == [
                #"PRAGMA "main".cipher_compatibility = 4"#,
                #"PRAGMA "main".cipher_page_size = 8192"#,
                #"PRAGMA "main".cipher_use_hmac = ON"#,
                #"PRAGMA "main".cipher_hmac_algorithm = HMAC_SHA1"#,
                #"PRAGMA "main".cipher_kdf_algorithm = PBKDF2_HMAC_SHA256"#,
                #"PRAGMA "main".cipher_plaintext_header_size = 32"#,
                #"PRAGMA "main".cipher_salt = "x'00112233445566778899aabbccddeeff'""#,
                #"PRAGMA "main".kdf_iter = 5"#,
            ])
    }

    @Test func `default settings need no pragma`() throws {
        #expect(CipherSettings().pragmas(for: Self.v3) == [])
        #expect(CipherSettings().pragmas(for: Self.v4) == [])
    }

    @Test func `an engine without the pragma gets the settings of a compatibility`() throws {
        #expect(
            CipherSettings(compatibility: 1).pragmas(for: Self.v3) == [
                #"PRAGMA "main".cipher_page_size = 1024"#,
                #"PRAGMA "main".cipher_use_hmac = OFF"#,
                #"PRAGMA "main".kdf_iter = 4000"#,
            ])
    }

    @Test(arguments: [
        CipherSettings(compatibility: 4), .init(kdfAlgorithm: .sha512), .init(hmacAlgorithm: .sha256),
        .init(plaintextHeaderSize: 32), .init(salt: Fixture.saltBytes),
    ])
    func `settings that an old engine would ignore are rejected with the required version`(settings: CipherSettings) {
        let error = #expect(throws: VaultError.self) { try settings.requireSupport(by: Self.v3) }
        #expect(error?.code == .unsupported)
        #expect(error?.remedy?.contains("4.0.1") == true)
    }

    @Test func `settings read back from the engine's own rows`() {
        let rows = [
            "PRAGMA kdf_iter = 64000;", "PRAGMA cipher_page_size = 1024;", "PRAGMA cipher_use_hmac = 1;",
            "PRAGMA cipher_plaintext_header_size = 0;", "PRAGMA cipher_hmac_algorithm = HMAC_SHA1;",
            "PRAGMA cipher_kdf_algorithm = PBKDF2_HMAC_SHA1;", "PRAGMA something_new = 7;", "nonsense",
        ]
        #expect(
            CipherSettings(cipherSettings: rows)
                == .init(
                    pageSize: 1024, kdfIterations: 64000, kdfAlgorithm: .sha1, hmacAlgorithm: .sha1, usesHMAC: true,
                    plaintextHeaderSize: 0))
    }

    @Test(arguments: [("3.4.1", 3, false), ("4.6.1 community", 4, true), ("4.19.0", 4, true)])
    func `a version is parsed from the engine's text`(text: String, compatibility: Int, log: Bool) {
        let version = CipherVersion(text)
        #expect(version?.defaultCompatibility == compatibility)
        #expect(version?.hasLog == log)
        #expect(CipherVersion("nonsense") == nil)
    }

    @Test func `the reserved bytes of a page are those of the file format`() {
        #expect(PageLayout(.init(), defaultCompatibility: 4).reservedBytes == 80)
        #expect(PageLayout(.init(hmacAlgorithm: .sha256), defaultCompatibility: 4).reservedBytes == 48)
        #expect(PageLayout(.init(), defaultCompatibility: 3).reservedBytes == 48)
        #expect(PageLayout(.init(compatibility: 1), defaultCompatibility: 4).reservedBytes == 16)
    }
}
