import SQLite
import Testing

@Suite struct CustomFunctionSignatures {
    let db: Connection

    init() throws { db = try Connection() }

    @Test func `functions without arguments`() throws {
        let plain: () -> Expression<String> = try db.createFunction("plain", deterministic: true) { "a" }
        let optional: () -> Expression<String?> = try db.createFunction("optional", deterministic: true) { "a" }
        #expect(try db.prepare("SELECT plain()").scalar() as? String == "a")
        #expect(try db.prepare("SELECT optional()").scalar() as? String == "a")
        assertSQL("\"plain\"()", plain())
        assertSQL("\"optional\"()", optional())
        let nothing: () -> Expression<Int?> = try db.createFunction("absent") { nil }
        #expect(try db.scalar("SELECT absent()") == nil)
        assertSQL("\"absent\"()", nothing())
    }

    @Test func `functions with one argument`() throws {
        let plain: (Expression<String>) -> Expression<String> =
            try db.createFunction("f1", deterministic: true) { a in "b" + a }
        let left: (Expression<String?>) -> Expression<String> =
            try db.createFunction("f2", deterministic: true) { a in "b" + (a ?? "?") }
        let result: (Expression<String>) -> Expression<String?> =
            try db.createFunction("f3", deterministic: true) { a in "b" + a }
        let both: (Expression<String?>) -> Expression<String?> =
            try db.createFunction("f4", deterministic: true) { (a: String?) -> String? in a.map { "b" + $0 } }
        for name in ["f1", "f2", "f3", "f4"] { #expect(try db.prepare("SELECT \(name)(?)").scalar("a") as? String == "ba") }
        #expect(try db.prepare("SELECT f2(NULL)").scalar() as? String == "b?")
        assertSQL("\"f1\"(\"string\")", plain(string))
        assertSQL("\"f2\"(\"stringOptional\")", left(stringOptional))
        assertSQL("\"f3\"(\"string\")", result(string))
        assertSQL("\"f4\"(\"stringOptional\")", both(stringOptional))
    }

    @Test func `functions with two arguments`() throws {
        let f1: (Expression<String>, Expression<String>) -> Expression<String> =
            try db.createFunction("f1", deterministic: true) { a, b in a + b }
        let f2: (Expression<String?>, Expression<String>) -> Expression<String> =
            try db.createFunction("f2", deterministic: true) { a, b in a! + b }
        let f3: (Expression<String>, Expression<String?>) -> Expression<String> =
            try db.createFunction("f3", deterministic: true) { a, b in a + b! }
        let f4: (Expression<String>, Expression<String>) -> Expression<String?> =
            try db.createFunction("f4", deterministic: true) { a, b in a + b }
        let f5: (Expression<String?>, Expression<String?>) -> Expression<String> =
            try db.createFunction("f5", deterministic: true) { a, b in a! + b! }
        let f6: (Expression<String?>, Expression<String>) -> Expression<String?> =
            try db.createFunction("f6", deterministic: true) { a, b in a! + b }
        let f7: (Expression<String>, Expression<String?>) -> Expression<String?> =
            try db.createFunction("f7", deterministic: true) { a, b in a + b! }
        let f8: (Expression<String?>, Expression<String?>) -> Expression<String?> =
            try db.createFunction("f8", deterministic: true) { a, b in a! + b! }
        for number in 1...8 {
            #expect(try db.prepare("SELECT f\(number)(?, ?)").scalar("a", "b") as? String == "ab")
        }
        assertSQL("\"f1\"(\"string\", \"string\")", f1(string, string))
        assertSQL("\"f2\"(\"stringOptional\", \"string\")", f2(stringOptional, string))
        assertSQL("\"f3\"(\"string\", \"stringOptional\")", f3(string, stringOptional))
        assertSQL("\"f4\"(\"string\", \"string\")", f4(string, string))
        assertSQL("\"f5\"(\"stringOptional\", \"stringOptional\")", f5(stringOptional, stringOptional))
        assertSQL("\"f6\"(\"stringOptional\", \"string\")", f6(stringOptional, string))
        assertSQL("\"f7\"(\"string\", \"stringOptional\")", f7(string, stringOptional))
        assertSQL("\"f8\"(\"stringOptional\", \"stringOptional\")", f8(stringOptional, stringOptional))
    }

    @Test func `text beyond ASCII is preserved`() throws {
        _ = try db.createFunction("customLower") { (value: String) in value.lowercased() }
        #expect(try db.prepare("SELECT customLower(?)").scalar("TÊST-STRÍNG 🎃") as? String == "têst-stríng 🎃")
    }

    @Test func `an aggregation has a state of its own, an initial value or an object`() throws {
        try db.execute("CREATE TABLE t (a INTEGER, g TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'x'), (10, 'y')")
        db.createAggregation(
            "sum1",
            step: { (bindings, state: UnsafeMutablePointer<Int64>) in
                if let value = bindings[0] as? Int64 { state.pointee += value }
            },
            final: { state in
                let value = state.pointee
                let pointer = UnsafeMutableRawPointer(state)
                pointer.deallocate()
                return value
            },
            state: {
                let state = UnsafeMutablePointer<Int64>.allocate(capacity: 1)
                state.pointee = 0
                return state
            })
        #expect(try db.scalar("SELECT sum1(a) FROM t") as? Int64 == 13)
        #expect(try db.prepare("SELECT sum1(a) FROM t GROUP BY g ORDER BY g").map { $0[0] as? Int64 } == [3, 10])
        let reduce: (Int64, [(any Binding)?]) -> Int64 = { last, bindings in last + (bindings[0] as? Int64 ?? 0) }
        db.createAggregation("sum2", initialValue: 2000, reduce: reduce, result: { $0 })
        #expect(try db.scalar("SELECT sum2(a) FROM t") as? Int64 == 2013)
        let join: (String, [(any Binding)?]) -> String = { last, bindings in last + " " + (bindings[0] as? String ?? "") }
        db.createAggregation("joined", argumentCount: 1, deterministic: true, initialValue: "/", reduce: join, result: { $0 })
        #expect(try db.scalar("SELECT joined(g) FROM t") as? String == "/ x x y")
        final class Total { var value: Int64 = 0; init(_ value: Int64) { self.value = value } }
        let object: (Total, [(any Binding)?]) -> Total = { last, bindings in
            Total(last.value + (bindings[0] as? Int64 ?? 0))
        }
        db.createAggregation("sum3", initialValue: Total(1000), reduce: object, result: { $0.value })
        #expect(try db.prepare("SELECT sum3(a) FROM t GROUP BY g ORDER BY g").map { $0[0] as? Int64 } == [1003, 1010])
    }
}
