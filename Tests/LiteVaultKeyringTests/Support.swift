import Foundation
import LiteVault
import Testing

@testable import LiteVaultKeyring

enum Engine {
    static var encrypts: Bool { if case .sqlcipher = EngineInfo.linked.encryption { true } else { false } }
}

/// A directory that is removed with this object.
final class Scratch {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "litevault-keyring-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    @discardableResult
    func write(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
        let file = file(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        return file
    }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: file(name)))) }
}

let first = "the first passphrase of the tests"
let second = "the second passphrase, another one"

extension NewKeyringSlot {
    /// A passphrase that is derived at once.
    static func quick(_ passphrase: String, name: String = "") throws -> NewKeyringSlot {
        var slot = try NewKeyringSlot.passphrase(passphrase, cost: .quick)
        slot.name = name
        return slot
    }
}

/// Expects a `VaultError` with a code.
func expect<T>(
    _ code: VaultError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T
) {
    do {
        _ = try body()
        Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    } catch let error as VaultError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
    } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
    }
}

/// The database key as digits, as a raw key literal has them.
func digits(_ keyring: UnlockedKeyring, _ index: Int = 0) throws -> String {
    try keyring.keys[index].digits().withBytes { String(decoding: $0, as: UTF8.self) }
}
