import Foundation
import LiteVaultOperators
import LiteVaultQuery
import LiteVaultSchema
import SQLite
import Testing

/// What each test is run with: all the engine has, and no more than SQLite 3.15 had.
let versions = [EngineInfo.linked.sqliteVersion, SQLiteVersion(major: 3, minor: 15)]

@Suite struct `Changing tables` {
    let db: Connection
    var schema: SchemaReader { db.schema }

    init() throws {
        db = try Connection()
        try db.execute(
            """
            CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT, "email" TEXT UNIQUE NOT NULL COLLATE NOCASE,
                age INTEGER CHECK (age > 0), -- in years
                salary REAL, note VARCHAR(20) DEFAULT 'age', CONSTRAINT rich CHECK (salary >= 0 OR note IS NULL));
            CREATE INDEX by_age ON users (age DESC) WHERE age IS NOT NULL;
            CREATE TABLE log (what TEXT);
            CREATE TRIGGER aged AFTER UPDATE OF age ON users WHEN NEW.age != OLD.age
                BEGIN INSERT INTO log VALUES (NEW.email || ' age'); END;
            CREATE VIEW rich AS SELECT email FROM users WHERE salary > 100;
            CREATE TABLE posts (id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES users ON DELETE CASCADE,
                email TEXT REFERENCES users (email) ON UPDATE CASCADE);
            INSERT INTO users (id, email, age, salary) VALUES (3, 'a@x', 30, 200), (9, 'b@x', 40, 50);
            INSERT INTO posts VALUES (1, 3, 'a@x'), (2, 9, 'b@x');
            DELETE FROM users WHERE id = 9;
            INSERT INTO users (id, email, age) VALUES (4, 'c@x', 20);
            """)
        try db.run("UPDATE sqlite_sequence SET seq = 100")
    }

    private func columns(_ table: String = "users") throws -> [String] {
        try schema.columnDefinitions(table: table).map(\.name)
    }

    @Test(arguments: versions)
    func `a renamed column keeps rows, indexes, triggers, constraints and references`(version: SQLiteVersion) throws {
        db.foreignKeys = true
        let changer = SchemaChanger(connection: db, version: version)
        try db.run("DELETE FROM posts WHERE id = 2")
        try changer.alter(table: "users") { $0.rename(column: "age", to: "years") }
        #expect(try columns() == ["id", "email", "years", "salary", "note"])
        #expect(
            try db.scalar("SELECT group_concat(id || ' ' || years || ' ' || note) FROM users") as? String
                == "3 30 age,4 20 age")
        #expect(
            try schema.indexDefinitions(table: "users").contains {
                $0.name == "by_age" && $0.columns == ["years"] && $0.orders?.values.first == .DESC
            })
        #expect(throws: Result.self) { try db.run("UPDATE users SET years = 0") }
        try db.run("UPDATE users SET years = years + 1 WHERE id = 3")
        #expect(try db.scalar("SELECT what FROM log") as? String == "a@x age")
        #expect(try db.scalar("SELECT email FROM rich") as? String == "a@x")
        #expect(try db.scalar("SELECT count(*) FROM posts") as? Int64 == 1)
        #expect(db.foreignKeys)
        #expect(try db.run(Table("users").insert(SQLExpression<String>("email") <- "d@x")) == 101)
        #expect(try schema.objectDefinitions(temp: true).isEmpty)
        #expect(try schema.objectDefinitions().allSatisfy { !$0.name.contains("tmp") })
    }

    @Test(arguments: versions)
    func `a dropped column leaves the rest unchanged`(version: SQLiteVersion) throws {
        db.foreignKeys = true
        let changer = SchemaChanger(connection: db, version: version)
        try db.run("ALTER TABLE users ADD COLUMN city TEXT COLLATE RTRIM")
        try changer.alter(table: "users") { $0.drop(column: "city") }
        #expect(try columns() == ["id", "email", "age", "salary", "note"])
        #expect(try db.scalar("SELECT count(*) FROM posts") as? Int64 == 2, "children were deleted with the table")
        #expect(throws: Result.self) { try db.run("INSERT INTO users (email) VALUES ('A@X')") }
        #expect(throws: Result.self) { try db.run("INSERT INTO users (email, age) VALUES ('e@x', -1)") }
        #expect(try schema.indexDefinitions(table: "users").contains { $0.name == "by_age" })
        try db.run("DELETE FROM users WHERE id = 3")
        #expect(try db.scalar("SELECT count(*) FROM posts WHERE id = 1") as? Int64 == 0, "the reference still cascades")
    }

    @Test(arguments: versions)
    func `a column that something uses is not dropped`(version: SQLiteVersion) throws {
        let changer = SchemaChanger(connection: db, version: version)
        let before = try schema.objectDefinitions()
        for column in ["age", "salary", "note", "id", "missing"] {
            #expect(throws: (any Error).self, "\(column)") {
                try changer.alter(table: "users") { $0.drop(column: column) }
            }
        }
        #expect(try schema.objectDefinitions().map(\.sql) == before.map(\.sql))
        #expect(try db.scalar("SELECT count(*) FROM users") as? Int64 == 2)
    }

    @Test(arguments: versions)
    func `a column with a UNIQUE constraint of its own is dropped, other constraints stay`(
        version: SQLiteVersion
    ) throws {
        try db.execute("CREATE TABLE t (a INT, b TEXT UNIQUE, c INT CHECK (c > 0)); INSERT INTO t VALUES (1, 'x', 2);")
        try SchemaChanger(connection: db, version: version).alter(table: "t") { $0.drop(column: "b") }
        #expect(try columns("t") == ["a", "c"])
        #expect(try db.scalar("SELECT a || c FROM t") as? String == "12")
        #expect(throws: Result.self) { try db.run("UPDATE t SET c = 0") }
    }

    @Test(arguments: versions)
    func `a column that other tables refer to is renamed there too`(version: SQLiteVersion) throws {
        try db.execute(
            """
            CREATE TABLE parents (code TEXT PRIMARY KEY, up TEXT REFERENCES parents (code)) WITHOUT ROWID;
            CREATE TABLE kids (code TEXT, parent TEXT REFERENCES parents (code) ON UPDATE CASCADE, UNIQUE (code));
            CREATE TEMP TABLE scratch (code TEXT);
            INSERT INTO parents VALUES ('a', NULL), ('b', 'a');
            INSERT INTO kids VALUES ('k', 'b');
            """)
        try SchemaChanger(connection: db, version: version).alter(table: "parents") {
            $0.rename(column: "code", to: "the \"key\"")
        }
        #expect(try schema.foreignKeys(table: "kids").first?.toColumn == "the \"key\"")
        #expect(try schema.foreignKeys(table: "parents").first?.toColumn == "the \"key\"")
        #expect(try columns("kids") == ["code", "parent"])
        db.foreignKeys = true
        try db.run("UPDATE parents SET \"the \"\"key\"\"\" = 'c' WHERE up IS NOT NULL")
        #expect(try db.scalar("SELECT parent FROM kids") as? String == "c")
    }

    @Test func `an old engine refuses to rename a column that a view or a trigger's body uses`() throws {
        let changer = SchemaChanger(connection: db, version: SQLiteVersion(major: 3, minor: 15))
        let before = try schema.objectDefinitions().map(\.sql)
        let error = #expect(throws: VaultError.self) {
            try changer.alter(table: "users") { $0.rename(column: "salary", to: "pay") }
        }
        #expect(error?.code == .schemaChangeRefused && error?.description.contains("view \"rich\"") == true)
        try db.run("CREATE VIEW quoted_view AS SELECT \"note\" FROM users")
        #expect {
            try changer.alter(table: "users") { $0.rename(column: "note", to: "remark") }
        } throws: { ($0 as? VaultError)?.code == .schemaChangeRefused }
        try db.run("DROP VIEW quoted_view")
        #expect(try schema.objectDefinitions().map(\.sql) == before)
    }

    @Test(arguments: versions)
    func `rowids of tables without a primary key stay`(version: SQLiteVersion) throws {
        try db.execute("CREATE TABLE t (a, b); INSERT INTO t (rowid, a, b) VALUES (5, 1, 2), (-7, 3, 4);")
        try SchemaChanger(connection: db, version: version).alter(table: "t") { table in
            table.drop(column: "a")
            table.rename(column: "b", to: "c")
            table.add(column: ColumnDefinition(name: "d", type: .TEXT, defaultValue: .stringLiteral("x")))
        }
        #expect(try db.scalar("SELECT group_concat(rowid || c || d) FROM t") as? String == "-74x,52x")
    }

    @Test(arguments: versions)
    func `a block is done completely or not at all`(version: SQLiteVersion) throws {
        let before = try schema.objectDefinitions().map(\.sql)
        #expect(throws: (any Error).self) {
            try SchemaChanger(connection: db, version: version).alter(table: "users") { table in
                table.add(column: ColumnDefinition(name: "city", type: .TEXT))
                table.rename(column: "age", to: "years")
                table.drop(column: "missing")
            }
        }
        #expect(try schema.objectDefinitions().map(\.sql) == before)
        #expect(try db.scalar("PRAGMA legacy_alter_table") as? Int64 != 1)
    }

    @Test func `inside a transaction that enforces foreign keys, a table is not rebuilt`() throws {
        db.foreignKeys = true
        let changer = SchemaChanger(connection: db, version: SQLiteVersion(major: 3, minor: 15))
        #expect {
            try db.transaction { try changer.alter(table: "users") { $0.rename(column: "age", to: "years") } }
        } throws: { ($0 as? VaultError)?.code == .insideTransaction }
        #expect(try db.scalar("SELECT count(*) FROM posts") as? Int64 == 2)
    }

    @Test(arguments: versions)
    func `a renamed table keeps the tables that refer to it`(version: SQLiteVersion) throws {
        try db.execute("DROP VIEW rich; DROP TRIGGER aged;")
        try SchemaChanger(connection: db, version: version).rename(table: "users", to: "people")
        #expect(try schema.foreignKeys(table: "posts").map(\.toTable) == ["people", "people"])
        #expect(try db.value(Table("people").count) == 2)
        #expect(!db.foreignKeys)
    }
}
