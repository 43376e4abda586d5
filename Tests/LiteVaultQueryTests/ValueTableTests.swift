import Foundation
import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

// Every type that Codable meets, against every storage class, by every way of reading: one table.

/// The values that a column has, as SQL. Each row of the table has an outcome for each of them.
private let literals = ["NULL", "1", "1.5", "'1'", "'x'", "'\"x\"'", "x'31'"]

/// What reading has to give: the value's description, or `-` for an error that names the column.
private struct Expectation: Sendable, CustomTestStringConvertible {
    let type: String
    let outcomes: [String]
    let singleOutcomes: [String]
    let readSingle: @Sendable (Connection, String) throws -> [String]
    let read: @Sendable (Connection, String) throws -> [String]
    var testDescription: String { type }

    /// - Parameter single: the outcomes for a type that encodes into a single value of this type, if they differ.
    init<T: Codable & Sendable>(
        _ type: T.Type, _ outcomes: String, single: String? = nil, show: @escaping @Sendable (T) -> String = { "\($0)" }
    ) {
        self.type = "\(type)"
        self.outcomes = outcomes.split(separator: " ").map(String.init)
        singleOutcomes = (single ?? outcomes).split(separator: " ").map(String.init)
        readSingle = { db, literal in
            let query = Query(sql: "SELECT \(literal) AS v")
            return [
                try outcome { show(try query.first(db, as: Property<Single<T>>.self).v.value) },
                try outcome { show(try query.row(db).decode(as: Property<Single<T>>.self).v.value) },
                try outcome {
                    try query.first(db, as: OptionalProperty<Single<T>>.self).v.map { show($0.value) } ?? "-"
                },
            ]
        }
        read = { db, literal in
            let query = Query(sql: "SELECT \(literal) AS v")
            return [
                try outcome { show(try query.first(db, as: Property<T>.self).v) },
                try outcome { show(try query.row(db).decode(as: Property<T>.self).v) },
                try outcome { try query.first(db, as: OptionalProperty<T>.self).v.map(show) ?? "-" },
                try outcome { try query.row(db).decode(as: OptionalProperty<T>.self).v.map(show) ?? "-" },
            ]
        }
    }
}

/// `-` for an error of decoding, which has to name the column; any other error fails the test.
private func outcome(_ read: () throws -> String) throws -> String {
    do { return try read() } catch let error as DecodingError {
        let context: DecodingError.Context? =
            switch error {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                .dataCorrupted(let context):
                context
            @unknown default: nil
            }
        #expect(context?.codingPath.first?.stringValue == "v", "\(error)")
        return "-"
    }
}

private struct Query {
    let sql: String
    private var table: Table { Table("t") }

    private func fill(_ db: Connection) throws {
        try db.execute("DROP TABLE IF EXISTS t; CREATE TABLE t AS \(sql)")
    }
    func first<T: Decodable>(_ db: Connection, as type: T.Type) throws -> T {
        try fill(db)
        return try #require(try db.first(table, as: T.self))
    }
    func row(_ db: Connection) throws -> Row {
        try fill(db)
        return try #require(try db.first(table, as: Row.self))
    }
}

extension Row {
    fileprivate func decode<T: Decodable>(as type: T.Type) throws -> T { try decode() }
}

private struct Property<T: Codable>: Codable { var v: T }
private struct OptionalProperty<T: Codable>: Codable { var v: T? }

/// A type that encodes into a single value, as a `RawRepresentable` struct does.
private struct Single<T: Codable>: Codable {
    var value: T
    init(_ value: T) { self.value = value }
    init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(T.self) }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

private struct Tag: RawRepresentable, Codable, Equatable { var rawValue: String }
private enum Letter: String, Codable { case x, y }
private enum Digit: Int, Codable { case one = 1 }
private struct Parts: Codable { var a: Int }

private let table: [Expectation] = [
    Expectation(Int.self, "- 1 - 1 - - -"), Expectation(Int8.self, "- 1 - 1 - - -"),
    Expectation(Int16.self, "- 1 - 1 - - -"), Expectation(Int32.self, "- 1 - 1 - - -"),
    Expectation(Int64.self, "- 1 - 1 - - -"), Expectation(UInt.self, "- 1 - 1 - - -"),
    Expectation(UInt8.self, "- 1 - 1 - - -"), Expectation(UInt16.self, "- 1 - 1 - - -"),
    Expectation(UInt32.self, "- 1 - 1 - - -"), Expectation(UInt64.self, "- 1 - 1 - - -"),
    Expectation(Double.self, "- 1.0 1.5 1.0 - - -"), Expectation(Float.self, "- 1.0 1.5 1.0 - - -"),
    Expectation(Bool.self, "- true - - - - -"), Expectation(String.self, "- - - 1 x x -"),
    Expectation(Decimal.self, "- 1 1.5 1 - - -"),
    // SQLite.swift stores a type of one date as JSON: seconds since 2001.
    Expectation(
        Date.self, "- 1.0 - - - - -", single: "- 1.0 - 978307201.0 - - -", show: { "\($0.timeIntervalSince1970)" }),
    Expectation(Data.self, "- - - - - - 31", show: { Blob(bytes: [UInt8]($0)).toHex() }),
    Expectation(UUID.self, "- - - - - - -"), Expectation(URL.self, "- - - 1 x x -"),
    Expectation(Tag.self, "- - - 1 x x -", show: \.rawValue), Expectation(Letter.self, "- - - - x x -"),
    Expectation(Digit.self, "- one - one - - -"), Expectation(Parts.self, "- - - - - - -"),
    Expectation([UInt8].self, "- - - - - - [49]"), Expectation([String].self, "- - - - - - -"),
]

@Suite struct ValueTableTests {
    @Test(arguments: table)
    private func `a property of any type reads every storage class, or throws an error that names the column`(
        row: Expectation
    ) throws {
        let db = try Connection()
        for (literal, expected) in zip(literals, row.outcomes) {
            let read = try row.read(db, literal)
            #expect(read == Array(repeating: expected, count: read.count), "\(row.type) of \(literal)")
        }
        for (literal, expected) in zip(literals, row.singleOutcomes) {
            let read = try row.readSingle(db, literal)
            #expect(read == Array(repeating: expected, count: read.count), "single \(row.type) of \(literal)")
        }
        #expect(row.outcomes.count == literals.count && row.singleOutcomes.count == literals.count)
    }

    #if !(os(macOS) && arch(x86_64))
        @Test func `a Float16 reads numbers, and throws for everything else`() throws {
            let row = Expectation(Float16.self, "- 1.0 1.5 1.0 - - -")
            let db = try Connection()
            for (literal, expected) in zip(literals, row.outcomes) {
                let read = try row.read(db, literal)
                #expect(read == Array(repeating: expected, count: read.count), "Float16 of \(literal)")
            }
        }
    #endif

    @Test(arguments: ["NULL", "'text'", "x'00'", "1e300"])
    func `a Float that the column does not contain is an error, not the end of the process`(literal: String) throws {
        struct P: Codable {
            var id: Int
            var weight: Float
        }
        let db = try Connection()
        try db.execute("CREATE TABLE p AS SELECT 1 AS id, \(literal) AS weight")
        let error = #expect(throws: DecodingError.self) { try db.all(Table("p"), as: P.self) }
        #expect("\(try #require(error))".contains("weight"))
    }

    /// Ways to write a value, and ways to read it.
    private func comesBack<T: Codable & Value & Equatable>(_ value: T, column type: String = "") throws
    where T.Datatype: Equatable {
        let db = try Connection()
        try db.execute("CREATE TABLE t (v \(type))")
        let (table, v) = (Table("t"), SQLExpression<T>("v"))
        let writers: [(String, () throws -> Void)] = [
            ("typed", { try db.run(table.insert(v <- value)) }),
            ("many", { try db.run(table.insertMany([v <- value])) }),
            ("Codable", { try db.run(table.insert(Property(v: value))) }),
            ("single", { try db.run(table.insert(Property(v: Single(value)))) }),
            ("with", { try db.run("INSERT INTO t VALUES (?)", with: value) }),
            ("text", { try db.execute("INSERT INTO t VALUES (\(SQLExpression<T>(value: value).asSQL()))") }),
            (
                "update",
                {
                    try db.execute("INSERT INTO t VALUES (0)"); try db.run(table.update(v <- value))
                }
            ),
        ]
        for (name, write) in writers {
            try db.execute("DELETE FROM t")
            try write()
            #expect(try db.all(table.select(v)) == [value], "\(name), typed")
            #expect(try db.first(table, as: Row.self)?.value(of: v) == value, "\(name), row")
            #expect(try db.all(table, as: Property<T>.self).map(\.v) == [value], "\(name), Codable")
            #expect(try db.all(table, as: Property<Single<T>>.self).map(\.v.value) == [value], "\(name), single")
            #expect(try db.all("SELECT v FROM t", as: T.self) == [value], "\(name), SQL")
            #expect(try db.value(table.filter(v == value).count) == 1, "\(name), filter")
        }
    }

    @Test func `a value comes back equal, however it is written and read`() throws {
        for number in [0, -1, Int.max, .min] { try comesBack(number) }
        for number in [0.0, 0.1, -.pi, 1e300] { try comesBack(number) }
        for text in ["", "x", "é\u{301}", "O'Brien", "a\"b"] { try comesBack(text, column: "TEXT") }
        for flag in [true, false] { try comesBack(flag) }
        try comesBack(UUID())
        try comesBack(try #require(URL(string: "https://example.com/a?b=c#d")), column: "TEXT")
        try comesBack(Data([0, 255]))
        for date in [0, 1_700_000_000.25, -1, 1_795_251_187] {
            try comesBack(Date(timeIntervalSince1970: date), column: "DATETIME")
        }
    }

    @Test func `text that looks like JSON is not confused with what SQLite.swift wrote`() throws {
        let db = try Connection()
        let table = Table("t")
        for text in [#""quoted""#, #"""#, #""""#, #""a" b""#, "{}", "1", "null", #""\u00e9""#] {
            try db.execute("DROP TABLE IF EXISTS t; CREATE TABLE t (v TEXT)")
            try db.run(table.insert(Property(v: Tag(rawValue: text))))
            #expect(try db.first(table, as: Property<Tag>.self)?.v == Tag(rawValue: text))
            #expect(try db.first(table, as: Row.self)?.decode(as: Property<Tag>.self).v == Tag(rawValue: text))
        }
    }

    @Test func `H-SCH-08: single values that SQLite.swift wrote as JSON text are read without their quotes`() throws {
        let db = try Connection()
        func read<T: Codable>(_ text: String, as type: T.Type) throws -> T {
            try db.execute("DROP TABLE IF EXISTS t; CREATE TABLE t (v TEXT)")
            try db.run("INSERT INTO t VALUES (?)", with: text)
            return try #require(try db.first(Table("t"), as: Property<T>.self)).v
        }
        #expect(try read(#""a\"b\/c""#, as: Tag.self).rawValue == #"a"b/c"#)
        #expect(try read(#""x""#, as: Letter.self) == .x)
        #expect(try read(#""https:\/\/example.com\/a""#, as: URL.self).absoluteString == "https://example.com/a")
        #expect(try read("true", as: Bool.self))
        #expect(try read("1.5", as: Double.self) == 1.5)
        #expect(try read("7", as: Int.self) == 7)
        #expect(try read("7", as: Single<Int>.self).value == 7)
        #expect(try read(#""AP8=""#, as: Single<Data>.self).value == Data([0, 255]))
        let uuid = UUID()
        #expect(try read("\"\(uuid.uuidString)\"", as: Single<UUID>.self).value == uuid)
        #expect(
            try read("721692800.5", as: Single<Date>.self).value == Date(timeIntervalSinceReferenceDate: 721_692_800.5))
    }

    @Test func `a UUID is read from 16 bytes, by every way of reading`() throws {
        let db = try Connection()
        let uuid = UUID()
        try db.execute("CREATE TABLE t (v)")
        try db.run("INSERT INTO t VALUES (?)", with: withUnsafeBytes(of: uuid.uuid) { Data($0) })
        let (table, v) = (Table("t"), SQLExpression<UUID>("v"))
        #expect(try db.all(table.select(v)) == [uuid])
        #expect(try db.value("SELECT v FROM t", as: UUID.self) == uuid)
        #expect(try db.first(table, as: Row.self)?.value(of: v) == uuid)
        #expect(try db.first(table, as: Row.self)?.decode(as: Property<UUID>.self).v == uuid)
        #expect(try db.first(table, as: Property<Single<UUID>>.self)?.v.value == uuid)
        let text = try db.defineFunction("uuid_text") { (id: UUID) in id.uuidString }
        #expect(try db.value(table.select(text(v))) == uuid.uuidString)
    }
}

@Suite struct DecimalTests {
    private func stored(_ text: String, in type: String) throws -> Decimal? {
        let db = try Connection()
        try db.execute("CREATE TABLE t (v \(type))")
        let value = try #require(Decimal(string: text))
        try db.run(Table("t").insert(Property(v: value)))
        let read = try db.first(Table("t"), as: Property<Decimal>.self)?.v
        #expect(try db.first(Table("t"), as: Row.self)?.decode(as: Property<Decimal>.self).v == read)
        return read
    }

    @Test(arguments: ["", "TEXT", "DECIMAL(10,2)", "NUMERIC", "REAL", "BLOB", "VARCHAR(40)"])
    func `a decimal of up to 15 digits comes back exactly from a column of any type`(type: String) throws {
        let texts = [
            "0", "0.1", "-0.1", "12.50", "123456789012.345", "0.000000000000001", "100000000000000000000", "-7",
            // Beyond 2^53, where not every integer is a REAL.
            "904144857732500000", "-904144857732500000", "123456789012345000", "9223372036854770000",
        ]
        for text in texts {
            #expect(try stored(text, in: type) == Decimal(string: text), "\(text) in \(type)")
        }
    }

    @Test(arguments: ["", "TEXT", "DECIMAL(10,2)", "NUMERIC", "INTEGER", "BLOB"])
    func `a random decimal comes back exactly, or is an error`(type: String) throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            let digits = String(Int64.random(in: 1..<1_000_000_000_000_000_000, using: &random)).prefix(.random(in: 1...18))
            let value = try #require(Decimal(string: "\(digits)e\(Int.random(in: -20...20))"))
            do {
                #expect(try stored("\(value)", in: type) == value, "\(value) in \(type)")
            } catch let error as DatabaseError {
                #expect(error.resultCode == .mismatch)
            }
        }
    }

    @Test func `H-SCH-09: a decimal of more digits is exact as text, and an error in a column that would round it`()
        throws
    {
        for text in ["123456789012345678.91", "0.1234567890123456789", "12345678901234567890123456789012345678"] {
            for type in ["", "TEXT", "BLOB", "VARCHAR(40)"] {
                #expect(try stored(text, in: type) == Decimal(string: text), "\(text) in \(type)")
            }
            for type in ["DECIMAL(30,2)", "NUMERIC", "REAL", "INTEGER", "DOUBLE"] {
                let error = #expect(throws: DatabaseError.self) { try stored(text, in: type) }
                #expect(error?.resultCode == .mismatch, "\(text) in \(type)")
            }
        }
    }

    @Test func `an update and an upsert check the column, too`() throws {
        let db = try Connection()
        try db.execute("CREATE TABLE t (v DECIMAL); INSERT INTO t VALUES (1)")
        let long = Property(v: try #require(Decimal(string: "123456789012345678.91")))
        #expect(throws: DatabaseError.self) { try db.run(Table("t").update(long)) }
        #expect(throws: DatabaseError.self) { try db.run(Table("t").insertMany([long, long])) }
        #expect(try db.value("SELECT v FROM t", as: Int.self) == 1)
        #expect(throws: EncodingError.self) { try Table("t").insert(Property(v: Decimal.nan)) }
    }

    @Test(arguments: [
        "'1,5'", "'0x10'", "'1.'", "'.5'", "'1 '", "''", "'1234567890123456789012345678901234567891'", "9e999",
    ])
    func `text that is not a decimal number is an error`(literal: String) throws {
        let db = try Connection()
        try db.execute("CREATE TABLE t AS SELECT \(literal) AS v")
        #expect(throws: DecodingError.self) { try db.first(Table("t"), as: Property<Decimal>.self) }
    }
}
