import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

@Suite(.enabled(if: Engine.encrypts, "the linked engine does not encrypt"), .serialized)
struct SettingsHazardTests {
    let scratch: Scratch
    let key: DatabaseKey

    init() throws {
        scratch = Scratch()
        key = try .passphrase("right")
    }

    /// The settings are refused for a new file, for a copy, and for an attached one; nothing comes into being.
    private func expectRefused(_ settings: CipherSettings, _ code: VaultError.Code) throws {
        #expect(vaultError { _ = try Connection(scratch.path("new.db"), key: key, settings: settings) }?.code == code)
        let plain = try scratch.makePlain("plain-\(UUID()).db")
        let copy = vaultError {
            try DatabaseFile(plain).encrypt(to: scratch.path("new.db"), key: key, settings: settings)
        }
        #expect(copy?.code == code)
        let db = try Connection()
        #expect(
            vaultError { try db.attach(.uri(scratch.path("new.db")), as: "x", key: key, settings: settings) }?.code
                == code)
        #expect(try !scratch.names().contains { $0.contains("new.db") })
    }

    @Test(arguments: [0, -1, -64000]) func `H-SET-01 a derivation without iterations is refused`(count: Int) throws {
        try expectRefused(.init(kdfIterations: count), .usage)
    }

    @Test(arguments: [
        CipherSettings(pageSize: 1000), .init(pageSize: 256), .init(compatibility: 0), .init(compatibility: 9),
    ])
    func `H-SET-02 a page size or compatibility that does not exist is refused`(settings: CipherSettings) throws {
        try expectRefused(settings, .usage)
    }

    @Test(
        .enabled(if: Engine.isVersion3, "only SQLCipher 3 lacks this"),
        arguments: [
            CipherSettings(kdfAlgorithm: .sha512), .init(hmacAlgorithm: .sha256), .init(compatibility: 4),
            .init(plaintextHeaderSize: 32, salt: Fixture.saltBytes),
        ])
    func `H-SET-03 settings that SQLCipher 3 would ignore are rejected`(settings: CipherSettings) throws {
        try expectRefused(settings, .unsupported)
    }

    @Test(arguments: [
        "PRAGMA cipher_use_hmac = OFF", "PRAGMA kdf_iter = 5", "PRAGMA cipher_plaintext_header_size = 32",
        "PRAGMA cipher_salt = \"x'00112233445566778899aabbccddeeff'\"", "PRAGMA main.cipher_page_size = 8192",
    ])
    func `H-SET-05 settings cannot be changed after first use by SQL that is kept from keys`(pragma: String) throws {
        let path = try scratch.makeEncrypted(key: key)
        let db = try Connection(path, key: key, settings: fast)
        db.refusesKeyStatements = true
        #expect(throws: DatabaseError.self) { try db.execute(pragma) }
        try db.execute("INSERT INTO t VALUES (2)")
        try db.close()
        #expect(try DatabaseFile(path).verify(key: key, settings: fast).problems == [])
    }

    @Test(arguments: [
        CipherSettings(plaintextHeaderSize: 31, salt: Fixture.saltBytes),
        .init(plaintextHeaderSize: -16, salt: Fixture.saltBytes),
        .init(salt: [1, 2, 3]), .init(salt: []),
    ])
    func `H-SET-07 a malformed salt or plaintext header is refused`(settings: CipherSettings) throws {
        try expectRefused(settings, .usage)
    }

    @Test func `H-SET-08 reading the settings of a new file pins no salt`() throws {
        let one = try Connection(scratch.path("new.db"), key: key, settings: fast)
        _ = try one.cipherSettings()
        let other = try Connection(scratch.path("new.db"), key: key, settings: fast)
        _ = try other.cipherSettings()
        try other.execute("CREATE TABLE t (a)")
        // SQLCipher 3 settles the salt of a connection with its key: the first has to open the file again there.
        if Engine.format4 { #expect(try one.value("SELECT count(*) FROM t", as: Int.self) == 0) }
        try other.close()
        #expect(
            try Connection(scratch.path("new.db"), key: key, settings: fast).value("SELECT count(*) FROM t", as: Int.self)
                == 0)
    }

    @Test(.enabled(if: Engine.format4, "the linked engine does not know the format of SQLCipher 4"))
    func `H-SET-09 a plaintext header is not written without a salt that the caller has`() throws {
        try expectRefused(.init(plaintextHeaderSize: 32), .usage)
        let settings = CipherSettings(kdfIterations: 100, plaintextHeaderSize: 32, salt: Fixture.saltBytes)
        try DatabaseFile(scratch.makePlain()).encrypt(to: scratch.path("out.db"), key: key, settings: settings)
        #expect(try DatabaseFile(scratch.path("out.db")).kind() == .plaintextHeader)
        let other = try DatabaseKey.passphrase("other")
        try DatabaseFile(scratch.path("out.db")).rekey(from: key, to: other, settings: settings)
        let db = try Connection(scratch.path("out.db"), key: other, settings: settings)
        #expect(try db.value("SELECT a FROM t", as: String.self) == marker)
        #expect(try DatabaseFile(scratch.path("out.db")).verify(key: other, settings: settings).isIntact)
    }

    // In a process of its own, as tests beside it may change the defaults for a moment, which are those of the process.
    @Test func `H-SET-11 attaching with settings leaves the defaults of the process as they were`() async {
        await #expect(processExitsWith: .success) {
            try withExtendedLifetime(Scratch()) { scratch in
                let key = try DatabaseKey.passphrase("right")
                let path = try scratch.makeEncrypted(key: key)
                let db = try Connection()
                let before = try db.untypedValue("PRAGMA cipher_default_kdf_iter")
                try db.attach(.uri(path), as: "other", key: key, settings: fast)
                vaultError { try db.attach(.uri(path), as: "third", key: .passphrase("wrong"), settings: fast) }
                let after = try db.untypedValue("PRAGMA cipher_default_kdf_iter")
                #expect("\(String(describing: before))" == "\(String(describing: after))")
                #expect(before != nil)
            }
        }
    }

    @Test func `H-SET-12 the settings that hold can be asked for`() throws {
        let db = try Connection(scratch.path("new.db"), key: key, settings: .init(pageSize: 8192, kdfIterations: 77))
        let held = try db.cipherSettings()
        #expect(held.pageSize == 8192)
        #expect(held.kdfIterations == 77)
        #expect(CipherSettings(pageSize: 4096).firstDifference(to: held) == "page size")
        #expect(CipherSettings(kdfIterations: 78).firstDifference(to: held) != nil)
        #expect(CipherSettings(pageSize: 8192).firstDifference(to: held) == nil)
    }

    // In a process of its own: what tests beside it create meanwhile would get the changed page size.
    @Test func `H-SET-12 a setting that the engine misapplies is an error before anything is written`() async {
        await #expect(processExitsWith: .success) {
            try withExtendedLifetime(Scratch()) { scratch in
                let key = try DatabaseKey.passphrase("right")
                // Somebody changed the defaults of the process; what is asked for holds all the same.
                let other = try Connection(scratch.path("first.db"), key: key, settings: fast)
                #expect(try other.untypedValue("PRAGMA cipher_default_page_size") != nil)
                try other.execute("PRAGMA cipher_default_page_size = 16384")
                let db = try Connection(
                    scratch.path("new.db"), key: key, settings: .init(pageSize: 2048, kdfIterations: 100))
                #expect(try db.cipherSettings().pageSize == 2048)
            }
        }
    }
}
