internal import CBaseline
internal import Foundation
internal import GRDB
internal import LiteVault

// The records of LiteVault are those that the plugin makes of schema.sql; those of GRDB are the same by hand.

private struct Person: FetchableRecord, TableRecord {
    static let databaseTableName = "person"
    let id: Int64
    let email: String
    let name: String?
    let age: Int64
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

private struct Numbers: FetchableRecord, TableRecord {
    static let databaseTableName = "numbers"
    let a, b, c, d, e, f: Int64
    let g: Int64?
    let h, i: Double
    let j: Bool
    init(row: GRDB.Row) {
        a = row["a"]
        b = row["b"]
        c = row["c"]
        d = row["d"]
        e = row["e"]
        f = row["f"]
        g = row["g"]
        h = row["h"]
        i = row["i"]
        j = row["j"]
    }
}

private struct Item: MutablePersistableRecord {
    static let databaseTableName = "item"
    var id: Int64?
    let a, b: Int64
    let c: Double
    let d: String
    let e: Int64?
    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["a"] = a
        container["b"] = b
        container["c"] = c
        container["d"] = d
        container["e"] = e
    }
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

private func databases(_ fill: String) throws -> Databases {
    try Databases(Schema.scripts.map(\.sql).joined(separator: "\n") + "\n" + fill)
}

private func people(_ rows: Int) throws -> Databases {
    try databases(
        """
        \(numbers(rows)) INSERT INTO person SELECT i, 'person.' || i || '@example.com',
        CASE i % 4 WHEN 0 THEN NULL ELSE 'Ada Lovelace ' || i END, i % 90, i * 0.25, i % 2 FROM n
        """)
}

private func sum(_ id: Int64?, _ email: String, _ name: String?, _ age: Int64, _ balance: Double, _ admin: Bool)
    -> Int64
{
    (id ?? 0) &+ Int64(email.utf8.count) &+ Int64(name?.utf8.count ?? 0) &+ age &+ Int64(balance) &+ (admin ? 1 : 0)
}

private let personSQL = "SELECT id, email, name, age, balance, admin FROM person"

/// The same array by hand: C's functions called from Swift, without a lock or a look at the types.
private func peopleByHand(_ db: OpaquePointer) -> [PersonRow] {
    var statement: OpaquePointer?
    sqlite3_prepare_v3(db, personSQL, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    defer { sqlite3_finalize(statement) }
    func text(_ column: Int32) -> String? {
        guard let bytes = sqlite3_column_text(statement, column) else { return nil }
        let length = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: length), as: UTF8.self)
    }
    var people: [PersonRow] = []
    while sqlite3_step(statement) == SQLITE_ROW {
        people.append(
            PersonRow(
                id: sqlite3_column_int64(statement, 0), email: text(1) ?? "", name: text(2),
                age: sqlite3_column_int64(statement, 3), balance: sqlite3_column_double(statement, 4),
                admin: sqlite3_column_int64(statement, 5) != 0))
    }
    return people
}

/// All rows of a table of 6 columns (2 integers, a text, a text or NULL, a real, a boolean) as an array of records.
///
/// C's array has no strings: its texts are copied and not checked. What a record is compared with has the same ones.
func fetchRecords(scale: Int) throws -> Workload {
    let rows = 20_000 * scale
    let databases = try people(rows)
    let (baseline, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    return Workload(
        count: rows, bar: 1.1,
        implementations: [
            Implementation("C's functions, into the same structs", .c) { stopwatch in
                stopwatch.measure {
                    peopleByHand(baseline).reduce(0) {
                        $0 &+ sum($1.id, $1.email, $1.name, $1.age, $1.balance, $1.admin)
                    }
                }
            },
            Implementation("LiteVault all", .liteVault) { stopwatch in
                try stopwatch.measure {
                    try PersonRow.all(db).reduce(0) {
                        $0 &+ sum($1.id, $1.email, $1.name, $1.age, $1.balance, $1.admin)
                    }
                }
            },
            Implementation("C, char * copies, not checked to be UTF-8", .other) { stopwatch in
                stopwatch.measure { baseline_people(baseline, personSQL) }
            },
            Implementation("GRDB fetchAll", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    try stopwatch.measure {
                        try Person.fetchAll(grdb).reduce(0) {
                            $0 &+ sum($1.id, $1.email, $1.name, $1.age, $1.balance, $1.admin)
                        }
                    }
                }
            },
        ])
}

/// All rows of a table of 10 numbers as an array of records.
func fetchNumberRecords(scale: Int) throws -> Workload {
    let rows = 20_000 * scale
    let databases = try databases(
        """
        \(numbers(rows)) INSERT INTO numbers SELECT i, i * 3, i * 5, i * 7, i * 11, i * 13,
        CASE i % 2 WHEN 0 THEN NULL ELSE i END, i * 0.5, i * 0.25, i % 3 = 0 FROM n
        """)
    let (baseline, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    return Workload(
        count: rows, bar: 1.1,
        implementations: [
            Implementation("C", .c) { stopwatch in
                stopwatch.measure { baseline_wide(baseline, "SELECT a, b, c, d, e, f, g, h, i, j FROM numbers") }
            },
            Implementation("LiteVault all", .liteVault) { stopwatch in
                try stopwatch.measure {
                    var (sum, reals) = (Int64(0), 0.0)
                    for r in try NumbersRow.all(db) {
                        sum &+= r.a &+ r.b &+ r.c &+ r.d &+ r.e &+ r.f &+ (r.g ?? 0) &+ (r.j ? 1 : 0)
                        reals += r.h + r.i
                    }
                    return sum + Int64(reals)
                }
            },
            Implementation("GRDB fetchAll", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    try stopwatch.measure {
                        var (sum, reals) = (Int64(0), 0.0)
                        for r in try Numbers.fetchAll(grdb) {
                            sum &+= r.a &+ r.b &+ r.c &+ r.d &+ r.e &+ r.f &+ (r.g ?? 0) &+ (r.j ? 1 : 0)
                            reals += r.h + r.i
                        }
                        return sum + Int64(reals)
                    }
                }
            },
        ])
}

/// Records by their key, one at a time.
func findRecords(scale: Int) throws -> Workload {
    let count = 50_000 * scale
    let rows = 10_000
    let databases = try people(rows)
    let (baseline, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    func key(_ i: Int) -> Int64 { Int64(i &* 7919 % rows &+ 1) }
    return Workload(
        count: count, bar: 1.5,
        implementations: [
            Implementation("C, one statement", .c) { stopwatch in
                stopwatch.measure {
                    baseline_find_person(baseline, personSQL + " WHERE id = ?", Int64(count), Int64(rows))
                }
            },
            Implementation("LiteVault find", .liteVault) { stopwatch in
                try stopwatch.measure {
                    try (0..<count).reduce(0) {
                        let one = try PersonRow.find(db, key($1))
                        return $0 &+ sum(one.id, one.email, one.name, one.age, one.balance, one.admin)
                    }
                }
            },
            Implementation("GRDB find", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    try stopwatch.measure {
                        try (0..<count).reduce(0) {
                            let one = try Person.find(grdb, key: key($1))
                            return $0 &+ sum(one.id, one.email, one.name, one.age, one.balance, one.admin)
                        }
                    }
                }
            },
        ])
}

/// A record of 6 columns as a new row; its key comes back.
func insertRecords(scale: Int) throws -> Workload {
    let rows = 10_000 * scale
    let databases = try databases("")
    let (baseline, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    let sql = "INSERT INTO item (id, a, b, c, d, e) VALUES (NULL, ?, ?, ?, ?, ?)"
    let checksum =
        "SELECT sum(id) + sum(a) + sum(b) + CAST(sum(c) AS INTEGER) + sum(length(d)) + sum(e) FROM item"
    let texts = (0..<64).map { "a text of some length, \($0)" }
    // They live as long as the process, as the closure does.
    let cTexts = UnsafeMutableBufferPointer<UnsafePointer<CChar>>.allocate(capacity: texts.count)
    for (index, text) in texts.enumerated() {
        guard let copy = strdup(text) else { throw Failure("no memory") }
        cTexts.initializeElement(at: index, to: UnsafePointer(copy))
    }
    return Workload(
        count: rows, bar: 1.3,
        implementations: [
            Implementation("C", .c) { stopwatch in
                _ = baseline_execute(baseline, "BEGIN")
                guard let first = UnsafePointer(cTexts.baseAddress) else { return -1 }
                stopwatch.measure { baseline_insert(baseline, sql, Int64(rows), first, 64) }
                let sum = baseline_execute(baseline, checksum)
                _ = baseline_execute(baseline, "ROLLBACK")
                return sum
            },
            Implementation("LiteVault insert", .liteVault) { stopwatch in
                try db.execute("BEGIN")
                try stopwatch.measure {
                    for i in 0..<Int64(rows) {
                        var item = ItemRow(
                            a: i, b: i &* 7, c: Double(i) * 0.5, d: texts[Int(i) % 64], e: i & 1 == 1 ? i : nil)
                        try item.insert(db)
                        if item.id != i + 1 { throw Failure("the key did not come back") }
                    }
                }
                let sum = try db.value(SQL(sql: checksum), as: Int64?.self)
                try db.execute("ROLLBACK")
                return sum ?? -1
            },
            Implementation("C, without copies of the texts", .other) { stopwatch in
                _ = baseline_execute(baseline, "BEGIN")
                guard let first = UnsafePointer(cTexts.baseAddress) else { return -1 }
                stopwatch.measure { baseline_insert_in_place(baseline, sql, Int64(rows), first, 64) }
                let sum = baseline_execute(baseline, checksum)
                _ = baseline_execute(baseline, "ROLLBACK")
                return sum
            },
            Implementation("GRDB insert", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    try grdb.execute(sql: "BEGIN")
                    try stopwatch.measure {
                        for i in 0..<Int64(rows) {
                            var item = Item(
                                a: i, b: i &* 7, c: Double(i) * 0.5, d: texts[Int(i) % 64], e: i & 1 == 1 ? i : nil)
                            try item.insert(grdb)
                            if item.id != i + 1 { throw Failure("the key did not come back") }
                        }
                    }
                    let sum = try Int64.fetchOne(grdb, sql: checksum)
                    try grdb.execute(sql: "ROLLBACK")
                    return sum ?? -1
                }
            },
        ])
}
