import Foundation
import LiteVault
import LiteVaultPool
import LiteVaultTestSupport
import Testing

@Suite(.enabled(if: EngineInfo.linked.encrypts)) struct PoolKeyTests {
    let scratch = Scratch()

    private static let compatibilities = EngineInfo.linked.sqlcipherMajorVersion == 3 ? [1, 2, 3] : [1, 2, 3, 4]

    /// Uses as many readers at the same time.
    private func useReaders(_ count: Int, of pool: DatabasePool) {
        let all = DispatchGroup()
        let goOn = Event()
        let inside = Event()
        for _ in 0..<count {
            all.enter()
            background {
                defer { all.leave() }
                do {
                    try pool.read { db in
                        let count = try db.count()
                        #expect(count >= 3)
                        inside.signal()
                        _ = goOn.wait()
                    }
                } catch { Issue.record(error) }
            }
        }
        for _ in 0..<count { #expect(inside.wait()) }
        #expect(pool.coordinator.openReaderCount == count)
        for _ in 0..<count { goOn.signal() }
        all.wait()
    }

    @Test(arguments: compatibilities)
    func `a pool with 8 readers derives its key once, and the passphrase opens the file everywhere`(
        compatibility: Int
    ) throws {
        let key = try DatabaseKey.passphrase("a passphrase")
        let settings = CipherSettings(kdfIterations: 1000, compatibility: compatibility)
        var configuration = DatabaseConfiguration()
        configuration.maximumReaderCount = 8
        // New: the pool chooses the salt.
        let pool = try scratch.pool(key: key, settings: settings, configuration: configuration)
        useReaders(8, of: pool)
        #expect(pool.coordinator.keyDerivations == 1)
        try pool.close()
        // By the engine's own derivation, and not under another passphrase.
        let connection = try Connection(scratch.path("db"), key: key, settings: settings)
        #expect(try connection.count() == 3)
        try connection.close()
        // Existing: the salt is that of the file.
        let again = try DatabasePool(scratch.path("db"), key: key, settings: settings, configuration: configuration)
        useReaders(8, of: again)
        #expect(again.coordinator.keyDerivations == 1)
    }

    @Test func `a raw key needs no derivation, with a salt or without one`() throws {
        let raw = [UInt8](repeating: 7, count: 32)
        for key in [try DatabaseKey.raw(raw), try .raw(raw, salt: [UInt8](repeating: 9, count: 16))] {
            let place = Scratch()
            let pool = try place.pool(key: key)
            useReaders(2, of: pool)
            #expect(pool.coordinator.keyDerivations == 0)
        }
    }

    @Test(.disabled(if: EngineInfo.linked.sqlcipherMajorVersion == 3, "needs the format of SQLCipher 4"))
    func `a plaintext header takes its salt from the settings`() throws {
        let settings = CipherSettings(
            kdfIterations: 1000, plaintextHeaderSize: 32, salt: [UInt8](repeating: 5, count: 16))
        let key = try DatabaseKey.passphrase("a passphrase")
        let pool = try scratch.pool(key: key, settings: settings)
        useReaders(3, of: pool)
        #expect(pool.coordinator.keyDerivations == 1)
        try pool.rekey(to: .passphrase("another"))
        useReaders(3, of: pool)
        try pool.close()
        #expect(try Connection(scratch.path("db"), key: .passphrase("another"), settings: settings).count() == 3)
    }

    @Test(.disabled(if: EngineInfo.linked.sqlcipherMajorVersion == 3, "needs the format of SQLCipher 4"))
    func `H-SET-09 a file for a shared container is recognized as one in WAL mode, and needs its key and its salt`() throws {
        let salt = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        let key = try DatabaseKey.raw([UInt8](repeating: 7, count: 32))
        let pool = try scratch.pool(key: key, settings: .sharedContainer(salt: salt))
        try pool.close()
        let file = try Data(contentsOf: URL(fileURLWithPath: scratch.path("db")))
        #expect(Array(file.prefix(16)) == Array("SQLite format 3\0".utf8))
        // The versions for reading and writing: 2 is WAL mode.
        let versions: [UInt8] = [file[18], file[19]]
        #expect(versions == [2, 2])
        #expect(file.range(of: Data("CREATE TABLE t".utf8)) == nil)
        #expect(try DatabasePool(scratch.path("db"), key: key, settings: .sharedContainer(salt: salt)).read { try $0.count() } == 3)
        for (settings, code) in [
            (CipherSettings.sharedContainer(salt: salt.reversed()), VaultError.Code.keyRejected),
            (.sharedContainer(salt: []), .usage), (.init(plaintextHeaderSize: 32), .usage),
        ] {
            #expect { _ = try DatabasePool(scratch.path("db"), key: key, settings: settings) } throws: {
                ($0 as? VaultError)?.code == code
            }
        }
        #expect(throws: VaultError.self) { try scratch.pool(key: key, settings: .sharedContainer(salt: [1, 2, 3])) }
    }

    @Test func `a wrong passphrase is refused as by a connection, and changes nothing`() throws {
        let pool = try scratch.pool(key: .passphrase("right"), settings: fast)
        try pool.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: scratch.path("db")))
        #expect { _ = try DatabasePool(scratch.path("db"), key: .passphrase("wrong"), settings: fast) } throws: {
            ($0 as? VaultError)?.code == .keyRejected
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.path("db"))) == before)
    }

    @Test func `after a rekey every connection has the new key, and the old one opens nothing`() async throws {
        let old = try DatabaseKey.passphrase("old")
        let new = try DatabaseKey.passphrase("new")
        let pool = try scratch.pool(key: old, settings: fast)
        useReaders(4, of: pool)
        try await pool.rekey(to: new)
        #expect(pool.coordinator.openReaderCount == 0)
        useReaders(4, of: pool)
        #expect(pool.coordinator.keyDerivations == 2)
        try await pool.write { try $0.insert("after") }
        #expect(try await pool.read { try $0.count() } == 4)
        try await pool.close()
        #expect { _ = try Connection(scratch.path("db"), key: old, settings: fast) } throws: {
            ($0 as? VaultError)?.code == .keyRejected
        }
        #expect(try Connection(scratch.path("db"), key: new, settings: fast).count() == 4)
    }

    @Test func `H-KEY-20 H-KEY-27 the key of a pool is not changed to itself, nor to itself with another salt`() throws {
        let raw = [UInt8](repeating: 7, count: 32)
        for (old, new) in [
            (try DatabaseKey.passphrase("old"), try DatabaseKey.passphrase("old")), (try .raw(raw), try .raw(raw)),
            (try .raw(raw), try .raw(raw, salt: [UInt8](repeating: 9, count: 16))),
        ] {
            let place = Scratch()
            let pool = try place.pool(key: old, settings: fast)
            try pool.close()
            let before = try Data(contentsOf: URL(fileURLWithPath: place.path("db")))
            let again = try DatabasePool(place.path("db"), key: old, settings: fast)
            #expect { try again.rekey(to: new) } throws: { ($0 as? VaultError)?.code == .usage }
            #expect(try again.read { try $0.count() } == 3)
            try again.close()
            #expect(try Data(contentsOf: URL(fileURLWithPath: place.path("db"))) == before)
        }
    }

    @Test func `a rekey while another process has the file open fails, and the old key stays in effect`() throws {
        let key = try DatabaseKey.passphrase("old")
        let pool = try scratch.pool(key: key, settings: fast)
        let other = try Connection(scratch.path("db"), key: key, settings: fast)
        _ = try other.count()
        #expect { try pool.rekey(to: .passphrase("new")) } throws: { ($0 as? VaultError)?.code == .busy }
        try pool.write { try $0.insert("after") }
        #expect(try pool.read { try $0.count() } == 4)
        #expect(try other.count() == 4)
        try other.close()
        // A progress report that throws cancels.
        #expect(throws: Refused.self) { try pool.rekey(to: .passphrase("new")) { _ in throw Refused() } }
        #expect(try pool.read { try $0.count() } == 4)
        try pool.rekey(to: .passphrase("new"))
        #expect(try pool.read { try $0.count() } == 4)
    }

    @Test func `a rekey waits for accesses under way and keeps others waiting`() async throws {
        let pool = try scratch.pool(key: .passphrase("old"), settings: fast)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<30 {
                group.addTask {
                    _ = try await pool.read { try $0.count() }
                    try await pool.write { try $0.insert("\(index)") }
                }
            }
            group.addTask { try await pool.rekey(to: .passphrase("new")) }
            try await group.waitForAll()
        }
        #expect(try await pool.read { try $0.count() } == 33)
    }

    @Test func `a backup of a pool opens with its passphrase, or another`() throws {
        let key = try DatabaseKey.passphrase("key")
        let pool = try scratch.pool(key: key, settings: fast)
        try pool.backup(to: scratch.path("copy"))
        #expect(try Connection(scratch.path("copy"), key: key, settings: fast).count() == 3)
        let other = try DatabaseKey.passphrase("other")
        try pool.backup(to: scratch.path("other"), newKey: other)
        #expect(try Connection(scratch.path("other"), key: other, settings: fast).count() == 3)
        #expect(pool.coordinator.keyDerivations == 1)
    }
}

@Suite struct PoolWithoutKeyTests {
    @Test func `without encryption a pool with a key throws before a file exists`() throws {
        let scratch = Scratch()
        if EngineInfo.linked.encrypts {
            _ = try scratch.pool(key: .passphrase("key"), settings: fast)
        } else {
            #expect { _ = try scratch.pool(key: .passphrase("key")) } throws: {
                ($0 as? VaultError)?.code == .noEncryption
            }
            #expect(!FileManager.default.fileExists(atPath: scratch.path("db")))
        }
    }

    @Test func `a plain pool has no key to change`() throws {
        let scratch = Scratch()
        let pool = try scratch.pool()
        #expect(throws: VaultError.self) { try pool.rekey(to: .passphrase("new")) }
        #expect(try pool.read { try $0.count() } == 3)
    }
}
