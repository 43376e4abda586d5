import SQLite
import Testing

@Suite struct SchemaSignatures {
    let view = View("view")
    let virtualTable = VirtualTable("virtual_table")

    @Test func `drop and rename`() {
        #expect(table.drop() == "DROP TABLE \"table\"")
        #expect(table.drop(ifExists: true) == "DROP TABLE IF EXISTS \"table\"")
        #expect(view.drop() == "DROP VIEW \"view\"")
        #expect(view.drop(ifExists: true) == "DROP VIEW IF EXISTS \"view\"")
        #expect(virtualTable.drop() == "DROP TABLE \"virtual_table\"")
        #expect(virtualTable.drop(ifExists: true) == "DROP TABLE IF EXISTS \"virtual_table\"")
        #expect(Table("old").rename(Table("new")) == "ALTER TABLE \"old\" RENAME TO \"new\"")
        #expect(VirtualTable("old").rename(VirtualTable("new")) == "ALTER TABLE \"old\" RENAME TO \"new\"")
    }

    @Test func `create declares a column for each expression`() {
        #expect(
            table.create {
                $0.column(blob)
                $0.column(blobOptional)
                $0.column(double)
                $0.column(doubleOptional)
                $0.column(int64)
                $0.column(int64Optional)
                $0.column(string)
                $0.column(stringOptional)
                $0.column(bool)
                $0.column(date)
                $0.column(data)
            } == "CREATE TABLE \"table\" (\"blob\" BLOB NOT NULL, \"blobOptional\" BLOB, \"double\" REAL NOT NULL, "
                + "\"doubleOptional\" REAL, \"int64\" INTEGER NOT NULL, \"int64Optional\" INTEGER, \"string\" TEXT NOT NULL, "
                + "\"stringOptional\" TEXT, \"bool\" INTEGER NOT NULL, \"date\" TEXT NOT NULL, \"data\" BLOB NOT NULL)")
        #expect(
            table.create(temporary: true) { $0.column(int64) } == "CREATE TEMPORARY TABLE \"table\" (\"int64\" INTEGER NOT NULL)")
        #expect(
            table.create(ifNotExists: true) { $0.column(int64) }
                == "CREATE TABLE IF NOT EXISTS \"table\" (\"int64\" INTEGER NOT NULL)")
        #expect(
            table.create(temporary: true, ifNotExists: true) { $0.column(int64) }
                == "CREATE TEMPORARY TABLE IF NOT EXISTS \"table\" (\"int64\" INTEGER NOT NULL)")
        #expect(
            table.create(withoutRowid: true) { $0.column(int64) }
                == "CREATE TABLE \"table\" (\"int64\" INTEGER NOT NULL) WITHOUT ROWID")
        #expect(qualifiedTable.create { $0.column(int64) } == "CREATE TABLE \"main\".\"table\" (\"int64\" INTEGER NOT NULL)")
    }

    @Test func `tables and views are created from queries, virtual tables from modules`() {
        let query = view.select(int64)
        #expect(table.create(query) == "CREATE TABLE \"table\" AS SELECT \"int64\" FROM \"view\"")
        #expect(
            table.create(query, temporary: true, ifNotExists: true)
                == "CREATE TEMPORARY TABLE IF NOT EXISTS \"table\" AS SELECT \"int64\" FROM \"view\"")
        #expect(view.create(table.select(int64)) == "CREATE VIEW \"view\" AS SELECT \"int64\" FROM \"table\"")
        #expect(
            view.create(table.select(int64), temporary: true) == "CREATE TEMPORARY VIEW \"view\" AS SELECT \"int64\" FROM \"table\"")
        #expect(
            view.create(table.select(int64), ifNotExists: true)
                == "CREATE VIEW IF NOT EXISTS \"view\" AS SELECT \"int64\" FROM \"table\"")
        #expect(
            virtualTable.create(Module("custom", ["foo", "bar"]))
                == "CREATE VIRTUAL TABLE \"virtual_table\" USING \"custom\"('foo', 'bar')")
        #expect(
            virtualTable.create(Module("custom", []), ifNotExists: true)
                == "CREATE VIRTUAL TABLE IF NOT EXISTS \"virtual_table\" USING \"custom\"()")
        let module: Expression<Void> = Module("custom", [int]).expression
        #expect(module.template == "\"custom\"(\"int\")")
    }

    @Test func `addColumn has defaults, checks, references and collations`() {
        let add = "ALTER TABLE \"table\" ADD COLUMN "
        let positive = " CHECK (\"int64\" > 0)"
        #expect(table.addColumn(int64, defaultValue: 1) == add + "\"int64\" INTEGER NOT NULL DEFAULT (1)")
        #expect(
            table.addColumn(int64, check: int64 > 0, defaultValue: 1) == add + "\"int64\" INTEGER NOT NULL\(positive) DEFAULT (1)")
        #expect(
            table.addColumn(int64, check: int64Optional > 0, defaultValue: 1)
                == add + "\"int64\" INTEGER NOT NULL CHECK (\"int64Optional\" > 0) DEFAULT (1)")
        #expect(table.addColumn(int64Optional) == add + "\"int64Optional\" INTEGER")
        #expect(table.addColumn(int64Optional, defaultValue: 1) == add + "\"int64Optional\" INTEGER DEFAULT (1)")
        #expect(table.addColumn(int64Optional, check: int64 > 0) == add + "\"int64Optional\" INTEGER\(positive)")
        #expect(
            table.addColumn(int64Optional, check: int64Optional > 0, defaultValue: 1)
                == add + "\"int64Optional\" INTEGER CHECK (\"int64Optional\" > 0) DEFAULT (1)")
        let refers = " REFERENCES \"table\" (\"int64\")"
        #expect(table.addColumn(int64, references: table, int64) == add + "\"int64\" INTEGER NOT NULL\(refers)")
        #expect(
            table.addColumn(int64, unique: true, references: table, int64) == add + "\"int64\" INTEGER NOT NULL UNIQUE\(refers)")
        #expect(
            table.addColumn(int64, check: int64 > 0, references: table, int64)
                == add + "\"int64\" INTEGER NOT NULL\(positive)\(refers)")
        #expect(
            table.addColumn(int64, unique: true, check: int64Optional > 0, references: table, int64)
                == add + "\"int64\" INTEGER NOT NULL UNIQUE CHECK (\"int64Optional\" > 0)\(refers)")
        #expect(table.addColumn(int64Optional, references: table, int64) == add + "\"int64Optional\" INTEGER\(refers)")
        #expect(
            table.addColumn(int64Optional, check: int64Optional > 0, references: table, int64)
                == add + "\"int64Optional\" INTEGER CHECK (\"int64Optional\" > 0)\(refers)")
        let text = add + "\"string\" TEXT NOT NULL"
        #expect(
            table.addColumn(string, defaultValue: "string", collate: .rtrim) == text + " DEFAULT ('string') COLLATE RTRIM")
        #expect(
            table.addColumn(string, check: string != "", defaultValue: "string", collate: .rtrim)
                == text + " CHECK (\"string\" != '') DEFAULT ('string') COLLATE RTRIM")
        #expect(
            table.addColumn(string, check: stringOptional != "", defaultValue: "string", collate: .rtrim)
                == text + " CHECK (\"stringOptional\" != '') DEFAULT ('string') COLLATE RTRIM")
        #expect(table.addColumn(stringOptional, collate: .rtrim) == add + "\"stringOptional\" TEXT COLLATE RTRIM")
        #expect(
            table.addColumn(stringOptional, check: string != "", defaultValue: "string", collate: .rtrim)
                == add + "\"stringOptional\" TEXT CHECK (\"string\" != '') DEFAULT ('string') COLLATE RTRIM")
        #expect(
            table.addColumn(stringOptional, check: stringOptional != "", collate: .rtrim)
                == add + "\"stringOptional\" TEXT CHECK (\"stringOptional\" != '') COLLATE RTRIM")
    }

    @Test func `createIndex and dropIndex name the index by table and columns`() {
        #expect(table.createIndex(int64) == "CREATE INDEX \"index_table_on_int64\" ON \"table\" (\"int64\")")
        #expect(table.createIndex([int64]) == "CREATE INDEX \"index_table_on_int64\" ON \"table\" (\"int64\")")
        #expect(
            table.createIndex(int64, string, unique: true)
                == "CREATE UNIQUE INDEX \"index_table_on_int64_string\" ON \"table\" (\"int64\", \"string\")")
        #expect(
            table.createIndex([int64], unique: true, ifNotExists: true)
                == "CREATE UNIQUE INDEX IF NOT EXISTS \"index_table_on_int64\" ON \"table\" (\"int64\")")
        #expect(
            table.createIndex(int64, ifNotExists: true)
                == "CREATE INDEX IF NOT EXISTS \"index_table_on_int64\" ON \"table\" (\"int64\")")
        #expect(
            qualifiedTable.createIndex(int64) == "CREATE INDEX \"main\".\"index_table_on_int64\" ON \"table\" (\"int64\")")
        #expect(table.createIndex(string.desc).contains("\"index_table_on_string_desc\" ON \"table\" (\"string\" DESC)"))
        #expect(table.dropIndex(int64) == "DROP INDEX \"index_table_on_int64\"")
        #expect(table.dropIndex([int64], ifExists: true) == "DROP INDEX IF EXISTS \"index_table_on_int64\"")
        #expect(table.dropIndex(int64, ifExists: true) == "DROP INDEX IF EXISTS \"index_table_on_int64\"")
        #expect(qualifiedTable.dropIndex(int64) == "DROP INDEX \"main\".\"index_table_on_int64\"")
    }
}
