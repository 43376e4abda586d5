import Foundation
import LiteVault
import Testing

import LiteVaultKeyring

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
