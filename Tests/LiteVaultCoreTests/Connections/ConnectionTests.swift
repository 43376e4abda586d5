import Foundation
import LiteVaultCore
import LiteVaultTestSupport
import Testing

@Suite struct ConnectionTests {
    @Test(arguments: ["-journal", "-wal"])
    func `H-SEC-10: a FIFO beside a database, under the name of its journal, is refused without waiting`(
        ending: String
    ) throws {
        let scratch = Scratch()
        let path = scratch.path("a.db")
        do { try Connection(path).execute("CREATE TABLE t(x)") }
        #expect(mkfifo(path + ending, 0o600) == 0)
        // By another name, too: the engine looks beside the file itself.
        let link = scratch.path("link.db")
        #expect(symlink(path, link) == 0)
        for path in [path, link] {
            let error = #expect(throws: VaultError.self) { try Connection(path).number("SELECT count(*) FROM t") }
            #expect(error?.code == .wrongKind)
        }
        #expect(unlink(path + ending) == 0)
        #expect(try Connection(path).number("SELECT count(*) FROM t") == 0)
    }

    @Test func `a connection is in memory by default`() throws {
        let db = try Connection()
        #expect(db.description == "")
        try db.execute("CREATE TABLE t(x)")
        #expect(try Connection(.inMemory).number("SELECT count(*) FROM sqlite_master") == 0)
    }

    @Test func `a temporary database can be written and leaves no file with a name`() throws {
        let db = try Connection(.temporary)
        try db.execute("CREATE TABLE t(x); INSERT INTO t VALUES (zeroblob(3000000))")
        #expect(try db.number("SELECT count(*) FROM t") == 1)
        #expect(db.description == "")
    }

    @Test func `opening a missing file creates it once something is written`() throws {
        let scratch = Scratch()
        let db = try Connection(scratch.path("new.db"))
        #expect(db.description.hasSuffix("/new.db"))
        try db.execute("CREATE TABLE t(x)")
        #expect(try scratch.names() == ["new.db"])
    }

    @Test func `opening a missing file read-only fails, names the file and creates nothing`() throws {
        let scratch = Scratch()
        let path = scratch.path("none.db")
        let error = #expect(throws: DatabaseError.self) { try Connection(path, readonly: true) }
        #expect(error?.code == ResultCode.cantOpen.rawValue)
        #expect(error?.path == path)
        #expect(error?.description.contains("check that the file and its directory exist") == true)
        #expect(try scratch.names() == [])
    }

    @Test func `a read-only connection reads and refuses to write`() throws {
        let scratch = Scratch()
        let db = try Connection(try scratch.database(), readonly: true)
        #expect(db.isReadOnly)
        #expect(try db.number("SELECT count(*) FROM t") == 3)
        let error = #expect(throws: DatabaseError.self) { try db.execute("DELETE FROM t") }
        #expect(error?.resultCode.primary == .readOnly)
    }

    @Test func `a connection for writing reports that it is not read-only`() throws {
        #expect(try !Connection().isReadOnly)
    }

    @Test func `a directory is not a database`() throws {
        let scratch = Scratch()
        let error = #expect(throws: DatabaseError.self) { try Connection(scratch.directory) }
        #expect(error?.resultCode.primary == .cantOpen)
    }

    @Test func `a file that is not a database is rejected by the first statement, with the file's name`() throws {
        let scratch = Scratch()
        let path = scratch.path("letter.db")
        try Data(String(repeating: "Dear Sir or Madam. ", count: 400).utf8).write(to: URL(fileURLWithPath: path))
        let db = try Connection(path)
        let error = #expect(throws: DatabaseError.self) { try db.execute("SELECT * FROM sqlite_master") }
        #expect(error?.resultCode == .notADatabase)
        #expect(error?.description.contains(path) == true)
        #expect(error?.description.contains("encrypted") == true)
    }

    @Test func `a journal mode given at opening is set`() throws {
        let scratch = Scratch()
        let db = try Connection(scratch.path("wal.db"), journalMode: .wal)
        #expect(try db.pragma(.journalMode) == .wal)
        try db.close()
        #expect(try Connection(scratch.path("wal.db")).pragma(.journalMode) == .wal)
    }

    @Test func `a journal mode is ignored where there is no file, and on read-only connections`() throws {
        #expect(try Connection(.inMemory, journalMode: .wal).pragma(.journalMode) == .memory)
        _ = try Connection(.temporary, journalMode: .wal)
        _ = try Connection(.uri("m", parameters: [.mode(.memory)]), journalMode: .wal)
        let scratch = Scratch()
        #expect(
            try Connection(try scratch.database(), readonly: true, journalMode: .wal).pragma(.journalMode) == .delete)
    }

    @Test func `a journal mode that a file cannot have closes the connection and throws`() throws {
        let scratch = Scratch()
        let path = try scratch.database()
        let holder = try Connection(path)
        try holder.execute("BEGIN EXCLUSIVE")
        let error = #expect(throws: DatabaseError.self) { try Connection(path, journalMode: .wal) }
        #expect(error?.resultCode.primary == .busy)
        try holder.execute("ROLLBACK")
        #expect(try Connection(path).pragma(.journalMode) == .delete)
    }

    @Test func `rowid, changes and totals count what was done`() throws {
        let db = try Connection()
        #expect(db.lastInsertedRowID == 0)
        #expect(db.changedRowCount == 0)
        try db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x)")
        try db.run("INSERT INTO t VALUES (41, 1), (42, 2)")
        #expect(db.lastInsertedRowID == 42)
        #expect(db.changedRowCount == 2)
        try db.run("UPDATE t SET x = 0")
        #expect(db.changedRowCount == 2)
        try db.run("DELETE FROM t WHERE id = 41")
        #expect(db.changedRowCount == 1)
        #expect(db.totalChangedRowCount == 5)
        #expect(db.lastInsertedRowID == 42)
    }

    @Test func `execute runs every statement of a text, and stops at the first error`() throws {
        let db = try Connection()
        #expect(throws: DatabaseError.self) {
            try db.execute(
                """
                -- two tables
                CREATE TABLE a(x); ;
                CREATE TABLE b(x); /* the third one fails */
                CREATE TABLE a(x);
                CREATE TABLE c(x);
                """)
        }
        #expect(try db.column("SELECT name FROM sqlite_master ORDER BY name") == ["a", "b"])
        try db.execute("")
        try db.execute(" -- nothing \n")
    }

    @Test func `execute refuses a text with a NUL, instead of running the part before it`() throws {
        let db = try Connection()
        #expect(throws: DatabaseError.self) { try db.execute("CREATE TABLE a(x);\0CREATE TABLE b(x)") }
        #expect(throws: DatabaseError.self) { try db.run("CREATE TABLE a(x)\0 CREATE TABLE b(x)") }
        #expect(throws: DatabaseError.self) { try db.run("CREATE TABLE a(x DEFAULT '\0')") }
        #expect(try db.number("SELECT count(*) FROM sqlite_master") == 0)
    }

    @Test func `closing after a vacuum checkpoints the log`() throws {
        let scratch = Scratch()
        let db = try Connection(scratch.database(), journalMode: .wal)
        try db.vacuum()
        #expect(try scratch.names().contains("test.db-wal"))
        try db.close()
        #expect(try scratch.names() == ["test.db"])
    }
}
