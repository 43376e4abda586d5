import LiteVaultCore
import Testing

@Suite struct AggregationTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.execute(
            "CREATE TABLE t(g, x); INSERT INTO t VALUES ('a', 1), ('a', 2), ('b', 10), ('b', NULL), ('c', 100)")
    }

    private func defineTotal() throws {
        try db.defineAggregation(
            "total2", argumentCount: 1, initialValue: Int64(0), step: { $0 += $1[0] as? Int64 ?? 0 }, result: { $0 })
    }

    @Test func `an aggregate folds all rows into one value`() throws {
        try defineTotal()
        #expect(try db.number("SELECT total2(x) FROM t") == 113)
    }

    @Test func `each group has a state of its own`() throws {
        try defineTotal()
        #expect(try db.column("SELECT g || total2(x) FROM t GROUP BY g ORDER BY g") == ["a3", "b10", "c100"])
        #expect(try db.column("SELECT total2(x) || '/' || total2(-x) FROM t") == ["113/-113"])
    }

    @Test func `over no rows the result is that of the initial state`() throws {
        try defineTotal()
        #expect(try db.number("SELECT total2(x) FROM t WHERE 0") == 0)
        #expect(try db.number("SELECT count(*) FROM (SELECT total2(x) FROM t WHERE 0 GROUP BY g)") == 0)
    }

    @Test func `an aggregate can run again and again`() throws {
        try defineTotal()
        for _ in 1...3 { #expect(try db.number("SELECT total2(x) FROM t") == 113) }
    }

    @Test func `errors of each part are the error of the statement`() throws {
        try db.defineAggregation(
            "failStep", initialValue: 0, step: { _, _ in throw Mishap(text: "step") }, result: { $0 })
        try db.defineAggregation(
            "failResult", initialValue: 0, step: { _, _ in }, result: { _ in throw Mishap(text: "result") })
        #expect(throws: DatabaseError.self) { try db.value("SELECT failStep(x) FROM t", as: StoredValue.self) }
        let error = #expect(throws: DatabaseError.self) {
            try db.value("SELECT failResult(x) FROM t", as: StoredValue.self)
        }
        #expect(error?.message == "result")
        #expect(throws: DatabaseError.self) {
            try db.value("SELECT failResult(x) FROM t WHERE 0", as: StoredValue.self)
        }
    }

    @Test(arguments: [
        "SELECT witness(x) FROM t", "SELECT witness(x) FROM t WHERE 0", "SELECT witness(x) FROM t GROUP BY g",
        "SELECT witness(x, 'fail') FROM t",
    ])
    func `no state is left behind, whatever happens`(sql: String) throws {
        let living = Shared(0)
        final class Witness {
            let living: Shared<Int>
            init(_ living: Shared<Int>) {
                self.living = living
                living.update { $0 += 1 }
            }
            deinit { living.update { $0 -= 1 } }
        }
        try db.defineAggregation(
            "witness", initialValue: [] as [Witness],
            step: { state, values in
                state.append(Witness(living))
                if values.count > 1, state.count == 2 { throw Mishap() }
            },
            result: { Int64($0.count) })
        _ = try? db.column(sql)
        #expect(living.value == 0)
        // Left in the middle.
        do {
            let statement = try db.prepare("SELECT witness(x) FROM t GROUP BY g")
            _ = try statement.advance()
        }
        #expect(living.value == 0)
    }

    @Test func `a deterministic flag and the number of arguments are passed on`() throws {
        try defineTotal()
        #expect(throws: DatabaseError.self) { try db.value("SELECT total2(1, 2)", as: StoredValue.self) }
        #expect(throws: DatabaseError.self) { try db.value("SELECT total2()", as: StoredValue.self) }
    }

    @Test func `an aggregate can be replaced and removed`() throws {
        try defineTotal()
        try db.removeFunction("total2", argumentCount: 1)
        #expect(throws: DatabaseError.self) { try db.value("SELECT total2(x) FROM t", as: StoredValue.self) }
    }
}
