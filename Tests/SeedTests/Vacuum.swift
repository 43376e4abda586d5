import SQLite
import Testing

@Suite struct VacuumSeeds {
    // seeds 000:2396 001:1457 002:219 003:1503
    @Test func `a database is vacuumed`() throws {
        let sample = try Sample()
        let db = sample.db
        #expect(try sample.ran { try db.vacuum() } == ["VACUUM"])
    }
}
