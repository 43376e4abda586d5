import CEngineSupport
import Foundation
import LiteVault
import LiteVaultSystem
import LiteVaultTestSupport
import Synchronization
import Testing

/// A key that does not occur by chance.
private let secret = "secret-key-3b9d"

/// On every engine.
@Suite struct BoundSecretTests {
    @Test func `H-SEC-05 no error shows a bound value`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE t (a UNIQUE)")
        try db.run("INSERT INTO t VALUES (?)", with: secret)
        let error = #expect(throws: DatabaseError.self) { try db.run("INSERT INTO t VALUES (?)", with: secret) }
        #expect(error.map { "\($0) \(String(reflecting: $0))" }?.contains(secret) == false)
    }

    @Test func `H-SEC-05 no error shows a key that SQL text holds, encryption or not`() throws {
        let db = try Connection()
        let statements = [
            "ATTACH 'nowhere/x' AS y KEY '\(secret)'", "PRAGMA key = '\(secret)' and more",
            "PRAGMA rekey('\(secret)') x",
            "SELECT sqlcipher_export('\(secret)') FROM nothing",
        ]
        for sql in statements {
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql) }
            #expect(error.map { "\($0) \(String(reflecting: $0))" }?.contains(secret) == false)
        }
    }
}

@Suite(.serialized, .enabled(if: Engine.encrypts, "the linked engine does not encrypt")) struct SecretHazardTests {
    let scratch: Scratch
    let key: DatabaseKey

    init() throws {
        scratch = Scratch()
        key = try .passphrase(secret)
    }

    // MARK: Traces

    @Test func `H-SEC-01 a trace shows no key, whichever way the key went in`() throws {
        let path = try scratch.makeEncrypted(key: key)
        let lines = Mutex<[String]>([])
        let db = try Connection(path)
        db.setTrace { line in lines.withLock { $0.append(line) } }
        try db.unlock(with: key, settings: fast)
        try db.attach(.uri(scratch.path("attached.db")), as: "other", key: .passphrase(secret))
        try db.detach("other")
        // What a program may do itself, against all advice.
        try? db.execute("PRAGMA rekey = '\(secret)'; PRAGMA main.hexkey='\(secret)'; PRAGMA key(\"\(secret)\")")
        try db.execute("ATTACH ':memory:' AS x KEY '\(secret)'; DETACH x")
        try db.run("ATTACH ':memory:' AS y KEY ?", with: secret)
        try db.run("DETACH y")
        try db.run("SELECT ?", with: "shown")
        let seen = lines.withLock { $0 }
        #expect(seen.contains { $0.contains("shown") }, "the trace shows other values")
        #expect(seen.filter { $0.contains(secret) } == [])
    }

    @Test func `H-SEC-01 rekeying shows no key to a trace`() throws {
        let path = try scratch.makeEncrypted(key: .passphrase("old " + secret))
        let lines = Mutex<[String]>([])
        let db = try Connection(path, key: .passphrase("old " + secret), settings: fast)
        db.setTrace { line in lines.withLock { $0.append(line) } }
        try db.changeKey(to: key)
        #expect(lines.withLock { $0 }.filter { $0.contains(secret) } == [])
    }

    // MARK: Standard error

    @Test func `H-SEC-03 a wrong key prints nothing to standard error`() throws {
        let path = try scratch.makeEncrypted(key: key)
        let printed = try standardError {
            let wrong = try DatabaseKey.passphrase("wrong")
            for _ in 0..<2 {
                #expect(throws: VaultError.self) { try Connection(path, key: wrong, settings: fast) }
            }
            #expect(throws: VaultError.self) { try Connection(path).unlock(with: wrong, settings: fast) }
            let plain = try Connection(scratch.path("main.db"))
            #expect(throws: VaultError.self) { try plain.attach(.uri(path), as: "x", key: wrong, settings: fast) }
            #expect(throws: VaultError.self) { try DatabaseFile(path).verify(key: wrong, settings: fast) }
            #expect(throws: VaultError.self) { try DatabaseFile(path).migrate(key: wrong) }
        }
        let lines = printed.split(separator: "\n").filter { $0.contains("sqlcipher") || $0.contains(" CORE ") }
        #expect(lines == [])
    }

    /// What is printed to standard error meanwhile, by whatever test, which gets it afterwards.
    private func standardError(during body: () throws -> Void) throws -> String {
        let path = scratch.path("stderr")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let file = try #require(FileHandle(forWritingAtPath: path))
        let original = dup(2)
        dup2(file.fileDescriptor, 2)
        defer {
            dup2(original, 2)
            close(original)
        }
        try body()
        let printed = try Data(contentsOf: URL(fileURLWithPath: path))
        _ = printed.withUnsafeBytes { write(original, $0.baseAddress, $0.count) }
        return String(decoding: printed, as: UTF8.self)
    }

    // MARK: Errors

    @Test func `H-SEC-05 no error shows a key`() throws {
        let path = try scratch.makeEncrypted(key: key)
        let plain = try scratch.makePlain()
        var shown: [String] = []
        func note(_ body: () throws -> Void) {
            do { try body() } catch {
                var dumped = ""
                dump(error, to: &dumped)
                shown += ["\(error)", String(reflecting: error), error.localizedDescription, dumped]
            }
        }
        let wrong = try DatabaseKey.passphrase(secret + " wrong")
        note { _ = try Connection(path, key: wrong, settings: fast) }
        note { _ = try Connection(plain, key: key) }
        note { _ = try Connection("file:\(path)?key=\(secret)", key: key) }
        note { _ = try DatabaseKey.hex(secret) }
        note { _ = try DatabaseKey.passphrase("x'" + String(repeating: "5ec7e7", count: 16) + "'") }
        note { try DatabaseFile(path).rekey(from: wrong, to: key, settings: fast) }
        let db = try Connection(path, key: key, settings: fast)
        note { try db.unlock(with: .literalOrPassphrase(secret)) }
        note { try db.changeKey(to: .literalOrPassphrase(secret), of: "nowhere") }
        note { try db.attach(.uri(path), as: "main", key: .literalOrPassphrase(secret)) }
        note { try db.execute("PRAGMA rekey = '\(secret)' and more") }
        note { try db.execute("ATTACH 'nowhere/x' AS y KEY '\(secret)'") }
        note { try db.execute("ATTACH 'x' AS y KEY '\(secret)' \(secret)") }
        note { try db.run("ATTACH 'nowhere/x' AS y KEY ?", with: secret) }
        note { try db.execute("SELECT sqlcipher_export('\(secret)') FROM nothing") }
        #expect(shown.count >= 13 * 4)
        #expect(shown.filter { $0.contains(secret) || $0.contains("5ec7e75ec7e7") } == [])
    }

    // MARK: Memory

    #if os(Linux)
        /// Random bytes, inverted: the search must not find where they came from.
        private func inverted(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 1...255) } }

        private func uninverted<T>(_ bytes: [UInt8], _ body: ([UInt8]) throws -> T) rethrows -> T {
            var plain = bytes.map { ~$0 }
            defer { plain.wipe() }
            return try body(plain)
        }

        @Test(arguments: [false, true])
        func `H-SEC-04 once the database is closed and the key gone, no memory holds it`(raw: Bool) throws {
            let bytes = inverted(32)
            let memory = ProcessMemory(count: 32) { needle in
                for index in 0..<32 { needle[index] = ~bytes[index] }
            }
            let digits = ProcessMemory(count: 64) { needle in
                let hexadecimal = Array("0123456789abcdef".utf8)
                for index in 0..<32 {
                    needle[2 * index] = hexadecimal[Int(~bytes[index] >> 4)]
                    needle[2 * index + 1] = hexadecimal[Int(~bytes[index] & 15)]
                }
            }
            var held = 0
            try use(bytes, raw: raw) { held = memory.occurrences() }
            #expect(held > 0, "a key that is in use is in memory, and the search finds it")
            #expect(memory.occurrences() == 0)
            #expect(digits.occurrences() == 0)
        }

        private func use(_ bytes: [UInt8], raw: Bool, _ meanwhile: () throws -> Void) throws {
            let key = try uninverted(bytes) { try raw ? DatabaseKey.raw($0) : .passphrase($0) }
            let db = try Connection(scratch.path("vault.db"), key: key, settings: fast)
            try db.execute("CREATE TABLE t (a)")
            try db.close()
            try DatabaseFile(scratch.path("vault.db")).backup(to: scratch.path("copy.db"), key: key, settings: fast)
            try withExtendedLifetime(key) { try meanwhile() }
        }
    #endif
}
