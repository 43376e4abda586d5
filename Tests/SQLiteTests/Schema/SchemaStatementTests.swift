import LiteVaultOperators
import LiteVaultQuery
import SQLite
import Testing

@Suite struct `Statements of the schema` {
    private let table = Table("table")
    private let int = SQLExpression<Int64>("int64")
    private let intOptional = SQLExpression<Int64?>("int64Optional")
    private let text = SQLExpression<String>("string")
    private let textOptional = SQLExpression<String?>("stringOptional")
    private let flag = SQLExpression<Bool>("flag")

    private func column(_ declare: (TableBuilder) -> Void) -> String {
        let sql = table.create(block: declare)
        return String(sql.dropFirst(#"CREATE TABLE "table" ("#.count).dropLast())
    }

    let users = Table("users")

    @Test func `a table is created with its options`() {
        #expect(table.create { _ in } == #"CREATE TABLE "table" ()"#)
        #expect(Table("t", database: "main").create { _ in } == #"CREATE TABLE "main"."t" ()"#)
        #expect(
            table.create(temporary: true, ifNotExists: true) { $0.column(int) }
                == #"CREATE TEMPORARY TABLE IF NOT EXISTS "table" ("int64" INTEGER NOT NULL)"#)
        #expect(
            table.create(withoutRowid: true) { $0.column(int, primaryKey: true) }
                == #"CREATE TABLE "table" ("int64" INTEGER PRIMARY KEY NOT NULL) WITHOUT ROWID"#)
        #expect(
            table.create(withoutRowid: true, strict: true) { $0.column(int, primaryKey: true) }
                == #"CREATE TABLE "table" ("int64" INTEGER PRIMARY KEY NOT NULL) WITHOUT ROWID, STRICT"#)
        #expect(
            table.create(users.select(int)) == #"CREATE TABLE "table" AS SELECT "int64" FROM "users""#)
    }

    @Test func `a column is NOT NULL unless its type is optional`() {
        #expect(column { $0.column(int) } == #""int64" INTEGER NOT NULL"#)
        #expect(column { $0.column(intOptional) } == #""int64Optional" INTEGER"#)
        #expect(column { $0.column(text, unique: true) } == #""string" TEXT NOT NULL UNIQUE"#)
        #expect(column { $0.column(SQLExpression<Double?>("d")) } == #""d" REAL"#)
    }

    @Test func `checks are in at least one pair of parentheses`() {
        #expect(column { $0.column(int, check: int > 0) } == #""int64" INTEGER NOT NULL CHECK ("int64" > 0)"#)
        #expect(
            column { $0.column(intOptional, unique: true, check: intOptional > 0) }
                == #""int64Optional" INTEGER UNIQUE CHECK ("int64Optional" > 0)"#)
        #expect(column { $0.column(flag, check: flag) } == #""flag" INTEGER NOT NULL CHECK ("flag")"#)
        #expect(
            column { $0.column(int, check: 1...5 ~= int) }
                == #""int64" INTEGER NOT NULL CHECK ("int64" BETWEEN 1 AND 5)"#)
        #expect(
            column { $0.column(flag, check: !flag == true) }
                == #""flag" INTEGER NOT NULL CHECK ((NOT ("flag")) = 1)"#)
        #expect(
            column { $0.column(int, check: SQLExpression<Bool>(literal: "(a) OR (b)")) }
                == #""int64" INTEGER NOT NULL CHECK ((a) OR (b))"#)
        #expect(column { $0.check(int > 0) } == #"CHECK (("int64" > 0))"#)
        #expect(column { $0.check(intOptional > 0) } == #"CHECK (("int64Optional" > 0))"#)
    }

    @Test func `defaults are values or expressions, written into the text`() {
        #expect(column { $0.column(int, defaultValue: 0) } == #""int64" INTEGER NOT NULL DEFAULT (0)"#)
        #expect(column { $0.column(int, defaultValue: int) } == #""int64" INTEGER NOT NULL DEFAULT ("int64")"#)
        #expect(
            column { $0.column(textOptional, check: textOptional != "", defaultValue: "it's") }
                == #""stringOptional" TEXT CHECK ("stringOptional" != '') DEFAULT ('it''s')"#)
        #expect(
            column { $0.column(textOptional, defaultValue: textOptional) }
                == #""stringOptional" TEXT DEFAULT ("stringOptional")"#)
        #expect(
            column { $0.column(textOptional, defaultValue: text.lowercaseString) }
                == #""stringOptional" TEXT DEFAULT (lower("string"))"#)
    }

    @Test func `a question mark in a name or value of a statement without parameters stays as it is`() {
        #expect(
            column { $0.column(SQLExpression<String>("what?"), defaultValue: "why?") }
                == #""what?" TEXT NOT NULL DEFAULT ('why?')"#)
    }

    @Test func `primary keys of a column`() {
        #expect(column { $0.column(int, primaryKey: true) } == #""int64" INTEGER PRIMARY KEY NOT NULL"#)
        #expect(column { $0.column(int, primaryKey: false) } == #""int64" INTEGER NOT NULL"#)
        #expect(
            column { $0.column(int, primaryKey: .autoincrement, check: int > 0) }
                == #""int64" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL CHECK ("int64" > 0)"#)
        #expect(
            column { $0.column(text, primaryKey: true, defaultValue: text) }
                == #""string" TEXT PRIMARY KEY NOT NULL DEFAULT ("string")"#)
    }

    @Test func `primary keys of a table have any length, types and orders`() {
        #expect(column { $0.primaryKey(int) } == #"PRIMARY KEY ("int64")"#)
        #expect(
            column { $0.primaryKey(int, text, int, text, flag) }
                == #"PRIMARY KEY ("int64", "string", "int64", "string", "flag")"#)
        #expect(
            column { $0.primaryKey(int.desc, text.asc, flag) }
                == #"PRIMARY KEY ("int64" DESC, "string" ASC, "flag")"#)
        #expect(
            column { $0.primaryKey(text.asc, textOptional) }
                == #"PRIMARY KEY ("string" ASC, "stringOptional")"#)
    }

    @Test func `references of a column and of a table`() {
        let qualified = Table("users", database: "main")
        #expect(
            column { $0.column(int, references: users, int) }
                == #""int64" INTEGER NOT NULL REFERENCES "users" ("int64")"#)
        #expect(
            column { $0.column(intOptional, unique: true, check: int > 0, references: qualified, int) }
                == #""int64Optional" INTEGER UNIQUE CHECK ("int64" > 0) REFERENCES "users" ("int64")"#)
        #expect(
            column { $0.foreignKey(textOptional, references: users, text, update: .cascade, delete: .setNull) }
                == #"FOREIGN KEY ("stringOptional") REFERENCES "users" ("string") ON UPDATE CASCADE ON DELETE SET NULL"#
        )
        #expect(
            column { $0.foreignKey((int, textOptional), references: users, (int, text)) }
                == #"FOREIGN KEY ("int64", "stringOptional") REFERENCES "users" ("int64", "string")"#)
        #expect(
            column {
                $0.foreignKey((int, text, flag, int), references: users, (int, text, flag, int), delete: .noAction)
            }
                == #"FOREIGN KEY ("int64", "string", "flag", "int64") REFERENCES "users" ("int64", "string", "flag", "int64") ON DELETE NO ACTION"#
        )
        #expect(column { $0.unique(int, textOptional) } == #"UNIQUE ("int64", "stringOptional")"#)
    }

    @Test func `collations of a column`() {
        #expect(column { $0.column(text, collate: .rtrim) } == #""string" TEXT NOT NULL COLLATE RTRIM"#)
        #expect(
            column {
                $0.column(textOptional, unique: true, check: textOptional != "", defaultValue: "x", collate: .nocase)
            }
                == #""stringOptional" TEXT UNIQUE CHECK ("stringOptional" != '') DEFAULT ('x') COLLATE NOCASE"#)
        #expect(
            column { $0.column(text, defaultValue: text, collate: .custom("NO\"DIACRITIC")) }
                == #""string" TEXT NOT NULL DEFAULT ("string") COLLATE "NO""DIACRITIC""#)
    }

    @Test func `columns are added`() {
        #expect(table.addColumn(textOptional) == #"ALTER TABLE "table" ADD COLUMN "stringOptional" TEXT"#)
        #expect(
            table.addColumn(int, check: int > 0, defaultValue: 1)
                == #"ALTER TABLE "table" ADD COLUMN "int64" INTEGER NOT NULL CHECK ("int64" > 0) DEFAULT (1)"#)
        #expect(
            table.addColumn(intOptional, references: users, int)
                == #"ALTER TABLE "table" ADD COLUMN "int64Optional" INTEGER REFERENCES "users" ("int64")"#)
        #expect(
            table.addColumn(text, defaultValue: "foo", collate: .nocase)
                == #"ALTER TABLE "table" ADD COLUMN "string" TEXT NOT NULL DEFAULT ('foo') COLLATE NOCASE"#)
        #expect(
            table.addColumn(text, collate: .nocase)
                == #"ALTER TABLE "table" ADD COLUMN "string" TEXT NOT NULL COLLATE NOCASE"#)
        #expect(
            table.addColumn(textOptional, check: ["JR", "SR"].contains(textOptional))
                == #"ALTER TABLE "table" ADD COLUMN "stringOptional" TEXT CHECK ("stringOptional" IN ('JR', 'SR'))"#)
    }

    @Test func `tables and views are renamed and dropped by their own names`() {
        #expect(users.rename(Table("old")) == #"ALTER TABLE "users" RENAME TO "old""#)
        #expect(users.alias("u").rename(Table("old")) == #"ALTER TABLE "users" RENAME TO "old""#)
        #expect(users.drop(ifExists: true) == #"DROP TABLE IF EXISTS "users""#)
        #expect(Table("t", database: "main").drop() == #"DROP TABLE "main"."t""#)
        #expect(VirtualTable("v").drop() == #"DROP TABLE "v""#)
        #expect(VirtualTable("v").rename(VirtualTable("w")) == #"ALTER TABLE "v" RENAME TO "w""#)
        func dropped(_ object: some SchemaType) -> String { object.drop() }
        #expect(View("v").drop() == #"DROP VIEW "v""#)
        #expect(dropped(View("v")) == #"DROP VIEW "v""#)
        #expect(
            View("v").create(users.select(int).filter(int > 5), temporary: true, ifNotExists: true)
                == #"CREATE TEMPORARY VIEW IF NOT EXISTS "v" AS SELECT "int64" FROM "users" WHERE ("int64" > 5)"#)
    }

    @Test func `indexes are named after their table and columns`() {
        #expect(users.createIndex(int) == #"CREATE INDEX "index_users_on_int64" ON "users" ("int64")"#)
        #expect(
            Table("My Users", database: "main").createIndex(text.desc, int, unique: true, ifNotExists: true)
                == #"CREATE UNIQUE INDEX IF NOT EXISTS "main"."index_my_users_on_string_desc_int64" ON "My Users" ("string" DESC, "int64")"#
        )
        #expect(
            users.createIndex(text.lowercaseString, where: intOptional > 5)
                == #"CREATE INDEX "index_users_on_lower_string_" ON "users" (lower("string")) WHERE ("int64Optional" > 5)"#
        )
        #expect(
            users.createIndex([int], named: "mine", where: flag)
                == #"CREATE INDEX "mine" ON "users" ("int64") WHERE "flag""#)
        #expect(
            users.filter(int > 5).createIndex(int)
                == #"CREATE INDEX "index_users_on_int64" ON "users" ("int64") WHERE ("int64" > 5)"#)
        #expect(users.dropIndex(int, ifExists: true) == #"DROP INDEX IF EXISTS "index_users_on_int64""#)
        #expect(users.dropIndex(named: "mine") == #"DROP INDEX "mine""#)
    }

    @Test func `a virtual table is created by any module`() {
        #expect(
            VirtualTable("v").create(Module("custom", ["A", "B"]), ifNotExists: true)
                == #"CREATE VIRTUAL TABLE IF NOT EXISTS "v" USING "custom"('A', 'B')"#)
    }
}
