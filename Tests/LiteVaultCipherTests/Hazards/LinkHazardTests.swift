import CEngineSupport
import LiteVault
import Testing

/// On every engine. That the whole program was linked and runs is the first half of it.
@Suite struct LinkHazardTests {
    private static let version = EngineInfo.linked.sqliteVersion

    @Test func `H-LINK-04 functions that the loaded library lacks are replaced or rejected, and nothing crashes`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
        // Newer functions with an older one in their place.
        try db.run("UPDATE t SET a = a + ?", with: 1)
        #expect(db.changedRowCount == 2)
        #expect(db.totalChangedRowCount == 4)
        #expect(try db.all("SELECT a FROM t WHERE a > ?", with: 2, as: Int.self) == [3])
        // Newer functions with nothing in their place.
        let offset = #expect(throws: DatabaseError.self) { try db.prepare("SELECT nonsense FROM t") }?.context?
            .byteOffset
        #expect((offset != nil) == (Self.version >= SQLiteVersion(major: 3, minor: 38)))
    }

    @Test func `H-LINK-04 a window function is registered, or rejected with the required version`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
        func define() throws {
            try db.defineAggregation(
                "added", argumentCount: 1, initialValue: Int64(0), step: { $0 += $1[0] as? Int64 ?? 0 },
                inverse: { $0 -= $1[0] as? Int64 ?? 0 }, result: { $0 })
        }
        guard Self.version >= SQLiteVersion(major: 3, minor: 25) else {
            #expect(performing: define, throws: { ($0 as? VaultError)?.code == .unsupported })
            return
        }
        try define()
        let sums = try db.all("SELECT added(a) OVER (ORDER BY a ROWS 1 PRECEDING) FROM t", as: Int64.self)
        #expect(sums == [1, 3, 5])
    }

    @Test func `H-LINK-04 header and library may differ, and both are reported`() {
        #expect(EngineInfo.linked.headerVersion >= SQLiteVersion(major: 3, minor: 15))
        #expect(Self.version >= SQLiteVersion(major: 3, minor: 15))
    }

    @Test(.enabled(if: Engine.encrypts, "the linked engine does not encrypt"))
    func `H-LINK-02 encryption is only reported where key and open come from one library`() {
        #expect(lv_key_and_open_share_a_library())
        #expect(EngineInfo.linked.hasCompileOption("HAS_CODEC"))
    }
}
