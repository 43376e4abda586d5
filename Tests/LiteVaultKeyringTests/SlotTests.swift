import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

import LiteVaultKeyring

@Suite struct SlotTests {
    let scratch: Scratch
    let keyring: Keyring

    init() throws {
        scratch = Scratch()
        keyring = Keyring(scratch.path("notes.db.keys"))
    }

    @Test func `each kind of slot opens the same key, and no other secret does`() throws {
        let code = try RecoveryCode.random()
        let identity = try KeyringIdentity.random()
        let path = try scratch.write(String(repeating: "s", count: 40) + "\n", to: "secret")
        let invert = ExternalCommand("tr '\\000-\\377' '\\001-\\377\\000'")
        let restore = ExternalCommand("tr '\\001-\\377\\000' '\\000-\\377'")
        var unlocked = try keyring.create(with: [.quick(first, name: "mine")])
        let key = try digits(unlocked)
        try unlocked.add(.recoveryCode(code))
        try unlocked.add(.recipient(identity.recipient()))
        try unlocked.add(.file(path))
        try unlocked.add(.command(wrapping: invert, unwrapping: restore))
        try unlocked.add(.secret(.credential, KeyMaterial(String(repeating: "c", count: 32))))
        try unlocked.add(.store(FileKeyStore(scratch.path("store"))))
        let ways: [KeyringUnlock] = [
            try .passphrase(first), .recoveryCode(code), .identity(identity), .file(path), .command(restore),
            .secret(try KeyMaterial(String(repeating: "c", count: 32))), .store(FileKeyStore(scratch.path("store"))),
        ]
        for (number, way) in ways.enumerated() {
            let opened = try keyring.unlock(with: way)
            #expect(try digits(opened) == key)
            #expect([1, 2, 3, 4, 5, 6, 7][number] == opened.slot.id)
        }
        let wrong: [KeyringUnlock] = [
            try .passphrase(second), .recoveryCode(try .random()), .identity(try .random()), .command(invert),
            .command(ExternalCommand("cat >/dev/null; exit 3")), .secret(try .random()), .secret(try KeyMaterial("c")),
        ]
        for way in wrong { expect(.keyRejected) { try keyring.unlock(with: way) } }
        #expect(
            try keyring.slots().map(\.kind) == [
                .passphrase, .recovery, .recipient, .file, .command, .credential, .store,
            ])
        #expect(try keyring.slots()[0].name == "mine")
    }

    @Test func `H-KEY-31 a secret has one slot, of whatever kind, so that its removal is one`() throws {
        let code = try RecoveryCode.random()
        let identity = try KeyringIdentity.random()
        let secret = try KeyMaterial(String(repeating: "c", count: 32))
        var unlocked = try keyring.create(with: [.quick(first), .secret(.file, secret)])
        try unlocked.add(.recoveryCode(code))
        try unlocked.add(.recipient(identity.recipient()))
        let before = try scratch.bytes("notes.db.keys")
        let same = try NewKeyringSlot.recipient(identity.recipient())
        for again in [
            try .quick(first), .recoveryCode(code), same, try .secret(.file, secret), try .secret(.credential, secret),
            try .secret(.store, secret),
        ] as [NewKeyringSlot] {
            expect(.usage) { try unlocked.add(again) }
        }
        expect(.usage) { try Keyring(scratch.path("twice")).create(with: [.quick(first), .quick(first)]) }
        // Nor does a change give a slot the secret of another one.
        expect(.usage) { try unlocked.change(1, to: .secret(.file, secret)) }
        #expect(try scratch.bytes("notes.db.keys") == before)
        try unlocked.change(2, to: .secret(.credential, secret))
        try unlocked.remove(2)
        expect(.keyRejected) { try keyring.unlock(with: .secret(secret)) }
        #expect(try unlocked.add(.secret(.credential, secret)).id == 2)
    }

    @Test func `a removed slot opens nothing, and its number is free`() throws {
        var unlocked = try keyring.create(with: [.quick(first), .quick(second)])
        try unlocked.remove(1)
        expect(.keyRejected) { try keyring.unlock(with: .passphrase(first)) }
        _ = try keyring.unlock(with: .passphrase(second))
        #expect(try unlocked.add(.recoveryCode(.random())).id == 1)
        #expect(try keyring.generation() == 3)
    }

    @Test func `the last slot cannot be removed, and the file is as it was`() throws {
        var unlocked = try keyring.create(with: [.quick(first)])
        let before = try scratch.bytes("notes.db.keys")
        expect(.usage) { try unlocked.remove(1) }
        expect(.usage) { try unlocked.remove(2) }
        #expect(try scratch.bytes("notes.db.keys") == before)
        #expect(try scratch.names() == ["notes.db.keys"])
    }

    @Test func `a changed passphrase opens, the old one does not`() throws {
        var unlocked = try keyring.create(with: [.quick(first, name: "laptop")])
        let key = try digits(unlocked)
        try unlocked.change(1, to: .quick(second))
        expect(.keyRejected) { try keyring.unlock(with: .passphrase(first)) }
        let opened = try keyring.unlock(with: .passphrase(second))
        #expect(try digits(opened) == key)
        #expect(opened.slot.name == "laptop")
    }

    @Test func `a keyring is never created over another, nor without a slot`() throws {
        _ = try keyring.create(with: [.quick(first)])
        let before = try scratch.bytes("notes.db.keys")
        expect(.cannotCreate) { try keyring.create(with: [.quick(second)]) }
        expect(.usage) { try Keyring(scratch.path("other")).create(with: []) }
        #expect(try scratch.bytes("notes.db.keys") == before)
        #expect(try scratch.names() == ["notes.db.keys"])
    }

    @Test func `a keyring is for its owner only`() throws {
        _ = try keyring.create(with: [.quick(first)])
        let mode = try FileManager.default.attributesOfItem(atPath: keyring.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a slot that was added by another process is kept`() throws {
        var one = try keyring.create(with: [.quick(first)])
        var other = try keyring.unlock(with: .passphrase(first))
        try other.add(.quick(second))
        try one.add(.recoveryCode(.random()))
        #expect(try keyring.slots().count == 3)
    }

    @Test func `an older copy of the keyring is noticed by whoever has it open`() throws {
        var unlocked = try keyring.create(with: [.quick(first)])
        let old = try scratch.bytes("notes.db.keys")
        try unlocked.add(.quick(second))
        try Data(old).write(to: URL(fileURLWithPath: keyring.path))
        expect(.damaged) { try unlocked.add(.recoveryCode(.random())) }
    }

    @Test func `a change waits for another, and gives up with busy`() throws {
        var unlocked = try Keyring(keyring.path, lockTimeout: .milliseconds(20)).create(with: [.quick(first)])
        let file = unlocked.file
        let before = try scratch.bytes("notes.db.keys")
        try file.locked(timeout: .seconds(1)) { expect(.busy) { try unlocked.add(.quick(second)) } }
        #expect(try scratch.bytes("notes.db.keys") == before)
        try unlocked.add(.quick(second))
    }

    @Test func `a lock file of a process that was killed keeps nobody out`() throws {
        var unlocked = try keyring.create(with: [.quick(first)])
        try scratch.write("", to: "notes.db.keys.lock")
        try unlocked.add(.quick(second))
        #expect(try scratch.names() == ["notes.db.keys"])
    }

    @Test func `changes by many at once are all kept`() async throws {
        _ = try keyring.create(with: [.quick(first)])
        let keyring = keyring
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<12 {
                group.addTask {
                    var unlocked = try keyring.unlock(with: .passphrase(first))
                    var slot = try NewKeyringSlot.recipient(KeyringIdentity.random().recipient())
                    slot.name = "\(number)"
                    try unlocked.add(slot)
                }
            }
            try await group.waitForAll()
        }
        #expect(try keyring.slots().count == 13)
        #expect(try keyring.generation() == 13)
    }

    @Test func `a generation at its end is an error and no trap`() throws {
        _ = try keyring.create(with: [.quick(first)])
        var document = try KeyringFile(keyring.path).read()
        document.generation = UInt64(Int64.max)
        expect(.damaged) { try document.advance(path: "x") }
        document.generation = .max
        expect(.damaged) { try document.advance(path: "x") }
    }

    @Test func `no more than 32 slots`() throws {
        var unlocked = try keyring.create(with: [.quick(first)])
        for _ in 1..<32 { try unlocked.add(.recipient(KeyringIdentity.random().recipient())) }
        expect(.usage) { try unlocked.add(.quick(second)) }
        #expect(try keyring.slots().count == 32)
    }

    @Test func `a keyring behind a link is replaced, not the link`() throws {
        try FileManager.default.createDirectory(atPath: scratch.path("real"), withIntermediateDirectories: false)
        let real = Keyring(scratch.path("real/keys"))
        _ = try real.create(with: [.quick(first)])
        try FileManager.default.createSymbolicLink(atPath: keyring.path, withDestinationPath: real.path)
        var unlocked = try keyring.unlock(with: .passphrase(first))
        try unlocked.add(.quick(second))
        #expect(try real.slots().count == 2)
    }

    @Test func `a program that does not return the secret is found out before it is relied on`() throws {
        var unlocked = try keyring.create(with: [.quick(first)])
        let before = try scratch.bytes("notes.db.keys")
        // Each byte is another one: a single byte that is replaced may have been that one before.
        let other = ExternalCommand(#"LC_ALL=C tr '\000-\377' '\001-\377\000'"#)
        expect(.keyRejected) {
            try unlocked.add(.command(wrapping: ExternalCommand("cat"), unwrapping: other))
        }
        expect(.keyRejected) {
            try unlocked.add(.command(wrapping: ExternalCommand("cat; exit 1"), unwrapping: ExternalCommand("cat")))
        }
        expect(.keyRejected) {
            try unlocked.add(
                .command(
                    wrapping: ExternalCommand("exec sleep 60", limit: .milliseconds(50)),
                    unwrapping: ExternalCommand("cat")))
        }
        #expect(try scratch.bytes("notes.db.keys") == before)
    }

    @Test func `a missing keyring is an error that says so`() throws {
        expect(.noInput) { try keyring.unlock(with: .passphrase(first)) }
        expect(.noInput) { try keyring.slots() }
    }
}
