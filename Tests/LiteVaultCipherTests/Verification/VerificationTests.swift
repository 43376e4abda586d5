import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

@Suite struct VerificationTests {
    let scratch: Scratch
    let settings = CipherSettings(kdfIterations: 1000)

    init() throws { scratch = Scratch() }

    private func verify(
        _ path: String, _ passphrase: String? = "fixture-pass", _ settings: CipherSettings? = nil
    ) throws -> DatabaseFile.VerificationReport {
        try DatabaseFile(path).verify(
            key: passphrase.map { try DatabaseKey.passphrase($0) }, settings: settings ?? self.settings)
    }

    @Test(arguments: Engine.fixtures) func `an undamaged fixture is intact`(fixture: Fixture) throws {
        let path = try scratch.copy(fixture.name)
        let report = try DatabaseFile(path).verify(key: fixture.databaseKey(), settings: fixture.settings)
        #expect(report.problems == [])
        let hasCodes = fixture.settings.usesHMAC != false && fixture.settings.compatibility != 1
        #expect((report.authenticatedPages ?? 0 > 0) == hasCodes)
    }

    @Test func `an undamaged plain database is intact`() throws {
        let report = try verify(scratch.copy("plain-3.40.1.db"), nil)
        #expect(report.isIntact)
        #expect(report.kind == .plain)
        #expect(report.authenticatedPages == nil)
    }

    @Test(arguments: ["fts4", "fts5"], [false, true])
    func `a full-text index that does not agree with its content is a problem`(module: String, isEncrypted: Bool) throws {
        guard Engine.encrypts || !isEncrypted, (try? Connection().execute("CREATE VIRTUAL TABLE f USING \(module)(t)")) != nil
        else { return }
        let path = scratch.path("indexed.db")
        let db = try isEncrypted ? Connection(path, key: .passphrase("fixture-pass"), settings: settings) : Connection(path)
        let content = module == "fts5" ? "content='text', content_rowid='id'" : "content='text'"
        try db.execute(
            """
            PRAGMA journal_mode = \(isEncrypted ? "WAL" : "DELETE");
            CREATE TABLE text (id INTEGER PRIMARY KEY, body TEXT); INSERT INTO text VALUES (1, 'hello world'), (2, 'good bye');
            CREATE VIRTUAL TABLE "it's" USING \(module)(body, \(content)); INSERT INTO "it's"("it's") VALUES ('rebuild');
            CREATE VIRTUAL TABLE own USING \(module)(body); INSERT INTO own (body) VALUES ('own');
            CREATE VIRTUAL TABLE bare USING \(module)(body, content=''); CREATE VIRTUAL TABLE bare2 USING \(module)(body, content="");
            INSERT INTO bare (rowid, body) VALUES (1, 'bare')
            """)
        let intact = try verify(path, isEncrypted ? "fixture-pass" : nil)
        #expect(intact.problems == [])
        // Older engines do not look at them; 3.44 and later call it an error.
        for one in intact.unchecked {
            #expect(one.message.hasPrefix("The full-text index 'bare") && one.message.hasSuffix("nothing to compare it with"))
        }
        try db.execute("UPDATE text SET body = 'other' WHERE id = 1")
        let names = try scratch.names()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let report = try verify(path, isEncrypted ? "fixture-pass" : nil)
        #expect(report.problems.map(\.kind) == [.structure])
        // In the words of the engine, where it has noticed it.
        #expect(report.problems.first?.message.contains("it's") == true, "\(report.problems)")
        #expect(try scratch.names() == names)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        try db.execute("INSERT INTO \"it's\"(\"it's\") VALUES ('rebuild')")
        #expect(try verify(path, isEncrypted ? "fixture-pass" : nil).isIntact)
    }

    @Suite(.enabled(if: Engine.format4, "the linked engine does not know the format of SQLCipher 4"))
    struct Damaged {
        let tests: VerificationTests
        var scratch: Scratch { tests.scratch }

        init() throws { tests = try VerificationTests() }

        @Test func `H-VER-05 a damaged first page is named under the right key, and a wrong key is rejected`() throws {
            let path = try scratch.copy("hostile/tampered-page1.db")
            let report = try tests.verify(path)
            #expect(report.problems.first?.page == 1)
            #expect(report.problems.first?.kind == .page)
            let error = #expect(throws: VaultError.self) { try tests.verify(path, "wrong") }
            #expect(error?.code == .keyRejected)
        }

        @Test func `H-VER-21 the key of a database with a schema of a newer engine is right, and only a damaged page is damage`() throws {
            let path = scratch.path("newer.db")
            let key = try DatabaseKey.passphrase("newer")
            let db = try Connection(path, key: key, settings: tests.settings)
            try db.execute(
                """
                CREATE TABLE t (a); INSERT INTO t VALUES (1); CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END;
                PRAGMA writable_schema = ON;
                UPDATE sqlite_master SET sql = 'CREATE TRIGGER g AFTER INSERT ON t BEGIN SOMETHING NEW; END' WHERE name = 'g';
                """)
            try db.close()
            let actions: [() throws -> Void] = [
                { _ = try DatabaseFile(path).verify(key: key, settings: tests.settings) },
                { try DatabaseFile(path).decrypt(to: scratch.path("plain.db"), key: key, settings: tests.settings) },
                { _ = try Connection(path, key: key, settings: tests.settings) },
            ]
            for action in actions {
                let error = vaultError(action)
                #expect(error?.code == .unsupported && error?.remedy?.contains("newer version") == true, "\(String(describing: error))")
            }
            let wrong = vaultError { _ = try Connection(path, key: .passphrase("wrong"), settings: tests.settings) }
            #expect(wrong?.code == .keyRejected)
            var bytes = try scratch.bytes("newer.db")
            bytes[bytes.count - 100] ^= 1
            try scratch.write(bytes, to: "newer.db")
            let report = try DatabaseFile(path).verify(key: key, settings: tests.settings)
            #expect(report.problems.map(\.kind) == [.page, .structure])
        }

        @Test func `H-VER-01 a damaged index page is named, though a scan of the table would not meet it`() throws {
            let report = try tests.verify(scratch.copy("hostile/tampered-page3.db"))
            #expect(report.problems.first?.page == 3)
            #expect(report.authenticatedPages == 2)
        }

        @Test func `H-VER-02 pages that are missing at the end are noticed`() throws {
            let report = try tests.verify(scratch.copy("hostile/truncated-page.db"))
            #expect(report.problems.contains { $0.kind == .truncated })
            let cut = try tests.verify(scratch.copy("hostile/truncated-midpage.db", as: "mid.db"))
            #expect(cut.problems.contains { $0.kind == .truncated && $0.page == 3 })
        }

        @Test func `an uncheckpointed log is verified with the file`() throws {
            let report = try tests.verify(scratch.copy("hostile/wal-uncheckpointed.db"))
            #expect(report.problems == [])
            #expect(report.logPages == 3)
        }

        @Test(arguments: [32 + 24 + 7, 32 + 4120 + 100, 32 + 2 * 4120 + 30])
        func `H-VER-03 a flipped byte in the log is noticed, and nothing is replayed`(at: Int) throws {
            let path = try scratch.copy("hostile/wal-uncheckpointed.db")
            var log = try scratch.bytes("copy.db-wal")
            log[at] ^= 1
            _ = try scratch.write(log, to: "copy.db-wal")
            let before = try scratch.bytes("copy.db")
            #expect(try tests.verify(path).problems.contains { $0.kind == .log })
            #expect(try scratch.bytes("copy.db") == before)
            #expect(try scratch.bytes("copy.db-wal") == log)
            let error = #expect(throws: VaultError.self) { try tests.verify(path, "wrong") }
            #expect(error?.code == .keyRejected)
        }

        @Test func `H-VER-03 the log of another database is noticed, and not replayed`() throws {
            let path = try scratch.copy("v4-4.6.1-kdf1000.db")
            let log = try Fixture.bytes("hostile/wal-uncheckpointed.db-wal")
            _ = try scratch.write(log, to: "copy.db-wal")
            #expect(try tests.verify(path).problems.contains { $0.kind == .log })
            #expect(try scratch.bytes("copy.db") == Fixture.bytes("v4-4.6.1-kdf1000.db"))
        }

        @Test func `H-VER-06 damage is not spread: verifying writes nothing, and replacing is refused`() throws {
            let path = try scratch.copy("hostile/tampered-page3.db")
            let before = try scratch.bytes("copy.db")
            let key = try DatabaseKey.passphrase("fixture-pass")
            #expect(!(try tests.verify(path)).isIntact)
            let rekey = vaultError {
                try DatabaseFile(path).rekey(from: key, to: .passphrase("n"), settings: tests.settings)
            }
            #expect(rekey?.code == .damaged)
            let other = CipherSettings(kdfIterations: 5)
            let migrate = vaultError {
                try DatabaseFile(path).migrate(key: key, settings: tests.settings, newSettings: other)
            }
            #expect(migrate?.code == .damaged)
            #expect(try scratch.bytes("copy.db") == before)
            #expect(try scratch.names() == ["copy.db"])
        }

        @Test func `H-VER-07 bytes behind the last page are noticed`() throws {
            var bytes = try Fixture.bytes("v4-4.6.1-kdf1000.db")
            let tail = Array(bytes[4096..<8192])
            bytes += tail
            let report = try tests.verify(scratch.write(bytes, to: "long.db"))
            #expect(report.problems.contains { $0.kind == .excess })
        }
    }

    @Test func `H-VER-07 bytes behind the last page of a plain database are noticed`() throws {
        let bytes = try Fixture.bytes("plain-3.40.1.db") + [UInt8](repeating: 0x41, count: 4096)
        #expect(try verify(scratch.write(bytes, to: "long.db"), nil).problems.contains { $0.kind == .excess })
    }

    @Test func `H-VER-08 foreign keys that lead nowhere, which SQLite allows, are reported and are not damage`() throws {
        let path = scratch.path("fk.db")
        try Connection(path).execute(
            "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a REFERENCES a); INSERT INTO b VALUES (7)")
        let report = try verify(path, nil)
        #expect(report.isIntact && report.problems == [])
        #expect(report.foreignKeyViolations.map(\.kind) == [.foreignKey])
        #expect(report.foreignKeyViolations.first?.message == "row 1 of table 'b' refers to no row in 'a'")
    }

    @Test func `a foreign key whose parent has no such unique column is not damage either`() throws {
        let path = scratch.path("fk.db")
        try Connection(path).execute(
            "CREATE TABLE a (id); CREATE TABLE b (a REFERENCES a (id)); INSERT INTO b VALUES (7)")
        let report = try verify(path, nil)
        #expect(report.isIntact)
        #expect(report.foreignKeyViolations.first?.message.contains("foreign key mismatch") == true)
    }

    @Test func `a truncated plain database is damaged`() throws {
        let bytes = try Fixture.bytes("plain-3.40.1.db").dropLast(4096)
        #expect(!(try verify(scratch.write(bytes, to: "short.db"), nil)).isIntact)
    }

    @Test(
        .enabled(if: Engine.encrypts, "the linked engine does not encrypt"),
        arguments: [
            CipherSettings(kdfIterations: -1), .init(pageSize: 0), .init(pageSize: -4096),
            .init(kdfIterations: Int.max),
            .init(plaintextHeaderSize: Int.min, salt: Fixture.saltBytes), .init(compatibility: Int.max),
        ])
    func `impossible settings are an error of the call`(settings: CipherSettings) throws {
        let path = try scratch.copy("v3-3.4.1-default.db")
        #expect(vaultError { _ = try verify(path, "x", settings) }?.code == .usage)
        #expect(
            vaultError { _ = try DatabaseFile(path).info(key: .passphrase("x"), settings: settings) }?.code == .usage)
        let file = DatabaseFile(path)
        #expect(
            vaultError { try file.rekey(from: .passphrase("x"), to: .passphrase("y"), settings: settings) }?.code
                == .usage)
        #expect(vaultError { try file.migrate(key: .passphrase("x"), settings: settings) }?.code == .usage)
        #expect(
            vaultError { try file.backup(to: scratch.path("b.db"), key: .passphrase("x"), settings: settings) }?.code
                == .usage)
    }

    @Test func `a missing file, or one that is not a database, is an error`() throws {
        #expect(#expect(throws: VaultError.self) { try verify(scratch.path("no.db"), nil) }?.code == .noInput)
        let garbage = try scratch.copy("hostile/garbage-3000.db")
        #expect(#expect(throws: VaultError.self) { try verify(garbage, nil) }?.code == .wrongKind)
    }

    @Test func `the key of an encrypted database is asked for`() throws {
        let path = try scratch.copy("v3-3.4.1-default.db")
        #expect(#expect(throws: VaultError.self) { try verify(path, nil) }?.code == .keyRejected)
        #expect(try DatabaseFile(path).info().kind == .encryptedOrUnknown)
        #expect(try DatabaseFile(path).info().content == nil)
    }

    @Test func `information on a plain database includes its content`() throws {
        let info = try DatabaseFile(scratch.copy("plain-3.40.1.db")).info()
        #expect(info.kind == .plain)
        #expect(info.fileSize == 12288)
        let content = try #require(info.content)
        #expect(content.tables == ["t"])
        #expect(content.indexes == ["t_name"])
        #expect(content.views == ["v"])
        #expect(content.triggers == ["tr"])
        #expect(content.userVersion == 7)
        #expect(content.settings == nil)
    }

    @Test(arguments: Engine.fixtures) func `information on an encrypted database needs its key`(fixture: Fixture) throws
    {
        let path = try scratch.copy(fixture.name)
        let content = try #require(
            try DatabaseFile(path).info(key: fixture.databaseKey(), settings: fixture.settings).content)
        #expect(content.tables == ["t"])
        #expect(content.applicationID == 1_196_444_487)
        #expect(content.settings?.pageSize == Int(content.pageSize))
    }
}
