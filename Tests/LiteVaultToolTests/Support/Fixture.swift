import Foundation
import LiteVault

/// Databases made by other builds of SQLCipher, in the fixtures of the cipher's tests.
enum Fixture {
    /// The key of most of them.
    static let passphrase = "fixture-pass"
    /// The key of the raw-key fixtures, in hexadecimal.
    static let hexKey = "2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99"
    /// The salt of the fixtures that need one.
    static let hexSalt = "00112233445566778899aabbccddeeff"

    /// In the format that the linked engine writes, under the passphrase.
    static var encrypted: String { isCurrent ? "v4-4.6.1-default.db" : "v3-3.4.1-default.db" }
    /// In the format that the linked engine writes, under the raw key.
    static var rawKey: String { isCurrent ? "v4-4.6.1-rawkey.db" : "v3-3.4.1-rawkey.db" }
    /// Whether the engine writes format 4, the current one.
    private static var isCurrent: Bool { (EngineInfo.linked.sqlcipherMajorVersion ?? 0) >= 4 }

    private static let directory = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("LiteVaultCipherTests/Fixtures")

    static func url(_ name: String) -> URL { directory.appendingPathComponent(name) }
}

extension Workspace {
    /// Copies a fixture here.
    func copy(fixture name: String, to target: String) throws {
        try FileManager.default.copyItem(at: Fixture.url(name), to: directory.appendingPathComponent(target))
    }

    /// The raw key's bytes.
    static func bytes(hex: String) -> Data {
        let digits = Array(hex)
        return Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 })
    }
}
