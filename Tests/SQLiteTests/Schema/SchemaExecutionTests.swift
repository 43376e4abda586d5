import LiteVaultOperators
import LiteVaultQuery
import SQLite
import Testing

@Suite struct `Statements of the schema, run` {
    let db: Connection
    let id = SQLExpression<Int64>("id")
    let email = SQLExpression<String>("email")
    let name = SQLExpression<String?>("name")
    let userID = SQLExpression<Int64?>("user_id")
    let age = SQLExpression<Int>("age")
    let users = Table("users")
    let posts = Table("posts")

    init() throws {
        db = try Connection()
        try db.run(
            users.create { t in
                t.column(id, primaryKey: .autoincrement)
                t.column(email, unique: true, check: email.like("%@%"), collate: .nocase)
                t.column(name, defaultValue: "Anonymous")
                t.column(age, check: 0...150 ~= age, defaultValue: 0)
            })
    }

    @Test func `constraints and defaults of columns hold`() throws {
        let rowid = try db.run(users.insert(email <- "a@x"))
        let row = try #require(try db.pluck(users.filter(id == rowid)))
        #expect(try row.get(name) == "Anonymous")
        #expect(throws: Result.self) { try db.run(users.insert(email <- "A@X")) }
        #expect(throws: Result.self) { try db.run(users.insert(email <- "nobody")) }
        #expect(throws: Result.self) { try db.run(users.insert(email <- "b@x", age <- 200)) }
    }

    @Test func `composite keys and foreign keys hold`() throws {
        let other = SQLExpression<Int64?>("other_id"), otherEmail = SQLExpression<String?>("other_email")
        let parents = Table("parents")
        let children = Table("children")
        db.foreignKeys = true
        try db.run(
            parents.create(withoutRowid: true) { t in
                t.column(id)
                t.column(email)
                t.primaryKey(email.desc, id)
                t.unique(id, email)
            })
        try db.run(
            children.create { t in
                t.column(other)
                t.column(otherEmail)
                t.foreignKey((other, otherEmail), references: parents, (id, email), delete: .cascade)
            })
        try db.run(parents.insert(id <- 1, email <- "a"))
        try db.run(parents.insert(id <- 2, email <- "a"))
        try db.run(children.insert(other <- 1, otherEmail <- "a"))
        #expect(throws: Result.self) { try db.run(children.insert(other <- 3, otherEmail <- "a")) }
        #expect(throws: Result.self) { try db.run(parents.insert(id <- 1, email <- "a")) }
        try db.run(parents.filter(id == 1).delete())
        #expect(try db.scalar(children.count) == 0)
    }

    @Test func `columns are added with their constraints`() throws {
        try db.run(users.insert(email <- "a@x"))
        let suffix = SQLExpression<String>("suffix")
        try db.run(users.addColumn(suffix, check: ["JR", "SR"].contains(suffix), defaultValue: "SR"))
        try db.run(users.addColumn(userID, references: users, id))
        #expect(try db.scalar(users.select(suffix)) == "SR")
        #expect(throws: Result.self) { try db.run(users.insert(email <- "b@x", suffix <- "no")) }
    }

    @Test func `partial and expression indexes are used`() throws {
        try db.run(users.createIndex(name.lowercaseString, unique: true, where: name != nil))
        try db.run(users.insert(email <- "a@x", name <- "Alice"))
        try db.run(users.insert(email <- "b@x", name <- nil))
        try db.run(users.insert(email <- "c@x", name <- nil))
        #expect(throws: Result.self) { try db.run(users.insert(email <- "d@x", name <- "ALICE")) }
        try db.run(users.dropIndex(name.lowercaseString))
        try db.run(users.insert(email <- "d@x", name <- "ALICE"))
    }

    @Test func `a view is created from a query, and a table from its rows`() throws {
        try db.run(users.insertMany([[email <- "a@x", age <- 20], [email <- "b@x", age <- 40]]))
        let adults = View("adults")
        try db.run(adults.create(users.select(id, email).filter(age > 30)))
        #expect(try db.prepare(adults).map { $0[email] } == ["b@x"])
        let copy = Table("copy")
        try db.run(copy.create(adults.select(*), temporary: true))
        #expect(try db.scalar(copy.count) == 1)
        try db.run(adults.drop())
        try db.run(copy.drop())
        try db.run(users.rename(Table("people")))
        #expect(try db.scalar(Table("people").count) == 2)
    }

    @Test(.enabled(if: EngineInfo.linked.isAtLeast(3, 37), "STRICT tables are of SQLite 3.37"))
    func `a strict table refuses values of other types`() throws {
        let strict = Table("strict")
        try db.run(strict.create(strict: true) { $0.column(age) })
        #expect(throws: Result.self) { try db.run("INSERT INTO strict VALUES ('no number')") }
    }
}
