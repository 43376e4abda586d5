import LiteVaultCore
import Testing

@Suite struct ChangesetTests {
    private func note() throws -> Connection {
        let db = try Connection()
        try db.execute(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT UNIQUE, size REAL, content BLOB);
            CREATE TABLE tag (name TEXT PRIMARY KEY);
            INSERT INTO note VALUES (1, 'one', 1.5, x'01'), (2, 'two', NULL, NULL);
            """)
        return db
    }

    private func rows(_ db: Connection) throws -> [String] {
        try db.column("SELECT id || ' ' || title || ' ' || coalesce(size, '-') FROM note ORDER BY id")
    }

    private func changes(_ db: Connection, _ sql: String) throws -> Changeset {
        let recorder = try ChangeRecorder(db)
        defer { recorder.close() }
        try db.execute(sql)
        return try recorder.changeset()
    }

    @Test(.enabled(if: !ChangeRecorder.isSupported))
    func `an engine without sessions is unsupported, and changes nothing`() throws {
        let db = try note()
        let calls: [() throws -> Void] = [
            { _ = try ChangeRecorder(db) }, { _ = try Changeset(bytes: [1]).inverted() },
            { _ = try Changeset(bytes: [1]).changes() }, { try Changeset(bytes: [1]).apply(to: db) },
            { _ = try Changeset(bytes: [1]).followed(by: Changeset(bytes: [2])) },
        ]
        for call in calls {
            let error = #expect(throws: VaultError.self) { try call() }
            #expect(error?.code == .unsupported)
        }
        #expect(try rows(db).count == 2)
        try db.close()
    }

    @Test(.enabled(if: ChangeRecorder.isSupported)) func `recorded changes are applied to another database`() throws {
        let (source, target) = (try note(), try note())
        let recorder = try ChangeRecorder(source)
        #expect(recorder.isEmpty)
        try source.execute(
            """
            INSERT INTO note VALUES (3, 'three', 3, x'03'); UPDATE note SET title = 'uno' WHERE id = 1;
            DELETE FROM note WHERE id = 2; INSERT INTO tag VALUES ('a');
            """)
        try recorder.withoutRecording { try source.execute("INSERT INTO tag VALUES ('unseen')") }
        #expect(!recorder.isEmpty)
        let changeset = try recorder.changeset()
        try Changeset(bytes: changeset.bytes).apply(to: target)
        #expect(try rows(target) == rows(source))
        #expect(try target.column("SELECT name FROM tag") == ["a"])
        #expect(try recorder.patchset().bytes.count < changeset.bytes.count)
    }

    @Test(.enabled(if: ChangeRecorder.isSupported))
    func `the inverse undoes the changes, and a sequence is one changeset`() throws {
        let db = try note()
        let before = try rows(db)
        let first = try changes(db, "UPDATE note SET size = 7 WHERE id = 1")
        let second = try changes(db, "DELETE FROM note WHERE id = 1; INSERT INTO tag VALUES ('x')")
        try first.followed(by: second).inverted().apply(to: db)
        #expect(try rows(db) == before)
        #expect(try db.number("SELECT count(*) FROM tag") == 0)
    }

    @Test(.enabled(if: ChangeRecorder.isSupported)) func `the changes are read one by one`() throws {
        let list = try changes(try note(), "UPDATE note SET title = 'uno' WHERE id = 1").changes()
        let change = try #require(list.first)
        #expect(list.count == 1 && change.table == "note" && change.operation == .update)
        #expect(change.old == [.integer(1), .text("one"), nil, nil])
        #expect(change.new == [nil, .text("uno"), nil, nil])
        let inserted = try changes(try note(), "INSERT INTO note (id) VALUES (9)").changes()
        #expect(inserted.first?.old == [] && inserted.first?.new == [.integer(9), .null, .null, .null])
    }

    @Test(.enabled(if: ChangeRecorder.isSupported)) func `the handler decides about each conflict`() throws {
        let changeset = try changes(
            try note(),
            """
            UPDATE note SET title = 'uno' WHERE id = 1; UPDATE note SET size = 2 WHERE id = 2;
            INSERT INTO note VALUES (3, 'three', 3, NULL);
            """)
        func target() throws -> Connection {
            let db = try note()
            try db.execute(
                "UPDATE note SET title = 'eins' WHERE id = 1; DELETE FROM note WHERE id = 2; INSERT INTO note VALUES (3, 'drei', 0, NULL)"
            )
            return db
        }
        var seen: [Changeset.Conflict.Kind] = []
        var conflicting: [StoredValue?] = []
        let replaced = try target()
        try changeset.apply(to: replaced) { conflict in
            seen.append(conflict.kind)
            if conflict.kind == .data { conflicting = conflict.change?.conflicting ?? [] }
            return conflict.kind == .notFound ? .omit : .replace
        }
        #expect(Set(seen) == [.data, .notFound, .duplicateKey] && conflicting.dropFirst().first == .text("eins"))
        #expect(try rows(replaced) == ["1 uno 1.5", "3 three 3.0"])
        let omitted = try target()
        try changeset.apply(to: omitted) { _ in .omit }
        #expect(try rows(omitted) == ["1 eins 1.5", "3 drei 0.0"])
    }

    @Test(.enabled(if: ChangeRecorder.isSupported)) func `an aborted or failed application changes nothing`() throws {
        let changeset = try changes(
            try note(), "INSERT INTO note VALUES (3, 'three', 3, NULL); UPDATE note SET title = 'uno' WHERE id = 1")
        let db = try note()
        try db.execute("UPDATE note SET title = 'eins' WHERE id = 1")
        let before = try rows(db)
        let error = #expect(throws: DatabaseError.self) { try changeset.apply(to: db) }
        #expect(error?.resultCode.primary == .abort)
        #expect(throws: Mishap.self) { try changeset.apply(to: db) { _ in throw Mishap() } }
        // The handler must not use the connection, which throws then.
        #expect(throws: DatabaseError.self) {
            try changeset.apply(to: db) { _ in
                try db.execute("DELETE FROM note")
                return .omit
            }
        }
        #expect(try rows(db) == before)
        try changeset.apply(to: db, tables: ["tag"])
        #expect(try rows(db) == before)
    }

    @Test(.enabled(if: ChangeRecorder.isSupported))
    func `damaged bytes are an error, or changes like others, and never more`()
        throws
    {
        let sql =
            "UPDATE note SET title = 'uno' WHERE id = 1; DELETE FROM note WHERE id = 2; INSERT INTO note VALUES (3, 'x', 2, x'0102')"
        let recorder = try ChangeRecorder(try note())
        #expect(try recorder.changeset().isEmpty)
        let source = try note()
        let other = try ChangeRecorder(source)
        try source.execute(sql)
        let wholes = [try other.changeset(), try other.patchset()]
        for whole in wholes {
            for end in 1..<whole.bytes.count {
                let truncated = Changeset(bytes: Array(whole.bytes[..<end]))
                let count = try? truncated.changes().count
                #expect((count ?? 0) < 3)
            }
            for offset in whole.bytes.indices {
                for value: UInt8 in [0, 1, 0x54, 0x7f, 0x80, 0xff] {
                    var bytes = whole.bytes
                    bytes[offset] = value
                    let db = try note()
                    _ = try? Changeset(bytes: bytes).changes()
                    _ = try? Changeset(bytes: bytes).inverted()
                    try? Changeset(bytes: bytes).apply(to: db) { _ in .omit }
                    #expect(try db.column("PRAGMA integrity_check") == ["ok"])
                }
            }
        }
        for bytes: [UInt8] in [
            [0x58], [0x54, 0x01], [1, 2, 3], [0x54, 0x01, 0x01], [0x54, 0xff, 0xff, 0xff, 0xff, 0x7f],
        ] {
            let error = #expect(throws: VaultError.self) { try Changeset(bytes: bytes).apply(to: try note()) }
            #expect(error?.code == .damaged)
        }
        try Changeset(bytes: []).apply(to: source)
        #expect(try Changeset(bytes: []).changes().isEmpty)
    }

    @Test(.enabled(if: ChangeRecorder.isSupported))
    func `a connection stays open until its recorder is closed or released`() throws {
        let db = try note()
        var recorder: ChangeRecorder? = try ChangeRecorder(db, tables: ["note"])
        let error = #expect(throws: DatabaseError.self) { try db.close() }
        #expect(error?.resultCode == .busy)
        #expect(recorder?.isEmpty == true)
        recorder = nil
        try db.close()
        #expect(throws: DatabaseError.self) { try ChangeRecorder(db) }
    }
}

@Suite struct LoadableExtensionTests {
    @Test func `extensions are off before and after one is loaded`() throws {
        let db = try Connection()
        let sql: SQL = "SELECT load_extension('/nonexistent/extension')"
        #expect(throws: (any Error).self) { try db.value(sql, as: StoredValue.self) }
        #expect(throws: (any Error).self) { try LoadableExtension("/nonexistent/extension.so").load(into: db) }
        let error = #expect(throws: DatabaseError.self) { try db.value(sql, as: StoredValue.self) }
        #expect(error?.message.contains("nonexistent") == false)
        for path in ["extension.so", "", "./extension.so", "/tmp/a\0b"] {
            let error = #expect(throws: VaultError.self) { try LoadableExtension(path).load(into: db) }
            #expect(error?.code == .usage)
        }
    }
}
