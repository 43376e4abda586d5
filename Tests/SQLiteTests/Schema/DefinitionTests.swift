import Foundation
import LiteVaultSchema
import SQLite
import Testing

@Suite struct `Definitions as SQL text` {
    @Test(arguments: [
        (
            #""id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"#,
            ColumnDefinition(name: "id", primaryKey: .init(), type: .INTEGER, nullable: false)
        ),
        (
            #""other_id" INTEGER NOT NULL REFERENCES "other_table" ("some_id")"#,
            ColumnDefinition(
                name: "other_id", type: .INTEGER, nullable: false,
                references: .init(toTable: "other_table", toColumn: "some_id"))
        ),
        (#""text" TEXT"#, ColumnDefinition(name: "text", type: .TEXT)),
        (
            #""text" TEXT DEFAULT 'fo"o'"#,
            ColumnDefinition(name: "text", type: .TEXT, defaultValue: .stringLiteral("fo\"o"))
        ),
        (
            #""n" REAL NOT NULL UNIQUE DEFAULT -1.5"#,
            ColumnDefinition(
                name: "n", type: .REAL, nullable: false, unique: true, defaultValue: .numericLiteral("-1.5"))
        ),
        (
            #""n" NUMERIC DEFAULT (datetime('now'))"#,
            ColumnDefinition(name: "n", type: .NUMERIC, defaultValue: .numericLiteral("datetime('now')"))
        ),
    ])
    func `of columns`(sql: String, column: ColumnDefinition) {
        #expect(column.toSQL() == sql)
    }

    @Test(
        arguments: [
            ("PRIMARY KEY", false, nil), ("primary key", false, nil),
            ("x INTEGER primary\n  key autoincrement", true, nil),
            ("PRIMARY KEY ON CONFLICT ROLLBACK", false, .ROLLBACK),
            ("PRIMARY KEY DESC on conflict ignore AUTOINCREMENT", true, .IGNORE),
            ("a, b, PRIMARY /* of both */ KEY (a, b) ON CONFLICT REPLACE", false, .REPLACE),
        ] as [(String, Bool, ColumnDefinition.OnConflict?)])
    func `a primary key is found in any spelling`(
        sql: String, autoIncrement: Bool, onConflict: ColumnDefinition.OnConflict?
    ) {
        #expect(
            ColumnDefinition.PrimaryKey(sql: sql) == .init(autoIncrement: autoIncrement, onConflict: onConflict))
    }

    @Test func `a primary key in a literal is not a primary key`() {
        #expect(ColumnDefinition.PrimaryKey(sql: "") == nil)
        #expect(ColumnDefinition.PrimaryKey(sql: "x TEXT DEFAULT 'PRIMARY KEY'") == nil)
        #expect(
            ColumnDefinition.PrimaryKey(autoIncrement: true, onConflict: .FAIL).toSQL()
                == "PRIMARY KEY ON CONFLICT FAIL AUTOINCREMENT")
    }

    @Test func `a text that is not an action is quoted`() {
        let key = ColumnDefinition.ForeignKey(
            toTable: "t", onUpdate: "SET NULL", onDelete: "CASCADE); DROP TABLE t; --")
        #expect(key.toSQL() == #"REFERENCES "t" ON UPDATE SET NULL ON DELETE "CASCADE); DROP TABLE t; --""#)
    }

    @Test(
        arguments: [
            ("VARCHAR(20)", .TEXT), ("bigint", .INTEGER), ("floating point", .INTEGER), ("double", .REAL),
            ("blob", .BLOB),
            ("", .BLOB), ("DECIMAL(10,5)", .NUMERIC), ("baz", .NUMERIC),
        ] as [(String, ColumnDefinition.Affinity)])
    func `affinities are SQLite's`(declared: String, affinity: ColumnDefinition.Affinity) {
        #expect(ColumnDefinition.Affinity(declared) == affinity)
    }

    @Test(
        arguments: [
            (nil, .NULL, "NULL"), ("NULL", .NULL, "NULL"), ("true", .TRUE, "TRUE"),
            ("CURRENT_DATE", .CURRENT_DATE, "CURRENT_DATE"), ("'fo''o'", .stringLiteral("fo'o"), "'fo''o'"),
            ("\"fo\"\"o\"", .stringLiteral("fo\"o"), "'fo\"o'"), ("x'ab'", .blobLiteral("ab"), "X'ab'"),
            ("0xbeef", .numericLiteral("0xbeef"), "0xbeef"),
            ("'a' || 'b'", .numericLiteral("'a' || 'b'"), "'a' || 'b'"),
        ] as [(String?, LiteralValue, String)])
    func `literals are recognised and written`(sql: String?, value: LiteralValue, text: String) {
        #expect(LiteralValue(sql) == value)
        #expect(value.description == text)
    }

    @Test func `an index is read from its statement and written again`() throws {
        let index = IndexDefinition(
            table: "tests", name: "i", unique: true, columns: ["a", "b c"],
            indexSQL: "create unique index i on tests (a desc, \"b c\" collate nocase) where a is not null -- end")
        #expect(index.where == "a is not null -- end")
        #expect(index.orders == ["a": .DESC])
        #expect(
            IndexDefinition(table: "t", name: "i", columns: ["a", "b"], where: "a > 0", orders: ["b": .DESC])
                .toSQL(ifNotExists: true)
                == #"CREATE INDEX IF NOT EXISTS "i" ON "t" ("a", "b" DESC) WHERE a > 0"#)
        #expect(index.renameTable(to: "tmp_tests").name == "tmp_i")
        #expect(index.renameTable(to: "tmp_tests").renameTable(to: "tests").name == "i")
    }

    @Test func `an index on an expression that was read is created again`() throws {
        let db = try Connection()
        try db.execute(
            """
            CREATE TABLE users (age, email, salary);
            CREATE UNIQUE INDEX mixed ON users (age, length(email || ',') COLLATE NOCASE DESC, "salary" ASC) WHERE age > 1;
            """)
        let mixed = try #require(try db.schema.indexDefinitions("users").first)
        try db.run("DROP INDEX mixed")
        try db.run(mixed.toSQL())
        #expect(try db.schema.indexDefinitions("users") == [mixed])
    }

    @Test func `names of indexes have 64 characters at most`() {
        let name = String(repeating: "x", count: 65)
        let error = #expect(throws: IndexDefinition.IndexError.self) {
            try IndexDefinition(table: "t", name: name, columns: ["a"]).validate()
        }
        #expect(
            error?.localizedDescription == "Index name '\(name)' on table 't' is too long; the limit is 64 characters")
    }

    @Test func `a table is written with its name quoted where it has to be`() {
        let id = ColumnDefinition(name: "id", primaryKey: .init(autoIncrement: false), type: .INTEGER, nullable: false)
        let text = ColumnDefinition(name: "t", primaryKey: .init(autoIncrement: false), type: .TEXT)
        #expect(
            TableDefinition(name: "foo", columns: [id], indexes: []).toSQL(temporary: true)
                == #"CREATE TEMPORARY TABLE foo ( "id" INTEGER PRIMARY KEY NOT NULL )"#)
        #expect(
            TableDefinition(name: "order", columns: [id], indexes: []).toSQL()
                == #"CREATE TABLE "order" ( "id" INTEGER PRIMARY KEY NOT NULL )"#)
        #expect(
            TableDefinition(name: "a; DROP TABLE b", columns: [id, text], indexes: []).toSQL()
                == "CREATE TABLE \"a; DROP TABLE b\" ( \"id\" INTEGER NOT NULL,\n\"t\" TEXT,\nPRIMARY KEY (\"id\", \"t\") )"
        )
        #expect(
            TableDefinition(name: "a", columns: [id, text], indexes: [])
                .copySQL(to: TableDefinition(name: "b", columns: [id, text], indexes: []))
                == #"INSERT INTO "b" ("id", "t") SELECT "id", "t" FROM "a""#)
    }
}
