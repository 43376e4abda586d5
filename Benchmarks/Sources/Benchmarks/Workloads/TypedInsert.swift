internal import CBaseline
internal import Foundation
internal import GRDB
internal import LiteVault

private let t = LiteVault.Table("t")
private let a = SQLExpression<Int>("a")
private let b = SQLExpression<Int>("b")
private let c = SQLExpression<Double>("c")
private let d = SQLExpression<String>("d")
private let e = SQLExpression<Int?>("e")

private struct Item: Codable {
    let a, b: Int
    let c: Double
    let d: String
    let e: Int?
}

/// The same columns as a record of GRDB's that says itself how it is stored.
private struct HandItem: PersistableRecord {
    static let databaseTableName = "t"
    let a, b: Int
    let c: Double
    let d: String
    let e: Int?
    func encode(to container: inout PersistenceContainer) {
        container["a"] = a
        container["b"] = b
        container["c"] = c
        container["d"] = d
        container["e"] = e
    }
}

private struct CodableItem: Codable, PersistableRecord {
    static let databaseTableName = "t"
    let a, b: Int
    let c: Double
    let d: String
    let e: Int?
}

/// The rows of `insert`, through the typed layer.
func insertBySetters(scale: Int) throws -> Workload {
    try typedInsert(
        scale: scale, bar: 2,
        Implementation("LiteVault run(insert(setters))", .liteVault) { _ in 0 },
        liteVault: { db, i, text in
            _ = try db.run(t.insert(a <- i, b <- i &* 7, c <- Double(i) * 0.5, d <- text, e <- (i & 1 == 1 ? i : nil)))
        },
        Implementation("GRDB record insert", .grdb) { _ in 0 },
        grdb: { db, i, text in
            try HandItem(a: i, b: i &* 7, c: Double(i) * 0.5, d: text, e: i & 1 == 1 ? i : nil).insert(db)
        })
}

/// The same rows from a value that is Encodable.
func insertByCodable(scale: Int) throws -> Workload {
    try typedInsert(
        scale: scale, bar: nil,
        Implementation("LiteVault run(insert(encodable))", .liteVault) { _ in 0 },
        liteVault: { db, i, text in
            let item = Item(a: i, b: i &* 7, c: Double(i) * 0.5, d: text, e: i & 1 == 1 ? i : nil)
            _ = try db.run(t.insert(item))
        },
        Implementation("GRDB Codable record insert", .grdb) { _ in 0 },
        grdb: { db, i, text in
            try CodableItem(a: i, b: i &* 7, c: Double(i) * 0.5, d: text, e: i & 1 == 1 ? i : nil).insert(db)
        })
}

private func typedInsert(
    scale: Int, bar: Double?, _ own: Implementation,
    liteVault: @escaping (Connection, Int, String) throws -> Void, _ peer: Implementation,
    grdb: @escaping (Database, Int, String) throws -> Void
) throws -> Workload {
    let rows = 10_000 * scale
    let databases = try Databases("CREATE TABLE t(a INTEGER, b INTEGER, c REAL, d TEXT, e INTEGER)")
    let (baseline, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    let sql = "INSERT INTO t VALUES (?, ?, ?, ?, ?)"
    let checksum = "SELECT count(*) + sum(a) + sum(b) + CAST(sum(c) AS INTEGER) + sum(length(d)) + sum(e) FROM t"
    let texts = (0..<64).map { "a text of some length, \($0)" }
    // They live as long as the process, as the closure does.
    let cTexts = UnsafeMutableBufferPointer<UnsafePointer<CChar>>.allocate(capacity: texts.count)
    for (index, text) in texts.enumerated() {
        guard let copy = strdup(text) else { throw Failure("no memory") }
        cTexts.initializeElement(at: index, to: UnsafePointer(copy))
    }
    return Workload(
        count: rows, bar: bar,
        implementations: [
            Implementation("C", .c) { stopwatch in
                _ = baseline_execute(baseline, "BEGIN")
                guard let first = UnsafePointer(cTexts.baseAddress) else { return -1 }
                stopwatch.measure { baseline_insert(baseline, sql, Int64(rows), first, 64) }
                let sum = baseline_execute(baseline, checksum)
                _ = baseline_execute(baseline, "ROLLBACK")
                return sum
            },
            Implementation(own.name, own.kind) { stopwatch in
                try db.execute("BEGIN")
                try stopwatch.measure { for i in 0..<rows { try liteVault(db, i, texts[i % 64]) } }
                let sum = try db.value(SQL(sql: checksum), as: Int64?.self)
                try db.execute("ROLLBACK")
                return sum ?? -1
            },
            Implementation(peer.name, peer.kind) { stopwatch in
                try queue.inDatabase { database in
                    try database.execute(sql: "BEGIN")
                    try stopwatch.measure { for i in 0..<rows { try grdb(database, i, texts[i % 64]) } }
                    let sum = try Int64.fetchOne(database, sql: checksum)
                    try database.execute(sql: "ROLLBACK")
                    return sum ?? -1
                }
            },
        ])
}
