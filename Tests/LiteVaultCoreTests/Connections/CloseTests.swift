import Foundation
import LiteVaultCore
import LiteVaultEngine
import LiteVaultTestSupport
import Testing

@Suite struct CloseTests {
    let scratch: Scratch
    let db: Connection

    init() throws {
        scratch = Scratch()
        db = try Connection(try scratch.database())
    }

    @Test func `closing twice is fine`() throws {
        try db.close()
        try db.close()
    }

    @Test func `after closing every call throws, and properties that cannot throw are empty`() throws {
        try db.close()
        func expectClosed(_ body: () throws -> Void) {
            let error = #expect(throws: DatabaseError.self) { try body() }
            #expect(error?.resultCode == .misuse)
            #expect(error?.message == "the connection is closed")
        }
        expectClosed { try db.execute("SELECT 1") }
        expectClosed { try db.run("SELECT 1") }
        expectClosed { _ = try db.prepare("SELECT 1") }
        expectClosed { _ = try db.value("SELECT 1", as: StoredValue.self) }
        expectClosed { try db.forEach("SELECT 1") { _ in } }
        expectClosed { try db.transaction {} }
        expectClosed { try db.withSavepoint {} }
        expectClosed { try db.attach(.inMemory, as: "a") }
        expectClosed { try db.detach("a") }
        expectClosed { try db.vacuum() }
        expectClosed { try db.setPragma(.userVersion, to: 1) }
        expectClosed { _ = try db.pragma(.userVersion) }
        expectClosed { try db.setPragma(.journalMode, to: .wal) }
        expectClosed { _ = try db.walCheckpoint() }
        expectClosed { try db.defineFunction("f") { _ in nil } }
        expectClosed { try db.createCollation("c") { _, _ in .orderedSame } }
        expectClosed { _ = try Backup(sourceConnection: db, targetConnection: Connection()) }
        expectClosed { _ = try Backup(sourceConnection: Connection(), targetConnection: db) }
        #expect(db.changedRowCount == 0 && db.totalChangedRowCount == 0 && db.lastInsertedRowID == 0)
        #expect(!db.isInTransaction && !db.isReadOnly && !db.refusesKeyStatements)
        #expect(db.description == "")
        db.lockTimeout = .seconds(1)
        db.setBusyHandler { _ in false }
        db.setTrace { _ in }
        db.updateHook { _, _, _, _ in }
        db.commitHook {}
        db.rollbackHook {}
        db.refusesKeyStatements = true
        db.interrupt()
    }

    @Test func `the handle of a closed connection fails C calls with an error and does not crash`() throws {
        try db.close()
        var statement: OpaquePointer?
        #expect(sqlite3_prepare_v2(db.unguardedHandle, "SELECT * FROM t", -1, &statement, nil) == SQLITE_ERROR)
        #expect(sqlite3_exec(db.unguardedHandle, "CREATE TABLE x(y)", nil, nil, nil) != SQLITE_OK)
        #expect(throws: DatabaseError.self) { try db.withHandle { _ in } }
    }

    @Test func `the handle is that of SQLite while the connection is open`() throws {
        #expect(sqlite3_get_autocommit(db.unguardedHandle) == 1)
        #expect(try db.withHandle { sqlite3_exec($0, "INSERT INTO t VALUES (4)", nil, nil, nil) } == SQLITE_OK)
        #expect(db.changedRowCount == 1)
    }

    @Test func `closing while a statement is alive throws busy, and the connection stays usable`() throws {
        let select = try db.prepare("SELECT x FROM t ORDER BY x")
        #expect(try select.advance())
        let error = #expect(throws: DatabaseError.self) { try db.close() }
        #expect(error?.resultCode == .busy)
        #expect(try select.advance())
        #expect(try select.withPrepared { try RowView($0).get(0) } == 2)
        #expect(try db.number("SELECT count(*) FROM t") == 3)
        withExtendedLifetime(select) {}
    }

    @Test func `closing works once the statements are released`() throws {
        do {
            let select = try db.prepare("SELECT x FROM t")
            #expect(throws: DatabaseError.self) { try db.close() }
            _ = try select.valueOfBound()
        }
        try db.close()
    }

    @Test func `closing inside a query of the connection throws`() throws {
        try db.forEach("SELECT x FROM t") { _ in
            let error = #expect(throws: DatabaseError.self) { try db.close() }
            #expect(error?.resultCode == .busy)
        }
        try db.close()
    }

    @Test func `closing in a transaction rolls it back`() throws {
        try db.execute("BEGIN; DELETE FROM t")
        try db.close()
        #expect(try Connection(scratch.path("test.db")).number("SELECT count(*) FROM t") == 3)
    }

    @Test func `closing while a backup copies from or into the connection throws busy`() throws {
        let target = try Connection()
        let backup = try Backup(sourceConnection: db, targetConnection: target)
        #expect(try backup.advance(pages: .limited(number: 1)) == .more)
        for connection in [db, target] {
            let error = #expect(throws: DatabaseError.self) { try connection.close() }
            #expect(error?.resultCode == .busy)
        }
        try backup.step()
        backup.finish()
        #expect(try target.number("SELECT count(*) FROM t") == 3)
        try target.close()
        try db.close()
    }

    @Test func `a connection released in a transaction rolls back without calling hooks`() throws {
        let calls = Shared(0)
        do {
            let db = try Connection(scratch.path("test.db"))
            db.rollbackHook { calls.update { $0 += 1 } }
            db.commitHook { calls.update { $0 += 1 } }
            try db.execute("BEGIN; DELETE FROM t")
        }
        do {
            let db = try Connection(scratch.path("test.db"))
            db.rollbackHook { calls.update { $0 += 1 } }
            try db.execute("BEGIN; DELETE FROM t")
            try db.close()
        }
        #expect(calls.value == 0)
        #expect(try db.number("SELECT count(*) FROM t") == 3)
    }

    @Test func `hooks still work after a failed close`() throws {
        let calls = Shared<[String]>([])
        db.rollbackHook { calls.update { $0.append("rollback") } }
        let statement = try db.prepare("SELECT 1")
        #expect(throws: DatabaseError.self) { try db.close() }
        try db.execute("BEGIN; DELETE FROM t; ROLLBACK")
        #expect(calls.value == ["rollback"])
        withExtendedLifetime(statement) {}
    }

    @Test func `a statement outlives the last reference to its connection`() throws {
        var connection: Connection? = try Connection(scratch.path("test.db"))
        weak let watched = connection
        var statement = try connection?.prepare("SELECT count(*) FROM t")
        connection = nil
        #expect(try statement?.valueOfBound() as? Int64 == 3)
        statement = nil
        #expect(watched == nil)
    }

    @Test func `closures that were installed are released by closing`() throws {
        final class Witness: Sendable {}
        var witness: Witness? = Witness()
        weak let watched = witness
        let db = try Connection()
        db.setBusyHandler { [witness] _ in
            _ = witness; return false
        }
        db.setTrace { [witness] _ in _ = witness }
        db.updateHook { [witness] _, _, _, _ in _ = witness }
        db.commitHook { [witness] in _ = witness }
        db.rollbackHook { [witness] in _ = witness }
        try db.defineFunction("f") { [witness] _ in
            _ = witness; return nil
        }
        try db.createCollation("c") { [witness] _, _ in
            _ = witness; return .orderedSame
        }
        try db.defineAggregation("g", initialValue: 0, step: { [witness] _, _ in _ = witness }, result: { $0 })
        witness = nil
        #expect(watched != nil)
        try db.close()
        #expect(watched == nil)
    }
}
