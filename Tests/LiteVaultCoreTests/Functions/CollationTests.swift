import Foundation
import LiteVaultCore
import Testing

@Suite struct CollationTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.execute("CREATE TABLE t(x); INSERT INTO t VALUES ('b'), ('A'), ('c')")
    }

    private func caseless(_ lhs: String, _ rhs: String) -> ComparisonResult {
        let (lhs, rhs) = (lhs.lowercased(), rhs.lowercased())
        return lhs < rhs ? .orderedAscending : lhs > rhs ? .orderedDescending : .orderedSame
    }

    @Test func `a collation orders and compares`() throws {
        try db.createCollation("CASELESS", caseless)
        #expect(try db.column("SELECT x FROM t ORDER BY x COLLATE CASELESS") == ["A", "b", "c"])
        #expect(try db.column("SELECT x FROM t ORDER BY x COLLATE caseless DESC") == ["c", "b", "A"])
        #expect(try db.number("SELECT 'é' = 'É' COLLATE CASELESS") == 1)
    }

    @Test func `texts are compared in full length, NULs included`() throws {
        let seen = Shared<[String]>([])
        try db.createCollation("WHOLE") { lhs, rhs in
            seen.update { $0 += [lhs, rhs] }
            return lhs.utf8.count < rhs.utf8.count ? .orderedAscending : lhs == rhs ? .orderedSame : .orderedDescending
        }
        #expect(try db.number("SELECT ? = ? COLLATE WHOLE", "a\0b", "a\0c") == 0)
        #expect(seen.value.sorted() == ["a\0b", "a\0c"])
        #expect(try db.number("SELECT '' < 'a' COLLATE WHOLE") == 1)
    }

    @Test func `a collation that is not defined is an error`() {
        #expect(throws: DatabaseError.self) { try db.column("SELECT x FROM t ORDER BY x COLLATE NONESUCH") }
    }

    @Test func `a collation defined again replaces the one before, and releases it`() throws {
        final class Witness: Sendable {}
        var witness: Witness? = Witness()
        weak let watched = witness
        try db.createCollation("C") { [witness] _, _ in
            _ = witness
            return .orderedSame
        }
        witness = nil
        #expect(try db.number("SELECT 'a' = 'b' COLLATE C") == 1)
        #expect(watched != nil)
        try db.createCollation("C", caseless)
        #expect(try db.number("SELECT 'a' = 'b' COLLATE C") == 0)
        #expect(watched == nil)
    }

    @Test func `the connection cannot be used in a collation`() throws {
        let codes = Shared<[ResultCode?]>([])
        try db.createCollation("USER") { [unowned db] lhs, rhs in
            for attempt in [{ try db.run("SELECT 1") }, { try db.close() }] as [() throws -> Any] {
                do { _ = try attempt() } catch { codes.update { $0.append((error as? DatabaseError)?.resultCode) } }
            }
            return lhs < rhs ? .orderedAscending : .orderedDescending
        }
        #expect(try db.column("SELECT x FROM t ORDER BY x COLLATE USER").count == 3)
        #expect(!codes.value.isEmpty)
        #expect(codes.value.allSatisfy { $0 == .misuse })
        #expect(try db.number("SELECT 1") == 1)
    }

    @Test func `a collation can order an index`() throws {
        try db.createCollation("CASELESS", caseless)
        try db.execute("CREATE UNIQUE INDEX i ON t(x COLLATE CASELESS)")
        let error = #expect(throws: DatabaseError.self) { try db.run("INSERT INTO t VALUES ('a')") }
        #expect(error?.resultCode == .constraintUnique)
    }

    @Test func `collations work in databases of UTF-16`() throws {
        let db = try Connection()
        try db.execute("PRAGMA encoding = 'UTF-16be'; CREATE TABLE t(x); INSERT INTO t VALUES ('É'), ('é')")
        try db.createCollation("CASELESS", caseless)
        #expect(try db.number("SELECT count(*) FROM t WHERE x = 'é' COLLATE CASELESS") == 2)
    }
}
