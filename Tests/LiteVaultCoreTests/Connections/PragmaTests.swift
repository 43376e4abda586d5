import LiteVaultCore
import Testing

@Suite struct PragmaTests {
    let scratch: Scratch
    let db: Connection

    init() throws {
        scratch = try Scratch()
        db = try Connection(try scratch.database())
    }

    /// A read-only connection to the same file.
    private func reader() throws -> Connection { try Connection(scratch.path("test.db"), readonly: true) }

    @Test(arguments: [0, 1, -1, Int32.max, .min]) func `user_version is read and set`(version: Int32) throws {
        #expect(db.userVersion == 0)
        db.userVersion = version
        #expect(db.userVersion == version)
        #expect(try reader().readUserVersion() == version)
        try db.setUserVersion(3)
        #expect(try db.readUserVersion() == 3)
        db.userVersion = nil
        #expect(db.userVersion == 3)
    }

    @Test func `setting user_version throws where the setter is silent`() throws {
        let reader = try reader()
        reader.userVersion = 7
        #expect(reader.userVersion == 0)
        let error = #expect(throws: DatabaseError.self) { try reader.setUserVersion(7) }
        #expect(error?.resultCode.primary == .readOnly)
    }

    @Test(arguments: [1, -1, Int32.max, .min]) func `application_id is read and set`(id: Int32) throws {
        #expect(try db.readApplicationID() == 0)
        try db.setApplicationID(id)
        #expect(try reader().readApplicationID() == id)
        #expect(throws: DatabaseError.self) { try reader().setApplicationID(1) }
    }

    @Test func `user_version is part of the transaction`() throws {
        #expect(throws: Mishap()) {
            try db.transaction {
                try db.setUserVersion(9)
                throw Mishap()
            }
        }
        #expect(try db.readUserVersion() == 0)
    }

    @Test func `foreign keys are enforced when they are switched on`() throws {
        try db.execute("CREATE TABLE u(id PRIMARY KEY); CREATE TABLE v(u REFERENCES u)")
        db.foreignKeys = true
        #expect(db.foreignKeys)
        let error = #expect(throws: DatabaseError.self) { try db.run("INSERT INTO v VALUES (1)") }
        #expect(error?.resultCode == .constraintForeignKey)
        db.foreignKeys = false
        #expect(!db.foreignKeys)
        try db.run("INSERT INTO v VALUES (1)")
    }

    @Test func `violations can be put off to the end of a transaction`() throws {
        try db.execute("CREATE TABLE u(id PRIMARY KEY); CREATE TABLE v(u REFERENCES u)")
        db.foreignKeys = true
        try db.transaction {
            #expect(!db.deferForeignKeys)
            db.deferForeignKeys = true
            #expect(db.deferForeignKeys)
            try db.run("INSERT INTO v VALUES (1)")
            try db.run("INSERT INTO u VALUES (1)")
        }
        #expect(!db.deferForeignKeys)
    }

    @Test(arguments: Connection.Synchronous.allCases) func `synchronous is read and set`(mode: Connection.Synchronous)
        throws
    {
        db.synchronous = mode
        #expect(db.synchronous == mode)
        try db.setSynchronous(.normal)
        #expect(db.synchronous == .normal)
    }

    @Test func `synchronous is full unless it is set`() { #expect(db.synchronous == .full) }
}
