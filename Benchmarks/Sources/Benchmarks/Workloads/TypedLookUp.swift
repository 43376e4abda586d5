internal import CBaseline
internal import GRDB
internal import LiteVault
internal import SQLite

private let t = LiteVault.Table("t")
private let (id, a, b) = (SQLExpression<Int64>("id"), SQLExpression<Int64>("a"), SQLExpression<Double>("b"))

private struct Item: FetchableRecord, TableRecord {
    static let databaseTableName = "t"
    let id, a: Int64
    let b: Double
    init(row: GRDB.Row) {
        id = row["id"]
        a = row["a"]
        b = row["b"]
    }
}

/// The rows of `point look-up`, found by a query that is put together each time.
func typedLookUp(scale: Int) throws -> Workload {
    let count = 20_000 * scale
    let rows = 10_000
    let databases = try Databases(
        """
        CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b REAL);
        \(numbers(rows)) INSERT INTO t SELECT i, i * 7, i * 0.5 FROM n
        """)
    let (c, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    func key(_ i: Int) -> Int64 { Int64(i &* 7919 % rows &+ 1) }

    return Workload(
        count: count, bar: 3,
        implementations: [
            Implementation("C, one statement", .c) { stopwatch in
                stopwatch.measure {
                    baseline_lookup(c, "SELECT id, a, b FROM t WHERE id = ?", Int64(count), Int64(rows))
                }
            },
            Implementation("LiteVault pluck(filter)", .liteVault) { stopwatch in
                var sum: Int64 = 0
                try stopwatch.measure {
                    for i in 0..<count {
                        guard let row = try db.pluck(t.filter(id == key(i))) else { continue }
                        sum &+= row[id] &+ row[a] &+ Int64(row[b])
                    }
                }
                return sum
            },
            Implementation("LiteVault first(select.filter)", .other) { stopwatch in
                var sum: Int64 = 0
                try stopwatch.measure {
                    for i in 0..<count {
                        guard let row = try db.first(t.select(id, a, b).filter(id == key(i))) else { continue }
                        sum &+= row.0 &+ row.1 &+ Int64(row.2)
                    }
                }
                return sum
            },
            Implementation("GRDB fetchOne(key:)", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    var sum: Int64 = 0
                    try stopwatch.measure {
                        for i in 0..<count {
                            guard let item = try Item.fetchOne(grdb, key: key(i)) else { continue }
                            sum &+= item.id &+ item.a &+ Int64(item.b)
                        }
                    }
                    return sum
                }
            },
        ])
}
