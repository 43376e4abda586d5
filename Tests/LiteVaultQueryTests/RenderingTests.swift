import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

@Suite struct RenderingTests {
    @Test func `a node has an identity of its own`() {
        let node = SQLExpression<Int>("a").root
        #expect(node.identity == node.identity)
        let other = SQLExpression<Int>("a").root
        #expect(node.identity != other.identity)
    }

    @Test func `text of any length and of any letters is complete`() {
        let names = (0..<200).map { "größe \"\($0)\" 💾" }
        let query = Table("t").select(names.map { SQLExpression<Int>($0) as any Expressible })
        let expected = names.map { "\"größe \"\"\($0.split(separator: "\"")[1])\"\" 💾\"" }.joined(separator: ", ")
        #expect(query.expression.template == "SELECT \(expected) FROM \"t\"")
    }

    @Test func `all clauses are in SQLite's order`() {
        let (t, u, n) = (Table("t", database: "main"), Table("u"), Table("n"))
        let (a, b) = (SQLExpression<Int>("a"), SQLExpression<Int?>("b"))
        let query = t.alias("x").select(distinct: a, b).with(n, columns: [a], hint: .materialized, as: u.select(a))
            .join(.leftOuter, u.alias("y"), on: t[a] == u[a]).filter(a > 1).group(a, having: a < 5)
            .union(u.select(a, b)).order(a.desc, b).limit(3, offset: 1)
        #expect(
            query.expression.template == """
                WITH "n" ("a") AS MATERIALIZED (SELECT "a" FROM "u") SELECT DISTINCT "a", "b" FROM "main"."t" AS "x" \
                LEFT OUTER JOIN "u" AS "y" ON ("main"."t"."a" = "u"."a") WHERE ("a" > ?) GROUP BY "a" HAVING ("a" < ?) \
                UNION SELECT "a", "b" FROM "u" ORDER BY "a" DESC, "b" LIMIT 3 OFFSET 1
                """)
        #expect(query.expression.bindings.count == 2)
    }

    @Test func `an INSERT of a filtered table keeps its condition`() {
        let (t, a, b) = (Table("t"), SQLExpression<Int>("a"), SQLExpression<String?>("b"))
        let insert = t.filter(a > 1).insert(or: .fail, a <- 1, b <- nil)
        #expect(insert.template == #"INSERT OR FAIL INTO "t" ("a", "b") VALUES (?, ?) WHERE ("a" > ?)"#)
        #expect(insert.bindings.count == 3)
        #expect(t.insert(a <- 1).asSQL() == #"INSERT INTO "t" ("a") VALUES (1)"#)
    }
}
