import SQLite
import Testing

@Suite struct TransactionSeeds {
    // seeds 000:1492 001:861 003:873
    @Test func `statements of a transaction are committed together`() throws {
        let sample = try Sample(rows: false)
        let db = sample.db
        try db.run(users.insert(email <- "alice@mac.com"))
        let ran = try sample.ran {
            try db.transaction {
                let rowid = try db.run(users.insert(email <- "betty@icloud.com"))
                try db.run(users.insert(email <- "cathy@icloud.com", managerId <- rowid))
            }
        }
        expectSQL(ran[0], "BEGIN DEFERRED TRANSACTION")
        expectSQL(ran[1], #"INSERT INTO "users" ("email") VALUES ('betty@icloud.com')"#)
        expectSQL(ran[2], #"INSERT INTO "users" ("email", "manager_id") VALUES ('cathy@icloud.com', 2)"#)
        expectSQL(ran[3], "COMMIT TRANSACTION")
    }
}
