import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

import LiteVaultKeyring

/// A keyring that opens was made for its slots. That it was made by the right person has to be proven before new data is encrypted
/// under its key.
@Suite struct ProofTests {
    let scratch: Scratch
    let keyring: Keyring
    let identity: KeyringIdentity
    let code: RecoveryCode
    let secret: KeyMaterial
    private let cat = ExternalCommand("cat")

    init() throws {
        scratch = Scratch()
        keyring = Keyring(scratch.path("keys"))
        identity = try .random()
        code = try .random()
        secret = try .random()
    }

    /// A keyring with a slot of each kind, all of which have endorsed its key.
    private func makeAll() throws -> [KeyringUnlock] {
        try scratch.write(String(repeating: "s", count: 40), to: "secret")
        var unlocked = try keyring.create(with: [
            .quick(first), .recoveryCode(code), .recipient(identity.recipient()),
            .command(wrapping: cat, unwrapping: cat), .secret(.credential, secret), .file(scratch.path("secret")),
            .store(FileKeyStore(scratch.path("store"))),
        ])
        // The secret of a recipient is elsewhere: it endorses when it first writes.
        unlocked = try keyring.unlock(with: .identity(identity), trusting: unlocked.fingerprint)
        try unlocked.add(.quick(second))
        return [
            try .passphrase(first), .recoveryCode(code), .identity(identity), .command(cat), .secret(secret),
            .file(scratch.path("secret")), .store(FileKeyStore(scratch.path("store"))),
        ]
    }

    /// How a forger treats the endorsements of the keyring that is replaced.
    enum Endorsements: CaseIterable { case dropped, kept, relabelled }

    /// Replaces a keyring by one that everybody can make who can read it: identifier, public keys and salts are in it.
    private func forge(_ path: String, _ endorsements: Endorsements, generation: UInt64? = nil) throws {
        var document = try KeyringFile(path).read()
        let key = try KeyMaterial.random(count: KeyringDocument.keyLength)
        document.keys = [KeyringCode.identifier(of: key)]
        document.generation = generation ?? document.generation + 1
        for index in document.slots.indices {
            try SlotKeyPair.seal([key], for: &document.slots[index], of: document.id)
            let endorsement = document.slots[index].endorsement
            switch endorsements {
            case .dropped: document.slots[index].endorsement = nil
            case .kept: break
            case .relabelled:
                document.slots[index].endorsement = endorsement.map {
                    SlotEndorsement(key: document.keys[0], generation: $0.generation, code: $0.code)
                }
            }
        }
        document.authenticate(by: [key])
        try KeyringFile(path).write(document, replacing: true)
    }

    private func replace(_ path: String, by other: String) throws {
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: other, toPath: path)
    }

    // MARK: Forged keyrings

    @Test func `each kind of slot endorses the newest key, and opens it as proven`() throws {
        for way in try makeAll() {
            let unlocked = try keyring.unlock(with: way)
            #expect(try unlocked.proof() == .endorsed, "slot \(unlocked.slot.id)")
            _ = try unlocked.databaseKey()
            _ = try unlocked.databaseKey(for: scratch.path("new.db"))
        }
    }

    @Test(arguments: Endorsements.allCases)
    func `H-KEY-21 a forged keyring opens by every kind of slot, and gives none of them a key for new data`(
        endorsements: Endorsements
    ) throws {
        let ways = try makeAll()
        try scratch.write("", to: "empty.db")
        try forge(keyring.path, endorsements)
        for way in ways {
            let unlocked = try keyring.unlock(with: way)
            #expect(try unlocked.proof() == .unknown, "slot \(unlocked.slot.id)")
            expect(.keyringUntrusted) { try unlocked.databaseKey() }
            for name in ["new.db", "empty.db"] {
                expect(.keyringUntrusted) { try unlocked.databaseKey(for: scratch.path(name)) }
            }
        }
    }

    @Test func `H-KEY-22 a forged keyring is not proven by the changes that are made to it`() throws {
        _ = try makeAll()
        try forge(keyring.path, .kept)
        var unlocked = try keyring.unlock(with: .passphrase(first))
        try unlocked.add(.quick("a third passphrase, 123"))
        try unlocked.change(1, to: .quick("a fourth passphrase, 1234"))
        try unlocked.remove(2)
        try unlocked.forgetOldKeys()
        #expect(try unlocked.proof() == .unknown)
        for passphrase in ["a third passphrase, 123", "a fourth passphrase, 1234"] {
            expect(.keyringUntrusted) { try keyring.unlock(with: .passphrase(passphrase)).databaseKey() }
        }
    }

    @Test func `H-KEY-23 an endorsement of another slot, another keyring or another key is none`() throws {
        let ways = try makeAll()
        let original = try KeyringFile(keyring.path).read()
        // A member has the database key, and can write what authenticates.
        let keys = try keyring.unlock(with: ways[0]).keys
        var swapped = original
        for index in swapped.slots.indices {
            swapped.slots[index].endorsement = original.slots[(index + 1) % original.slots.count].endorsement
        }
        swapped.authenticate(by: keys)
        try KeyringFile(keyring.path).write(swapped, replacing: true)
        for way in ways { #expect(try keyring.unlock(with: way).proof() == .unknown) }
        // The same secrets in another keyring.
        let other = Keyring(scratch.path("other"))
        var unlocked = try other.create(with: [.recipient(identity.recipient())])
        unlocked = try other.unlock(with: .identity(identity), trusting: unlocked.fingerprint)
        try unlocked.add(.quick(second))
        var foreign = original
        foreign.slots[2].endorsement = try KeyringFile(other.path).read().slots[0].endorsement
        foreign.authenticate(by: keys)
        try KeyringFile(keyring.path).write(foreign, replacing: true)
        #expect(try keyring.unlock(with: .identity(identity)).proof() == .unknown)
        #expect(try keyring.unlock(with: ways[0]).proof() == .endorsed)
        // A later generation than that of the endorsement was endorsed by nobody.
        var later = original
        later.slots[0].endorsement = original.slots[0].endorsement.map {
            SlotEndorsement(key: $0.key, generation: $0.generation + 1, code: $0.code)
        }
        later.authenticate(by: keys)
        try KeyringFile(keyring.path).write(later, replacing: true)
        #expect(try keyring.unlock(with: ways[0]).proof() == .unknown)
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts))
    func
        `H-KEY-21 no database is created under the key of a forged keyring, and one that exists does not open with it`()
        async throws
    {
        _ = try keyring.create(with: [.quick(first)])
        let path = scratch.path("notes.db")
        let db = try Connection(path, keyring: keyring, unlockedBy: .passphrase(first), creation: .ifMissing)
        try db.execute("CREATE TABLE note (text TEXT)")
        try db.close()
        try forge(keyring.path, .kept)
        let before = try scratch.bytes("notes.db")
        expect(.keyRejected) { try Connection(path, keyring: keyring, unlockedBy: .passphrase(first)) }
        #expect(try scratch.bytes("notes.db") == before)
        let new = scratch.path("new.db")
        expect(.keyringUntrusted) {
            try Connection(new, keyring: keyring, unlockedBy: .passphrase(first), creation: .ifMissing)
        }
        expect(.keyringUntrusted) {
            try DatabasePool(new, keyring: keyring, unlockedBy: .passphrase(first), creation: .ifMissing)
        }
        #expect(try scratch.names() == ["keys", "notes.db"])
        var unlocked = try keyring.unlock(with: .passphrase(first))
        expect(.keyRejected) { try unlocked.rekey([path]) }
        #expect(try scratch.bytes("notes.db") == before)
    }

    // MARK: What the machine remembers

    private func remembering(_ path: String) -> Keyring {
        Keyring(path, memory: KeyringMemory(directory: scratch.path("state/keyrings")))
    }

    @Test func `a keyring that was used is remembered by path and key, in files that only their owner can read`() throws
    {
        let own = remembering(keyring.path)
        let unlocked = try own.create(with: [.recipient(identity.recipient())])
        #expect(try own.unlock(with: .identity(identity)).proof() == .unknown)
        try unlocked.remember()
        let again = try own.unlock(with: .identity(identity))
        #expect(try again.proof() == .remembered)
        _ = try again.databaseKey()
        // Through a link it is the same file; a copy is another one.
        try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: "keys")
        #expect(try remembering(scratch.path("link")).unlock(with: .identity(identity)).proof() == .remembered)
        try FileManager.default.copyItem(atPath: keyring.path, toPath: scratch.path("copy"))
        #expect(try remembering(scratch.path("copy")).unlock(with: .identity(identity)).proof() == .unknown)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path("state/keyrings"))
        try #require(names.count == 1)
        for (name, mode) in [("state/keyrings", 0o700), ("state/keyrings/" + names[0], 0o600)] {
            let found = try FileManager.default.attributesOfItem(atPath: scratch.path(name))[.posixPermissions] as? Int
            #expect(found == mode, "\(name)")
        }
    }

    @Test(arguments: Endorsements.allCases)
    func `H-KEY-24 a machine that used a keyring knows a forged one, and one of another identity, as such`(
        endorsements: Endorsements
    ) throws {
        let own = remembering(keyring.path)
        try own.create(with: [.quick(first), .recipient(identity.recipient())]).remember()
        try forge(keyring.path, endorsements)
        for way in [try KeyringUnlock.passphrase(first), .identity(identity)] {
            let unlocked = try own.unlock(with: way)
            #expect(try unlocked.proof() == .contradicted)
            expect(.keyringUntrusted) { try unlocked.databaseKey() }
            // Nothing that is not proven is remembered.
            try unlocked.remember()
            #expect(try own.unlock(with: way).proof() == .contradicted)
        }
        // Another keyring that the slot has endorsed, put in the place of this one.
        let other = Keyring(scratch.path("other"))
        var unlocked = try other.create(with: [.recipient(identity.recipient())])
        unlocked = try other.unlock(with: .identity(identity), trusting: unlocked.fingerprint)
        try unlocked.add(.quick(second))
        #expect(try other.unlock(with: .identity(identity)).proof() == .endorsed)
        try replace(keyring.path, by: other.path)
        #expect(try own.unlock(with: .identity(identity)).proof() == .contradicted)
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts))
    func `H-KEY-25 an old key that a former member brings back is not used where a newer one was`() throws {
        let own = remembering(keyring.path)
        let path = scratch.path("notes.db")
        var unlocked = try own.create(with: [.quick(first), .quick(second)])
        let db = try Connection(path, keyring: own, unlockedBy: .passphrase(first), creation: .ifMissing)
        try db.execute("CREATE TABLE note (text TEXT)")
        try db.close()
        try FileManager.default.copyItem(atPath: keyring.path, toPath: scratch.path("old"))
        try FileManager.default.copyItem(atPath: path, toPath: scratch.path("old.db"))
        let oldKey = unlocked.keys[0]
        try unlocked.remove([2], rekeying: [path])
        try unlocked.remember()
        let newest = try scratch.bytes("keys")
        // As it was, with the endorsements of then.
        try replace(keyring.path, by: scratch.path("old"))
        #expect(try own.unlock(with: .passphrase(first)).proof() == .contradicted)
        // And made to look newer, with a slot of one's own: the old key authenticates what it likes.
        var document = try KeyringFile(keyring.path).read()
        document.generation = 1000
        try document.add(.quick("a third passphrase, 123"), keys: [oldKey], endorsing: 1000)
        document.authenticate(by: [oldKey])
        try KeyringFile(keyring.path).write(document, replacing: true)
        #expect(try own.unlock(with: .passphrase(first)).proof() == .contradicted)
        expect(.keyringUntrusted) { try own.unlock(with: .passphrase(first)).databaseKey() }
        // Together with the database of then: the new key would be sealed for the former member's slot.
        try replace(path, by: scratch.path("old.db"))
        let before = try scratch.bytes("keys")
        var deceived = try own.unlock(with: .passphrase(first))
        expect(.keyringUntrusted) { try deceived.rekey([path]) }
        #expect(try scratch.bytes("keys") == before)
        try Data(newest).write(to: URL(fileURLWithPath: keyring.path))
        #expect(try own.unlock(with: .passphrase(first)).proof() == .remembered)
    }

    /// How the older copy comes to be used.
    enum Way: CaseIterable { case linkedFile, linkedDirectory, linkToEqualName }

    @Test(.enabled(if: EngineInfo.linked.encrypts), arguments: Way.allCases, [false, true])
    func `H-KEY-28 an older copy behind a link is known as such`(way: Way, looksNewer: Bool) throws {
        for name in ["own", "copies"] {
            try FileManager.default.createDirectory(
                atPath: scratch.path(name), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        // Canonically equal names are those of two files.
        let (name, copy) = way == .linkToEqualName ? ("caf\u{e9}", "own/cafe\u{301}") : ("k.keys", "copies/k.keys")
        let own = remembering(scratch.path("own/" + name))
        let database = scratch.path("notes.db")
        var unlocked = try own.create(with: [.quick(first), .quick(second)])
        let db = try Connection(database, keyring: own, unlockedBy: .passphrase(first), creation: .ifMissing)
        try db.execute("CREATE TABLE note (text TEXT)")
        try db.close()
        try FileManager.default.copyItem(atPath: own.path, toPath: scratch.path(copy))
        let oldKey = unlocked.keys[0]
        try unlocked.remove([2], rekeying: [database])
        try unlocked.remember()
        if looksNewer {
            var document = try KeyringFile(scratch.path(copy)).read()
            document.generation = 1000
            document.authenticate(by: [oldKey])
            try KeyringFile(scratch.path(copy)).write(document, replacing: true)
        }
        switch way {
        case .linkedFile:
            try FileManager.default.removeItem(atPath: own.path)
            try FileManager.default.createSymbolicLink(atPath: own.path, withDestinationPath: "../copies/k.keys")
        case .linkedDirectory:
            try FileManager.default.removeItem(atPath: scratch.path("own"))
            try FileManager.default.createSymbolicLink(atPath: scratch.path("own"), withDestinationPath: "copies")
        case .linkToEqualName:
            try FileManager.default.removeItem(atPath: own.path)
            #expect(symlink("cafe\u{301}", own.path) == 0)
        }
        let found = try own.unlock(with: .passphrase(first))
        #expect(try found.proof() == .contradicted)
        expect(.keyringUntrusted) { try found.databaseKey() }
        // Nor does it become known by being used.
        try found.remember()
        #expect(try own.unlock(with: .passphrase(first)).proof() == .contradicted)
    }

    @Test func `H-KEY-28 another keyring behind a link, endorsed by the same slot, is not the one that was used`() throws {
        let own = remembering(keyring.path)
        try own.create(with: [.quick(first)]).remember()
        let other = remembering(scratch.path("other"))
        try other.create(with: [.quick(first)]).remember()
        try FileManager.default.removeItem(atPath: keyring.path)
        try FileManager.default.createSymbolicLink(atPath: keyring.path, withDestinationPath: "other")
        #expect(try own.unlock(with: .passphrase(first)).proof() == .contradicted)
        #expect(try other.unlock(with: .passphrase(first)).proof() == .remembered)
    }

    @Test func `H-KEY-29 without HOME the memory is in the home directory that the system knows`() throws {
        let home = try #require(getpwuid(geteuid())?.pointee.pw_dir.map { String(cString: $0) })
        let expected = home + "/.local/state/litevault/keyrings"
        #expect(KeyringMemory.standard([:])?.directory == expected)
        #expect(KeyringMemory.standard(["HOME": "relative", "XDG_STATE_HOME": ""])?.directory == expected)
        // '/nonexistent' is what services have: nothing is to be created there.
        #expect(KeyringMemory.standard(["HOME": scratch.path("nonexistent")])?.directory == expected)
        let own = scratch.directory
        #expect(KeyringMemory.standard(["HOME": own])?.directory == own + "/.local/state/litevault/keyrings")
        #expect(KeyringMemory.standard(["XDG_STATE_HOME": "/s"])?.directory == "/s/litevault/keyrings")
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts))
    func `a key that was changed elsewhere is proven by one's own endorsement, and not by that of others`() throws {
        let path = scratch.path("notes.db")
        let (here, there) = (remembering(keyring.path), keyring)
        try here.create(with: [.quick(first), .quick(second)]).remember()
        let db = try Connection(path, keyring: here, unlockedBy: .passphrase(first), creation: .ifMissing)
        try db.execute("CREATE TABLE note (text TEXT)")
        try db.close()
        var elsewhere = try there.unlock(with: .passphrase(first))
        try elsewhere.rekey([path])
        let found = try here.unlock(with: .passphrase(first))
        #expect(try found.proof() == .endorsed)
        #expect(try here.unlock(with: .passphrase(second)).proof() == .contradicted)
        try found.remember()
        #expect(try here.unlock(with: .passphrase(second)).proof() == .remembered)
    }

    @Test func `H-KEY-26 a memory that is damaged, or that others can write, proves nothing and is an error`() throws {
        let own = remembering(keyring.path)
        try own.create(with: [.quick(first)]).remember()
        let directory = scratch.path("state/keyrings/")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: directory).first)
        let bytes = try scratch.bytes("state/keyrings/" + name)
        for (text, mode) in [
            ("litevault-known-keyring 1\n", 0o600), ("", 0o600), (String(decoding: bytes, as: UTF8.self), 0o622),
            (String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "path 2f", with: "path 2e"), 0o600),
        ] {
            try scratch.write(text, to: "state/keyrings/" + name, mode: mode)
            #expect(throws: VaultError.self) { try own.unlock(with: .passphrase(first)).databaseKey() }
        }
        try scratch.write(String(repeating: "x", count: 100_000), to: "state/keyrings/" + name, mode: 0o600)
        expect(.damaged) { try own.unlock(with: .passphrase(first)).databaseKey() }
        // What exists opens all the same: no proof is asked for.
        _ = try own.unlock(with: .passphrase(first)).databaseKeys()
    }

    @Test(arguments: ["state/keyrings/", "state/keyrings", "state"])
    func `H-KEY-26 a memory behind a link to nothing is not one that knows nothing`(link: String) throws {
        let own = remembering(keyring.path)
        try own.create(with: [.quick(first)]).remember()
        let directory = scratch.path("state/keyrings/")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: directory).first)
        let path = scratch.path(link.hasSuffix("/") ? link + name : link)
        // Its volume is not mounted.
        try FileManager.default.moveItem(atPath: path, toPath: scratch.path("elsewhere"))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: scratch.path("unmounted"))
        let error = #expect(throws: VaultError.self) { try own.unlock(with: .passphrase(first)).databaseKey() }
        #expect(error?.code == .noInput && error?.path == path)
        try FileManager.default.moveItem(atPath: scratch.path("elsewhere"), toPath: scratch.path("unmounted"))
        _ = try own.unlock(with: .passphrase(first)).databaseKey()
    }

    // MARK: Trust, and keyrings of before

    @Test func `a fingerprint that was compared is trusted, and another one is an error`() throws {
        let made = try keyring.create(with: [.recipient(identity.recipient())])
        let text = made.fingerprint.description
        #expect(text.utf8.count == 39)
        for same in [text, text.uppercased(), text.replacingOccurrences(of: "-", with: "")] {
            let unlocked = try keyring.unlock(with: .identity(identity), trusting: KeyringFingerprint(same))
            #expect(try unlocked.proof() == .trusted)
            _ = try unlocked.databaseKey()
        }
        for wrong in ["", "-", String(text.dropLast()), text + "0", "g" + text.dropFirst(), text + "\u{301}"] {
            expect(.usage) { try KeyringFingerprint(wrong) }
        }
        let other = try Keyring(scratch.path("other")).create(with: [.quick(second)])
        expect(.keyringUntrusted) { try keyring.unlock(with: .identity(identity), trusting: other.fingerprint) }
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts))
    func `a database is created under a keyring that is trusted by its fingerprint, with an explicit argument`()
        async throws
    {
        let made = try keyring.create(with: [.recipient(identity.recipient())])
        let path = scratch.path("notes.db")
        expect(.keyringUntrusted) {
            try Connection(path, keyring: keyring, unlockedBy: .identity(identity), creation: .ifMissing)
        }
        let db = try Connection(
            path, keyring: keyring, unlockedBy: .identity(identity), creation: .ifMissing, trusting: made.fingerprint)
        try db.execute("CREATE TABLE note (text TEXT)")
        try db.close()
        // What exists opens as before.
        try Connection(path, keyring: keyring, unlockedBy: .identity(identity)).close()
        let queue = try DatabaseQueue(
            scratch.path("queue.db"), keyring: keyring, unlockedBy: .identity(identity), creation: .ifMissing,
            trusting: made.fingerprint)
        try await queue.close()
    }

    /// A keyring as earlier versions wrote it.
    private func makeOld() throws {
        _ = try keyring.create(with: [.quick(first), .quick(second)])
        var document = try KeyringFile(keyring.path).read()
        let keys = try keyring.unlock(with: .passphrase(first)).keys
        for index in document.slots.indices { document.slots[index].endorsement = nil }
        document.authenticate(by: keys)
        try KeyringFile(keyring.path).write(document, replacing: true)
        #expect(try scratch.bytes("keys").starts(with: "litevault-keyring 1\n".utf8))
    }

    @Test func `a keyring without endorsements is one of version 1, and opens; with the first one it is of version 2`()
        throws
    {
        try makeOld()
        var unlocked = try keyring.unlock(with: .passphrase(first))
        #expect(try unlocked.proof() == .unknown && unlocked.databaseKeys().count == 1)
        try unlocked.trust(unlocked.fingerprint)
        try unlocked.add(.recoveryCode(code))
        #expect(try scratch.bytes("keys").starts(with: "litevault-keyring 2\n".utf8))
        #expect(try keyring.unlock(with: .passphrase(first)).proof() == .endorsed)
        #expect(try keyring.unlock(with: .recoveryCode(code)).proof() == .endorsed)
        #expect(try keyring.unlock(with: .passphrase(second)).proof() == .unknown)
        // The version is that of the content.
        for (old, new) in [("litevault-keyring 2", "litevault-keyring 1"), ("endorsed ", "endorsing ")] {
            let text = String(decoding: try scratch.bytes("keys"), as: UTF8.self)
            #expect(throws: KeyringParser.Problem.self) {
                try KeyringParser.parse(Array(text.replacingOccurrences(of: old, with: new).utf8))
            }
        }
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts))
    func `an old keyring is endorsed when the key of its database is changed, which only its own key could open`()
        throws
    {
        try makeOld()
        let path = scratch.path("notes.db")
        var unlocked = try keyring.unlock(with: .passphrase(first))
        let db = try Connection(path, key: unlocked.databaseKeys()[0])
        try db.execute("CREATE TABLE note (text TEXT)")
        try db.close()
        try unlocked.rekey([path])
        #expect(try unlocked.proof() == .trusted)
        #expect(try keyring.unlock(with: .passphrase(first)).proof() == .endorsed)
        #expect(try keyring.unlock(with: .passphrase(second)).proof() == .unknown)
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts))
    func `a slot that is being removed gives no key for new data`() throws {
        let path = scratch.path("notes.db")
        let own = remembering(keyring.path)
        var unlocked = try own.create(with: [.quick(first), .quick(second)])
        try unlocked.remember()
        let db = try Connection(path, keyring: own, unlockedBy: .passphrase(first), creation: .ifMissing)
        try db.execute("CREATE TABLE note (text TEXT)")
        _ = try db.value("SELECT count(*) FROM note", as: Int.self)
        expect(.busy) { try unlocked.remove([2], rekeying: [path], lockTimeout: .milliseconds(10)) }
        try db.close()
        let removed = try own.unlock(with: .passphrase(second))
        #expect(removed.slot.isBeingRemoved)
        expect(.keyringUntrusted) { try removed.databaseKey() }
        try Connection(path, keyring: own, unlockedBy: .passphrase(second)).close()
    }
}
