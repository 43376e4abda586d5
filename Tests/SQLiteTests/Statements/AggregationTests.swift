import SQLite
import Testing

@Suite struct FoldedAggregationTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.execute(
            "CREATE TABLE t(g, x); INSERT INTO t VALUES ('a', 1), ('a', 2), ('b', 10), ('b', NULL), ('c', 100)")
    }

    @Test func `reduce and result fold values, as SQLite.swift has them`() throws {
        db.createAggregation(
            "customConcat", initialValue: "",
            reduce: { (joined: String, values: [(any Binding)?]) in joined + (values[0] as? String ?? "") },
            result: { $0 })
        let joined = try db.scalar("SELECT customConcat(g) FROM (SELECT DISTINCT g FROM t ORDER BY g)")
        #expect(joined as? String == "abc")
    }

    @Test func `a state in the caller's own memory is created and freed once for each group`() throws {
        var (made, freed) = (0, 0)
        db.createAggregation(
            "summed", argumentCount: 1,
            step: { (values, state: UnsafeMutablePointer<Int64>) in state.pointee += values[0] as? Int64 ?? 0 },
            final: { state in
                defer {
                    state.deallocate()
                    freed += 1
                }
                return state.pointee
            },
            state: {
                made += 1
                let state = UnsafeMutablePointer<Int64>.allocate(capacity: 1)
                state.initialize(to: 0)
                return state
            })
        #expect(try db.column("SELECT summed(x) FROM t GROUP BY g ORDER BY g") == ["3", "10", "100"])
        #expect(try db.number("SELECT summed(x) FROM t WHERE 0") == 0)
        #expect(made == 4)
        #expect(freed == 4)
    }

    @Test func `reduce and result fold objects`() throws {
        final class Count: Sendable {
            let value: Int64
            init(_ value: Int64) { self.value = value }
        }
        db.createAggregation(
            "counted", initialValue: Count(0), reduce: { (count: Count, _) in Count(count.value + 1) },
            result: { $0.value })
        #expect(try db.number("SELECT counted(x) FROM t") == 5)
        #expect(try db.number("SELECT counted(x) FROM t") == 5)
    }
}
