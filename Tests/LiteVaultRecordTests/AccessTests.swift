import Foundation
import LiteVault
import Testing

@Suite struct AccessTests {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    private func withPool(_ body: (DatabasePool) async throws -> Void) async throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let pool = try DatabasePool(directory.appendingPathComponent("records.db").path)
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
        #expect { try City.find(database, 2) } throws: { RecordError.Code.notFound ~= $0 }
        #expect(try city.delete(database))
    }

    @Test func `inside an access of the same database a one-line form throws instead of waiting for itself`()
        async throws
    {
        try await withPool { pool in
            #expect { try countInsideWrite(pool) } throws: { ($0 as? DatabaseAccessError)?.code == .reentrant }
        }
    }

    private func countInsideWrite(_ database: DatabaseAccess) throws {
        try database.write { _ in _ = try City.count(database) }
    }
}
