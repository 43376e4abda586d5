import Foundation
import SQLite
import Testing

// The platform's places, as a directory of the tests' own, so that no run leaves files in a home.
private let home = try? Folder()

private func NSSearchPathForDirectoriesInDomains(
    _ directory: FileManager.SearchPathDirectory, _ domain: FileManager.SearchPathDomainMask, _ expandTilde: Bool
) -> [String] { home.map { [$0.path] } ?? [] }

private struct Bundle {
    static let main = Bundle()
    let bundleIdentifier: String? = "example.seeds"
    func path(forResource name: String, ofType type: String) -> String? { home.map { $0(name + "." + type) } }
}

@Suite(.serialized) struct ConnectingSeeds {
    let folder: Folder
    init() throws { folder = try Folder() }

    // seeds 000:340 001:138 002:62 003:40
    @Test func `a path opens a database, and creates a missing one`() throws {
        let db = try Connection(folder("db.sqlite3"))
        try db.run("CREATE TABLE t (a)")
        #expect(FileManager.default.fileExists(atPath: folder("db.sqlite3")))
    }

    // seeds 000:351 001:144 002:1325 003:48
    @Test func `a database in the documents directory`() throws {
        let path = NSSearchPathForDirectoriesInDomains(
            .documentDirectory, .userDomainMask, true
        ).first!

        let db = try Connection("\(path)/db.sqlite3")
        #expect(db.description.hasSuffix("/db.sqlite3"))
    }

    // seeds 000:361 001:152 002:1066 003:58
    @Test func `a bundled database is copied once, then opened`() throws {
        func copyDatabaseIfNeeded(sourcePath: String) -> Bool {
            let documents = NSSearchPathForDirectoriesInDomains(.documentDirectory, .userDomainMask, true).first!
            let destinationPath = documents + "/copied.sqlite3"
            let exists = FileManager.default.fileExists(atPath: destinationPath)
            guard !exists else { return false }
            do {
                try FileManager.default.copyItem(atPath: sourcePath, toPath: destinationPath)
                return true
            } catch {
                print("error during file copy: \(error)")
                return false
            }
        }
        let source = try Connection(folder("source.sqlite3"))
        try source.execute("CREATE TABLE t (a); INSERT INTO t VALUES (7)")
        try source.close()
        #expect(copyDatabaseIfNeeded(sourcePath: folder("source.sqlite3")))
        #expect(!copyDatabaseIfNeeded(sourcePath: folder("source.sqlite3")))
        let documents = try #require(home)
        let copy = try Connection(documents("copied.sqlite3"))
        #expect(try copy.scalar("SELECT a FROM t") as? Int64 == 7)
    }

    // seeds 000:379 001:168 002:708 003:76
    @Test func `a database in a directory under application support`() throws {
        // set the path corresponding to application support
        let path =
            NSSearchPathForDirectoriesInDomains(
                .applicationSupportDirectory, .userDomainMask, true
            ).first! + "/" + Bundle.main.bundleIdentifier!

        // create parent directory inside application support if it doesn’t exist
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: nil
        )

        let db = try Connection("\(path)/db.sqlite3")
        try db.run("CREATE TABLE t (a)")
        #expect(FileManager.default.fileExists(atPath: "\(path)/db.sqlite3"))
    }

    // seeds 000:401 001:184 002:556 003:93
    @Test func `a bundled database is opened read-only, and refuses writing`() throws {
        let bundled = try #require(Bundle.main.path(forResource: "bundled", ofType: "sqlite3"))
        let made = try Connection(bundled)
        try made.run("CREATE TABLE t (a)")
        try made.close()
        let path = Bundle.main.path(forResource: "bundled", ofType: "sqlite3")!

        let db = try Connection(path, readonly: true)
        #expect(db.readonly)
        #expect(throws: (any Error).self) { try db.run("INSERT INTO t VALUES (1)") }
    }

    // seeds 000:433 001:200 002:1313 003:109
    @Test func `without an argument the database is in memory`() throws {
        let db = try Connection()  // equivalent to `Connection(.inMemory)`
        #expect(db.description == "")
        #expect(try Connection(.inMemory).description == db.description)
        try db.run("CREATE TABLE t (a)")
    }

    // seeds 000:439 001:204 002:440 003:115
    @Test func `a temporary database has no name`() throws {
        let db = try Connection(.temporary)
        try db.run("CREATE TABLE t (a)")
        #expect(db.description == "")
    }

    // seeds 000:453 001:212 002:350
    @Test func `parameters of a URI are passed on`() throws {
        let db = try Connection(.uri(folder("file.sqlite"), parameters: [.cache(.private), .noLock(true)]))
        try db.run("CREATE TABLE t (a)")
        #expect(FileManager.default.fileExists(atPath: folder("file.sqlite")))
    }

    // seeds 000:472 001:222 002:1409 003:127
    @Test func `a busy timeout and a busy handler replace each other, and end the waiting`() throws {
        let other = try Connection(folder("busy.sqlite3"))
        try other.execute("CREATE TABLE t (a); BEGIN EXCLUSIVE")
        let db = try Connection(folder("busy.sqlite3"))
        db.busyTimeout = 5  // error after 5 seconds (does multiple retries)
        #expect(db.busyTimeout == 5)

        db.busyHandler({ tries in
            tries < 3  // error after 3 tries
        })
        #expect { try db.run("INSERT INTO t VALUES (1)") } throws: { error in
            guard case Result.error(_, let code, _) = error else { return false }
            return code == SQLITE_BUSY
        }
    }
}
