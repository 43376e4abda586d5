internal import CBaseline
internal import Foundation
internal import GRDB
internal import LiteVault
internal import SQLite

/// Rows of 5 columns inserted with one statement, in a transaction.
func insert(scale: Int) throws -> Workload {
    let rows = 20_000 * scale
    let databases = try Databases("CREATE TABLE t(a INTEGER, b INTEGER, c REAL, d TEXT, e INTEGER)")
    let (c, db, queue) = (databases.c, databases.liteVault, databases.grdb)
    let sql = "INSERT INTO t VALUES (?, ?, ?, ?, ?)"
    let checksum = "SELECT count(*) + sum(a) + sum(b) + CAST(sum(c) AS INTEGER) + sum(length(d)) + sum(e) FROM t"
    let texts = (0..<64).map { "a text of some length, \($0)" }
    // They live as long as the process, as the closure does.
    let cTexts = UnsafeMutableBufferPointer<UnsafePointer<CChar>>.allocate(capacity: texts.count)
    for (index, text) in texts.enumerated() {
        guard let copy = strdup(text) else { throw Failure("no memory") }
        cTexts.initializeElement(at: index, to: UnsafePointer(copy))
    }

    /// The rows of one round, thrown away after they were summed up.
    func inserting(_ body: () throws -> Void) throws -> Int64 {
        try db.execute("BEGIN")
        try body()
        let sum = try db.value(SQL(sql: checksum), as: Int64?.self)
        try db.execute("ROLLBACK")
        return sum ?? -1
    }
    func insertingWithGRDB(_ body: (Database) throws -> Void) throws -> Int64 {
        try queue.inDatabase { grdb in
            try grdb.execute(sql: "BEGIN")
            try body(grdb)
            let sum = try Int64.fetchOne(grdb, sql: checksum)
            try grdb.execute(sql: "ROLLBACK")
            return sum ?? -1
        }
    }

    return Workload(
        count: rows, bar: 1.15,
        implementations: [
            Implementation("C", .c) { stopwatch in
                _ = baseline_execute(c, "BEGIN")
                guard let first = UnsafePointer(cTexts.baseAddress) else { return -1 }
                stopwatch.measure { baseline_insert(c, sql, Int64(rows), first, 64) }
                let sum = baseline_execute(c, checksum)
                _ = baseline_execute(c, "ROLLBACK")
                return sum
            },
            Implementation("LiteVault run(with:)", .liteVault) { stopwatch in
                try inserting {
                    try stopwatch.measure {
                        let statement = try db.prepare(sql)
                        for i in 0..<rows {
                            try statement.run(
                                with: i, i &* 7, Double(i) * 0.5, texts[i % 64], i & 1 == 1 ? i : nil)
                        }
                    }
                }
            },
            Implementation("LiteVault run(_:), untyped", .other) { stopwatch in
                try inserting {
                    try stopwatch.measure {
                        let statement = try db.prepare(sql)
                        for i in 0..<rows {
                            try statement.run(i, i &* 7, Double(i) * 0.5, texts[i % 64], i & 1 == 1 ? i : nil)
                        }
                    }
                }
            },
            Implementation("LiteVault connection.run(literal)", .other) { stopwatch in
                try inserting {
                    try stopwatch.measure {
                        for i in 0..<rows {
                            try db.run(
                                "INSERT INTO t VALUES (\(i), \(i &* 7), \(Double(i) * 0.5), \(texts[i % 64]), \(i & 1 == 1 ? i : nil))"
                                    as LiteVault.SQL)
                        }
                    }
                }
            },
            Implementation("LiteVault connection.run(sql, with:)", .other) { stopwatch in
                let text = SQL(sql: sql)
                return try inserting {
                    try stopwatch.measure {
                        for i in 0..<rows {
                            try db.run(
                                text, with: i, i &* 7, Double(i) * 0.5, texts[i % 64], i & 1 == 1 ? i : nil)
                        }
                    }
                }
            },
            Implementation("GRDB execute(arguments:)", .grdb) { stopwatch in
                try insertingWithGRDB { grdb in
                    try stopwatch.measure {
                        let statement = try grdb.makeStatement(sql: sql)
                        for i in 0..<rows {
                            try statement.execute(
                                arguments: [i, i &* 7, Double(i) * 0.5, texts[i % 64], i & 1 == 1 ? i : nil])
                        }
                    }
                }
            },
            Implementation("GRDB setUncheckedArguments", .grdb) { stopwatch in
                try insertingWithGRDB { grdb in
                    try stopwatch.measure {
                        let statement = try grdb.makeStatement(sql: sql)
                        for i in 0..<rows {
                            statement.setUncheckedArguments(
                                [i, i &* 7, Double(i) * 0.5, texts[i % 64], i & 1 == 1 ? i : nil])
                            try statement.execute()
                        }
                    }
                }
            },
        ])
}
