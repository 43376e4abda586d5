internal import CBaseline
internal import GRDB
internal import LiteVault
internal import SQLite

func wide(_ rows: Int) throws -> Databases {
    try Databases(
        """
        CREATE TABLE t(a INTEGER, b INTEGER, c INTEGER, d INTEGER, e INTEGER, f INTEGER, g INTEGER, h REAL, i REAL, j INTEGER);
        \(numbers(rows)) INSERT INTO t SELECT i, i * 7, i % 13, i * 1000003, -i, 1, CASE i % 3 WHEN 0 THEN NULL ELSE i END,
        i * 0.25, i * 0.5, i % 2 FROM n
        """)
}

let everything = "SELECT a, b, c, d, e, f, g, h, i, j FROM t"

/// All rows of 10 columns: 6 integers, an integer or NULL, 2 reals, a boolean.
func fetchByPosition(scale: Int) throws -> Workload {
    let rows = 20_000 * scale
    let databases = try wide(rows)
    let (c, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    return Workload(
        count: rows, bar: 1.15,
        implementations: [
            Implementation("C", .c) { stopwatch in stopwatch.measure { baseline_fetch(c, everything) } },
            Implementation("LiteVault forEach", .liteVault) { stopwatch in
                var (sum, reals) = (0, 0.0)
                try stopwatch.measure {
                    try db.forEach(SQL(sql: everything)) { row in
                        sum &+= try row.get(0) &+ row.get(1) &+ row.get(2) &+ row.get(3)
                        sum &+= try row.get(4) &+ row.get(5) &+ (row.get(6, as: Int?.self) ?? 0)
                        reals += try row.get(7) + row.get(8)
                        if try row.get(9) { sum &+= 1 }
                    }
                }
                return Int64(sum) + Int64(reals)
            },
            Implementation("LiteVault all, into structs", .other) { stopwatch in
                let records = try stopwatch.measure {
                    try db.all(SQL(sql: everything)) { row in
                        try Record(
                            a: row.get(0), b: row.get(1), c: row.get(2), d: row.get(3), e: row.get(4), f: row.get(5),
                            g: row.get(6), h: row.get(7), i: row.get(8), j: row.get(9))
                    }
                }
                return records.checksum
            },
            Implementation("LiteVault step and row[i]", .other) { stopwatch in
                var (sum, reals) = (0, 0.0)
                try stopwatch.measure {
                    let statement = try db.prepare(everything)
                    while try statement.step() {
                        let row = statement.row
                        for column in 0..<7 { sum &+= row[column] as Int }
                        reals += (row[7] as Double) + (row[8] as Double)
                        if row[9] as Bool { sum &+= 1 }
                    }
                }
                return Int64(sum) + Int64(reals)
            },
            Implementation("GRDB row[i]", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    var (sum, reals) = (0, 0.0)
                    try stopwatch.measure {
                        let rows = try GRDB.Row.fetchCursor(grdb, sql: everything)
                        while let row = try rows.next() {
                            sum &+= (row[0] as Int) &+ (row[1] as Int) &+ (row[2] as Int) &+ (row[3] as Int)
                            sum &+= (row[4] as Int) &+ (row[5] as Int) &+ ((row[6] as Int?) ?? 0)
                            reals += (row[7] as Double) + (row[8] as Double)
                            if row[9] as Bool { sum &+= 1 }
                        }
                    }
                    return Int64(sum) + Int64(reals)
                }
            },
        ])
}

private struct Record {
    let a, b, c, d, e, f: Int
    let g: Int?
    let h, i: Double
    let j: Bool
}

extension [Record] {
    fileprivate var checksum: Int64 {
        var (sum, reals) = (0, 0.0)
        for r in self {
            sum &+= r.a &+ r.b &+ r.c &+ r.d &+ r.e &+ r.f &+ (r.g ?? 0) &+ (r.j ? 1 : 0)
            reals += r.h + r.i
        }
        return Int64(sum) + Int64(reals)
    }
}

/// The same rows, with columns found by their names. C has no such thing and reads by position.
func fetchByName(scale: Int) throws -> Workload {
    let rows = 20_000 * scale
    let databases = try wide(rows)
    let (c, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    return Workload(
        count: rows, bar: nil,
        implementations: [
            Implementation("C", .c) { stopwatch in stopwatch.measure { baseline_fetch(c, everything) } },
            Implementation("LiteVault forEach", .liteVault) { stopwatch in
                var (sum, reals) = (0, 0.0)
                try stopwatch.measure {
                    try db.forEach(SQL(sql: everything)) { row in
                        sum &+= try row.get("a") &+ row.get("b") &+ row.get("c") &+ row.get("d")
                        sum &+= try row.get("e") &+ row.get("f") &+ (row.get("g", as: Int?.self) ?? 0)
                        reals += try row.get("h") + row.get("i")
                        if try row.get("j") { sum &+= 1 }
                    }
                }
                return Int64(sum) + Int64(reals)
            },
            Implementation("LiteVault row[expression]", .other) { stopwatch in
                let integers = ["a", "b", "c", "d", "e", "f"].map { SQLExpression<Int>($0) }
                let (g, h, i) = (SQLExpression<Int?>("g"), SQLExpression<Double>("h"), SQLExpression<Double>("i"))
                let j = SQLExpression<Bool>("j")
                var (sum, reals) = (0, 0.0)
                try stopwatch.measure {
                    let rows = try db.prepareRowIterator(everything)
                    while let row = try rows.failableNext() {
                        for column in integers { sum &+= row[column] }
                        sum &+= row[g] ?? 0
                        reals += row[h] + row[i]
                        if row[j] { sum &+= 1 }
                    }
                }
                return Int64(sum) + Int64(reals)
            },
            Implementation("GRDB row[name]", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    var (sum, reals) = (0, 0.0)
                    try stopwatch.measure {
                        let rows = try GRDB.Row.fetchCursor(grdb, sql: everything)
                        while let row = try rows.next() {
                            sum &+= (row["a"] as Int) &+ (row["b"] as Int) &+ (row["c"] as Int) &+ (row["d"] as Int)
                            sum &+= (row["e"] as Int) &+ (row["f"] as Int) &+ ((row["g"] as Int?) ?? 0)
                            reals += (row["h"] as Double) + (row["i"] as Double)
                            if row["j"] as Bool { sum &+= 1 }
                        }
                    }
                    return Int64(sum) + Int64(reals)
                }
            },
        ])
}
