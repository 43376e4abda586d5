import Foundation
import LiteVault

private let select: SQL = "SELECT id, a, b, c FROM item WHERE id = ?"

private func read(_ db: Connection, _ id: Int64) throws -> Int64 {
    let row = try db.first(select, with: id) { row in
        (
            try row.get(0, as: Int64.self), try row.get(1, as: Int64.self), try row.get(2, as: String.self),
            try row.get(3, as: Double.self)
        )
    }
    guard let row, row.2.utf8.count > 4 else { throw Wrong() }
    return row.0
}

private func fill(_ db: Connection) throws {
    try db.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c REAL)")
    for id in 1...PoolBenchmarks.rows {
        try db.run("INSERT INTO item VALUES (?, ?, ?, ?)", with: Int64(id), Int64(id), "item number \(id)", 0.5)
    }
}

private func update(_ db: Connection, _ id: Int64, _ value: Int64) throws {
    try db.run("UPDATE item SET a = ? WHERE id = ?", with: value, id)
}

private func configuration() -> DatabaseConfiguration {
    var configuration = DatabaseConfiguration()
    // As GRDB's pool has it.
    configuration.synchronous = .normal
    return configuration
}

struct LiteVaultPoolSubject: Subject {
    let pool: DatabasePool
    let reading: Reading

    init(_ path: String, reading: Reading) throws {
        pool = try DatabasePool(path, configuration: configuration())
        self.reading = reading
        try pool.write(fill)
    }

    var name: String { "LiteVault DatabasePool" }
    var isAsync: Bool { reading == .async }
    func readAsync(_ id: Int64) async throws -> Int64 {
        try await pool.read { try PoolBenchmarks.liteVaultRead($0, id) }
    }
    func readSync(_ id: Int64) throws -> Int64 { try pool.read { try read($0, id) } }
    func write(_ id: Int64, value: Int64) throws { try pool.write { try update($0, id, value) } }
}

extension PoolBenchmarks {
    static func liteVaultRead(_ db: Connection, _ id: Int64) throws -> Int64 { try read(db, id) }
}

struct LiteVaultQueueSubject: Subject {
    let queue: DatabaseQueue
    let reading: Reading

    init(_ path: String, reading: Reading) throws {
        queue = try DatabaseQueue(path, configuration: configuration())
        self.reading = reading
        try queue.writeWithoutTransaction { try $0.setPragma(.journalMode, to: .wal) }
        try queue.write(fill)
    }

    var name: String { "LiteVault DatabaseQueue, one connection" }
    var isAsync: Bool { reading == .async }
    func readAsync(_ id: Int64) async throws -> Int64 {
        try await queue.read { try PoolBenchmarks.liteVaultRead($0, id) }
    }
    func readSync(_ id: Int64) throws -> Int64 { try queue.read { try read($0, id) } }
    func write(_ id: Int64, value: Int64) throws { try queue.write { try update($0, id, value) } }
}

/// A connection that all threads share: it has a lock of its own.
struct LiteVaultConnectionSubject: Subject {
    let db: Connection

    init(_ path: String) throws {
        db = try Connection(path, journalMode: .wal)
        try db.setPragma(.synchronous, to: .normal)
        let db = db
        try db.transaction { try fill(db) }
    }

    var name: String { "LiteVault Connection, one for all" }
    var isAsync: Bool { false }
    func readAsync(_ id: Int64) async throws -> Int64 { throw Wrong() }
    func readSync(_ id: Int64) throws -> Int64 { try read(db, id) }
    func write(_ id: Int64, value: Int64) throws { try db.transaction(.immediate) { try update(db, id, value) } }
}
