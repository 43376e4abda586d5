import LiteVaultCore
import LiteVaultTestSupport
import Testing

@Suite struct PragmaTests {
    let scratch: Scratch
    let db: Connection

    init() throws {
        scratch = Scratch()
        db = try Connection(try scratch.database())
    }

    /// A read-only connection to the same file.
    private func reader() throws -> Connection { try Connection(scratch.path("test.db"), readonly: true) }

    @Test(arguments: [0, 1, -1, Int32.max, .min]) func `user_version is read and set`(version: Int32) throws {
        #expect(try db.pragma(.userVersion) == 0)
        try db.setPragma(.userVersion, to: version)
        #expect(try db.pragma(.userVersion) == version)
        #expect(try reader().pragma(.userVersion) == version)
        try db.setPragma(.userVersion, to: 3)
        #expect(try db.pragma(.userVersion) == 3)
    }

    @Test func `setting user_version throws where the file cannot be written`() throws {
        let reader = try reader()
        #expect(try reader.pragma(.userVersion) == 0)
        let error = #expect(throws: DatabaseError.self) { try reader.setPragma(.userVersion, to: 7) }
        #expect(error?.resultCode.primary == .readOnly)
        #expect(try reader.pragma(.userVersion) == 0)
    }

    @Test(arguments: [1, -1, Int32.max, .min]) func `application_id is read and set`(id: Int32) throws {
        #expect(try db.pragma(.applicationID) == 0)
        try db.setPragma(.applicationID, to: id)
        #expect(try reader().pragma(.applicationID) == id)
        #expect(throws: DatabaseError.self) { try reader().setPragma(.applicationID, to: 1) }
    }

    @Test func `user_version is part of the transaction`() throws {
        #expect(throws: Mishap()) {
            try db.transaction {
                try db.setPragma(.userVersion, to: 9)
                throw Mishap()
            }
        }
        #expect(try db.pragma(.userVersion) == 0)
    }

    /// An engine that has read the schema of an emptied file takes another encoding, and writes what it cannot read again.
    @Test(
        .enabled(
            if: EngineInfo.linked.isAtLeast(3, 22),
            "before SQLite 3.22 the schema cannot be read again"),
        arguments: [
            ("one text", "DROP TABLE t", "UTF-8", ["PRAGMA encoding = 'UTF-16le'; CREATE TABLE u (y); INSERT INTO u VALUES ('é')"]),
            ("one by one", "DROP TABLE t", "UTF-8", ["pragma main . encoding('UTF-16le')", "CREATE TABLE u (y)", "INSERT INTO u VALUES ('é')"]),
            (
                "a dump", "DROP TABLE t", "UTF-8",
                ["-- PRAGMA\nPRAGMA foreign_keys = OFF; PRAGMA \"Encoding\"=\"UTF-16be\"; BEGIN; CREATE TABLE u (y); INSERT INTO u VALUES ('é'); COMMIT"]
            ),
            ("a file with tables", "SELECT 1", "UTF-8", ["PRAGMA encoding = 'UTF-16le'", "CREATE TABLE u (y); INSERT INTO u VALUES ('é')"]),
            (
                "a new file", "", "UTF-16le",
                ["PRAGMA user_version = 3", "PRAGMA encoding = 'UTF-16le'", "CREATE TABLE u (y); INSERT INTO u VALUES ('é')"]
            ),
        ])
    func `H-SCH-16 an encoding is that of the file once it has one`(way: String, before: String, encoding: String, statements: [String]) throws {
        let path = scratch.path(before.isEmpty ? "new.db" : "test.db")
        if !before.isEmpty { try db.execute(before) }
        try db.close()
        let other = try Connection(path)
        #expect(try other.value("SELECT count(*) FROM sqlite_master WHERE name = 'u'", as: Int.self) == 0)
        for statement in statements {
            if way == "one by one" { _ = try other.prepare(statement).run() } else { try other.execute(statement) }
        }
        try other.close()
        let copy = try Connection(path)
        #expect(try copy.value("SELECT y FROM u", as: String.self) == "é")
        #expect(try copy.value("PRAGMA encoding", as: String.self) == encoding)
        #expect(try copy.value("PRAGMA integrity_check", as: String.self) == "ok")
    }

    @Test func `foreign keys are enforced when they are switched on`() throws {
        try db.execute("CREATE TABLE u(id PRIMARY KEY); CREATE TABLE v(u REFERENCES u)")
        try db.setPragma(.foreignKeys, to: true)
        #expect(try db.pragma(.foreignKeys))
        let error = #expect(throws: DatabaseError.self) { try db.run("INSERT INTO v VALUES (1)") }
        #expect(error?.resultCode == .constraintForeignKey)
        try db.setPragma(.foreignKeys, to: false)
        #expect(try !db.pragma(.foreignKeys))
        try db.run("INSERT INTO v VALUES (1)")
    }

    @Test func `violations can be put off to the end of a transaction`() throws {
        try db.execute("CREATE TABLE u(id PRIMARY KEY); CREATE TABLE v(u REFERENCES u)")
        try db.setPragma(.foreignKeys, to: true)
        try db.transaction {
            #expect(try !db.pragma(.deferForeignKeys))
            try db.setPragma(.deferForeignKeys, to: true)
            #expect(try db.pragma(.deferForeignKeys))
            try db.run("INSERT INTO v VALUES (1)")
            try db.run("INSERT INTO u VALUES (1)")
        }
        #expect(try !db.pragma(.deferForeignKeys))
    }

    @Test(arguments: Connection.Synchronous.allCases) func `synchronous is read and set`(mode: Connection.Synchronous)
        throws
    {
        try db.setPragma(.synchronous, to: mode)
        #expect(try db.pragma(.synchronous) == mode)
        try db.setPragma(.synchronous, to: .normal)
        #expect(try db.pragma(.synchronous) == .normal)
    }

    @Test func `synchronous set inside a transaction throws, and stays as it is`() throws {
        try db.transaction { () throws in
            #expect(throws: DatabaseError.self) { try db.setPragma(.synchronous, to: .off) }
            #expect(try db.pragma(.synchronous) == .full)
        }
        #expect(try db.pragma(.synchronous) == .full)
        try db.setPragma(.synchronous, to: .off)
        #expect(try db.pragma(.synchronous) == .off)
    }

    @Test func `synchronous is full unless it is set`() throws { #expect(try db.pragma(.synchronous) == .full) }
}
