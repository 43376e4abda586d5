import Foundation
import LiteVaultCore
import Testing

/// One connection, used from many threads at once.
@Suite struct ThreadTests {
    @Test func `statements of many threads do not mix`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE t(thread, x)")
        let failures = Shared<[String]>([])
        let ended = onThreads(8) { index in
            do {
                for value in 0..<300 {
                    try db.run("INSERT INTO t VALUES (?, ?)", with: index, value)
                    let read = try db.first("SELECT thread, x FROM t WHERE thread = ? ORDER BY x DESC", with: index) {
                        (try $0.get(0, as: Int.self), try $0.get(1, as: Int.self))
                    }
                    if read?.0 != index || read?.1 != value {
                        failures.update { $0.append("\(index) \(value) \(String(describing: read))") }
                    }
                }
            } catch { failures.update { $0.append("\(error)") } }
        }
        #expect(ended)
        #expect(failures.value == [])
        #expect(try db.number("SELECT count(*) FROM t") == 2400)
    }

    @Test func `errors carry the message and the text of their own statement`() throws {
        let db = try Connection()
        let failures = Shared<[String]>([])
        let ended = onThreads(8) { index in
            for round in 0..<500 {
                do { try db.run("SELECT * FROM missing_\(sql: "\(index)_\(round)")") } catch {
                    let error = error as? DatabaseError
                    if error?.message != "no such table: missing_\(index)_\(round)"
                        || error?.sql?.hasSuffix("missing_\(index)_\(round)") != true
                    {
                        failures.update { $0.append("\(index) \(round): \(String(describing: error))") }
                    }
                }
            }
        }
        #expect(ended)
        #expect(failures.value == [])
    }

    @Test func `rowid and changes belong to the call, within a transaction`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x)")
        let failures = Shared(0)
        let ended = onThreads(6) { index in
            for round in 0..<200 {
                let id = index * 1000 + round
                let seen = try? db.transaction {
                    try db.run("INSERT INTO t VALUES (?, 0)", with: id)
                    return (db.lastInsertedRowID, db.changedRowCount)
                }
                if seen?.0 != Int64(id) || seen?.1 != 1 { failures.update { $0 += 1 } }
            }
        }
        #expect(ended)
        #expect(failures.value == 0)
    }

    @Test func `transactions of many threads follow each other`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE t(x); INSERT INTO t VALUES (0)")
        let ended = onThreads(6) { _ in
            for _ in 1...100 {
                try? db.transaction {
                    let value = try db.value("SELECT x FROM t", as: Int64?.self) ?? 0
                    try db.run("UPDATE t SET x = ?", with: value + 1)
                }
            }
        }
        #expect(ended)
        #expect(try db.number("SELECT x FROM t") == 600)
    }

    @Test func `a statement released while another thread holds the connection does not wait, and is finalized`()
        throws
    {
        let db = try Connection()
        try db.execute("CREATE TABLE t(x); INSERT INTO t VALUES (1)")
        let (locked, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let held = Shared(Handed(value: try db.prepare("SELECT x FROM t") as Statement?))
        _ = try held.value.value?.advance()
        let holder = BackgroundThread {
            try? db.transaction {
                locked.signal()
                release.wait()
            }
        }
        locked.wait()
        // The other thread lets go only afterwards: if this waited for it, it would not end.
        #expect(BackgroundThread { held.update { $0.value = nil } }.join())
        release.signal()
        #expect(holder.join())
        try db.execute("DROP TABLE t")
        try db.close()
    }

    @Test func `a loop that is left while another thread holds the connection does not wait, and holds no lock later`()
        throws
    {
        let db = try Connection()
        try db.execute("CREATE TABLE t(x); INSERT INTO t VALUES (1), (2)")
        let statement = try db.prepare("SELECT x FROM t")
        let iterator = Shared(Handed(value: Statement(iterating: statement) as Statement?))
        _ = try iterator.value.value?.nextValues()
        let (locked, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let holder = BackgroundThread {
            try? db.withLock {
                locked.signal()
                release.wait()
            }
        }
        locked.wait()
        // The other thread lets go only afterwards: if this waited for it, it would not end.
        #expect(BackgroundThread { iterator.update { $0.value = nil } }.join())
        release.signal()
        #expect(holder.join())
        try db.execute("DROP TABLE t")
        withExtendedLifetime(statement) {}
    }

    @Test func `statements created and released on many threads leave nothing behind`() throws {
        let db = try Connection()
        let ended = onThreads(8) { index in
            for round in 0..<300 {
                let statement = try? db.prepare("SELECT \(round % 90), \(index % 2)")
                _ = try? statement?.advance()
            }
        }
        #expect(ended)
        try db.close()
    }

    @Test func `a call on a connection that another thread closes works or throws, and never crashes`() throws {
        for _ in 1...20 {
            let db = try Connection()
            try db.execute("CREATE TABLE t(x)")
            let ended = onThreads(4) { index in
                for _ in 1...50 {
                    if index == 0 { try? db.close() } else { _ = try? db.run("INSERT INTO t VALUES (?)", with: 1) }
                    db.interrupt()
                }
            }
            #expect(ended)
            try db.close()
        }
    }
}
