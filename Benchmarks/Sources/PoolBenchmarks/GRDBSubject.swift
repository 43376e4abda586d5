import Foundation
import GRDB

private let select = "SELECT id, a, b, c FROM item WHERE id = ?"

struct GRDBPool: Subject {
    let pool: DatabasePool
    let reading: Reading

    init(_ path: String, reading: Reading) throws {
        pool = try DatabasePool(path: path)
        self.reading = reading
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c REAL)")
            for id in 1...PoolBenchmarks.rows {
                try db.execute(
                    sql: "INSERT INTO item VALUES (?, ?, ?, ?)", arguments: [id, id, "item number \(id)", 0.5])
            }
        }
    }

    var name: String {
        switch reading {
        case .cachedAsync, .cachedSync: "GRDB DatabasePool, cachedStatement"
        case .async, .sync: "GRDB DatabasePool, fetchOne(sql:)"
        }
    }
    var isAsync: Bool { reading == .async || reading == .cachedAsync }

    func readAsync(_ id: Int64) async throws -> Int64 {
        let cached = reading == .cachedAsync
        return try await pool.read { db in try Self.read(db, id, cached: cached) }
    }

    func readSync(_ id: Int64) throws -> Int64 {
        let cached = reading == .cachedSync
        return try pool.read { db in try Self.read(db, id, cached: cached) }
    }

    private static func read(_ db: Database, _ id: Int64, cached: Bool) throws -> Int64 {
        let row =
            cached
            ? try Row.fetchOne(try db.cachedStatement(sql: select), arguments: [id])
            : try Row.fetchOne(db, sql: select, arguments: [id])
        guard let row else { throw Wrong() }
        let values: (Int64, Int64, String, Double) = (row[0], row[1], row[2], row[3])
        guard values.2.utf8.count > 4 else { throw Wrong() }
        return values.0
    }

    func write(_ id: Int64, value: Int64) throws {
        try pool.write { db in
            let statement = try db.cachedStatement(sql: "UPDATE item SET a = ? WHERE id = ?")
            try statement.execute(arguments: [value, id])
        }
    }
}
