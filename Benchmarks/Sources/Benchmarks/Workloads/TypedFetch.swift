internal import CBaseline
internal import GRDB
internal import LiteVault
internal import SQLite

private let t = LiteVault.Table("t")
private let (a, b, c) = (SQLExpression<Int>("a"), SQLExpression<Int>("b"), SQLExpression<Int>("c"))
private let (d, e, f) = (SQLExpression<Int>("d"), SQLExpression<Int>("e"), SQLExpression<Int>("f"))
private let (g, h, i) = (SQLExpression<Int?>("g"), SQLExpression<Double>("h"), SQLExpression<Double>("i"))
private let j = SQLExpression<Bool>("j")

private struct Item: TableRecord {
    static let databaseTableName = "t"
    enum Columns {
        static let a = GRDB.Column("a")
        static let b = GRDB.Column("b")
        static let c = GRDB.Column("c")
        static let d = GRDB.Column("d")
        static let e = GRDB.Column("e")
        static let f = GRDB.Column("f")
        static let g = GRDB.Column("g")
        static let h = GRDB.Column("h")
        static let i = GRDB.Column("i")
        static let j = GRDB.Column("j")
    }
}

/// The rows of `fetch by position`, with columns found by typed expressions. C reads by position.
func fetchByExpression(scale: Int) throws -> Workload {
    let rows = 20_000 * scale
    let databases = try wide(rows)
    let (baseline, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    return Workload(
        count: rows, bar: 1.5,
        implementations: [
            Implementation("C", .c) { stopwatch in stopwatch.measure { baseline_fetch(baseline, everything) } },
            Implementation("LiteVault row[expression]", .liteVault) { stopwatch in
                var (sum, reals) = (0, 0.0)
                try stopwatch.measure {
                    let rows = try db.prepareRowIterator(t)
                    while let row = try rows.failableNext() {
                        sum &+= row[a] &+ row[b] &+ row[c] &+ row[d] &+ row[e] &+ row[f] &+ (row[g] ?? 0)
                        reals += row[h] + row[i]
                        if row[j] { sum &+= 1 }
                    }
                }
                return Int64(sum) + Int64(reals)
            },
            Implementation("LiteVault for row in prepare(query)", .other) { stopwatch in
                var (sum, reals) = (0, 0.0)
                try stopwatch.measure {
                    for row in try db.prepare(t) {
                        sum &+= row[a] &+ row[b] &+ row[c] &+ row[d] &+ row[e] &+ row[f] &+ (row[g] ?? 0)
                        reals += row[h] + row[i]
                        if row[j] { sum &+= 1 }
                    }
                }
                return Int64(sum) + Int64(reals)
            },
            Implementation("LiteVault all rows kept", .other) { stopwatch in
                var (sum, reals) = (0, 0.0)
                try stopwatch.measure {
                    for row in try Array(db.prepareRowIterator(t)) {
                        sum &+= row[a] &+ row[b] &+ row[c] &+ row[d] &+ row[e] &+ row[f] &+ (row[g] ?? 0)
                        reals += row[h] + row[i]
                        if row[j] { sum &+= 1 }
                    }
                }
                return Int64(sum) + Int64(reals)
            },
            Implementation("GRDB row[column]", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    var (sum, reals) = (0, 0.0)
                    try stopwatch.measure {
                        let rows = try GRDB.Row.fetchCursor(grdb, Item.all())
                        while let row = try rows.next() {
                            typealias C = Item.Columns
                            sum &+= (row[C.a] as Int) &+ (row[C.b] as Int) &+ (row[C.c] as Int) &+ (row[C.d] as Int)
                            sum &+= (row[C.e] as Int) &+ (row[C.f] as Int) &+ ((row[C.g] as Int?) ?? 0)
                            reals += (row[C.h] as Double) + (row[C.i] as Double)
                            if row[C.j] as Bool { sum &+= 1 }
                        }
                    }
                    return Int64(sum) + Int64(reals)
                }
            },
        ])
}

private struct Numbers: Codable, FetchableRecord {
    let a, b, c, d, e, f: Int
    let g: Int?
    let h, i: Double
    let j: Bool
}

private struct HandNumbers: FetchableRecord {
    let a, b, c, d, e, f: Int
    let g: Int?
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

extension [Numbers] {
    fileprivate var checksum: Int64 {
        var (sum, reals) = (0, 0.0)
        for r in self {
            sum &+= r.a &+ r.b &+ r.c &+ r.d &+ r.e &+ r.f &+ (r.g ?? 0) &+ (r.j ? 1 : 0)
            reals += r.h + r.i
        }
        return Int64(sum) + Int64(reals)
    }
}

extension [HandNumbers] {
    fileprivate var checksum: Int64 {
        var (sum, reals) = (0, 0.0)
        for r in self {
            sum &+= r.a &+ r.b &+ r.c &+ r.d &+ r.e &+ r.f &+ (r.g ?? 0) &+ (r.j ? 1 : 0)
            reals += r.h + r.i
        }
        return Int64(sum) + Int64(reals)
    }
}

/// The same rows as an array of structs, by typed selection.
func fetchNumbers(scale: Int) throws -> Workload {
    let rows = 20_000 * scale
    let databases = try wide(rows)
    let (baseline, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    return Workload(
        count: rows, bar: nil,
        implementations: [
            Implementation("C", .c) { stopwatch in stopwatch.measure { baseline_wide(baseline, everything) } },
            Implementation("LiteVault all(select, as:)", .liteVault) { stopwatch in
                try stopwatch.measure {
                    try db.all(t.select(a, b, c, d, e, f, g, h, i, j), transform: Numbers.init).checksum
                }
            },
            Implementation("GRDB FetchableRecord", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    try stopwatch.measure { try HandNumbers.fetchAll(grdb, Item.all()).checksum }
                }
            },
        ])
}

/// The same rows as an array of structs that are Decodable.
func fetchNumbersByCodable(scale: Int) throws -> Workload {
    let rows = 20_000 * scale
    let databases = try wide(rows)
    let (baseline, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    return Workload(
        count: rows, bar: nil,
        implementations: [
            Implementation("C", .c) { stopwatch in stopwatch.measure { baseline_wide(baseline, everything) } },
            Implementation("LiteVault all(query, as:)", .liteVault) { stopwatch in
                try stopwatch.measure { try db.all(t, as: Numbers.self).checksum }
            },
            Implementation("LiteVault row.decode()", .other) { stopwatch in
                try stopwatch.measure {
                    let numbers: [Numbers] = try db.prepareRowIterator(t).map { try $0.decode() }
                    return numbers.checksum
                }
            },
            Implementation("GRDB Codable FetchableRecord", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    try stopwatch.measure { try Numbers.fetchAll(grdb, Item.all()).checksum }
                }
            },
        ])
}
