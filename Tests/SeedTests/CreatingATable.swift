import SQLite
import Testing

@Suite struct CreatingATableSeeds {
    // seeds 000:579 001:285 003:199
    @Test func `a table is created by its columns`() throws {
        let db = try Connection()
        try db.run(users.create { t in  // CREATE TABLE "users" (
            t.column(id, primaryKey: true)  //     "id" INTEGER PRIMARY KEY NOT NULL,
            t.column(email, unique: true)  //     "email" TEXT UNIQUE NOT NULL,
            t.column(name)  //     "name" TEXT
        })  // )
        expectSQL(
            try #require(try db.scalar("SELECT sql FROM sqlite_master WHERE name = 'users'") as? String),
            #"CREATE TABLE "users" ("id" INTEGER PRIMARY KEY NOT NULL, "email" TEXT UNIQUE NOT NULL, "name" TEXT)"#,
            really: #"CREATE TABLE "users" ("id" INTEGER PRIMARY KEY NOT NULL, "email" TEXT NOT NULL UNIQUE, "name" TEXT)"#)
    }

    // seeds 000:601 001:299 002:262 003:215
    @Test func `a temporary table is in temp`() throws {
        let db = try Connection()
        let create = users.create(temporary: true) { t in t.column(id) }
        try db.run(create)
        expectSQL(create, #"CREATE TEMPORARY TABLE "users" ("id" INTEGER NOT NULL)"#)
        #expect(try db.scalar("SELECT count(*) FROM sqlite_temp_master") as? Int64 == 1)
    }

    // seeds 000:610 001:303 002:207 003:224
    @Test func `a table that exists is left alone`() throws {
        let db = try Sample().db
        let create = users.create(ifNotExists: true) { t in t.column(id) }
        try db.run(create)
        expectSQL(
            create, #"CREATE TABLE "users" IF NOT EXISTS ("id" INTEGER NOT NULL)"#,
            really: #"CREATE TABLE IF NOT EXISTS "users" ("id" INTEGER NOT NULL)"#)
        #expect(try db.scalar(users.count) == 2)
    }

    // seeds 000:625 001:312 003:235
    @Test func `primary keys of a column`() throws {
        expectSQL(
            try definition { t in t.column(id, primaryKey: true) },
            #""id" INTEGER PRIMARY KEY NOT NULL"#)
        expectSQL(
            try definition { t in t.column(id, primaryKey: .autoincrement) },
            #""id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"#)
    }

    // seeds 000:647 001:326 002:570 003:251
    @Test func `a unique column`() throws {
        expectSQL(
            try definition { t in t.column(email, unique: true) },
            #""email" TEXT UNIQUE NOT NULL"#, really: #""email" TEXT NOT NULL UNIQUE"#)
    }

    // seeds 000:659 001:330 002:1199 003:258
    @Test func `a column with a check`() throws {
        expectSQL(
            try definition { t in t.column(email, check: email.like("%@%")) },
            #""email" TEXT NOT NULL CHECK ("email" LIKE '%@%')"#)
    }

    // seeds 000:669 001:334 003:265
    @Test func `a column with a default value`() throws {
        expectSQL(
            try definition { t in t.column(name, defaultValue: "Anonymous") },
            #""name" TEXT DEFAULT 'Anonymous'"#, really: #""name" TEXT DEFAULT ('Anonymous')"#)
    }

    // seeds 000:685 001:341 002:491 002:496 003:274
    @Test func `columns with a collation`() throws {
        expectSQL(
            try definition { t in t.column(email, collate: .nocase) },
            #""email" TEXT NOT NULL COLLATE "NOCASE""#, really: #""email" TEXT NOT NULL COLLATE NOCASE"#)
        expectSQL(
            try definition { t in t.column(name, collate: .rtrim) },
            #""name" TEXT COLLATE "RTRIM""#, really: #""name" TEXT COLLATE RTRIM"#)
    }

    // seeds 000:699 001:348 003:284
    @Test func `a column that references another table`() throws {
        let user_id = Expression<Int64?>("user_id")
        expectSQL(
            try definition { t in t.column(user_id, references: users, id) },
            #""user_id" INTEGER REFERENCES "users" ("id")"#)
    }

    // seeds 000:722 001:359 002:1036 003:297
    @Test func `a composite primary key, with an order`() throws {
        expectSQL(
            try definition { t in
                t.column(email)
                t.column(name)
                t.primaryKey(email.asc, name)
            },
            #""email" TEXT NOT NULL, "name" TEXT, PRIMARY KEY("email" ASC, "name")"#,
            really: #""email" TEXT NOT NULL, "name" TEXT, PRIMARY KEY ("email" ASC, "name")"#)
    }

    // seeds 000:731 001:363 002:509 003:304
    @Test func `a composite unique constraint`() throws {
        let local = Expression<String>("local")
        let domain = Expression<String>("domain")
        expectSQL(
            try definition { t in
                t.column(local)
                t.column(domain)
                t.unique(local, domain)
            },
            #""local" TEXT NOT NULL, "domain" TEXT NOT NULL, UNIQUE("local", "domain")"#,
            really: #""local" TEXT NOT NULL, "domain" TEXT NOT NULL, UNIQUE ("local", "domain")"#)
    }

    // seeds 000:742 001:367 002:872 003:311
    @Test func `a check of the table`() throws {
        expectSQL(
            try definition { t in
                t.column(balance)
                t.check(balance >= 0)
            },
            #""balance" REAL NOT NULL, CHECK ("balance" >= 0.0)"#,
            really: #""balance" REAL NOT NULL, CHECK (("balance" >= 0.0))"#)
    }

    // seeds 000:753 001:371 002:821 003:318
    @Test func `a foreign key with an action`() throws {
        expectSQL(
            try definition { t in
                t.column(userId)
                t.foreignKey(userId, references: users, id, delete: .setNull)
            },
            #""user_id" INTEGER, FOREIGN KEY("user_id") REFERENCES "users"("id") ON DELETE SET NULL"#,
            really: #""user_id" INTEGER, FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE SET NULL"#)
    }
}
