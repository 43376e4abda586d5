internal import CSQLCipherBaseline
internal import Foundation
internal import LiteVault
internal import SQLite

/// What LiteVault adds on an encrypted file, where the cache holds few of its pages: each page that is read is decrypted and
/// its digest is checked, by the same SQLCipher for all implementations.
@main
enum Encrypted {
    static func main() {
        let files = Files()
        let status = runBenchmarks([
            ("encrypted insert", files.insert), ("encrypted fetch", files.fetch), ("encrypted look-up", files.lookUp),
            ("encrypted typed fetch", files.typedFetch),
        ])
        files.remove()
        exit(status)
    }
}

/// Encrypted files in a directory of their own.
final class Files {
    private let directory: String
    private let digits = String(repeating: "5a", count: 32)
    private let insertion = "INSERT INTO t VALUES (?, ?, ?, ?)"
    private let everything = "SELECT id, a, b, c FROM t"
    private let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b REAL, c TEXT)"
    /// Opens the n-th file.
    private var count = 0

    init() { directory = NSTemporaryDirectory() + "litevault-encrypted-" + UUID().uuidString }

    func remove() { try? FileManager.default.removeItem(atPath: directory) }

    private func newPath() throws -> String {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        count += 1
        return directory + "/\(count).db"
    }

    private func connect(_ path: String) throws -> Connection {
        let db = try Connection(path, key: .raw([UInt8](repeating: 0x5a, count: 32)))
        try db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = 32")
        return db
    }

    /// A file with rows, opened both ways.
    private func filled(_ rows: Int) throws -> (c: OpaquePointer, liteVault: Connection) {
        let path = try newPath()
        let db = try connect(path)
        try db.execute(schema)
        let c = cipher_open(path, digits)
        cipher_insert(c, insertion, Int64(rows))
        return (c, db)
    }

    /// Rows of 4 columns inserted with one statement, 100 in each transaction, into a new file each time.
    func insert(scale: Int) throws -> Workload {
        let rows = 20_000 * scale
        let texts = (0..<64).map { "a text of some length, \($0)" }
        func sum(_ db: Connection) throws -> Int64 {
            try db.value("SELECT count(*) + sum(a) + CAST(sum(b) AS INTEGER) + sum(length(c)) FROM t", as: Int64.self)
        }
        return Workload(
            count: rows, bar: 1.15,
            implementations: [
                Implementation("C", .c) { stopwatch in
                    let path = try self.newPath()
                    let db = try self.connect(path)
                    try db.execute(self.schema)
                    let c = cipher_open(path, self.digits)
                    stopwatch.measure { cipher_insert(c, self.insertion, Int64(rows)) }
                    cipher_close(c)
                    return try sum(db)
                },
                Implementation("LiteVault run(with:)", .liteVault) { stopwatch in
                    let db = try self.connect(self.newPath())
                    try db.execute(self.schema)
                    try stopwatch.measure {
                        let statement = try db.prepare(self.insertion)
                        for first in stride(from: 0, to: rows, by: 100) {
                            try db.transaction {
                                for i in first..<min(first + 100, rows) {
                                    try statement.run(with: i + 1, i &* 7, Double(i) * 0.5, texts[i % 64])
                                }
                            }
                        }
                    }
                    return try sum(db)
                },
            ])
    }

    /// All rows of a file that is larger than the cache.
    func fetch(scale: Int) throws -> Workload {
        let rows = 20_000 * scale
        let (c, db) = try filled(rows)
        return Workload(
            count: rows, bar: 1.15,
            implementations: [
                Implementation("C", .c) { stopwatch in stopwatch.measure { cipher_fetch(c, self.everything) } },
                Implementation("LiteVault forEach", .liteVault) { stopwatch in
                    try stopwatch.measure {
                        var sum: Int64 = 0
                        try db.forEach(self.everything) { sum &+= try Self.sum($0) }
                        return sum
                    }
                },
                Implementation("module SQLite: row[i]", .other) { stopwatch in
                    try stopwatch.measure {
                        var sum: Int64 = 0
                        let statement = try db.prepare(self.everything)
                        while try statement.step() {
                            let row = statement.row
                            sum &+= (row[0] as Int64) &+ (row[1] as Int64) &+ Int64(row[2] as Double)
                            sum &+= Self.sum(row[3] as String)
                        }
                        return sum
                    }
                },
            ])
    }

    /// The same by the typed layer, into tuples and by expressions.
    func typedFetch(scale: Int) throws -> Workload {
        let rows = 20_000 * scale
        let (c, db) = try filled(rows)
        let (id, a) = (SQLExpression<Int64>("id"), SQLExpression<Int64>("a"))
        let (b, text) = (SQLExpression<Double>("b"), SQLExpression<String>("c"))
        let table = Table("t")
        return Workload(
            count: rows, bar: 1.5,
            implementations: [
                Implementation("C", .c) { stopwatch in stopwatch.measure { cipher_fetch(c, self.everything) } },
                Implementation("LiteVault all(select), tuples", .liteVault) { stopwatch in
                    try stopwatch.measure {
                        try db.all(table.select(id, a, b, text)).reduce(0) {
                            $0 &+ $1.0 &+ $1.1 &+ Int64($1.2) &+ Self.sum($1.3)
                        }
                    }
                },
                Implementation("module SQLite: row[expression]", .other) { stopwatch in
                    try stopwatch.measure {
                        var sum: Int64 = 0
                        for row in try db.prepare(table.select(id, a, b, text)) {
                            sum &+= row[id] &+ row[a] &+ Int64(row[b]) &+ Self.sum(row[text])
                        }
                        return sum
                    }
                },
            ])
    }

    /// Single rows, most of them on pages that the cache has not.
    func lookUp(scale: Int) throws -> Workload {
        let count = 20_000 * scale
        let rows = 20_000
        let (c, db) = try filled(rows)
        let sql = everything + " WHERE id = ?"
        return Workload(
            count: count, bar: 1.15,
            implementations: [
                Implementation("C, one statement", .c) { stopwatch in
                    stopwatch.measure { cipher_lookup(c, sql, Int64(count), Int64(rows)) }
                },
                Implementation("LiteVault first(sql, with:)", .liteVault) { stopwatch in
                    try stopwatch.measure {
                        try (0..<count).reduce(0) { sum, i in
                            sum &+ (try db.first(sql, with: i &* 7919 % rows &+ 1) { try Self.sum($0) } ?? 0)
                        }
                    }
                },
                Implementation("module SQLite: bind, step, row[i]", .other) { stopwatch in
                    try stopwatch.measure {
                        var sum: Int64 = 0
                        let statement = try db.prepare(sql)
                        for i in 0..<count {
                            guard try statement.bind(i &* 7919 % rows &+ 1).step() else { continue }
                            let row = statement.row
                            sum &+= (row[0] as Int64) &+ (row[1] as Int64) &+ Int64(row[2] as Double)
                            sum &+= Self.sum(row[3] as String)
                        }
                        return sum
                    }
                },
            ])
    }

    private static func sum(_ row: borrowing RowView) throws -> Int64 {
        try row.get(0, as: Int64.self) &+ row.get(1) &+ Int64(row.get(2, as: Double.self)) &+ sum(row.get(3))
    }

    private static func sum(_ text: String) -> Int64 { Int64(text.utf8.count) &+ Int64(text.utf8.first ?? 0) }
}
