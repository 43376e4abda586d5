import Foundation
import LiteVault
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

import LiteVaultKeyring

@Suite(.enabled(if: EngineInfo.linked.encrypts)) struct DatabaseTests {
    let scratch: Scratch
    let keyring: Keyring
    let database: String

    init() throws {
        scratch = Scratch()
        database = scratch.path("notes.db")
        keyring = Keyring(Keyring.path(beside: database))
    }

    private func make(_ slots: [NewKeyringSlot]) throws -> UnlockedKeyring {
        let unlocked = try keyring.create(with: slots)
        let db = try Connection(
            database, keyring: keyring, unlockedBy: .passphrase(first), creation: .ifMissing)
        try db.execute("CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('milk')")
        try db.close()
        return unlocked
    }

    private func read(_ unlock: KeyringUnlock) throws -> String {
        let db = try Connection(database, keyring: keyring, unlockedBy: unlock)
        defer { try? db.close() }
        return try db.value("SELECT text FROM note", as: String.self)
    }

    @Test func `a connection, a pool and a queue open through a keyring`() async throws {
        _ = try make([.quick(first)])
        #expect(try read(.passphrase(first)) == "milk")
        let pool = try DatabasePool(database, keyring: keyring, unlockedBy: .passphrase(first))
        #expect(try await pool.read { try $0.value("SELECT text FROM note", as: String.self) } == "milk")
        let queue = try DatabaseQueue(database, keyring: keyring, unlockedBy: .passphrase(first))
        #expect(try await queue.read { try $0.value("SELECT text FROM note", as: String.self) } == "milk")
    }

    @Test func `opening through a keyring derives nothing in the engine`() throws {
        let unlocked = try make([.quick(first)])
        let literal = try "x'\(digits(unlocked))'"
        let db = try Connection(database, key: .passphrase(literal, allowingRawKeyLiteral: true))
        #expect(try db.value("SELECT text FROM note", as: String.self) == "milk")
    }

    @Test func `a missing database is an error, not a new one`() throws {
        _ = try keyring.create(with: [.quick(first)])
        expect(.databaseMissing) { try read(.passphrase(first)) }
        #expect(try scratch.names() == ["notes.db.keys"])
    }

    @Test func `a wrong passphrase leaves database and keyring alone`() throws {
        _ = try make([.quick(first)])
        let before = try [scratch.bytes("notes.db"), scratch.bytes("notes.db.keys")]
        expect(.keyRejected) { try read(.passphrase(second)) }
        #expect(try [scratch.bytes("notes.db"), scratch.bytes("notes.db.keys")] == before)
    }

    @Test func `the keyring of another database does not open this one`() throws {
        _ = try make([.quick(first)])
        let other = Keyring(scratch.path("other.keys"))
        _ = try other.create(with: [.quick(first)])
        expect(.keyRejected) { try Connection(database, keyring: other, unlockedBy: .passphrase(first)) }
    }

    @Test func `after a removal with a new key the old keyring no longer opens the database`() throws {
        var unlocked = try make([.quick(first), .quick(second)])
        let old = Keyring(scratch.path("old.keys"))
        try FileManager.default.copyItem(atPath: keyring.path, toPath: old.path)
        try unlocked.remove([2], rekeying: [database])
        #expect(try read(.passphrase(first)) == "milk")
        expect(.keyRejected) { try read(.passphrase(second)) }
        for passphrase in [first, second] {
            expect(.keyRejected) { try Connection(database, keyring: old, unlockedBy: .passphrase(passphrase)) }
        }
        #expect(unlocked.keyCount == 2)
        // A backup of the time before still opens, by the slots that stayed.
        try unlocked.forgetOldKeys()
        #expect(try keyring.unlock(with: .passphrase(first)).keyCount == 1)
        #expect(try read(.passphrase(first)) == "milk")
    }

    @Test func `a backup from before the new key opens with the keyring of after`() throws {
        var unlocked = try make([.quick(first), .quick(second)])
        let copy = scratch.path("copy.db")
        try FileManager.default.copyItem(atPath: database, toPath: copy)
        try unlocked.remove([2], rekeying: [database])
        let db = try Connection(copy, keyring: keyring, unlockedBy: .passphrase(first))
        #expect(try db.value("SELECT text FROM note", as: String.self) == "milk")
    }

    @Test func `other slots get the new key without their secrets`() throws {
        let code = try RecoveryCode.random()
        let identity = try KeyringIdentity.random()
        var unlocked = try make([
            .quick(first), .quick(second), .recoveryCode(code), .recipient(identity.recipient()),
        ])
        try unlocked.remove([2], rekeying: [database])
        #expect(try read(.recoveryCode(code)) == "milk")
        #expect(try read(.identity(identity)) == "milk")
    }

    @Test func `a removal that was interrupted leaves every slot that stays open, and is finished by the next`() throws
    {
        var unlocked = try make([.quick(first), .quick(second)])
        let holder = try Connection(database, keyring: keyring, unlockedBy: .passphrase(first))
        _ = try holder.value("SELECT count(*) FROM note", as: Int.self)
        expect(.busy) { try unlocked.remove([2], rekeying: [database], lockTimeout: .milliseconds(10)) }
        // In the middle: the slot still opens the database, whose key is the old one, and no new one.
        #expect(try keyring.slots().map(\.isBeingRemoved) == [false, true])
        #expect(try read(.passphrase(first)) == "milk")
        #expect(try read(.passphrase(second)) == "milk")
        try holder.close()
        expect(.busy) {
            var late = try keyring.unlock(with: .passphrase(second))
            try late.add(.quick("a third passphrase, 123"))
        }
        var again = try keyring.unlock(with: .passphrase(first))
        #expect(again.keyCount == 2)
        try again.remove([2], rekeying: [database])
        #expect(again.keyCount == 2)
        #expect(try read(.passphrase(first)) == "milk")
        expect(.keyRejected) { try read(.passphrase(second)) }
    }

    @Test func `a removal names databases that exist`() throws {
        var unlocked = try make([.quick(first), .quick(second)])
        let before = try scratch.bytes("notes.db.keys")
        expect(.noInput) { try unlocked.remove([2], rekeying: [scratch.path("typo.db")]) }
        expect(.usage) { try unlocked.remove([2], rekeying: []) }
        expect(.usage) { try unlocked.remove([1, 2], rekeying: [database]) }
        #expect(try scratch.bytes("notes.db.keys") == before)
    }

    @Test func `a new key for all slots leaves none behind and is made once, however often it is interrupted`() throws {
        var unlocked = try make([.quick(first), .quick(second)])
        let before = try #require(unlocked.keyIdentifiers.first)
        let old = try scratch.bytes("notes.db.keys")
        let holder = try Connection(database, keyring: keyring, unlockedBy: .passphrase(first))
        _ = try holder.value("SELECT count(*) FROM note", as: Int.self)
        for _ in 1...2 {
            var again = try keyring.unlock(with: .passphrase(first))
            expect(.busy) { try again.rekey([database], replacing: before, lockTimeout: .milliseconds(10)) }
        }
        try holder.close()
        unlocked = try keyring.unlock(with: .passphrase(first))
        try unlocked.rekey([database], replacing: before)
        #expect(unlocked.keyCount == 2)
        #expect(try unlocked.databaseKeys().count == 2)
        #expect(try read(.passphrase(second)) == "milk")
        try unlocked.rekey([database], replacing: before)
        #expect(unlocked.keyCount == 2)
        try unlocked.rekey([database])
        #expect(unlocked.keyCount == 3)
        #expect(try read(.passphrase(first)) == "milk")
        // The keyring of before does not have the key.
        let older = try scratch.write(String(decoding: old, as: UTF8.self), to: "older")
        expect(.keyRejected) {
            try Connection(database, keyring: Keyring(older), unlockedBy: .passphrase(first)).execute(
                "SELECT 1 FROM note")
        }
    }

    // MARK: Generated keys

    @Test func `a generated key in a store opens its database again`() throws {
        let store = FileKeyStore(scratch.path("notes.key"))
        do {
            let db = try Connection(database, keyIn: store)
            try db.execute("CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('milk')")
            try db.close()
        }
        let db = try Connection(database, keyIn: store)
        #expect(try db.value("SELECT text FROM note", as: String.self) == "milk")
        #expect(try DatabaseFile(database).kind() == .encryptedOrUnknown)
    }

    @Test func `a database without its key is an error, and no key is made`() throws {
        _ = try make([.quick(first)])
        expect(.keyMissing) { try Connection(database, keyIn: FileKeyStore(scratch.path("notes.key"))) }
        #expect(try !scratch.names().contains("notes.key"))
    }

    @Test func `a key without its database is an error, unless an empty one is asked for`() throws {
        let store = FileKeyStore(scratch.path("notes.key"))
        try Connection(database, keyIn: store).close()
        try? FileManager.default.removeItem(atPath: database)
        expect(.databaseMissing) { try Connection(database, keyIn: store) }
        #expect(try scratch.names() == ["notes.key"])
        try Connection(database, keyIn: store, creation: .withStoredKey).close()
    }

    @Test func `the key of another device is rejected, and nothing is created`() throws {
        let store = FileKeyStore(scratch.path("notes.key"))
        let db = try Connection(database, keyIn: store)
        try db.execute("CREATE TABLE note (text TEXT)")
        try db.close()
        try FileManager.default.removeItem(atPath: store.path)
        try store.store(try KeyMaterial.random(count: 48).digits())
        let before = try scratch.bytes("notes.db")
        expect(.keyRejected) { try Connection(database, keyIn: store) }
        #expect(try scratch.bytes("notes.db") == before)
    }

    @Test func `a database that was opened and never written opens again`() async throws {
        let store = FileKeyStore(scratch.path("notes.key"))
        for _ in 1...2 { try Connection(database, keyIn: store).close() }
        #expect(try scratch.names() == ["notes.db", "notes.key"])
        try Connection(database, keyIn: store, creation: .never).close()
        let pool = try DatabasePool(scratch.path("pool.db"), keyIn: FileKeyStore(scratch.path("pool.key")))
        try await pool.close()
        let queue = try DatabaseQueue(scratch.path("pool.db"), keyIn: FileKeyStore(scratch.path("pool.key")))
        try await queue.close()
        let db = try Connection(database, keyIn: store)
        try db.execute("CREATE TABLE note (text TEXT)")
        #expect(try DatabaseFile(database).kind() == .encryptedOrUnknown)
    }

    @Test func `an empty file without a key is a new database, as after a kill before the key was stored`() throws {
        try scratch.write("", to: "notes.db")
        expect(.databaseMissing) {
            try Connection(database, keyIn: FileKeyStore(scratch.path("notes.key")), creation: .never)
        }
        #expect(try scratch.names() == ["notes.db"])
        try Connection(database, keyIn: FileKeyStore(scratch.path("notes.key"))).close()
        #expect(try scratch.names() == ["notes.db", "notes.key"])
    }

    @Test func `a store that takes no key leaves no file behind`() throws {
        let store = EnvironmentKeyStore("LITEVAULT_NOT_SET")
        // An empty file would hide from the next start that the database was lost.
        expect(.unsupported) { try Connection(database, keyIn: store) }
        #expect(try scratch.names().isEmpty)
    }

    @Test(arguments: ["", "CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('milk')"])
    func `another process that creates the database after the store was read keeps its key`(script: String) throws {
        let store = OverwritingStore()
        let database = database
        store.interruption.withLock { interruption in
            interruption = {
                let db = try Connection(database, keyIn: store)
                try db.execute(script)
                try db.close()
            }
        }
        let db = try Connection(database, keyIn: store)
        #expect(store.writes.value == 1)
        if !script.isEmpty { #expect(try db.value("SELECT text FROM note", as: String.self) == "milk") }
    }

    @Test(arguments: [true, false])
    func `starts at the same time create one database, and all succeed`(overwriting: Bool) throws {
        let database = database
        let store: any KeyStore = overwriting ? OverwritingStore() : FileKeyStore(scratch.path("notes.key"))
        let problems = Locked<[String]>([])
        let isReady = DispatchSemaphore(value: 0)
        // Threads of their own: all of them have to run, however few the system's pool has.
        for number in 0..<4 {
            Thread.detachNewThread {
                defer { isReady.signal() }
                do {
                    // A queue: unlike a connection, it waits for locks while it opens.
                    let queue = try DatabaseQueue(database, keyIn: store)
                    try queue.write { db in
                        try db.execute("CREATE TABLE IF NOT EXISTS note (text TEXT)")
                        try db.execute("INSERT INTO note VALUES ('\(number)')")
                    }
                } catch { problems.withLock { $0.append("\(error)") } }
            }
        }
        for _ in 0..<4 { isReady.wait() }
        #expect(problems.value == [])
        let db = try Connection(database, keyIn: store)
        #expect(try db.value("SELECT count(*) FROM note", as: Int.self) == 4)
    }

    @Test func `a store that is locked leads to no new key`() throws {
        expect(.keyStoreLocked) {
            try Connection(
                database, keyIn: CommandKeyStore(ExternalCommand("exit 2"), storing: ExternalCommand("cat >/dev/null")))
        }
        #expect(try scratch.names().isEmpty)
    }
}

/// A store that replaces what it has, as the Secret Service and the kernel's keyrings do, and is as slow as a command.
private final class OverwritingStore: KeyStore {
    private let content = Locked<KeyMaterial?>(nil)
    let writes = Locked(0)
    /// Called once, when the store has answered that there is no secret, before that answer arrives.
    let interruption = Locked<(@Sendable () throws -> Void)?>(nil)

    var description: String { "the store of the tests" }

    func read() throws -> KeyMaterial? {
        let answer = content.value
        usleep(2000)
        if answer == nil {
            let body = interruption.withLock { body in
                defer { body = nil }
                return body
            }
            try body?()
        }
        return answer
    }

    func store(_ secret: KeyMaterial) throws {
        usleep(20_000)
        content.withLock { $0 = secret }
        writes.withLock { $0 += 1 }
    }
}
