import SQLite
import Testing

// Every overload of `column`, by the line of the inventory that it has.
@Suite struct ColumnSignatures {
    /// What a table is created with.
    private func sql(_ block: (TableBuilder) -> Void) -> String {
        let text = table.create(block: block)
        return String(text.dropFirst("CREATE TABLE \"table\" (".count).dropLast())
    }

    @Test func `columns that are not NULL, L230 to L245`() {
        #expect(sql { $0.column(int64) } == "\"int64\" INTEGER NOT NULL")
        #expect(sql { $0.column(int64, unique: true) } == "\"int64\" INTEGER NOT NULL UNIQUE")
        #expect(sql { $0.column(int64, check: int64 > 0) } == "\"int64\" INTEGER NOT NULL CHECK (\"int64\" > 0)")
        #expect(sql { $0.column(int64, defaultValue: int64) } == "\"int64\" INTEGER NOT NULL DEFAULT (\"int64\")")
        #expect(sql { $0.column(int64, unique: true, check: int64 > 0, defaultValue: int64) } == "\"int64\" INTEGER NOT NULL UNIQUE CHECK (\"int64\" > 0) DEFAULT (\"int64\")")
        #expect(sql { $0.column(int64, defaultValue: 0) } == "\"int64\" INTEGER NOT NULL DEFAULT (0)")
        #expect(sql { $0.column(int64, unique: true, check: int64 > 0, defaultValue: 0) } == "\"int64\" INTEGER NOT NULL UNIQUE CHECK (\"int64\" > 0) DEFAULT (0)")
        #expect(sql { $0.column(int64, check: int64Optional > 0) } == "\"int64\" INTEGER NOT NULL CHECK (\"int64Optional\" > 0)")
        #expect(sql { $0.column(int64, unique: true, check: int64Optional > 0, defaultValue: int64) } == "\"int64\" INTEGER NOT NULL UNIQUE CHECK (\"int64Optional\" > 0) DEFAULT (\"int64\")")
        #expect(sql { $0.column(int64, check: int64Optional > 0, defaultValue: 0) } == "\"int64\" INTEGER NOT NULL CHECK (\"int64Optional\" > 0) DEFAULT (0)")
    }

    @Test func `columns that may be NULL, L250 to L275`() {
        #expect(sql { $0.column(int64Optional) } == "\"int64Optional\" INTEGER")
        #expect(sql { $0.column(int64Optional, unique: true) } == "\"int64Optional\" INTEGER UNIQUE")
        #expect(sql { $0.column(int64Optional, check: int64 > 0) } == "\"int64Optional\" INTEGER CHECK (\"int64\" > 0)")
        #expect(sql { $0.column(int64Optional, defaultValue: int64) } == "\"int64Optional\" INTEGER DEFAULT (\"int64\")")
        #expect(sql { $0.column(int64Optional, defaultValue: int64Optional) } == "\"int64Optional\" INTEGER DEFAULT (\"int64Optional\")")
        #expect(sql { $0.column(int64Optional, unique: true, check: int64 > 0, defaultValue: int64Optional) } == "\"int64Optional\" INTEGER UNIQUE CHECK (\"int64\" > 0) DEFAULT (\"int64Optional\")")
        #expect(sql { $0.column(int64Optional, defaultValue: 0) } == "\"int64Optional\" INTEGER DEFAULT (0)")
        #expect(sql { $0.column(int64Optional, check: int64 > 0, defaultValue: 0) } == "\"int64Optional\" INTEGER CHECK (\"int64\" > 0) DEFAULT (0)")
        #expect(sql { $0.column(int64Optional, check: int64Optional > 0) } == "\"int64Optional\" INTEGER CHECK (\"int64Optional\" > 0)")
        #expect(sql { $0.column(int64Optional, check: int64Optional > 0, defaultValue: int64) } == "\"int64Optional\" INTEGER CHECK (\"int64Optional\" > 0) DEFAULT (\"int64\")")
        #expect(sql { $0.column(int64Optional, check: int64Optional > 0, defaultValue: int64Optional) } == "\"int64Optional\" INTEGER CHECK (\"int64Optional\" > 0) DEFAULT (\"int64Optional\")")
        #expect(sql { $0.column(int64Optional, unique: true, check: int64Optional > 0, defaultValue: 0) } == "\"int64Optional\" INTEGER UNIQUE CHECK (\"int64Optional\" > 0) DEFAULT (0)")
    }

    @Test func `primary keys, L280 to L295`() {
        #expect(sql { $0.column(int64, primaryKey: true) } == "\"int64\" INTEGER PRIMARY KEY NOT NULL")
        #expect(sql { $0.column(int64, primaryKey: false) } == "\"int64\" INTEGER NOT NULL")
        #expect(sql { $0.column(int64, primaryKey: true, check: int64 > 0) } == "\"int64\" INTEGER PRIMARY KEY NOT NULL CHECK (\"int64\" > 0)")
        #expect(sql { $0.column(string, primaryKey: true, defaultValue: string) } == "\"string\" TEXT PRIMARY KEY NOT NULL DEFAULT (\"string\")")
        #expect(sql { $0.column(int64, primaryKey: true, check: int64 > 0, defaultValue: int64) } == "\"int64\" INTEGER PRIMARY KEY NOT NULL CHECK (\"int64\" > 0) DEFAULT (\"int64\")")
        #expect(sql { $0.column(int64, primaryKey: true, check: int64Optional > 0) } == "\"int64\" INTEGER PRIMARY KEY NOT NULL CHECK (\"int64Optional\" > 0)")
        #expect(sql { $0.column(int64, primaryKey: true, check: int64Optional > 0, defaultValue: int64) } == "\"int64\" INTEGER PRIMARY KEY NOT NULL CHECK (\"int64Optional\" > 0) DEFAULT (\"int64\")")
        #expect(sql { $0.column(int64, primaryKey: .autoincrement) } == "\"int64\" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL")
        #expect(sql { $0.column(int64, primaryKey: .default) } == "\"int64\" INTEGER PRIMARY KEY NOT NULL")
        #expect(sql { $0.column(int64, primaryKey: .autoincrement, check: int64 > 0) } == "\"int64\" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL CHECK (\"int64\" > 0)")
        #expect(sql { $0.column(int64, primaryKey: .autoincrement, check: int64Optional > 0) } == "\"int64\" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL CHECK (\"int64Optional\" > 0)")
    }

    @Test func `references, L300 to L315`() {
        #expect(sql { $0.column(int64, references: table, int64) } == "\"int64\" INTEGER NOT NULL REFERENCES \"table\" (\"int64\")")
        #expect(sql { $0.column(int64, references: qualifiedTable, int64) } == "\"int64\" INTEGER NOT NULL REFERENCES \"table\" (\"int64\")")
        #expect(sql { $0.column(int64, unique: true, check: int64 > 0, references: table, int64) } == "\"int64\" INTEGER NOT NULL UNIQUE CHECK (\"int64\" > 0) REFERENCES \"table\" (\"int64\")")
        #expect(sql { $0.column(int64, unique: true, references: table, int64) } == "\"int64\" INTEGER NOT NULL UNIQUE REFERENCES \"table\" (\"int64\")")
        #expect(sql { $0.column(int64, check: int64 > 0, references: table, int64) } == "\"int64\" INTEGER NOT NULL CHECK (\"int64\" > 0) REFERENCES \"table\" (\"int64\")")
        #expect(sql { $0.column(int64, check: int64Optional > 0, references: table, int64) } == "\"int64\" INTEGER NOT NULL CHECK (\"int64Optional\" > 0) REFERENCES \"table\" (\"int64\")")
        #expect(sql { $0.column(int64Optional, references: table, int64) } == "\"int64Optional\" INTEGER REFERENCES \"table\" (\"int64\")")
        #expect(sql { $0.column(int64Optional, unique: true, check: int64 > 0, references: table, int64) } == "\"int64Optional\" INTEGER UNIQUE CHECK (\"int64\" > 0) REFERENCES \"table\" (\"int64\")")
        #expect(sql { $0.column(int64Optional, check: int64Optional > 0, references: table, int64) } == "\"int64Optional\" INTEGER CHECK (\"int64Optional\" > 0) REFERENCES \"table\" (\"int64\")")
    }

    @Test func `primary keys that refer, L320 to L335`() {
        #expect(sql { $0.column(int64, primaryKey: true, references: table, int64) } == "\"int64\" INTEGER PRIMARY KEY NOT NULL REFERENCES \"table\" (\"int64\")")
        #expect(sql { $0.column(int64, primaryKey: true, check: int64 > 0, references: table, int64) } == "\"int64\" INTEGER PRIMARY KEY NOT NULL CHECK (\"int64\" > 0) REFERENCES \"table\" (\"int64\")")
        #expect(sql { $0.column(int64, primaryKey: true, check: int64Optional > 0, references: table, int64) } == "\"int64\" INTEGER PRIMARY KEY NOT NULL CHECK (\"int64Optional\" > 0) REFERENCES \"table\" (\"int64\")")
        #expect(sql { $0.column(int64Optional, primaryKey: true, references: table, int64) } == "\"int64Optional\" INTEGER PRIMARY KEY REFERENCES \"table\" (\"int64\")")
        #expect(sql { $0.column(int64Optional, primaryKey: true, check: int64 > 0, references: table, int64) } == "\"int64Optional\" INTEGER PRIMARY KEY CHECK (\"int64\" > 0) REFERENCES \"table\" (\"int64\")")
        #expect(sql { $0.column(int64Optional, primaryKey: true, check: int64Optional > 0, references: table, int64) } == "\"int64Optional\" INTEGER PRIMARY KEY CHECK (\"int64Optional\" > 0) REFERENCES \"table\" (\"int64\")")
    }

    @Test func `collations, L340 to L385`() {
        #expect(sql { $0.column(string, collate: .rtrim) } == "\"string\" TEXT NOT NULL COLLATE RTRIM")
        #expect(sql { $0.column(string, unique: true, collate: .rtrim) } == "\"string\" TEXT NOT NULL UNIQUE COLLATE RTRIM")
        #expect(sql { $0.column(string, check: string != "", collate: .rtrim) } == "\"string\" TEXT NOT NULL CHECK (\"string\" != '') COLLATE RTRIM")
        #expect(sql { $0.column(string, defaultValue: string, collate: .rtrim) } == "\"string\" TEXT NOT NULL DEFAULT (\"string\") COLLATE RTRIM")
        #expect(sql { $0.column(string, defaultValue: "string", collate: .rtrim) } == "\"string\" TEXT NOT NULL DEFAULT ('string') COLLATE RTRIM")
        #expect(sql { $0.column(string, unique: true, check: string != "", defaultValue: "string", collate: .rtrim) } == "\"string\" TEXT NOT NULL UNIQUE CHECK (\"string\" != '') DEFAULT ('string') COLLATE RTRIM")
        #expect(sql { $0.column(string, check: stringOptional != "", defaultValue: string, collate: .rtrim) } == "\"string\" TEXT NOT NULL CHECK (\"stringOptional\" != '') DEFAULT (\"string\") COLLATE RTRIM")
        #expect(sql { $0.column(string, check: stringOptional != "", collate: .rtrim) } == "\"string\" TEXT NOT NULL CHECK (\"stringOptional\" != '') COLLATE RTRIM")
        #expect(sql { $0.column(string, check: stringOptional != "", defaultValue: "string", collate: .rtrim) } == "\"string\" TEXT NOT NULL CHECK (\"stringOptional\" != '') DEFAULT ('string') COLLATE RTRIM")
        #expect(sql { $0.column(stringOptional, collate: .rtrim) } == "\"stringOptional\" TEXT COLLATE RTRIM")
        #expect(sql { $0.column(stringOptional, unique: true, collate: .rtrim) } == "\"stringOptional\" TEXT UNIQUE COLLATE RTRIM")
        #expect(sql { $0.column(stringOptional, check: string != "", collate: .rtrim) } == "\"stringOptional\" TEXT CHECK (\"string\" != '') COLLATE RTRIM")
        #expect(sql { $0.column(stringOptional, defaultValue: string, collate: .rtrim) } == "\"stringOptional\" TEXT DEFAULT (\"string\") COLLATE RTRIM")
        #expect(sql { $0.column(stringOptional, defaultValue: "string", collate: .rtrim) } == "\"stringOptional\" TEXT DEFAULT ('string') COLLATE RTRIM")
        #expect(sql { $0.column(stringOptional, unique: true, check: string != "", defaultValue: "string", collate: .rtrim) } == "\"stringOptional\" TEXT UNIQUE CHECK (\"string\" != '') DEFAULT ('string') COLLATE RTRIM")
        #expect(sql { $0.column(stringOptional, check: stringOptional != "", defaultValue: string, collate: .rtrim) } == "\"stringOptional\" TEXT CHECK (\"stringOptional\" != '') DEFAULT (\"string\") COLLATE RTRIM")
        #expect(sql { $0.column(stringOptional, check: stringOptional != "", collate: .rtrim) } == "\"stringOptional\" TEXT CHECK (\"stringOptional\" != '') COLLATE RTRIM")
        #expect(sql { $0.column(stringOptional, check: stringOptional != "", defaultValue: "string", collate: .rtrim) } == "\"stringOptional\" TEXT CHECK (\"stringOptional\" != '') DEFAULT ('string') COLLATE RTRIM")
        #expect(sql { $0.column(stringOptional, defaultValue: stringOptional, collate: .rtrim) } == "\"stringOptional\" TEXT DEFAULT (\"stringOptional\") COLLATE RTRIM")
        #expect(sql { $0.column(stringOptional, check: string != "", defaultValue: stringOptional, collate: .rtrim) } == "\"stringOptional\" TEXT CHECK (\"string\" != '') DEFAULT (\"stringOptional\") COLLATE RTRIM")
        #expect(sql { $0.column(stringOptional, check: stringOptional != "", defaultValue: stringOptional, collate: .rtrim) } == "\"stringOptional\" TEXT CHECK (\"stringOptional\" != '') DEFAULT (\"stringOptional\") COLLATE RTRIM")
    }

    @Test func `constraints of the table, L399 to L474`() {
        #expect(sql { $0.primaryKey(int64) } == "PRIMARY KEY (\"int64\")")
        #expect(sql { $0.primaryKey(int64, string) } == "PRIMARY KEY (\"int64\", \"string\")")
        #expect(sql { $0.primaryKey(int64, string, double) } == "PRIMARY KEY (\"int64\", \"string\", \"double\")")
        #expect(sql { $0.primaryKey(int64, string, double, bool) } == "PRIMARY KEY (\"int64\", \"string\", \"double\", \"bool\")")
        #expect(sql { $0.unique(int64) } == "UNIQUE (\"int64\")")
        #expect(sql { $0.unique(int64, string) } == "UNIQUE (\"int64\", \"string\")")
        #expect(sql { $0.unique([int64, stringOptional]) } == "UNIQUE (\"int64\", \"stringOptional\")")
        #expect(sql { $0.check(int64 > 0) } == "CHECK ((\"int64\" > 0))")
        #expect(sql { $0.check(int64Optional > 0) } == "CHECK ((\"int64Optional\" > 0))")
        #expect(sql { $0.foreignKey(string, references: table, string) } == "FOREIGN KEY (\"string\") REFERENCES \"table\" (\"string\")")
        #expect(sql { $0.foreignKey(stringOptional, references: table, string) } == "FOREIGN KEY (\"stringOptional\") REFERENCES \"table\" (\"string\")")
        #expect(sql { $0.foreignKey(string, references: table, string, update: .cascade, delete: .setNull) } == "FOREIGN KEY (\"string\") REFERENCES \"table\" (\"string\") ON UPDATE CASCADE ON DELETE SET NULL")
        #expect(sql { $0.foreignKey((string, int64), references: table, (string, int64)) } == "FOREIGN KEY (\"string\", \"int64\") REFERENCES \"table\" (\"string\", \"int64\")")
        #expect(sql { $0.foreignKey((string, string, string), references: table, (string, string, string), delete: .noAction) } == "FOREIGN KEY (\"string\", \"string\", \"string\") REFERENCES \"table\" (\"string\", \"string\", \"string\") ON DELETE NO ACTION")
        #expect(sql { $0.foreignKey(stringOptional, references: table, string, update: .setDefault, delete: .restrict) } == "FOREIGN KEY (\"stringOptional\") REFERENCES \"table\" (\"string\") ON UPDATE SET DEFAULT ON DELETE RESTRICT")
    }
}
