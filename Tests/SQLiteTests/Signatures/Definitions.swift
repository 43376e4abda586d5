import Foundation
import SQLite
import Testing

@Suite struct DefinitionSignatures {
    @Test func `a column is printed as its declaration`() {
        let definitions: [(String, ColumnDefinition)] = [
            (
                "\"id\" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL",
                ColumnDefinition(
                    name: "id", primaryKey: .init(), type: .INTEGER, nullable: false, defaultValue: .NULL, references: nil)
            ),
            (
                "\"other_id\" INTEGER NOT NULL REFERENCES \"other_table\" (\"some_id\")",
                ColumnDefinition(
                    name: "other_id", primaryKey: nil, type: .INTEGER, nullable: false, defaultValue: .NULL,
                    references: .init(toTable: "other_table", toColumn: "some_id", onUpdate: nil, onDelete: nil))
            ),
            ("\"text\" TEXT", ColumnDefinition(name: "text", type: .TEXT)),
            ("\"text\" TEXT NOT NULL", ColumnDefinition(name: "text", type: .TEXT, nullable: false)),
            (
                "\"text_column\" TEXT DEFAULT 'fo\"o'",
                ColumnDefinition(name: "text_column", type: .TEXT, defaultValue: .stringLiteral("fo\"o"))
            ),
            (
                "\"integer_column\" INTEGER DEFAULT 123",
                ColumnDefinition(name: "integer_column", type: .INTEGER, defaultValue: .numericLiteral("123"))
            ),
            (
                "\"real_column\" REAL DEFAULT 123.123",
                ColumnDefinition(name: "real_column", type: .REAL, defaultValue: .numericLiteral("123.123"))
            ),
        ]
        for (sql, definition) in definitions { #expect(definition.toSQL() == sql) }
    }

    @Test func `affinities follow SQLite's rules`() {
        for type in ColumnDefinition.Affinity.allCases {
            #expect(ColumnDefinition.Affinity(type.rawValue) == type && type.description == type.rawValue)
        }
        #expect(ColumnDefinition.Affinity("int") == .INTEGER && ColumnDefinition.Affinity("BIGINT") == .INTEGER)
        #expect(ColumnDefinition.Affinity("VARCHAR(100)") == .TEXT && ColumnDefinition.Affinity("") == .BLOB)
        #expect(ColumnDefinition.Affinity("FLOAT") == .REAL && ColumnDefinition.Affinity("DATETIME") == .NUMERIC)
        #expect(ColumnDefinition.Affinity("baz") == .NUMERIC)
        #expect(ColumnDefinition.OnConflict.allCases.map(\.rawValue) == ["ROLLBACK", "ABORT", "FAIL", "IGNORE", "REPLACE"])
    }

    @Test func `a primary key is printed and parsed`() {
        #expect(ColumnDefinition.PrimaryKey(autoIncrement: false).toSQL() == "PRIMARY KEY")
        #expect(ColumnDefinition.PrimaryKey(autoIncrement: true).toSQL() == "PRIMARY KEY AUTOINCREMENT")
        #expect(
            ColumnDefinition.PrimaryKey(autoIncrement: false, onConflict: .ROLLBACK).toSQL() == "PRIMARY KEY ON CONFLICT ROLLBACK")
        #expect(ColumnDefinition.PrimaryKey(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT)") == .init(autoIncrement: true))
        #expect(
            ColumnDefinition.PrimaryKey(sql: "CREATE TABLE t (id TEXT PRIMARY KEY ON CONFLICT FAIL)")
                == .init(autoIncrement: false, onConflict: .FAIL))
        #expect(ColumnDefinition.PrimaryKey(sql: "CREATE TABLE t (id INTEGER)") == nil)
    }

    @Test func `a foreign key is printed`() {
        #expect(
            ColumnDefinition.ForeignKey(toTable: "foo", toColumn: "bar", onUpdate: nil, onDelete: nil).toSQL()
                == "REFERENCES \"foo\" (\"bar\")")
        #expect(
            ColumnDefinition.ForeignKey(
                fromColumn: "x", toTable: "foo", toColumn: "bar", onUpdate: "SET NULL", onDelete: "CASCADE"
            ).toSQL() == "REFERENCES \"foo\" (\"bar\") ON UPDATE SET NULL ON DELETE CASCADE")
        #expect(ColumnDefinition.ForeignKey(toTable: "foo").toSQL() == "REFERENCES \"foo\"")
    }

    @Test func `a literal is recognized and printed`() {
        let recognized: [(String?, LiteralValue)] = [
            (nil, .NULL), ("NULL", .NULL), ("TRUE", .TRUE), ("FALSE", .FALSE), ("CURRENT_TIME", .CURRENT_TIME),
            ("CURRENT_DATE", .CURRENT_DATE), ("CURRENT_TIMESTAMP", .CURRENT_TIMESTAMP), ("\"foo\"", .stringLiteral("foo")),
            ("'foo'", .stringLiteral("foo")), ("'fo\"o'", .stringLiteral("fo\"o")), ("'fo''o'", .stringLiteral("fo'o")),
            ("\"fo\"\"o\"", .stringLiteral("fo\"o")), ("X'deadbeef'", .blobLiteral("deadbeef")),
            ("x'deadbeef'", .blobLiteral("deadbeef")), ("1", .numericLiteral("1")), ("-1", .numericLiteral("-1")),
            ("123.456", .numericLiteral("123.456")), ("0xBABE", .numericLiteral("0xBABE")), ("1e3", .numericLiteral("1e3")),
        ]
        for (text, literal) in recognized { #expect(LiteralValue(text) == literal) }
        #expect(LiteralValue.stringLiteral("fo'o").description == "'fo''o'")
        #expect(LiteralValue.blobLiteral("deadbeef").description == "X'deadbeef'")
        #expect(LiteralValue.numericLiteral("1.5").description == "1.5")
        let words: [LiteralValue] = [.NULL, .TRUE, .FALSE, .CURRENT_TIME, .CURRENT_DATE, .CURRENT_TIMESTAMP]
        #expect(
            words.map(\.description) == ["NULL", "TRUE", "FALSE", "CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP"])
    }

    @Test func `an index is printed, parsed, renamed and validated`() throws {
        let plain = IndexDefinition(
            table: "tests", name: "index_tests", unique: false, columns: ["test_column"], where: nil, orders: nil)
        #expect(plain.toSQL() == "CREATE INDEX \"index_tests\" ON \"tests\" (\"test_column\")")
        #expect(plain.toSQL(ifNotExists: true) == "CREATE INDEX IF NOT EXISTS \"index_tests\" ON \"tests\" (\"test_column\")")
        let partial = IndexDefinition(
            table: "tests", name: "index_tests", unique: true, columns: ["test_column", "bar_column"],
            where: "test_column IS NOT NULL", orders: nil)
        #expect(
            partial.toSQL()
                == "CREATE UNIQUE INDEX \"index_tests\" ON \"tests\" (\"test_column\", \"bar_column\") WHERE test_column IS NOT NULL")
        let ordered = IndexDefinition(
            table: "tests", name: "index_tests", unique: true, columns: ["test_column", "bar_column"], where: nil,
            orders: ["test_column": .DESC, "bar_column": .ASC])
        #expect(
            ordered.toSQL()
                == "CREATE UNIQUE INDEX \"index_tests\" ON \"tests\" (\"test_column\" DESC, \"bar_column\" ASC)")
        let parsed = IndexDefinition(
            table: "t", name: "i", unique: false, columns: ["a", "b"],
            indexSQL: "CREATE INDEX i ON t (a DESC, b) WHERE a > 1", origin: .createIndex)
        #expect(parsed.orders == ["a": .DESC] && parsed.where == "a > 1" && parsed.origin == .createIndex)
        #expect(parsed.table == "t" && parsed.name == "i" && !parsed.unique && parsed.columns == ["a", "b"])
        #expect(plain.renameTable(to: "foo").table == "foo")
        #expect(plain.renameTable(to: "tmp_tests").name == "tmp_index_tests")
        #expect(plain.renameTable(to: "tmp_tests").renameTable(to: "tests").name == "index_tests")
        #expect(!plain.isInternal)
        try plain.validate()
        let long = IndexDefinition(
            table: "tests", name: String(repeating: "x", count: 65), unique: false, columns: ["c"], where: nil, orders: nil)
        do {
            try long.validate()
            Issue.record("valid")
        } catch {
            #expect(
                error.localizedDescription
                    == "Index name '\(long.name)' on table 'tests' is too long; the limit is 64 characters")
        }
        let origins: [IndexDefinition.Origin] = [.uniqueConstraint, .createIndex, .primaryKey]
        #expect(origins.map(\.rawValue) == ["u", "c", "pk"])
        #expect([IndexDefinition.Order.ASC, .DESC].map(\.rawValue) == ["ASC", "DESC"])
    }

    @Test func `a table is printed and copied`() {
        let id = ColumnDefinition(
            name: "id", primaryKey: .init(), type: .INTEGER, nullable: false, defaultValue: .NULL, references: nil)
        let definition = TableDefinition(name: "foo", columns: [id], indexes: [])
        #expect(definition.toSQL() == "CREATE TABLE foo ( \"id\" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL )")
        #expect(
            definition.toSQL(temporary: true)
                == "CREATE TEMPORARY TABLE foo ( \"id\" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL )")
        let baz = ColumnDefinition(name: "baz", type: .TEXT)
        #expect(TableDefinition(name: "foo", columns: [id, baz], indexes: []).quotedColumnList == "\"id\", \"baz\"")
        let source = TableDefinition(name: "from_table", columns: [id], indexes: [])
        let target = TableDefinition(name: "to_table", columns: [id], indexes: [])
        #expect(source.copySQL(to: target) == "INSERT INTO \"to_table\" (\"id\") SELECT \"id\" FROM \"from_table\"")
        #expect(definition == TableDefinition(name: "foo", columns: [id], indexes: []))
    }

    @Test func `objects have a type, a name, a table, a page and a text`() {
        let object = ObjectDefinition(type: .view, name: "v", tableName: "t", rootpage: 0, sql: "CREATE VIEW v")
        #expect(object.type == .view && object.name == "v" && object.tableName == "t" && object.rootpage == 0)
        #expect(object.sql == "CREATE VIEW v" && !object.isInternal)
        let types: [ObjectDefinition.ObjectType] = [.table, .index, .view, .trigger]
        #expect(types.map(\.rawValue) == ["table", "index", "view", "trigger"])
    }
}

@Suite struct SchemaReaderSignatures {
    let db: Connection
    let schema: SchemaReader

    init() throws {
        db = try UsersDatabase().db
        db.trace(nil)
        schema = SchemaReader(connection: db)
    }

    private static func column(
        _ name: String, _ type: ColumnDefinition.Affinity, nullable: Bool = true, unique: Bool = false,
        primaryKey: ColumnDefinition.PrimaryKey? = nil, defaultValue: LiteralValue = .NULL,
        references: ColumnDefinition.ForeignKey? = nil
    ) -> ColumnDefinition {
        ColumnDefinition(
            name: name, primaryKey: primaryKey, type: type, nullable: nullable, unique: unique, defaultValue: defaultValue,
            references: references)
    }

    static let users = [
        column("id", .INTEGER, primaryKey: .init(autoIncrement: false, onConflict: nil)),
        column("email", .TEXT, nullable: false, unique: true),
        column("age", .INTEGER),
        column("salary", .REAL),
        column("admin", .NUMERIC, nullable: false, defaultValue: .numericLiteral("0")),
        column(
            "manager_id", .INTEGER,
            references: .init(fromColumn: "manager_id", toTable: "users", toColumn: "id", onUpdate: nil, onDelete: nil)),
        column("created_at", .NUMERIC),
    ]

    @Test func `columns are read with key, type, default and reference`() throws {
        #expect(try schema.columnDefinitions(table: "users") == Self.users)
        try db.run("CREATE TABLE t (id INTEGER PRIMARY KEY ON CONFLICT IGNORE NOT NULL)")
        #expect(
            try schema.columnDefinitions(table: "t")
                == [Self.column("id", .INTEGER, nullable: false, primaryKey: .init(autoIncrement: false, onConflict: .IGNORE))])
        try db.run("CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL)")
        #expect(try schema.columnDefinitions(table: "a").first?.primaryKey == .init(autoIncrement: true))
        try db.run("CREATE TABLE types (a VARCHAR(255), b DECIMAL(10,2), c)")
        #expect(try schema.columnDefinitions(table: "types").map(\.type) == [.TEXT, .NUMERIC, .BLOB])
    }

    @Test func `foreign keys are read`() throws {
        try db.run("CREATE TABLE links (test_id INTEGER NOT NULL, FOREIGN KEY(test_id) REFERENCES users(id) ON DELETE SET NULL)")
        #expect(
            try schema.foreignKeys(table: "links")
                == [.init(fromColumn: "test_id", toTable: "users", toColumn: "id", onUpdate: nil, onDelete: "SET NULL")])
    }

    @Test func `tables are read with columns and indexes`() throws {
        let tables = try schema.tableDefinitions()
        let index = IndexDefinition(
            table: "users", name: "sqlite_autoindex_users_1", unique: true, columns: ["email"], where: nil, orders: nil,
            origin: .uniqueConstraint)
        #expect(tables == [TableDefinition(name: "users", columns: Self.users, indexes: [index])])
        #expect(try schema.indexDefinitions(table: "users").filter { !$0.isInternal } == [])
        try db.run("CREATE UNIQUE INDEX my_index ON users (age DESC) WHERE age > 1")
        #expect(
            try schema.indexDefinitions(table: "users").filter { !$0.isInternal } == [
                IndexDefinition(
                    table: "users", name: "my_index", unique: true, columns: ["age"], where: "age > 1",
                    orders: ["age": .DESC], origin: .createIndex)
            ])
    }

    @Test func `objects are read by name, type and database`() throws {
        #expect(
            try db.schema.objectDefinitions().map { [$0.name, $0.tableName, $0.type.rawValue] }
                == [["users", "users", "table"], ["sqlite_autoindex_users_1", "users", "index"]])
        try db.run("CREATE TEMPORARY TABLE foo (bar TEXT)")
        #expect(try schema.objectDefinitions(temp: true).map { [$0.name, $0.type.rawValue] } == [["foo", "table"]])
        try db.run("CREATE VIEW v AS SELECT 1")
        try db.run("CREATE TRIGGER tr AFTER UPDATE ON users BEGIN SELECT 1; END")
        #expect(try schema.objectDefinitions(type: .view).map(\.name) == ["v"])
        #expect(try schema.objectDefinitions(name: "tr", type: .trigger).map(\.tableName) == ["users"])
        #expect(try schema.objectDefinitions(name: "xxx").isEmpty)
    }

    @Test func `the database is checked, whole or a table`() throws {
        #expect(try db.foreignKeyCheck().isEmpty && db.foreignKeyCheck(table: "users").isEmpty)
        try db.run("INSERT INTO users (email, manager_id) VALUES ('a', 7)")
        let error = try #require(try db.foreignKeyCheck().first)
        #expect(error.from == "users" && error.rowId == 1 && error.to == "users")
        #expect(error.description == "users [1] => users")
        #expect(try db.integrityCheck().isEmpty)
        do {
            _ = try db.foreignKeyCheck(table: "xxx")
            Issue.record("checked")
        } catch Result.error(let message, _, _) {
            #expect(message == "no such table: xxx")
        }
        guard db.supports(.partialIntegrityCheck) else { return }
        #expect(try db.integrityCheck(table: "users").isEmpty)
        do {
            _ = try db.integrityCheck(table: "xxx")
            Issue.record("checked")
        } catch Result.error(let message, _, _) {
            #expect(message == "no such table: xxx")
        }
    }
}
