import SQLite
import Testing

@Suite struct StatementIterationTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.execute("CREATE TABLE t(x INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)")
    }

    @Test func `a loop visits every row, each time`() throws {
        let select = try db.prepare("SELECT x FROM t")
        for _ in 1...2 {
            var seen: [Int64?] = []
            for row in select { seen.append(row[0] as? Int64) }
            #expect(seen == [1, 2, 3])
        }
        #expect(select.map { $0.count } == [1, 1, 1])
    }

    @Test func `a loop that was left early starts from the first row the next time`() throws {
        let select = try db.prepare("SELECT x FROM t")
        for _ in select { break }
        #expect(try Array(select).count == 3)
    }

    @Test func `a loop that was left early leaves no lock on the table`() throws {
        let select = try db.prepare("SELECT x FROM t")
        for _ in select { break }
        try db.execute("DROP TABLE t")
        #expect(select.columnCount == 1)
    }

    @Test func `the current row can be read through the statement inside a loop`() throws {
        let select = try db.prepare("SELECT x FROM t")
        var seen: [Int64] = []
        for _ in select { seen.append(select.row[0]) }
        #expect(seen == [1, 2, 3])
    }

    @Test func `values that were bound stay bound from one loop to the next`() throws {
        let select = try db.prepare("SELECT x FROM t WHERE x > ?", 1)
        #expect(select.compactMap { $0[0] as? Int64 } == [2, 3])
        #expect(select.compactMap { $0[0] as? Int64 } == [2, 3])
    }

    @Test func `after the last row there are none, however often it is asked`() throws {
        let select = try db.prepare("SELECT x FROM t WHERE x = 3")
        let rows = select.makeIterator()
        #expect(try rows.failableNext() != nil)
        for _ in 1...3 { #expect(try rows.failableNext() == nil) }
        // The statement itself begins again, as in SQLite.swift.
        for _ in 1...2 {
            #expect(try select.failableNext() != nil)
            #expect(try select.failableNext() == nil)
        }
    }

    @Test func `an error in the middle is thrown, and the statement can start over`() throws {
        try db.defineFunction("upto2", argumentCount: 1) { values in
            if values[0] as? Int64 == 3 { throw Mishap() }
            return values[0]
        }
        let select = try db.prepare("SELECT upto2(x) FROM t")
        #expect(try select.failableNext() != nil)
        #expect(try select.failableNext() != nil)
        let error = #expect(throws: SQLite.Result.self) { _ = try select.failableNext() }
        #expect(error?.message == "mishap")
        #expect(throws: SQLite.Result.self) { try Array(select) }
        #expect(try select.failableNext()?[0] as? Int64 == 1)
    }

    @Test func `a loop over a statement that was bound wrongly throws where it can`() throws {
        let select = try db.prepare("SELECT x FROM t WHERE x = ?").bind(1, 2)
        #expect(throws: SQLite.Result.self) { try Array(select) }
        #expect(throws: SQLite.Result.self) {
            let rows = try db.prepare("SELECT x FROM t WHERE x = ?").bind(1, 2).makeIterator()
            _ = try rows.failableNext()
        }
    }

    // The one documented trap of this layer: IteratorProtocol.next() has no way to report an error.
    @Test func `next() stops the program on an error, as documented`() async {
        await #expect(processExitsWith: .failure) {
            let db = try Connection()
            try db.defineFunction("fail") { _ in throw Mishap() }
            for _ in try db.prepare("SELECT fail()") {}
        }
    }

    @Test func `an array is created from any failable iterator`() throws {
        struct Countdown: FailableIterator {
            typealias Element = Int
            final class State { var left = 3 }
            let state = State()
            func failableNext() throws -> Int? {
                if state.left == 0 { return nil }
                state.left -= 1
                return state.left
            }
        }
        #expect(try Array(Countdown()) == [2, 1, 0])
    }
}
