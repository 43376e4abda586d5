import LiteVaultCore
import Testing

@Suite struct WindowFunctionTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.execute("CREATE TABLE t(x); INSERT INTO t VALUES (1), (2), (3), (4)")
    }

    private func defineSum() throws {
        try db.defineAggregation(
            "wsum", argumentCount: 1, deterministic: true, initialValue: Int64(0), step: { $0 += $1[0] as? Int64 ?? 0 },
            inverse: { $0 -= $1[0] as? Int64 ?? 0 }, result: { $0 })
    }

    private static var isSupported: Bool { EngineInfo.linked.isAtLeast(3, 25) }

    @Test func `a window function slides, and is an aggregate as well, or the engine is reported as too old`() throws {
        guard Self.isSupported else {
            let error = #expect(throws: VaultError.self) { try defineSum() }?.cause as? EngineInfo.UnsupportedFeature
            #expect(error?.requiredVersion == SQLiteVersion(major: 3, minor: 25))
            #expect(throws: DatabaseError.self) { try db.value("SELECT wsum(x) FROM t", as: StoredValue.self) }
            return
        }
        try defineSum()
        #expect(
            try db.column("SELECT wsum(x) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t") == [
                "1", "3", "5", "7",
            ])
        #expect(try db.number("SELECT wsum(x) FROM t") == 10)
        #expect(try db.number("SELECT wsum(x) FROM t WHERE 0") == 0)
        try db.removeFunction("wsum", argumentCount: 1)
        #expect(throws: DatabaseError.self) { try db.value("SELECT wsum(x) FROM t", as: StoredValue.self) }
    }

    @Test func `an engine that is too old releases the closures`() throws {
        final class Witness: Sendable {}
        var witness: Witness? = Witness()
        weak let watched = witness
        do {
            let db = try Connection()
            try? db.defineAggregation(
                "w", initialValue: 0, step: { [witness] _, _ in _ = witness }, inverse: { _, _ in }, result: { $0 })
        }
        witness = nil
        #expect(watched == nil)
    }

    @Test func `an error in any part is the error of the statement`() throws {
        guard Self.isSupported else {
            #expect { try defineSum() } throws: { ($0 as? VaultError)?.code == .unsupported }
            return
        }
        let failing = Shared("")
        func fail(_ part: String) throws { if failing.value == part { throw Mishap(text: part) } }
        try db.defineAggregation(
            "w", initialValue: 0, step: { _, _ in try fail("step") }, inverse: { _, _ in try fail("inverse") },
            result: { state in
                try fail("value")
                return state
            })
        for part in ["step", "inverse", "value"] {
            failing.update { $0 = part }
            let error = #expect(throws: DatabaseError.self) {
                try db.column("SELECT w(x) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t")
            }
            #expect(error?.message == part)
        }
    }
}
