import SQLite
import Testing

@Suite struct AlteringTheSchemaSeeds {
    let sample: Sample
    var db: Connection { sample.db }
    init() throws { sample = try Sample() }

    private func columns(_ table: String = "users") throws -> [String] {
        try db.schema.columnDefinitions(table: table).map(\.name)
    }

    // seeds 000:1555 001:906 002:1300 003:895
    @Test func `a table is renamed`() throws {
        let ran = try sample.ran { try db.run(users.rename(Table("users_old"))) }
        expectSQL(ran[0], #"ALTER TABLE "users" RENAME TO "users_old""#)
        #expect(try db.scalar(Table("users_old").count) == 2)
    }

    // seeds 000:1568 001:913 002:1268 003:1004
    @Test func `a table is dropped`() throws {
        let ran = try sample.ran { try db.run(users.drop()) }
        expectSQL(ran[0], #"DROP TABLE "users""#)
        #expect(throws: Result.self) { try db.run(users.drop()) }
    }

    // seeds 000:1576 001:918 002:1268 003:1011
    @Test func `a table is dropped where it exists`() throws {
        try db.run(users.drop(ifExists: true))
        let ran = try sample.ran { try db.run(users.drop(ifExists: true)) }
        expectSQL(ran[0], #"DROP TABLE IF EXISTS "users""#)
    }

    // seeds 000:1590 001:925 002:1434 003:904
    @Test func `a column is added`() throws {
        let ran = try sample.ran { try db.run(users.addColumn(suffix)) }
        expectSQL(ran[0], #"ALTER TABLE "users" ADD COLUMN "suffix" TEXT"#)
        #expect(try columns().last == "suffix")
    }

    // seeds 000:1607 001:934 002:1421 003:915
    @Test func `a column is added with a check`() throws {
        let ran = try sample.ran {
            try db.run(users.addColumn(suffix, check: ["JR", "SR"].contains(suffix)))
        }
        expectSQL(ran[0], #"ALTER TABLE "users" ADD COLUMN "suffix" TEXT CHECK ("suffix" IN ('JR', 'SR'))"#)
        #expect(throws: Result.self) { try db.run(users.update(suffix <- "XX")) }
    }

    // seeds 000:1616 001:938 003:922
    @Test func `a column is added with a default value`() throws {
        let ran = try sample.ran { try db.run(users.addColumn(suffix, defaultValue: "SR")) }
        expectSQL(
            ran[0], #"ALTER TABLE "users" ADD COLUMN "suffix" TEXT DEFAULT 'SR'"#,
            really: #"ALTER TABLE "users" ADD COLUMN "suffix" TEXT DEFAULT ('SR')"#)
        #expect(try db.scalar(users.select(suffix)) == "SR")
    }

    // seeds 000:1630 001:945 003:931
    @Test func `columns are added with a collation`() throws {
        let contacts = Table("contacts")
        try db.run("CREATE TABLE contacts (id INTEGER PRIMARY KEY)")
        let ran = try sample.ran {
            do {
                try db.run(contacts.addColumn(email, collate: .nocase))
            } catch let Result.error(message, _, _) {
                // Older engines refuse a column that is NOT NULL without a default value even where there is no row.
                #expect(message == "Cannot add a NOT NULL column with default value NULL")
                try db.run(contacts.addColumn(email, defaultValue: "", collate: .nocase))
            }
            try db.run(contacts.addColumn(name, collate: .rtrim))
        }
        expectSQL(
            contacts.addColumn(email, collate: .nocase),
            #"ALTER TABLE "contacts" ADD COLUMN "email" TEXT NOT NULL COLLATE "NOCASE""#,
            really: #"ALTER TABLE "contacts" ADD COLUMN "email" TEXT NOT NULL COLLATE NOCASE"#)
        expectSQL(
            ran.last ?? "", #"ALTER TABLE "contacts" ADD COLUMN "name" TEXT COLLATE "RTRIM""#,
            really: #"ALTER TABLE "contacts" ADD COLUMN "name" TEXT COLLATE RTRIM"#)
        #expect(try columns("contacts") == ["id", "email", "name"])
    }

    // seeds 000:1643 001:952 002:1381 003:941
    @Test func `a column is added with a reference`() throws {
        try db.run("CREATE TABLE notes (id INTEGER PRIMARY KEY)")
        let notes = Table("notes")
        let ran = try sample.ran { try db.run(notes.addColumn(userId, references: users, id)) }
        expectSQL(ran[0], #"ALTER TABLE "notes" ADD COLUMN "user_id" INTEGER REFERENCES "users" ("id")"#)
        expectSQL(
            posts.addColumn(userId, references: users, id),
            #"ALTER TABLE "posts" ADD COLUMN "user_id" INTEGER REFERENCES "users" ("id")"#)
    }

    // seeds 000:1660 001:961 002:986
    @Test func `a changer adds a column`() throws {
        let newColumn = ColumnDefinition(
            name: "new_text_column",
            type: .TEXT,
            nullable: true,
            defaultValue: .stringLiteral("foo")
        )

        let schemaChanger = SchemaChanger(connection: db)

        try schemaChanger.alter(table: "users") { table in
            table.add(column: newColumn)
        }
        #expect(try columns().last == "new_text_column")
        #expect(try db.scalar("SELECT new_text_column FROM users") as? String == "foo")
    }

    // seeds 000:1679 001:968 002:806
    @Test func `a changer renames a column, on any engine`() throws {
        try db.run("ALTER TABLE users ADD COLUMN old_name TEXT DEFAULT 'kept'")
        let schemaChanger = SchemaChanger(connection: db)
        try schemaChanger.alter(table: "users") { table in
            table.rename(column: "old_name", to: "new_name")
        }
        #expect(try db.scalar("SELECT new_name FROM users") as? String == "kept")
    }

    // seeds 000:1690 001:976 002:668
    @Test func `a changer drops a column, on any engine`() throws {
        let schemaChanger = SchemaChanger(connection: db)
        // The documentation drops "email"; here it is UNIQUE, and a key is not dropped without its constraint.
        try schemaChanger.alter(table: "users") { table in
            table.drop(column: "age")
        }
        #expect(try !columns().contains("age"))
        try db.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, email TEXT)")
        try schemaChanger.alter(table: "people") { table in
            table.drop(column: "email")
        }
        #expect(try columns("people") == ["id"])
    }

    // seeds 000:1701 001:983 002:761
    @Test func `a changer renames and drops tables`() throws {
        try db.run("CREATE TABLE emails (a)")
        let schemaChanger = SchemaChanger(connection: db)

        try schemaChanger.rename(table: "users", to: "users_new")
        try schemaChanger.drop(table: "emails", ifExists: false)
        #expect(try db.scalar(Table("users_new").count) == 2)
        #expect(throws: (any Error).self) { try schemaChanger.drop(table: "emails", ifExists: false) }
    }

    // seeds 002:1049
    @Test func `a changer creates a table`() throws {
        try db.run(users.drop())
        let schemaChanger = SchemaChanger(connection: db)

        try schemaChanger.create(table: "users") { table in
            table.add(column: .init(name: "id", primaryKey: .init(autoIncrement: true), type: .INTEGER))
            table.add(column: .init(name: "name", type: .TEXT, nullable: false))
        }
        #expect(try columns() == ["id", "name"])
        #expect(try db.run(users.insert(name <- "Alice")) == 1)
    }
}
