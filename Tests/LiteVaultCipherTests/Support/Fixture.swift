import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

/// The interop fixtures, made by other engines (Fixtures/README.md), and the keys that open them.
struct Fixture: Sendable, CustomTestStringConvertible {
    let name: String
    let key: Key
    let settings: CipherSettings
    /// Whether SQLCipher 3.4.1 opens it.
    let format3: Bool

    enum Key: Sendable { case passphrase, raw, rawWithSalt, rawWithAuthenticationKey, unicode }

    var testDescription: String { name }
    var path: String { Self.path(name) }

    static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures")

    static func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    static let rawKey = "2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99"
    static let salt = "00112233445566778899aabbccddeeff"
    static let saltBytes = (0..<16).map { UInt8($0 * 17) }
    static let authenticationKey = String(repeating: "a5", count: 32)

    func databaseKey() throws -> DatabaseKey {
        switch key {
        case .passphrase: try .passphrase("fixture-pass")
        case .raw: try .hex(Self.rawKey)
        case .rawWithSalt: try .hex(Self.rawKey + Self.salt)
        case .rawWithAuthenticationKey:
            try .passphrase(
                "x'\(Self.rawKey)\(Self.authenticationKey)\(Self.salt)'", allowingRawKeyLiteral: true)
        case .unicode: try .passphrase("пароль'\"π😀")
        }
    }

    private init(
        _ name: String, _ key: Key = .passphrase, _ settings: CipherSettings = .init(), format3: Bool = false
    ) {
        self.name = name
        self.key = key
        self.settings = settings
        self.format3 = format3
    }

    static let format3Files = [
        Fixture("v3-3.4.1-default.db", .passphrase, .init(compatibility: 3), format3: true),
        Fixture("v3-3.4.1-wal.db", .passphrase, .init(compatibility: 3), format3: true),
        Fixture("v3-3.4.1-rawkey.db", .raw, .init(compatibility: 3), format3: true),
        Fixture("v3-4.6.1-compat3.db", .passphrase, .init(compatibility: 3), format3: true),
        Fixture("v2-4.6.1-compat2.db", .passphrase, .init(compatibility: 2), format3: true),
        Fixture("v1-4.6.1-compat1.db", .passphrase, .init(compatibility: 1), format3: true),
    ]

    static let format4Files = [
        Fixture("v4-4.6.1-default.db"),
        Fixture("v4-4.6.1-wal.db"),
        Fixture("v4-4.6.1-kdf1000.db", .passphrase, .init(kdfIterations: 1000)),
        Fixture(
            "v4-4.6.1-page8192-sha256.db", .passphrase,
            .init(pageSize: 8192, kdfIterations: 1000, kdfAlgorithm: .sha256, hmacAlgorithm: .sha256)),
        Fixture("v4-4.6.1-nohmac.db", .passphrase, .init(kdfIterations: 1000, usesHMAC: false)),
        Fixture("v4-4.6.1-rawkey.db", .raw),
        Fixture("v4-4.6.1-rawkey-salt.db", .rawWithSalt),
        Fixture("v4-4.6.1-plainheader32.db", .rawWithSalt, .init(plaintextHeaderSize: 32)),
        Fixture("v4-4.6.1-unicode-key.db", .unicode, .init(kdfIterations: 1000)),
        Fixture("v4-4.6.1-autovacuum.db", .passphrase, .init(kdfIterations: 1000)),
        Fixture("v4-4.19-default.db"),
    ]

    /// SQLCipher 4.7 and newer only.
    static let rawAuthenticationKeyFile = Fixture("v4-4.19-rawkey-hmac-salt.db", .rawWithAuthenticationKey)

    static let all = format3Files + format4Files + [rawAuthenticationKeyFile]
}

extension Scratch {
    /// Copies a fixture, with its `-wal` or `-journal` if it has one, and returns the copy's path.
    func copy(_ fixture: String, as name: String = "copy.db") throws -> String {
        for suffix in ["", "-wal", "-journal"] {
            let source = Fixture.path(fixture + suffix)
            guard FileManager.default.fileExists(atPath: source) else { continue }
            try FileManager.default.copyItem(atPath: source, toPath: path(name + suffix))
        }
        return path(name)
    }
}
