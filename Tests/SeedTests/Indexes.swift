import SQLite
import Testing

@Suite struct IndexSeeds {
    let sample: Sample
    var db: Connection { sample.db }
    init() throws { sample = try Sample() }

    // seeds 000:1720 001:1001 002:1009 003:961
    @Test func `an index is created`() throws {
        let ran = try sample.ran { try db.run(users.createIndex(email)) }
        expectSQL(ran[0], #"CREATE INDEX "index_users_on_email" ON "users" ("email")"#)
    }

    // seeds 000:1732 001:1010 002:905 003:972
    @Test func `a unique index is created`() throws {
        let ran = try sample.ran { try db.run(users.createIndex(email, unique: true)) }
        expectSQL(ran[0], #"CREATE UNIQUE INDEX "index_users_on_email" ON "users" ("email")"#)
    }

    // seeds 000:1741 001:1014 002:274 003:979
    @Test func `an index that exists is left alone`() throws {
        try db.run(users.createIndex(email))
        let ran = try sample.ran { try db.run(users.createIndex(email, ifNotExists: true)) }
        expectSQL(ran[0], #"CREATE INDEX IF NOT EXISTS "index_users_on_email" ON "users" ("email")"#)
    }

    // seeds 000:1754 001:1021 002:538 003:988
    @Test func `an index is dropped`() throws {
        try db.run(users.createIndex(email))
        let ran = try sample.ran { try db.run(users.dropIndex(email)) }
        expectSQL(ran[0], #"DROP INDEX "index_users_on_email""#)
    }

    // seeds 000:1762 001:1026 002:543 003:995
    @Test func `an index is dropped where it exists`() throws {
        let ran = try sample.ran { try db.run(users.dropIndex(email, ifExists: true)) }
        expectSQL(ran[0], #"DROP INDEX IF EXISTS "index_users_on_email""#)
    }
}
