import LiteVaultCore
import Testing

@Suite struct RowTests {
    let db: Connection

    init() throws { db = try Connection() }

    @Test func `columns are read by position and by name`() throws {
        try db.forEach("SELECT 1 AS a, 'two' AS b") { row in
            #expect(row.count == 2)
            #expect(row.columnNames == ["a", "b"])
            #expect(row.value(0) as? Int64 == 1)
            let (b, a, second) = (
                try row.get("b", as: String.self), try row.get("a", as: Int.self), try row.get(1, as: String.self)
            )
            #expect(b == "two")
            #expect(a == 1)
            #expect(second == "two")
        }
    }

    @Test func `an unknown name throws and lists the existing ones`() throws {
        #expect(throws: QueryError.noSuchColumn(name: "c", columns: ["a", "b"])) {
            try db.first("SELECT 1 AS a, 2 AS b") { try $0.get("c", as: Int.self) }
        }
    }

    @Test func `a name that two columns have throws, read in whatever order`() throws {
        for first in ["a", "b"] {
            #expect(throws: QueryError.ambiguousColumn(name: "a", similar: ["a", "a"])) {
                try db.first("SELECT 1 AS a, 2 AS b, 3 AS a") { row in
                    if first == "b" { _ = try row.get("b", as: Int.self) }
                    _ = try row.get("a", as: Int.self)
                }
            }
        }
    }

    @Test(arguments: [-1, 2, Int.max, Int.min, 1 << 32])
    func `a position out of range throws`(index: Int) throws {
        #expect(throws: QueryError.self) {
            try db.first("SELECT 1 AS a, 2 AS b") { try $0.get(index, as: Int.self) }
        }
        #expect(throws: QueryError.self) {
            try db.first("SELECT 1 AS a, 2 AS b") { try $0.copy().value(at: index) }
        }
    }

    @Test func `a copy of a row outlives the query and the connection`() throws {
        var db: Connection? = try Connection()
        let row = try db?.first("SELECT 1 AS a, NULL AS b, 'x' AS c, 'y' AS c") { $0.copy() }
        try db?.close()
        db = nil
        #expect(row?.names == ["a", "b", "c", "c"])
        #expect(try row?.value(named: "a") as? Int64 == 1)
        #expect(try row?.value(named: "b") == nil)
        #expect(try row?.value(at: 3) as? String == "y")
        #expect(throws: QueryError.ambiguousColumn(name: "c", similar: ["c", "c"])) { try row?.value(named: "c") }
        #expect(throws: QueryError.noSuchColumn(name: "d", columns: ["a", "b", "c", "c"])) {
            try row?.value(named: "d")
        }
    }

    @Test func `first is nil without rows, and all is empty`() throws {
        #expect(try db.first("SELECT 1 WHERE 0") { try $0.get(0, as: Int.self) } == nil)
        #expect(try db.all("SELECT 1 WHERE 0") { try $0.get(0, as: Int.self) } == [])
        #expect(try db.all("SELECT 1 UNION SELECT ?", with: 2) { try $0.get(0, as: Int.self) } == [1, 2])
    }

    @Test func `the connection can be used inside a query's closure, with the same text too`() throws {
        let sql: SQL = "SELECT 1 UNION ALL SELECT 2"
        var pairs: [String] = []
        try db.forEach(sql) { outer in
            let left = try outer.get(0, as: Int.self)
            try db.forEach(sql) { inner in pairs.append("\(left)\(try inner.get(0, as: Int.self))") }
        }
        #expect(pairs == ["11", "12", "21", "22"])
    }
}
