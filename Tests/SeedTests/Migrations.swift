import SQLite
import Testing

extension Connection {
    // The name is the library's own already.
    fileprivate var ownUserVersion: Int32 {
        get { return Int32(try! scalar("PRAGMA user_version") as! Int64) }
        set { try! run("PRAGMA user_version = \(newValue)") }
    }
}

@Suite struct MigrationSeeds {
    // seeds 000:1777 001:1035 002:583 003:1033
    @Test func `migrations run in turn by the version of the schema`() throws {
        let db = try Connection()
        var ran: [Int] = []
        if db.userVersion == 0 {
            // handle first migration
            ran.append(1)
            db.userVersion = 1
        }
        if db.userVersion == 1 {
            // handle second migration
            ran.append(2)
            db.userVersion = 2
        }
        #expect(ran == [1, 2])
        #expect(db.userVersion == 2)
    }

    // seeds 003:1022
    @Test func `the version is a pragma`() throws {
        let db = try Connection()
        #expect(db.ownUserVersion == 0)
        db.ownUserVersion = 7
        #expect(db.userVersion == 7)
    }
}
