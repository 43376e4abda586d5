internal import CBaseline
internal import GRDB
internal import LiteVault
internal import SQLite

private let people = LiteVault.Table("people")
private let id = SQLExpression<Int64>("id")
private let email = SQLExpression<String>("email")
private let name = SQLExpression<String?>("name")
private let age = SQLExpression<Int>("age")
private let balance = SQLExpression<Double>("balance")
private let admin = SQLExpression<Bool>("admin")

private struct Person: Codable, FetchableRecord {
    let id: Int64
    let email: String
    let name: String?
    let age: Int
    let balance: Double
    let admin: Bool
}

/// The same as a record of GRDB's that reads itself.
private struct HandPerson: FetchableRecord {
    let id: Int64
    let email: String
    let name: String?
    let age: Int
    let balance: Double
    let admin: Bool
    init(row: GRDB.Row) {
        id = row["id"]
        email = row["email"]
        name = row["name"]
        age = row["age"]
        balance = row["balance"]
        admin = row["admin"]
    }
}

private protocol Summed {
    var id: Int64 { get }
    var email: String { get }
    var name: String? { get }
    var age: Int { get }
    var balance: Double { get }
    var admin: Bool { get }
}

extension Person: Summed {}
extension HandPerson: Summed {}

private func checksum<P: Summed>(_ people: [P]) -> Int64 {
    var sum: Int64 = 0
    for person in people {
        sum &+= person.id &+ Int64(person.email.utf8.count) &+ Int64(person.name?.utf8.count ?? 0)
        sum &+= Int64(person.age) &+ Int64(person.balance) &+ (person.admin ? 1 : 0)
    }
    return sum
}

private struct PersonRecord: TableRecord { static let databaseTableName = "people" }

private let sql = "SELECT id, email, name, age, balance, admin FROM people"

private func database(_ rows: Int) throws -> Databases {
    try Databases(
        """
        CREATE TABLE people(id INTEGER PRIMARY KEY, email TEXT, name TEXT, age INTEGER, balance REAL, admin INTEGER);
        \(numbers(rows)) INSERT INTO people SELECT i, 'person.' || i || '@example.com',
        CASE i % 4 WHEN 0 THEN NULL ELSE 'Ada Lovelace ' || i END, i % 90, i * 0.25, i % 2 FROM n
        """)
}

/// Rows of 6 columns (2 integers, a text, a text or NULL, a real, a boolean) as an array of structs.
func fetchStructs(scale: Int) throws -> Workload {
    let rows = 20_000 * scale
    let databases = try database(rows)
    let (baseline, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    return Workload(
        count: rows, bar: 1.2,
        implementations: [
            Implementation("C", .c) { stopwatch in stopwatch.measure { baseline_people(baseline, sql) } },
            Implementation("LiteVault all(select, as:)", .liteVault) { stopwatch in
                try stopwatch.measure {
                    checksum(try db.all(people.select(id, email, name, age, balance, admin), transform: Person.init))
                }
            },
            Implementation("LiteVault all(select), tuples", .other) { stopwatch in
                try stopwatch.measure {
                    var sum: Int64 = 0
                    for row in try db.all(people.select(id, email, name, age, balance, admin)) {
                        sum &+= row.0 &+ Int64(row.1.utf8.count) &+ Int64(row.2?.utf8.count ?? 0)
                        sum &+= Int64(row.3) &+ Int64(row.4) &+ (row.5 ? 1 : 0)
                    }
                    return sum
                }
            },
            Implementation("LiteVault row[expression], by hand", .other) { stopwatch in
                try stopwatch.measure {
                    checksum(
                        try db.prepareRowIterator(people).map { row in
                            try Person(
                                id: row.get(id), email: row.get(email), name: row.get(name), age: row.get(age),
                                balance: row.get(balance), admin: row.get(admin))
                        })
                }
            },
            Implementation("GRDB FetchableRecord", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    try stopwatch.measure { checksum(try HandPerson.fetchAll(grdb, PersonRecord.all())) }
                }
            },
        ])
}

/// The same rows as an array of structs that are Decodable.
func fetchByCodable(scale: Int) throws -> Workload {
    let rows = 20_000 * scale
    let databases = try database(rows)
    let (baseline, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    return Workload(
        count: rows, bar: 2,
        implementations: [
            Implementation("C", .c) { stopwatch in stopwatch.measure { baseline_people(baseline, sql) } },
            Implementation("LiteVault all(query, as:)", .liteVault) { stopwatch in
                try stopwatch.measure { checksum(try db.all(people, as: Person.self)) }
            },
            Implementation("LiteVault row.decode()", .other) { stopwatch in
                try stopwatch.measure {
                    let people: [Person] = try db.prepareRowIterator(people).map { try $0.decode() }
                    return checksum(people)
                }
            },
            Implementation("GRDB Codable FetchableRecord", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    try stopwatch.measure { checksum(try Person.fetchAll(grdb, PersonRecord.all())) }
                }
            },
        ])
}
