import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

@Suite struct AccessTests {
    let scratch = Scratch()

    private func withPool(_ body: (DatabasePool) async throws -> Void) async throws {
        let pool = try DatabasePool(scratch.path("records.db"))
        try await pool.write { db in
            try db.execute(City.schema)
            try db.execute(Note.schema)
        }
        try await body(pool)
        try await pool.close()
    }

    @Test func `each function is one line on a pool, and waits without a thread where it is awaited`() async throws {
        try await withPool { pool in
            var city = City(name: "Bonn")
            try await city.insert(pool)
            #expect(city.id == 1)
            city.population = 330
            try await city.update(pool)
            #expect(try await city.updateChanges(pool) { $0.name = "Ulm" })
            try await city.save(pool)
            try await city.upsert(pool)
            #expect(try await City.find(pool, 1) == city)
            #expect(try await City.find(pool, [1]) == [city])
            #expect(try await City.first(pool, key: 2) == nil)
            #expect(try await City.all(pool, keys: [1, 2]) == [city])
            #expect(try await City.find(pool, where: City.name == "Ulm") == city)
            #expect(try await City.filter(City.name == "Ulm").all(pool) == [city])
            #expect(try await City.query.first(pool) == city)
            #expect(try await City.query.one(pool) == city)
            #expect(try await City.count(pool) == 1)
            #expect(try await City.query.count(pool) == 1)
            #expect(try await City.query.exists(pool))
            #expect(try await City.exists(pool, key: 1))
            #expect(try await city.exists(pool))
            #expect(try await City.updateAll(pool, City.population <- 4) == 1)
            try await city.refresh(pool)
            #expect(city.population == 4)
            var note = Note(title: "x")
            try await note.upsert(pool, onConflictOf: Note.title)
            #expect(note.id == 1)
            #expect(try await city.delete(pool))
            #expect(try await City.deleteAll(pool) == 0)
        }
    }

    @Test func `H-SCH-23 a record whose write was not committed is as it was, and can be written again`() throws {
        let writer = try Connection(scratch.path("shared.db"))
        try writer.execute(Note.schema)
        var note = Note(title: "Milk")
        try note.insert(writer)
        let reader = try Connection(scratch.path("shared.db"))
        let writes: [(inout Note, Connection) throws -> Void] = [
            { note, db in try note.save(db) }, { note, db in try note.update(db) }, { note, db in try note.upsert(db) },
        ]
        for (index, write) in writes.enumerated() {
            note.body = "\(index)"
            let before = note
            try reader.execute("BEGIN")
            #expect(try reader.value("SELECT count(*) FROM note", as: Int.self) == 1)
            #expect { try write(&note, writer) } throws: { ($0 as? DatabaseError)?.resultCode.primary == .busy }
            #expect(note == before)
            try reader.execute("COMMIT")
            try write(&note, writer)
            #expect(note.version == before.version + 1)
            #expect(try Note.find(reader, 1) == note)
        }
    }

    @Test func `objects have the same lines where they may be used by several threads`() async throws {
        try await withPool { pool in
            try await pool.write { try $0.execute(Ledger.schema) }
            let ledger = Ledger(name: "cash")
            try await ledger.insert(pool)
            #expect(ledger.state.withLock { $0.id } == 1)
            #expect(try await ledger.updateChanges(pool) { $0.state.withLock { $0.name = "bank" } })
            #expect(try await !ledger.updateChanges(pool) { _ in })
            try await pool.write { try $0.execute("UPDATE ledger SET name = 'till'") }
            try await ledger.refresh(pool)
            #expect(ledger.state.withLock { $0.name } == "till")
            ledger.state.withLock { $0.name = "box" }
            try await ledger.update(pool)
            try await ledger.save(pool)
            try await ledger.upsert(pool)
            #expect(try await Ledger.all(pool).map { $0.state.withLock { $0.name } } == ["box"])
            #expect(try await ledger.delete(pool))
            await #expect(throws: VaultError.self) { try await ledger.refresh(pool) }
        }
    }

    @Test func `a closure gets each record of a read, and rows of a statement are records`() async throws {
        try await withPool { pool in
            for name in ["Bonn", "Ulm"] {
                var city = City(name: name)
                try await city.insert(pool)
            }
            let names = SeenStatements()
            try await City.order(City.name.desc).forEach(pool) { names.texts.append($0.name) }
            #expect(names.texts == ["Ulm", "Bonn"])
            let sql: SQL = "SELECT \(City.columnList) FROM city WHERE name < ?"
            #expect(try await City.all(pool, sql: sql, with: "C").map(\.name) == ["Bonn"])
            #expect(try await City.first(pool, sql: sql, with: "Z")?.name == "Bonn")
            #expect(try await City.first(pool, sql: sql, with: "A") == nil)
            await #expect(throws: VaultError.self) { try await City.all(pool, sql: "SELECT 1") }
        }
    }

    @Test func `the same functions block a thread where nothing is awaited`() async throws {
        try await withPool { pool in try useWithoutWaiting(pool) }
        let queue = try DatabaseQueue()
        try await queue.write { try $0.execute(City.schema) }
        try useWithoutWaiting(queue)
    }

    private func useWithoutWaiting(_ database: DatabaseAccess) throws {
        var city = City(name: "Bonn")
        try city.insert(database)
        #expect(try city.updateChanges(database) { $0.population = 1 })
        #expect(try City.find(database, 1) == city)
        #expect(try City.filter(City.population == 1).all(database) == [city])
        #expect { try City.find(database, 2) } throws: { ($0 as? VaultError)?.code == .notFound }
        #expect(try city.delete(database))
    }

    @Test func `a record is as it was when a pool or queue cannot commit it`() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(Note.schema)
            // A foreign key that is checked by COMMIT.
            try db.execute(
                """
                CREATE TABLE child (parent INTEGER REFERENCES city DEFERRABLE INITIALLY DEFERRED);
                CREATE TRIGGER badInsert AFTER INSERT ON note WHEN new.title = 'bad' BEGIN INSERT INTO child VALUES (9); END;
                CREATE TRIGGER badUpdate AFTER UPDATE ON note WHEN new.title = 'bad' BEGIN INSERT INTO child VALUES (9); END
                """)
            try db.execute(City.schema)
        }
        var note = Note(title: "Milk")
        try note.insert(queue)
        note.title = "bad"
        let changed = note
        #expect(throws: (any Error).self) { try note.update(queue) }
        #expect(note == changed)
        #expect(throws: (any Error).self) { try note.save(queue) }
        #expect(note == changed)
        note.title = "Milk"
        let former = note
        #expect(throws: (any Error).self) { try note.updateChanges(queue) { $0.title = "bad" } }
        #expect(note == former)
        try note.update(queue)
        #expect(note.version == former.version + 1)
        var other = Note(title: "bad")
        #expect(throws: (any Error).self) { try other.insert(queue) }
        #expect(other == Note(title: "bad"))
    }

    @Test func `inside an access of the same database a one-line form throws instead of waiting for itself`()
        async throws
    {
        try await withPool { pool in
            #expect { try countInsideWrite(pool) } throws: { ($0 as? VaultError)?.code == .reentrant }
        }
    }

    private func countInsideWrite(_ database: DatabaseAccess) throws {
        try database.write { _ in _ = try City.count(database) }
    }
}

/// A class that several threads may use.
private final class Ledger: RecordObject, Sendable {
    struct State: Sendable {
        var id: Int64?
        var name: String
    }

    let state: Guarded<State>

    static let schema = "CREATE TABLE ledger (id INTEGER PRIMARY KEY, name TEXT NOT NULL)"
    static let table = RecordTable<Ledger>("ledger", [.rowID("id", \.rowID), "name"])
    var primaryKey: Int64? { rowID }
    var rowID: Int64? {
        get { state.withLock { $0.id } }
        set { state.withLock { $0.id = newValue } }
    }

    init(name: String) { state = Guarded(State(id: nil, name: name)) }

    init(row: inout RecordReader) throws { state = Guarded(State(id: try row.next(), name: try row.next())) }

    func reload(row: inout RecordReader) throws {
        let read = State(id: try row.next(), name: try row.next())
        state.withLock { $0 = read }
    }

    func write(to row: inout RecordWriter) {
        let state = state.withLock { $0 }
        row.bind(state.id)
        row.bind(state.name)
    }
}

/// A value that several threads use.
private final class Guarded<Value>: @unchecked Sendable {  // `value` only under the lock
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<T>(_ body: (inout Value) -> T) -> T { lock.withLock { body(&value) } }
}
