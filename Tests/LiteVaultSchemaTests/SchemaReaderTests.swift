import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import LiteVaultSchema
import Testing

@Suite struct `Reading the schema` {
    let db: Connection
    var schema: SchemaReader { db.schema }

    init() throws {
        db = try Connection()
        try db.execute(
            """
            CREATE TABLE users (id INTEGER primary key, email TEXT UNIQUE NOT NULL, age INTEGER DEFAULT 18,
                salary REAL, admin BOOLEAN DEFAULT 0 NOT NULL CHECK (admin IN (0, 1)), manager_id INTEGER, created_at DATETIME,
                FOREIGN KEY (manager_id) REFERENCES users (id));
            CREATE TABLE pairs (a INT, b INT, c INT DEFAULT (1 + 2), PRIMARY KEY (a, b), UNIQUE (b, c));
            CREATE INDEX by_age ON users (age DESC, lower(email)) WHERE age IS NOT NULL;
            CREATE VIEW adults AS SELECT * FROM users WHERE age > 17;
            CREATE TRIGGER on_delete AFTER DELETE ON users BEGIN SELECT 1; END;
            """)
    }

    @Test func `columns have their types, keys, defaults and references`() throws {
        #expect(
            try schema.columnDefinitions(table: "users") == [
                ColumnDefinition(name: "id", primaryKey: .init(autoIncrement: false), type: .INTEGER),
                ColumnDefinition(name: "email", type: .TEXT, nullable: false, unique: true),
                ColumnDefinition(name: "age", type: .INTEGER, defaultValue: .numericLiteral("18")),
                ColumnDefinition(name: "salary", type: .REAL),
                ColumnDefinition(name: "admin", type: .NUMERIC, nullable: false, defaultValue: .numericLiteral("0")),
                ColumnDefinition(
                    name: "manager_id", type: .INTEGER, references: .init(toTable: "users", toColumn: "id")),
                ColumnDefinition(name: "created_at", type: .NUMERIC),
            ])
        #expect(try schema.columnDefinitions(table: "nothing").isEmpty)
    }

    @Test func `generated columns are there, and say what they are`() throws {
        guard EngineInfo.linked.isAtLeast(3, 31) else { return }
        try db.execute("CREATE TABLE computed (a INT, b INT AS (a + 1), c TEXT NOT NULL AS (a || '!') STORED)")
        let columns = try schema.columnDefinitions(table: "computed")
        #expect(columns.map(\.name) == ["a", "b", "c"])
        #expect(columns.map(\.generated) == [nil, .VIRTUAL, .STORED])
        #expect(columns.map(\.type) == [.INTEGER, .INTEGER, .TEXT])
        #expect(columns.map(\.nullable) == [true, true, false])
    }

    @Test func `hidden columns of virtual tables are not there`() throws {
        try db.execute("CREATE VIRTUAL TABLE texts USING fts4(title, body)")
        #expect(try schema.columnDefinitions(table: "texts").map(\.name) == ["title", "body"])
    }

    @Test func `a constraint of several columns marks none as unique, and a key of several marks each`() throws {
        let columns = try schema.columnDefinitions(table: "pairs")
        #expect(columns.map(\.unique) == [false, false, false])
        #expect(columns.map { $0.primaryKey != nil } == [true, true, false])
        #expect(columns[2].defaultValue == .numericLiteral("1 + 2"))
        try db.run("CREATE TABLE again (id INTEGER PRIMARY KEY ON CONFLICT IGNORE AUTOINCREMENT)")
        #expect(
            try schema.columnDefinitions(table: "again").first?.primaryKey
                == .init(autoIncrement: true, onConflict: .IGNORE))
    }

    @Test func `indexes have their columns, orders, conditions and origins`() throws {
        let indexes = try schema.indexDefinitions(table: "users")
        #expect(
            indexes.filter { !$0.isInternal } == [
                IndexDefinition(
                    table: "users", name: "by_age", columns: ["age", "lower(email)"], where: "age IS NOT NULL",
                    orders: ["age": .DESC], origin: .createIndex, expressions: [1])
            ])
        #expect(
            indexes.contains {
                $0.name == "sqlite_autoindex_users_1" && $0.origin == .uniqueConstraint && $0.isInternal
            })
        #expect(try schema.indexDefinitions(table: "pairs").map(\.origin).contains(.primaryKey))
    }

    @Test func `objects are found by name, kind and database`() throws {
        try db.run("CREATE TEMP TABLE scratch (x)")
        #expect(
            try schema.objectDefinitions().map(\.name) == [
                "users", "sqlite_autoindex_users_1", "pairs", "sqlite_autoindex_pairs_1", "sqlite_autoindex_pairs_2",
                "by_age", "adults", "on_delete",
            ])
        #expect(try schema.objectDefinitions(type: .trigger).map(\.tableName) == ["users"])
        #expect(try schema.objectDefinitions(name: "USERS", type: .table).count == 1)
        #expect(try schema.objectDefinitions(temp: true).map(\.name) == ["scratch"])
        #expect(try schema.tableDefinitions().map(\.name) == ["users", "pairs"])
    }

    @Test func `foreign keys are listed, and those of several columns at none of them`() throws {
        try db.execute(
            """
            CREATE TABLE children (id INTEGER PRIMARY KEY, user_id INT REFERENCES users ON DELETE CASCADE, a INT, b INT,
                FOREIGN KEY (a, b) REFERENCES pairs);
            """)
        let keys = try schema.foreignKeys(table: "children")
        #expect(keys.count == 3)
        #expect(keys.contains(.init(fromColumn: "user_id", toTable: "users", onDelete: "CASCADE")))
        #expect(
            try schema.columnDefinitions(table: "children").map { $0.references != nil } == [false, true, false, false])
    }

    @Test func `rows with dangling references are found`() throws {
        #expect(try db.schema.foreignKeyCheck().isEmpty)
        try db.run("INSERT INTO users (id, email, manager_id) VALUES (7, 'a', 8)")
        #expect(try db.schema.foreignKeyCheck(table: "users").map(\.description) == ["users [7] => users"])
        let error = #expect(throws: DatabaseError.self) { try db.schema.foreignKeyCheck(table: "xxx") }
        #expect(error?.message == "no such table: xxx")
    }

    @Test func `an intact database has no findings`() throws {
        #expect(try db.schema.integrityCheck().isEmpty)
        if EngineInfo.linked.isAtLeast(3, 33) {
            #expect(try db.schema.integrityCheck(table: "users").isEmpty)
            let error = #expect(throws: DatabaseError.self) { try db.schema.integrityCheck(table: "xxx") }
            #expect(error?.message == "no such table: xxx")
        } else {
            #expect { try db.schema.integrityCheck(table: "users") } throws: {
                ($0 as? VaultError)?.code == .unsupported
            }
        }
    }

    @Test func `H-SCH-03 an index on an expression names it, and makes the same index again`() throws {
        try db.execute(
            """
            CREATE UNIQUE INDEX mixed ON users (age, length(email || ',') COLLATE NOCASE DESC, "salary" ASC) WHERE age > 1;
            CREATE UNIQUE INDEX plain ON users (age);
            """)
        let indexes = try schema.indexDefinitions(table: "users")
        let mixed = try #require(indexes.first { $0.name == "mixed" })
        #expect(mixed.columns == ["age", "length(email || ',') COLLATE NOCASE", "salary"] && mixed.expressions == [1])
        #expect(mixed.orders == ["length(email || ',') COLLATE NOCASE": .DESC])
        let unique = indexes.filter { $0.unique && $0.columns == ["age"] }
        #expect(unique.map(\.name) == ["plain"] && unique.first?.expressions == [])
        let sql = try #require(try schema.objectDefinitions(name: "mixed").first?.sql)
        try db.run("DROP INDEX mixed")
        try db.run(SQL(sql: sql))
        #expect(try schema.indexDefinitions(table: "users").first { $0.name == "mixed" } == mixed)
    }

    @Test func `an attached database is read by its name`() throws {
        try db.execute(
            """
            ATTACH ':memory:' AS "my archive";
            CREATE TABLE "my archive".users (id TEXT PRIMARY KEY, boss REFERENCES users);
            CREATE INDEX "my archive".by_boss ON users (boss, length(id));
            CREATE TABLE "my archive".only_there (a);
            CREATE TEMP TABLE users (t);
            INSERT INTO "my archive".users VALUES ('a', 'nobody');
            """)
        let archive = db.schema.attached("my archive")
        #expect(try archive.tableDefinitions().map(\.name) == ["users", "only_there"])
        #expect(try archive.columnDefinitions(table: "users").map(\.name) == ["id", "boss"])
        #expect(try archive.columnDefinitions(table: "users").first?.primaryKey != nil)
        #expect(try archive.foreignKeys(table: "users").map(\.toTable) == ["users"])
        #expect(
            try archive.indexDefinitions(table: "users").first { $0.name == "by_boss" }?.columns == [
                "boss", "length(id)",
            ])
        #expect(try db.schema.attached("temp").objectDefinitions().map(\.name) == ["users"])
        #expect(try db.schema.attached("main").columnDefinitions(table: "users").count > 2)
        #expect(try db.schema.columnDefinitions(table: "users").map(\.name) == ["t"])
        #expect(try db.schema.attached("my archive").foreignKeyCheck().map(\.description) == ["users [1] => users"])
        #expect(throws: DatabaseError.self) { try db.schema.attached("nowhere").tableDefinitions() }
    }
}
