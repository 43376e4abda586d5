internal import CBaseline
internal import Foundation
internal import GRDB
internal import LiteVault
internal import SQLite

/// Rows of 2 texts, one of 8 to 12 bytes and one of 60 with letters beyond ASCII, each copied out.
func text(scale: Int) throws -> Workload {
    let rows = 20_000 * scale
    let databases = try Databases(
        """
        CREATE TABLE t(a TEXT, b TEXT);
        \(numbers(rows)) INSERT INTO t SELECT 'name-' || (i + 100), 'größer als fünfzehn Zeichen, und zwar mit Umlauten ' || i FROM n
        """)
    let (c, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    let sql = "SELECT a, b FROM t"
    func checksum(_ text: String) -> Int64 { Int64(text.utf8.count) * 256 + Int64(text.utf8.first ?? 0) }

    return Workload(
        count: rows, bar: nil,
        implementations: [
            Implementation("C", .c) { stopwatch in stopwatch.measure { baseline_text(c, sql) } },
            Implementation("LiteVault forEach", .liteVault) { stopwatch in
                var sum: Int64 = 0
                try stopwatch.measure {
                    try db.forEach(SQL(sql: sql)) { row in try sum &+= checksum(row.get(0)) &+ checksum(row.get(1)) }
                }
                return sum
            },
            Implementation("LiteVault step and row[i]", .other) { stopwatch in
                var sum: Int64 = 0
                try stopwatch.measure {
                    let statement = try db.prepare(sql)
                    while try statement.step() {
                        sum &+= checksum(statement.row[0]) &+ checksum(statement.row[1])
                    }
                }
                return sum
            },
            Implementation("GRDB row[i]", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    var sum: Int64 = 0
                    try stopwatch.measure {
                        let rows = try GRDB.Row.fetchCursor(grdb, sql: sql)
                        while let row = try rows.next() { sum &+= checksum(row[0]) &+ checksum(row[1]) }
                    }
                    return sum
                }
            },
        ])
}

/// Rows of 1 blob of 900 bytes, copied out.
func blob(scale: Int) throws -> Workload {
    let rows = 5_000 * scale
    let databases = try Databases(
        """
        CREATE TABLE t(a BLOB);
        \(numbers(rows)) INSERT INTO t SELECT CAST(printf('%.*c', 900, char(33 + i % 90)) AS BLOB) FROM n
        """)
    let (c, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    let sql = "SELECT a FROM t"

    return Workload(
        count: rows, bar: nil,
        implementations: [
            Implementation("C", .c) { stopwatch in stopwatch.measure { baseline_blob(c, sql) } },
            Implementation("LiteVault [UInt8]", .liteVault) { stopwatch in
                var sum: Int64 = 0
                try stopwatch.measure {
                    try db.forEach(SQL(sql: sql)) { row in
                        let bytes = try row.get(0, as: [UInt8].self)
                        sum &+= Int64(bytes.count) * 256 + Int64(bytes.first ?? 0)
                    }
                }
                return sum
            },
            Implementation("LiteVault Data", .other) { stopwatch in
                var sum: Int64 = 0
                try stopwatch.measure {
                    try db.forEach(SQL(sql: sql)) { row in
                        let bytes = try row.get(0, as: Data.self)
                        sum &+= Int64(bytes.count) * 256 + Int64(bytes.first ?? 0)
                    }
                }
                return sum
            },
            Implementation("GRDB Data", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    var sum: Int64 = 0
                    try stopwatch.measure {
                        let rows = try GRDB.Row.fetchCursor(grdb, sql: sql)
                        while let row = try rows.next() {
                            let bytes: Data = row[0]
                            sum &+= Int64(bytes.count) * 256 + Int64(bytes.first ?? 0)
                        }
                    }
                    return sum
                }
            },
        ])
}
