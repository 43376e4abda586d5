import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

import LiteVaultKeyring

/// What keyrings tell about copies of databases, without a secret. No engine takes part.
struct AuditTests {
    private let scratch: Scratch
    private let keyring: Keyring

    init() throws {
        scratch = Scratch()
        keyring = Keyring(scratch.path("keys"))
    }

    private func copy() throws -> KeyringCopy { try KeyringCopy(path: keyring.path) }

    private func salt(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 16) }

    /// Adds a database key, as a rekey does before it rewrites the database.
    private func addKey(_ unlocked: inout UnlockedKeyring) throws {
        let new = try KeyMaterial.random(count: KeyringDocument.keyLength)
        let old = unlocked.keys
        try unlocked.change(keys: [new] + old) { document in
            for index in document.slots.indices {
                try SlotKeyPair.seal([new] + old, for: &document.slots[index], of: document.id)
            }
            document.keys.insert(KeyringCode.identifier(of: new), at: 0)
        }
    }

    @Test func `a copy with one key decides for all copies with its salt`() throws {
        var unlocked = try keyring.create(with: [.quick(first)])
        let one = try copy()
        try addKey(&unlocked)
        let two = try copy()
        let audit = KeyringAudit([
            .init(name: "a", salt: salt(1), keyring: one), .init(name: "b", salt: salt(1), keyring: two),
            .init(name: "c", salt: salt(2), keyring: two),
        ])
        let (old, new) = (two.keyIdentifiers[1], two.keyIdentifiers[0])
        #expect(audit.findings.map(\.keys) == [[old], [old], [new]])
        #expect(audit.slots.map(\.opens) == [["a", "b", "c"]])
    }

    @Test func `a key that the keyrings do not decide is one of several, and a slot with any of them counts`() throws {
        var unlocked = try keyring.create(with: [.quick(first), .quick(second)])
        let before = try copy()
        try unlocked.remove(2)
        try addKey(&unlocked)
        let audit = KeyringAudit(
            [.init(name: "a", salt: salt(1), keyring: try copy())], current: [before])
        #expect(audit.findings[0].keys == unlocked.keyIdentifiers)
        #expect(audit.slots.map(\.isRemoved) == [false, true])
        #expect(audit.slots.map(\.opens) == [["a"], ["a"]])
    }

    @Test func `a changed secret is a removed slot and a new one`() throws {
        var unlocked = try keyring.create(with: [.quick(first)])
        let before = try copy()
        try unlocked.change(1, to: .quick(second))
        let audit = KeyringAudit([
            .init(name: "a", salt: salt(1), keyring: before), .init(name: "b", salt: salt(1), keyring: try copy()),
        ])
        #expect(audit.slots.count == 2)
        #expect(audit.slots.filter(\.isRemoved).map(\.opens) == [["a", "b"]])
    }

    @Test func `copies of two keyrings have nothing to do with each other`() throws {
        _ = try keyring.create(with: [.quick(first)])
        let other = Keyring(scratch.path("other"))
        _ = try other.create(with: [.quick(first)])
        let audit = KeyringAudit([
            .init(name: "a", salt: salt(1), keyring: try copy()),
            .init(name: "b", salt: salt(1), keyring: try KeyringCopy(path: other.path)),
        ])
        #expect(audit.findings.map(\.keys.count) == [1, 1])
        #expect(Set(audit.slots.map(\.opens)) == [["a"], ["b"]] as Set<[String]>)
        #expect(audit.slots.count == 2)
    }

    @Test func `what is not a keyring is not a copy of one`() throws {
        expect(.damaged) { try KeyringCopy(contentsOf: Array("litevault-keyring 1\n".utf8)) }
        expect(.damaged) { try KeyringCopy(contentsOf: []) }
        expect(.noInput) { try KeyringCopy(path: scratch.path("none")) }
    }

    @Test func `a keyring at the last generation says so and does not change`() throws {
        var unlocked = try keyring.create(with: [.quick(first)])
        try unlocked.change { document in document.generation = UInt64(Int64.max) - 1 }
        #expect(try keyring.generation() == UInt64(Int64.max))
        let before = try scratch.bytes("keys")
        expect(.damaged) { try unlocked.add(.quick(second)) }
        #expect(try scratch.bytes("keys") == before)
    }
}
