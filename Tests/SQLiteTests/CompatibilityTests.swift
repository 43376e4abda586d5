import Foundation
import LiteVaultTestSupport
import SQLite
import Testing

/// What SQLite.swift does, and `import LiteVault` does otherwise.
@Suite struct CompatibilityTests {
    @Test func `H-DROP-01 a statement that was read to its end begins again, as often as it is read`() throws {
        let db = try Connection()
        let statement = try db.prepare("SELECT ? UNION ALL SELECT 2").bind(1)
        for _ in 1...3 {
            var values: [Int64] = []
            while let row = statement.next() { values += row.compactMap { $0 as? Int64 } }
            #expect(values == [1, 2])
        }
        for _ in 1...2 { #expect(statement.compactMap { $0[0] as? Int64 } == [1, 2]) }
        // An algorithm may ask once more after the end.
        let iterator = statement.makeIterator()
        while iterator.next() != nil {}
        #expect(iterator.next() == nil)
    }

    @Test func `H-DROP-01 a statement that fails throws each time and leaves loops`() throws {
        let db = try Connection()
        let statement = try db.prepare("SELECT 1 UNION ALL SELECT abs(-9223372036854775808)")
        for _ in 1...2 {
            var count = 0
            #expect(throws: Result.self) { while try statement.failableNext() != nil { count += 1 } }
            #expect(count <= 1)
        }
        var rows = 0
        while let row = try? statement.failableNext() { rows += row.count }
        #expect(rows <= 1)
    }

    private func inFolder(_ body: (String) throws -> Void) throws {
        let scratch = Scratch()
        try withExtendedLifetime(scratch) { try body(scratch.path("a.db")) }
    }

    @Test func `H-DROP-03 write-ahead logging brings synchronous NORMAL, other modes leave it`() throws {
        try inFolder { path in
            let db = try Connection(path)
            #expect(db.synchronous == .full)
            #expect(try db.setJournalMode(.truncate) == .truncate)
            #expect(db.synchronous == .full)
            #expect(try db.enableWAL() == .wal)
            #expect(db.journalMode == .wal && db.synchronous == .normal)
            #expect(try Connection(path, journalMode: .wal).synchronous == .normal)
            #expect(try Connection(.uri(path), journalMode: .wal).synchronous == .normal)
            let set = try Connection(path)
            #expect(set.synchronous == .full)
            set.journalMode = .wal
            #expect(set.synchronous == .normal)
        }
    }

    @Test func `H-DROP-03 a journal mode is skipped where there is no file to write`() throws {
        #expect(try Connection(journalMode: .wal).journalMode == .memory)
        #expect(try Connection(.temporary, journalMode: .wal).journalMode != .wal)
        #expect(try Connection("file:memory?mode=memory", journalMode: .wal).journalMode == .memory)
        #expect(try Connection().enableWAL() == .memory)
        try inFolder { path in
            try Connection(path).execute("CREATE TABLE t (a)")
            for uri in ["file:\(path)?mode=ro", "file:\(path)?immutable=1"] {
                let db = try Connection(.uri(uri), journalMode: .wal)
                #expect(try db.journalMode == .delete && db.enableWAL() == .delete)
            }
            #expect(try Connection(path, readonly: true, journalMode: .wal).setJournalMode(.wal) == .delete)
        }
    }

    @Test func `H-DROP-04 errors have the engine's words and no path`() throws {
        try inFolder { path in
            let missing = #expect(throws: Result.self) { try Connection(path, readonly: true) }
            #expect(missing?.description == "unable to open database file (code: 14)")
            try Connection(path).execute("CREATE TABLE t (a)")
            let readOnly = #expect(throws: Result.self) {
                try Connection(path, readonly: true).run("INSERT INTO t VALUES (1)")
            }
            #expect(
                readOnly?.description == "attempt to write a readonly database (INSERT INTO t VALUES (1)) (code: 8)")
            let holder = try Connection(path)
            try holder.execute("BEGIN IMMEDIATE")
            let busy = #expect(throws: Result.self) { try Connection(path).run("INSERT INTO t VALUES (1)") }
            #expect(busy?.description == "database is locked (INSERT INTO t VALUES (1)) (code: 5)")
        }
    }
}
