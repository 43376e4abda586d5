import Foundation
import LiteVaultCore
import LiteVaultTestSupport
import Testing

@Suite struct WALTests {
    let scratch: Scratch
    let db: Connection

    init() throws {
        scratch = Scratch()
        db = try Connection(try scratch.database())
    }

    @Test(arguments: Connection.JournalMode.allCases) func `every journal mode can be set and is read back`(
        mode: Connection.JournalMode
    ) throws {
        try db.setPragma(.journalMode, to: mode)
        #expect(try db.pragma(.journalMode) == mode)
        try db.setPragma(.journalMode, to: .delete)
        #expect(try db.pragma(.journalMode) == .delete)
    }

    @Test func `a database in memory keeps its own mode and reports it`() throws {
        let db = try Connection()
        try db.setPragma(.journalMode, to: .wal)
        #expect(try db.pragma(.journalMode) == .memory)
    }

    @Test func `a file that is in use does not change to WAL silently`() throws {
        let other = try Connection(scratch.path("test.db"))
        let reading = try other.prepare("SELECT x FROM t")
        #expect(try reading.advance())
        #expect(throws: DatabaseError.self) { try db.setPragma(.journalMode, to: .wal) }
        #expect(try db.pragma(.journalMode) == .delete)
        withExtendedLifetime(reading) {}
    }

    @Test func `in WAL mode a reader does not block the writer, and sees its own snapshot`() throws {
        try db.setPragma(.journalMode, to: .wal)
        let reader = try Connection(scratch.path("test.db"), readonly: true)
        try reader.transaction {
            let before = try reader.number("SELECT count(*) FROM t")
            try db.run("INSERT INTO t VALUES (4)")
            let during = try reader.number("SELECT count(*) FROM t")
            #expect(before == 3)
            #expect(during == 3)
        }
        #expect(try reader.number("SELECT count(*) FROM t") == 4)
    }

    @Test func `a checkpoint copies the log into the file`() throws {
        try db.setPragma(.journalMode, to: .wal)
        try db.setPragma(.walAutoCheckpoint, to: 0)
        #expect(try db.pragma(.walAutoCheckpoint) == 0)
        try db.run("INSERT INTO t VALUES (4)")
        let passive = try db.walCheckpoint()
        #expect(!passive.busy)
        #expect(passive.log > 0 && passive.log == passive.checkpointed)
        for mode in [Connection.WALCheckpointMode.full, .restart, .truncate] {
            #expect(try db.walCheckpoint(mode: mode, schema: "main").busy == false)
        }
        let log = try FileManager.default.attributesOfItem(atPath: scratch.path("test.db-wal"))[.size] as? Int
        #expect(log == 0)
    }

    @Test func `a checkpoint that a reader prevents from finishing returns busy`() throws {
        try db.setPragma(.journalMode, to: .wal)
        let reader = try Connection(scratch.path("test.db"))
        let reading = try reader.prepare("SELECT x FROM t")
        #expect(try reading.advance())
        try db.run("INSERT INTO t VALUES (4)")
        let result = try db.walCheckpoint(mode: .truncate)
        #expect(result.busy)
        reading.clear()
        #expect(try db.walCheckpoint(mode: .truncate).busy == false)
    }

    @Test func `a checkpoint without a log counts nothing`() throws {
        let result = try db.walCheckpoint()
        #expect(result == (busy: false, log: -1, checkpointed: -1))
        #expect(throws: DatabaseError.self) { try db.walCheckpoint(schema: "nonesuch") }
    }

    @Test func `the limit for automatic checkpoints is read and set`() throws {
        #expect(try db.pragma(.walAutoCheckpoint) == 1000)
        try db.setPragma(.walAutoCheckpoint, to: 50)
        #expect(try db.pragma(.walAutoCheckpoint) == 50)
        try db.setPragma(.walAutoCheckpoint, to: -1)
        #expect(try db.pragma(.walAutoCheckpoint) <= 0)
    }

    @Test func `closing the last connection leaves no log behind`() throws {
        try db.setPragma(.journalMode, to: .wal)
        try db.run("INSERT INTO t VALUES (4)")
        #expect(try scratch.names() == ["test.db", "test.db-shm", "test.db-wal"])
        try db.close()
        #expect(try scratch.names() == ["test.db"])
    }
}
