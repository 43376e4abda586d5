import Foundation
import SQLite
import Testing

@Suite struct ReadingSignatures {
    let users = Table("users")
    let id = Expression<Int64>("id")
    let email = Expression<String>("email")
    let age = Expression<Int?>("age")
    let managerId = Expression<Int64?>("manager_id")
    let fixture: UsersDatabase
    let db: Connection

    init() throws {
        fixture = try UsersDatabase()
        db = fixture.db
    }

    @Test func `a query is a sequence of rows`() throws {
        for name in ["alice", "betsy"] { try fixture.insert(name) }
        let rows: AnySequence<Row> = try db.prepare(users)
        for (user, expected) in zip(rows, ["alice@example.com", "betsy@example.com"]) { #expect(user[email] == expected) }
        #expect(try db.prepare(users.select(managerId)).map { $0[managerId] } == [nil, nil])
        let managers = users.alias("managers")
        let alice = try db.run(users.insert(email <- "eve@example.com"))
        _ = try db.run(users.insert(email <- "fay@example.com", managerId <- alice))
        for user in try db.prepare(users.join(managers, on: managers[id] == users[managerId])) {
            #expect(user[users[managerId]] == alice)
            #expect(user[managers[email]] == "eve@example.com")
        }
    }

    @Test func `rows come from an iterator that throws`() throws {
        try fixture.insert("alice")
        let iterator: RowIterator = try db.prepareRowIterator(users)
        let row: RowIterator.Element? = try iterator.failableNext()
        #expect(try row?.get(email) == "alice@example.com")
        #expect(try iterator.failableNext() == nil)
        #expect(try db.prepareRowIterator("SELECT email FROM users").map { $0[email] } == ["alice@example.com"])
        #expect(try db.prepareRowIterator("SELECT email FROM users WHERE id = ?", bindings: 1).map { $0[email] }.count == 1)
        #expect(try db.prepareRowIterator("SELECT email FROM users WHERE id = ?", bindings: [1]).map { $0[email] }.count == 1)
        #expect(try db.prepareRowIterator(users).compactMap { try $0.get(age) } == [])
        let emails = try db.prepareRowIterator("SELECT email from users", bindings: []).map { $0[email] }
        #expect(emails == ["alice@example.com"])
        #expect(try Array(db.prepareRowIterator(users)).count == 1)
    }

    @Test func `scalar, pluck and exists`() throws {
        #expect(try db.scalar(users.count) == 0)
        #expect(try db.scalar(users.exists) == false)
        try fixture.insert("alice", age: 30)
        #expect(try db.scalar(users.select(id.average)) == 1.0)
        let optional: Int? = try db.scalar(users.select(age.max))
        #expect(optional == 30)
        let text: String = try db.scalar(users.select(email))
        #expect(text == "alice@example.com")
        #expect(try db.scalar(Select<Int>("SELECT 3", [])) == 3)
        #expect(try db.scalar(Select<Int?>("SELECT NULL", [])) == nil)
        let row: Row? = try db.pluck(users)
        #expect(row?[id] == 1)
        #expect(try db.pluck(users.filter(id == 7)) == nil)
        #expect(try db.scalar(users.filter(age ?? 0 > 18).count) == 1)
    }

    @Test func `insert answers the rowid, update and delete the number of rows`() throws {
        let first: Int64 = try db.run(users.insert(email <- "alice@example.com", age <- 30))
        #expect(first == 1)
        #expect(try db.run(users.insertMany([[email <- "geoff@example.com"], [email <- "alex@example.com"]])) == 3)
        let changed: Int = try db.run(users.filter(id == 1).update(email <- "z@example.com"))
        #expect(changed == 1)
        #expect(try db.run(users.filter(id == 2).delete()) == 1)
        let copied: Int = try db.run(users.insert(users.select(id + 10, email + "x", age, age, Expression<Int>(value: 0), age, age)))
        #expect(copied == 2)
        #expect(try db.run("UPDATE users SET age = 1").description == "UPDATE users SET age = 1")
    }

    @Test func `a failed constraint is matched by its code`() throws {
        try db.run(users.insert(email <- "alice@example.com"))
        do {
            try db.run(users.insert(email <- "alice@example.com"))
            Issue.record("inserted twice")
        } catch let Result.error(_, code, _) where code == SQLITE_CONSTRAINT {
        } catch let error {
            Issue.record("\(error)")
        }
        do {
            _ = try db.prepare("SELECT x FROM nowhere")
        } catch Result.error(let message, let code, let statement) {
            #expect(message == "no such table: nowhere")
            #expect(code == SQLITE_ERROR)
            #expect(statement?.description == "SELECT x FROM nowhere")
        }
    }

    @Test func `a recursive query sums a path`() throws {
        let nodes = Table("nodes")
        let parent = Expression<Int64?>("parent")
        let value = Expression<Int64>("value")
        try db.run(
            nodes.create {
                $0.column(id)
                $0.column(parent)
                $0.column(value)
            })
        try db.run(
            nodes.insertMany([
                [id <- 0, parent <- nil, value <- 2], [id <- 1, parent <- 0, value <- 4], [id <- 2, parent <- 0, value <- 9],
                [id <- 3, parent <- 2, value <- 8], [id <- 4, parent <- 2, value <- 7], [id <- 5, parent <- 4, value <- 3],
            ]))
        let ancestors = Table("ancestors")
        let sum = try db.scalar(
            ancestors
                .select(value.sum)
                .with(
                    ancestors, columns: [id, parent, value], recursive: true,
                    as: nodes
                        .where(id == 5)
                        .union(
                            nodes
                                .join(ancestors, on: nodes[id] == ancestors[parent])
                                .select(nodes[id], nodes[parent], nodes[value]))))
        #expect(sum == 21)
    }

    @Test func `the star of a common table expression is expanded to its columns`() throws {
        let names = Table("names")
        let name = Expression<String>("name")
        try db.run(
            names.create {
                $0.column(email)
                $0.column(name)
            })
        try db.run(users.insert(email <- "alice@example.com"))
        try db.run(names.insert(email <- "alice@example.com", name <- "Alice"))
        let intermediate = Table("intermediate")
        let rows = try db.prepare(
            intermediate.with(
                intermediate,
                as: users
                    .select([id, users[email], name])
                    .join(names, on: names[email] == users[email])
                    .where(users[email] == "alice@example.com")))
        let row = try #require(rows.makeIterator().next())
        #expect(row.columnNames == ["\"id\"": 0, "\"email\"": 1, "\"name\"": 2])
    }

    @Test func `a missing column throws its quoted name, through the subscript's twin`() throws {
        try fixture.insert("alice")
        let row = try #require(try db.pluck(users))
        do {
            _ = try row.get(Expression<String>("doesNotExist"))
            Issue.record("found")
        } catch QueryError.noSuchColumn(let name, let columns) {
            #expect(name == "\"doesNotExist\"" && columns.contains("\"email\""))
        }
    }

    @Test func `window functions are read by their expressions`() throws {
        guard db.sqliteVersion >= .init(major: 3, minor: 25) else { return }
        for name in ["a", "b", "c", "d"] { try fixture.insert(name) }
        let bucket = ntile(2, id.asc)
        #expect(try db.prepare(users.select(id, bucket)).map { $0[bucket] } == [1, 1, 2, 2])
        let previous = id.lag(offset: 1, default: 0, id.asc)
        #expect(try db.prepare(users.select(previous)).map { $0[previous] } == [0, 1, 2, 3])
        let distribution = cumeDist(email)
        #expect(try db.prepare(users.select(distribution)).map { $0[distribution] } == [0.25, 0.5, 0.75, 1])
    }
}

@Suite struct RowSignatures {
    let foo = Expression<String>("foo")

    @Test func `a row gives values by expression, throwing or not`() throws {
        let row = Row(["\"foo\"": 0], ["value"])
        #expect(try row.get(foo) == "value")
        #expect(row[foo] == "value")
        #expect(try row.get(Expression<String?>("foo")) == "value")
        #expect(row[Expression<String?>("foo")] == "value")
        let empty = Row(["\"foo\"": 0], [nil])
        #expect(try empty.get(Expression<String?>("foo")) == nil)
        #expect(empty[Expression<String?>("foo")] == nil)
    }

    @Test func `a value of another type is an unexpected NULL, and nil where that is asked for`() throws {
        let row = Row(["\"foo\"": 0], ["value"])
        do {
            _ = try row.get(Expression<Int>("foo"))
            Issue.record("a text was read as a number")
        } catch QueryError.unexpectedNullValue(let name) {
            #expect(name == "\"foo\"")
        }
        #expect(try row.get(Expression<Int?>("foo")) == nil)
    }

    @Test func `a missing or ambiguous column is reported with the existing ones`() throws {
        do {
            _ = try Row(["\"foo\"": 0], ["value"]).get(Expression<Int>("bar"))
            Issue.record("found")
        } catch QueryError.noSuchColumn(let name, let columns) {
            #expect(name == "\"bar\"" && columns == ["\"foo\""])
        }
        do {
            _ = try Row(["table1.\"foo\"": 0, "table2.\"foo\"": 1], ["value"]).get(Expression<Int>("foo"))
            Issue.record("chosen")
        } catch QueryError.ambiguousColumn(let name, let columns) {
            #expect(name == "\"foo\"" && columns.sorted() == ["table1.\"foo\"", "table2.\"foo\""])
        }
    }

    @Test func `errors of a type's own conversion are rethrown, also when it creates another type`() throws {
        struct Refusing: Value {
            enum Failure: Error { case failed }
            static var declaredDatatype: String { Blob.declaredDatatype }
            static func fromDatatypeValue(_ dataValue: Blob) throws -> Data { throw Failure.failed }
            var datatypeValue: Blob { Blob(bytes: []) }
        }
        let row = Row(["\"foo\"": 0], [Blob(bytes: [])])
        #expect(throws: Refusing.Failure.self) { try row.get(Expression<Refusing>("foo")) }
    }
}
