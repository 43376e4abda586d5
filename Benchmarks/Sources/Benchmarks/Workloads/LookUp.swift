internal import CBaseline
internal import GRDB
internal import LiteVault
internal import SQLite

/// Single rows of 3 columns, found by their key; the statement comes from the library's cache.
func lookUp(scale: Int) throws -> Workload {
    let count = 50_000 * scale
    let rows = 10_000
    let databases = try Databases(
        """
        CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b REAL);
        \(numbers(rows)) INSERT INTO t SELECT i, i * 7, i * 0.5 FROM n
        """)
    let (c, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    let sql = "SELECT id, a, b FROM t WHERE id = ?"
    func key(_ i: Int) -> Int { i &* 7919 % rows &+ 1 }

    return Workload(
        count: count, bar: 1.3,
        implementations: [
            Implementation("C, one statement", .c) { stopwatch in
                stopwatch.measure { baseline_lookup(c, sql, Int64(count), Int64(rows)) }
            },
            Implementation("LiteVault first(literal)", .other) { stopwatch in
                var sum: Int64 = 0
                try stopwatch.measure {
                    for i in 0..<count {
                        let found = try db.first("SELECT id, a, b FROM t WHERE id = \(key(i))") { row in
                            try row.get(0, as: Int64.self) &+ row.get(1) &+ Int64(row.get(2, as: Double.self))
                        }
                        sum &+= found ?? 0
                    }
                }
                return sum
            },
            Implementation("LiteVault first(sql, with:)", .liteVault) { stopwatch in
                let sql = SQL(sql: sql)
                var sum: Int64 = 0
                try stopwatch.measure {
                    for i in 0..<count {
                        let found = try db.first(sql, with: key(i)) { row in
                            try row.get(0, as: Int64.self) &+ row.get(1) &+ Int64(row.get(2, as: Double.self))
                        }
                        sum &+= found ?? 0
                    }
                }
                return sum
            },
            Implementation("LiteVault bind, step, row[i]", .other) { stopwatch in
                var sum: Int64 = 0
                try stopwatch.measure {
                    let statement = try db.prepare(sql)
                    for i in 0..<count {
                        guard try statement.bind(key(i)).step() else { continue }
                        let row = statement.row
                        sum &+= (row[0] as Int64) &+ (row[1] as Int64) &+ Int64(row[2] as Double)
                    }
                }
                return sum
            },
            Implementation("GRDB cachedStatement", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    var sum: Int64 = 0
                    try stopwatch.measure {
                        for i in 0..<count {
                            let statement = try grdb.cachedStatement(sql: sql)
                            guard let row = try GRDB.Row.fetchOne(statement, arguments: [key(i)]) else { continue }
                            sum &+= (row[0] as Int64) &+ (row[1] as Int64) &+ Int64(row[2] as Double)
                        }
                    }
                    return sum
                }
            },
            Implementation("C, preparing each time", .other) { stopwatch in
                stopwatch.measure { baseline_lookup_preparing(c, sql, Int64(count), Int64(rows)) }
            },
            Implementation("GRDB fetchOne(sql:)", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    var sum: Int64 = 0
                    try stopwatch.measure {
                        for i in 0..<count {
                            guard let row = try GRDB.Row.fetchOne(grdb, sql: sql, arguments: [key(i)]) else { continue }
                            sum &+= (row[0] as Int64) &+ (row[1] as Int64) &+ Int64(row[2] as Double)
                        }
                    }
                    return sum
                }
            },
        ])
}
