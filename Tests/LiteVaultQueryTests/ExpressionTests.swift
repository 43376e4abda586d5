import Foundation
import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

let id = SQLExpression<Int64>("id")
let email = SQLExpression<String>("email")
let name = SQLExpression<String?>("name")
let age = SQLExpression<Int?>("age")
let balance = SQLExpression<Double>("balance")
let admin = SQLExpression<Bool>("admin")
let users = Table("users")

func sql(_ expression: any Expressible) -> String { expression.asSQL() }

@Suite struct ExpressionTests {
    @Test func `infix operators are in parentheses`() {
        #expect(sql(id + 1) == #"("id" + 1)"#)
        #expect(sql(balance * 2.5 - balance) == #"(("balance" * 2.5) - "balance")"#)
        #expect(sql(email + "x") == #"("email" || 'x')"#)
        #expect(sql(name + email) == #"("name" || "email")"#)
        #expect(sql(-id) == #"-("id")"#)
        #expect(sql(~id) == #"~("id")"#)
        #expect(sql(id ^ id) == #"(~(("id" & "id")) & ("id" | "id"))"#)
        #expect(sql(age + 1) == #"("age" + 1)"#)
    }

    @Test func `comparisons with nil are IS NULL`() {
        #expect(sql(name == nil) == #"("name" IS NULL)"#)
        #expect(sql(name != nil) == #"("name" IS NOT NULL)"#)
        #expect(sql(name == "x") == #"("name" = 'x')"#)
        #expect(sql(id != 5) == #"("id" != 5)"#)
        #expect(sql(name === email) == #"("name" IS "email")"#)
        #expect(sql(5 < id) == #"(5 < "id")"#)
    }

    @Test func `logic and ranges`() {
        #expect(sql(admin && id > 1) == #"("admin" AND ("id" > 1))"#)
        #expect(sql(!admin || name == "x") == #"(NOT ("admin") OR ("name" = 'x'))"#)
        #expect(sql(and(admin, admin, admin)) == #"("admin" AND "admin" AND "admin")"#)
        #expect(sql(Int64(1)...5 ~= id) == #"("id" BETWEEN 1 AND 5)"#)
        #expect(sql(Int64(1)..<5 ~= id) == #"("id" >= 1 AND "id" < 5)"#)
        #expect(sql(Int64(3)... ~= id) == #"("id" >= 3)"#)
        #expect(sql(...5 ~= age) == #"("age" <= 5)"#)
    }

    @Test func `functions`() {
        #expect(sql([1, 2, 3].contains(id)) == #"("id" IN (1, 2, 3))"#)
        #expect(sql(email.like("%x", escape: "\\")) == #"("email" LIKE '%x' ESCAPE '\')"#)
        #expect(sql(email.trim(["a", " "])) == #"trim("email", ' a')"#)
        #expect(sql(name ?? "x") == #"ifnull("name", 'x')"#)
        #expect(sql(email.collate(.custom("a\"b"))) == #"("email" COLLATE "a""b")"#)
        #expect(sql(balance.round(2)) == #"round("balance", 2)"#)
        #expect(sql(name.length) == #"length("name")"#)
        #expect(sql(cast(id) as SQLExpression<String>) == #"CAST ("id" AS TEXT)"#)
        #expect(sql(id.distinct.count) == #"count(DISTINCT "id")"#)
        #expect(sql(balance.max) == #"max("balance")"#)
        #expect(sql(count(*)) == "count(*)")
        #expect(sql(SQLExpression<Data>.random(16)) == "randomblob(16)")
        #expect(sql(id.lag(id.desc)) == #"lag("id", 0) OVER (ORDER BY "id" DESC)"#)
    }

    @Test func `setters`() {
        #expect(sql(id <- 1) == #""id" = 1"#)
        #expect(sql(name <- nil) == #""name" = NULL"#)
        #expect(sql(id += 2) == #""id" = ("id" + 2)"#)
        #expect(sql(email += "!") == #""email" = ("email" || '!')"#)
        #expect(sql(id++) == #""id" = ("id" + 1)"#)
        #expect(sql(age -= 1) == #""age" = ("age" - 1)"#)
        #expect(sql(id <<= 1) == #""id" = ("id" << 1)"#)
    }

    @Test func `a question mark inside a name or a literal is not a parameter`() {
        let odd = SQLExpression<String>("what?")
        #expect(sql(odd == "yes?") == #"("what?" = 'yes?')"#)
    }

    @Test func `queries`() {
        #expect(
            sql(users.select(id, email).filter(id == 1).filter(admin))
                == #"SELECT "id", "email" FROM "users" WHERE (("id" = 1) AND "admin")"#)
        #expect(
            sql(users.order(id.desc, email).limit(5, offset: 2))
                == #"SELECT * FROM "users" ORDER BY "id" DESC, "email" LIMIT 5 OFFSET 2"#)
        let managers = users.alias("managers")
        #expect(
            sql(users.join(.leftOuter, managers, on: users[id] == managers[id]))
                == #"SELECT * FROM "users" LEFT OUTER JOIN "users" AS "managers" ON ("users"."id" = "managers"."id")"#)
        #expect(
            sql(users.select(users[*]).group(age, having: count(*) > 1))
                == #"SELECT "users".* FROM "users" GROUP BY "age" HAVING (count(*) > 1)"#)
        #expect(
            sql(users.select(id).union(all: true, users.select(id)))
                == #"SELECT "id" FROM "users" UNION ALL SELECT "id" FROM "users""#)
        #expect(sql(users.filter(admin).exists) == #"SELECT EXISTS (SELECT * FROM "users" WHERE "admin")"#)
        #expect(sql(Table("t", database: "main").count) == #"SELECT count(*) FROM "main"."t""#)
        let temp = Table("temp")
        #expect(
            sql(temp.with(temp, columns: [id], recursive: true, hint: .materialized, as: users.select(id)))
                == #"WITH RECURSIVE "temp" ("id") AS MATERIALIZED (SELECT "id" FROM "users") SELECT * FROM "temp""#)
    }

    @Test func `changes`() {
        #expect(
            sql(users.insert(or: .replace, id <- 1, email <- "a"))
                == #"INSERT OR REPLACE INTO "users" ("id", "email") VALUES (1, 'a')"#)
        #expect(sql(users.insert()) == #"INSERT INTO "users" DEFAULT VALUES"#)
        #expect(
            sql(users.insertMany([id <- 1, email <- "a"], [email <- "b", id <- 2], [id <- 3]))
                == #"INSERT INTO "users" ("id", "email") VALUES (1, 'a'), (2, 'b'), (3, NULL)"#)
        #expect(
            sql(users.upsert(email <- "a", name <- "b", onConflictOf: email))
                == #"INSERT INTO "users" ("email", "name") VALUES ('a', 'b') ON CONFLICT ("email") DO UPDATE SET "name" = "excluded"."name""#
        )
        #expect(
            sql(users.filter(id == 1).update(email <- "x")) == #"UPDATE "users" SET "email" = 'x' WHERE ("id" = 1)"#)
        #expect(sql(users.filter(id == 1).delete()) == #"DELETE FROM "users" WHERE ("id" = 1)"#)
    }

    @Test func `the first row keeps the query's offset, and a limit of none`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE users (id INTEGER PRIMARY KEY); INSERT INTO users VALUES (1), (2), (3), (4)")
        let inOrder = users.order(id)
        func first(_ query: Table) throws -> [Int64?] {
            [
                try db.first(query.select(id)), try db.first(query, as: Row.self)?.value(of: id),
                try db.first(query.select(id, id * 10))?.0,
            ]
        }
        #expect(try first(inOrder) == [1, 1, 1])
        #expect(try first(inOrder.limit(2, offset: 1)) == [2, 2, 2])
        #expect(try first(inOrder.limit(-1, offset: 3)) == [4, 4, 4])
        #expect(try first(inOrder.limit(5, offset: 4)) == [nil, nil, nil])
        #expect(try first(inOrder.limit(0)) == [nil, nil, nil])
    }

    @Test func `rows come back typed`() throws {
        let db = try Connection()
        try db.execute(
            "CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT, name TEXT, age INT, balance REAL, admin INT)")
        #expect(
            try db.run(users.insert(email <- "a@x", name <- nil, age <- 30, balance <- 3, admin <- true))
                == RunResult(changes: 1, insertedRowID: 1))
        try db.run(users.insertMany([email <- "b@x", name <- "B"], [name <- "C", email <- "c@x"]))
        #expect(try db.value(users.count) == 3)
        let row = try #require(try db.first(users.filter(id == 1), as: Row.self))
        #expect(try row.value(of: email) == "a@x")
        #expect(try row.value(of: name) == nil)
        #expect(try row.value(of: balance) == 3.0)
        #expect(throws: QueryError.self) { try row.value(of: SQLExpression<Int>("missing")) }
        #expect(throws: QueryError.unexpectedNullValue(name: "\"name\"")) { try row.value(of: SQLExpression<String>("name")) }
        #expect(try db.all(users.order(id), as: Row.self).map { try $0.value(of: email) } == ["a@x", "b@x", "c@x"])
        #expect(try db.run(users.filter(id > 1).update(age++)) == RunResult(changes: 2, insertedRowID: 3))
        #expect(try db.value(users.select(balance.sum)) == 3)
        #expect(try db.value(users.filter(id > 9).exists) == false)
        let other = users.alias("other")
        let pairs = try db.all(users.join(other, on: users[id] < other[id]).order(users[id], other[id]), as: Row.self)
        #expect(try pairs.map { "\(try $0.value(of: users[id]))\(try $0.value(of: other[id]))" } == ["12", "13", "23"])
        #expect(try db.run(users.delete()) == RunResult(changes: 3, insertedRowID: 3))
    }
}
