import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import LiteVaultSchema
import Testing

@Suite struct UntypedExpressionTests {
    @Test func `columns without a type are compared and computed with everything`() {
        let a = Column("a")
        let typed = SQLExpression<Int>("t")
        let maybe = SQLExpression<String?>("m")
        let number = 7
        let absent: Int? = nil
        let all: [(any ExpressionType, String)] = [
            (a + a, #"("a" + "a")"#), (a - 1, #"("a" - 1)"#), (2.5 * a, #"(2.5 * "a")"#), (a / typed, #"("a" / "t")"#),
            (typed % a, #"("t" % "a")"#), (a == "x", #"("a" = 'x')"#), (a == nil, #"("a" IS NULL)"#),
            (a != nil, #"("a" IS NOT NULL)"#), (a == absent, #"("a" IS NULL)"#), (a != number, #"("a" != 7)"#),
            (a < number, #"("a" < 7)"#), (number <= a, #"(7 <= "a")"#), (a > maybe, #"("a" > "m")"#),
            (maybe >= a, #"("m" >= "a")"#), (a == typed, #"("a" = "t")"#),
            (a > 1 && a < 5, #"(("a" > 1) AND ("a" < 5))"#),
            (!(a > 1), #"NOT (("a" > 1))"#), (a > 1 || typed == 2, #"(("a" > 1) OR ("t" = 2))"#),
            (a.like("x%"), #"("a" LIKE 'x%')"#), (a.glob("*"), #"("a" GLOB '*')"#),
            ([1, 2].contains(a), #"("a" IN (1, 2))"#),
            (a.collating(.custom("o\"x")), #"("a" COLLATE "o""x")"#), (length(a), #"LENGTH("a")"#),
            (a.absoluteValue, #"abs("a")"#), (a.lowercaseString, #"lower("a")"#), (a.uppercaseString, #"upper("a")"#),
        ]
        for (expression, sql) in all { #expect(expression.asSQL() == sql) }
    }

    @Test func `queries take columns without a type`() throws {
        let db = try Connection()
        try db.create(table: "t") { t in
            t.column("a", .integer)
            t.column("b", .text)
        }
        try db.run("INSERT INTO t VALUES (1, 'x'), (5, NULL), (3, 'y')")
        let query = Table("t").filter(Column("a") > 1).order(Column("a").desc)
        #expect(try db.all(query, as: Row.self).map { try $0.value(of: SQLExpression<Int>("a")) } == [5, 3])
        #expect(try db.value(Table("t").filter(Column("b") == nil).count) == 1)
    }

    @Test func `a value in JSON is written as the engine understands it`() {
        let new = JSONColumn("a\"b", engine: SQLiteVersion(major: 3, minor: 38))
        let old = JSONColumn("a\"b", engine: SQLiteVersion(major: 3, minor: 37))
        #expect(new["name_1"].asSQL() == #"("a""b" ->> 'name_1')"#)
        #expect(new["it's"].asSQL() == #"json_extract("a""b", '$."it''s"')"#)
        #expect(old["it's"].asSQL() == #"json_extract("a""b", '$."it''s"')"#)
        #expect(new[0].asSQL() == #"("a""b" ->> 0)"#)
        #expect(old[0].asSQL() == #"json_extract("a""b", '$[0]')"#)
        #expect(new.extract("$.x").asSQL() == #"json_extract("a""b", '$.x')"#)
    }
}

@Suite struct SQLLiteralTests {
    @Test func `values are embedded, never text`() throws {
        let name = "x'; DROP TABLE t; --"
        let missing: Int? = nil
        let sql: SQL = """
            SELECT \(Column("a\"b")) FROM \(table: "my \"table\"") WHERE a = \(name) AND b IS \(missing) \
            AND c IN \([1, 2]) AND d > \(Column("e") + 1) AND f = \(1.5) AND \(sql: "1 = 1")
            """
        #expect(
            sql.template
                == #"SELECT "a""b" FROM "my ""table""" WHERE a = ? AND b IS ? AND c IN (?, ?) AND d > ("e" + ?)"#
                + " AND f = ? AND 1 = 1")
        #expect(sql.bindings.count == 6)
        #expect(sql.asSQL().contains("a = 'x''; DROP TABLE t; --' AND b IS NULL AND c IN (1, 2)"))
        let inner: SQL = "a = \(1)"
        #expect("WHERE \(inner) OR b = \(2)" as SQL == SQL("WHERE a = ? OR b = ?", [1, 2]))
        #expect(SQL("score DESC").template == "score DESC", "a literal is SQL, not a name")
        #expect(SQL(sql: "score DESC").template == "score DESC")
        let query: SQL = "a IN \(Table("t").select(Column("x")))"
        #expect(query.template == #"a IN (SELECT "x" FROM "t")"#)
        #expect((inner + SQL(sql: " OR 1")).asSQL() == "a = 1 OR 1")
    }

    @Test func `a value in quotes or a question mark is an error, and nothing is created`() throws {
        let db = try Connection()
        let name = "' || (SELECT 1) || '"
        let column: SQL = "name TEXT DEFAULT '\(name)'"
        #expect { try db.create(table: "t") { t in t.column(literal: column) } } throws: {
            ($0 as? VaultError)?.code == .misplacedValue
        }
        #expect {
            try db.create(table: "t") { t in
                t.column(sql: "a DEFAULT ?")
                t.column(literal: "b DEFAULT \(1)")
            }
        } throws: { ($0 as? VaultError)?.code == .misplacedValue }
        #expect {
            try db.create(view: "v", asLiteral: "SELECT 1 -- \(name)\n")
        } throws: { ($0 as? VaultError)?.code == .misplacedValue }
        #expect(try db.names().isEmpty)
    }
}
