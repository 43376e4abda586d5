internal import CBaseline
internal import Foundation
internal import GRDB
internal import LiteVault

// Records of both libraries, written by hand for the same tables.

private struct Item: LiteVault.Record {
    var a: Int
    var b: Int
    var c: Double
    var d: String
    var e: Int?

    static let table = RecordTable<Item>("t", ["a", "b", "c", "d", "e"])

    init(a: Int, b: Int, c: Double, d: String, e: Int?) { (self.a, self.b, self.c, self.d, self.e) = (a, b, c, d, e) }

    init(row: inout RecordReader) throws {
        a = try row.next()
        b = try row.next()
        c = try row.next()
        d = try row.next()
        e = try row.next()
    }

    func write(to row: inout RecordWriter) {
        row.bind(a)
        row.bind(b)
        row.bind(c)
        row.bind(d)
        row.bind(e)
    }
}

private struct GRDBItem: PersistableRecord {
    static let databaseTableName = "t"
    var a: Int
    var b: Int
    var c: Double
    var d: String
    var e: Int?

    func encode(to container: inout PersistenceContainer) {
        container["a"] = a
        container["b"] = b
        container["c"] = c
        container["d"] = d
        container["e"] = e
    }
}

/// Rows of 5 columns inserted as records, in a transaction. C uses one statement.
func insertRecords(scale: Int) throws -> Workload {
    let rows = 20_000 * scale
    let databases = try Databases("CREATE TABLE t(a INTEGER, b INTEGER, c REAL, d TEXT, e INTEGER)")
    let (c, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    let checksum = "SELECT count(*) + sum(a) + sum(b) + CAST(sum(c) AS INTEGER) + sum(length(d)) + sum(e) FROM t"
    let texts = (0..<64).map { "a text of some length, \($0)" }
    let cTexts = UnsafeMutableBufferPointer<UnsafePointer<CChar>>.allocate(capacity: texts.count)
    for (index, text) in texts.enumerated() {
        guard let copy = strdup(text) else { throw Failure("no memory") }
        cTexts.initializeElement(at: index, to: UnsafePointer(copy))
    }
    return Workload(
        count: rows, bar: 1.3,
        implementations: [
            Implementation("C", .c) { stopwatch in
                _ = baseline_execute(c, "BEGIN")
                guard let first = UnsafePointer(cTexts.baseAddress) else { return -1 }
                stopwatch.measure { baseline_insert(c, "INSERT INTO t VALUES (?, ?, ?, ?, ?)", Int64(rows), first, 64) }
                let sum = baseline_execute(c, checksum)
                _ = baseline_execute(c, "ROLLBACK")
                return sum
            },
            Implementation("LiteVault record.insert(db)", .liteVault) { stopwatch in
                try db.execute("BEGIN")
                try stopwatch.measure {
                    for i in 0..<rows {
                        var item = Item(
                            a: i, b: i &* 7, c: Double(i) * 0.5, d: texts[i % 64], e: i & 1 == 1 ? i : nil)
                        try item.insert(db)
                    }
                }
                let sum = try db.value(checksum, as: Int64?.self)
                try db.execute("ROLLBACK")
                return sum ?? -1
            },
            Implementation("GRDB record.insert(db)", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    try grdb.execute(sql: "BEGIN")
                    try stopwatch.measure {
                        for i in 0..<rows {
                            try GRDBItem(
                                a: i, b: i &* 7, c: Double(i) * 0.5, d: texts[i % 64], e: i & 1 == 1 ? i : nil
                            ).insert(grdb)
                        }
                    }
                    let sum = try Int64.fetchOne(grdb, sql: checksum)
                    try grdb.execute(sql: "ROLLBACK")
                    return sum ?? -1
                }
            },
        ])
}

private struct Point: LiteVault.Record {
    let id: Int64
    let a: Int64
    let b: Double

    static let table = RecordTable<Point>("t", [.key("id"), "a", "b"])
    var primaryKey: Int64? { id }

    init(row: inout RecordReader) throws {
        id = try row.next()
        a = try row.next()
        b = try row.next()
    }

    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(a)
        row.bind(b)
    }
}

private struct GRDBPoint: FetchableRecord, TableRecord {
    static let databaseTableName = "t"
    let id, a: Int64
    let b: Double
    init(row: GRDB.Row) {
        id = row[0]
        a = row[1]
        b = row[2]
    }
}

/// Rows found by their primary key. C uses one statement.
func findRecords(scale: Int) throws -> Workload {
    let count = 20_000 * scale
    let rows = 10_000
    let databases = try Databases(
        """
        CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b REAL);
        \(numbers(rows)) INSERT INTO t SELECT i, i * 7, i * 0.5 FROM n
        """)
    let (c, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    return Workload(
        count: count, bar: 1.5,
        implementations: [
            Implementation("C, one statement", .c) { stopwatch in
                stopwatch.measure {
                    baseline_lookup(c, "SELECT id, a, b FROM t WHERE id = ?", Int64(count), Int64(rows))
                }
            },
            Implementation("LiteVault Record.find(db, key)", .liteVault) { stopwatch in
                var sum: Int64 = 0
                try stopwatch.measure {
                    for i in 0..<count {
                        let point = try Point.find(db, Int64(i &* 7919 % rows &+ 1))
                        sum &+= point.id &+ point.a &+ Int64(point.b)
                    }
                }
                return sum
            },
            Implementation("GRDB Record.find(db, key:)", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    var sum: Int64 = 0
                    try stopwatch.measure {
                        for i in 0..<count {
                            let point = try GRDBPoint.find(grdb, key: Int64(i &* 7919 % rows &+ 1))
                            sum &+= point.id &+ point.a &+ Int64(point.b)
                        }
                    }
                    return sum
                }
            },
        ])
}

private struct Person: LiteVault.Record {
    let id: Int64
    let email: String
    let name: String?
    let age: Int
    let balance: Double
    let admin: Bool

    static let table = RecordTable<Person>("people", [.key("id"), "email", "name", "age", "balance", "admin"])
    var primaryKey: Int64? { id }

    init(row: inout RecordReader) throws {
        id = try row.next()
        email = try row.next()
        name = try row.next()
        age = try row.next()
        balance = try row.next()
        admin = try row.next()
    }

    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(email)
        row.bind(name)
        row.bind(age)
        row.bind(balance)
        row.bind(admin)
    }

    var checksum: Int64 {
        let texts = Int64(email.utf8.count) &+ Int64(name?.utf8.count ?? 0)
        return id &+ texts &+ Int64(age) &+ Int64(balance) &+ (admin ? 1 : 0)
    }
}

private struct GRDBPerson: FetchableRecord, TableRecord {
    static let databaseTableName = "people"
    let id: Int64
    let email: String
    let name: String?
    let age: Int
    let balance: Double
    let admin: Bool
    init(row: GRDB.Row) {
        id = row[0]
        email = row[1]
        name = row[2]
        age = row[3]
        balance = row[4]
        admin = row[5]
    }

    var checksum: Int64 {
        let texts = Int64(email.utf8.count) &+ Int64(name?.utf8.count ?? 0)
        return id &+ texts &+ Int64(age) &+ Int64(balance) &+ (admin ? 1 : 0)
    }
}

/// The rows of `structs`, as an array of records.
func fetchRecords(scale: Int) throws -> Workload {
    let rows = 20_000 * scale
    let databases = try Databases(
        """
        CREATE TABLE people(id INTEGER PRIMARY KEY, email TEXT, name TEXT, age INTEGER, balance REAL, admin INTEGER);
        \(numbers(rows)) INSERT INTO people SELECT i, 'person.' || i || '@example.com',
        CASE i % 4 WHEN 0 THEN NULL ELSE 'Ada Lovelace ' || i END, i % 90, i * 0.25, i % 2 FROM n
        """)
    let (c, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    return Workload(
        count: rows, bar: 1.2,
        implementations: [
            Implementation("C", .c) { stopwatch in
                stopwatch.measure { baseline_people(c, "SELECT id, email, name, age, balance, admin FROM people") }
            },
            Implementation("LiteVault Record.all(db)", .liteVault) { stopwatch in
                try stopwatch.measure { try Person.all(db).reduce(0) { $0 &+ $1.checksum } }
            },
            Implementation("GRDB Record.fetchAll(db)", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    try stopwatch.measure { try GRDBPerson.fetchAll(grdb).reduce(0) { $0 &+ $1.checksum } }
                }
            },
        ])
}

private struct Parent: LiteVault.Record {
    let id: Int64
    let name: String

    static let id = SQLExpression<Int64>("id")
    static let table = RecordTable<Parent>("parent", [.key("id"), "name"])
    static let children: Relation<Parent, [Child]> = .hasMany(Child.parentID)
    var primaryKey: Int64? { id }

    init(row: inout RecordReader) throws {
        id = try row.next()
        name = try row.next()
    }

    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(name)
    }
}

private struct Child: LiteVault.Record {
    let id: Int64
    let parentID: Int64
    let title: String

    static let parentID = SQLExpression<Int64>("parentID")
    static let table = RecordTable<Child>("child", [.key("id"), "parentID", "title"])
    var primaryKey: Int64? { id }

    init(row: inout RecordReader) throws {
        id = try row.next()
        parentID = try row.next()
        title = try row.next()
    }

    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(parentID)
        row.bind(title)
    }
}

private struct GRDBParent: Decodable, FetchableRecord, TableRecord {
    static let databaseTableName = "parent"
    static let children = hasMany(GRDBChild.self, using: ForeignKey(["parentID"])).forKey("children")
    let id: Int64
    let name: String
}

private struct GRDBChild: Decodable, FetchableRecord, TableRecord {
    static let databaseTableName = "child"
    let id: Int64
    let parentID: Int64
    let title: String
}

private struct GRDBFamily: Decodable, FetchableRecord {
    let parent: GRDBParent
    let children: [GRDBChild]
}

/// 1000 parents with 10 children each. C uses two statements.
func fetchFamilies(scale: Int) throws -> Workload {
    let rows = 1000 * scale
    let databases = try Databases(
        """
        CREATE TABLE parent(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        \(numbers(rows)) INSERT INTO parent SELECT i, 'Parent number ' || i FROM n;
        CREATE TABLE child(id INTEGER PRIMARY KEY, parentID INTEGER NOT NULL, title TEXT NOT NULL);
        \(numbers(rows * 10)) INSERT INTO child SELECT i, i * 7919 % \(rows) + 1, 'The title of child ' || i FROM n;
        CREATE INDEX childByParent ON child(parentID)
        """)
    let (c, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    return Workload(
        count: rows, bar: 1.3,
        implementations: [
            Implementation("C, two statements", .c) { stopwatch in
                stopwatch.measure {
                    baseline_family(
                        c, "SELECT id, name FROM parent ORDER BY id",
                        """
                        SELECT id, parentID, title FROM child WHERE parentID IN (SELECT id FROM parent) ORDER BY parentID
                        """)
                }
            },
            Implementation("LiteVault including(children)", .liteVault) { stopwatch in
                try stopwatch.measure {
                    var sum: Int64 = 0
                    for (parent, children) in try Parent.order(Parent.id).including(Parent.children).all(db) {
                        sum &+= parent.id &+ Int64(parent.name.utf8.count)
                        for child in children { sum &+= child.id &+ child.parentID &+ Int64(child.title.utf8.count) }
                    }
                    return sum
                }
            },
            Implementation("GRDB including(all:)", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    try stopwatch.measure {
                        var sum: Int64 = 0
                        let request = GRDBParent.order(GRDB.Column("id")).including(all: GRDBParent.children)
                        for family in try GRDBFamily.fetchAll(grdb, request) {
                            sum &+= family.parent.id &+ Int64(family.parent.name.utf8.count)
                            for child in family.children {
                                sum &+= child.id &+ child.parentID &+ Int64(child.title.utf8.count)
                            }
                        }
                        return sum
                    }
                }
            },
        ])
}
