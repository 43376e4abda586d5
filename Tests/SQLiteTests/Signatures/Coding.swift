import Foundation
import SQLite
import Testing

final class Record: Codable, Equatable {
    let int: Int
    let string: String
    let bool: Bool
    let float: Float
    let double: Double
    let date: Date
    let uuid: UUID
    let optional: String?
    let sub: Record?

    init(
        int: Int, string: String, bool: Bool, float: Float, double: Double, date: Date, uuid: UUID, optional: String?,
        sub: Record?
    ) {
        self.int = int
        self.string = string
        self.bool = bool
        self.float = float
        self.double = double
        self.date = date
        self.uuid = uuid
        self.optional = optional
        self.sub = sub
    }

    static func == (lhs: Record, rhs: Record) -> Bool {
        lhs.int == rhs.int && lhs.string == rhs.string && lhs.bool == rhs.bool && lhs.float == rhs.float
            && lhs.double == rhs.double && lhs.date == rhs.date && lhs.uuid == rhs.uuid && lhs.optional == rhs.optional
            && lhs.sub == rhs.sub
    }

    static func sample(_ int: Int = 1, _ string: String = "2", optional: String? = nil, sub: Record? = nil) -> Record {
        Record(
            int: int, string: string, bool: true, float: 3, double: 4, date: Date(timeIntervalSince1970: 0),
            uuid: UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") ?? UUID(), optional: optional, sub: sub)
    }

    static let columns = #"("int", "string", "bool", "float", "double", "date", "uuid")"#
    static let values = "1, '2', 1, 3.0, 4.0, '1970-01-01T00:00:00.000', 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'"
}

@Suite struct CodingSignatures {
    let emails = Table("emails")

    @Test func `an encodable is inserted by its columns, without those that are nil`() throws {
        let text = "INSERT INTO \"emails\" \(Record.columns) VALUES (\(Record.values))"
        try assertSQL(text, try emails.insert(Record.sample()))
        try assertSQL(
            text.replacingOccurrences(of: "INSERT", with: "INSERT OR REPLACE"),
            try emails.insert(or: .replace, encodable: Record.sample()))
        try assertSQL(
            "INSERT INTO \"emails\" (\"int\", \"string\", \"bool\", \"float\", \"double\", \"date\", \"uuid\", \"x\") "
                + "VALUES (\(Record.values), 5)",
            try emails.insert(Record.sample(), userInfo: [:], otherSetters: [Expression<Int>("x") <- 5]))
    }

    @Test func `a nested encodable is JSON`() throws {
        let inner = Record.sample()
        let json = try #require(String(data: try JSONEncoder().encode(inner), encoding: .utf8))
        // The order of JSON's keys is not fixed: what is stored is decoded again.
        let insert = try emails.insert(Record.sample(optional: "optional", sub: inner))
        let start = "INSERT INTO \"emails\" (\"int\", \"string\", \"bool\", \"float\", \"double\", \"date\", \"uuid\", "
            + "\"optional\", \"sub\") VALUES (\(Record.values), 'optional', '"
        #expect(insert.asSQL().hasPrefix(start))
        let stored = try #require(insert.bindings.last as? String)
        #expect(try JSONDecoder().decode(Record.self, from: Data(stored.utf8)) == inner)
        #expect(stored.count == json.count)
    }

    @Test func `many encodables are inserted with the columns of all`() throws {
        try assertSQL(
            "INSERT INTO \"emails\" (\"int\", \"string\", \"bool\", \"float\", \"double\", \"date\", \"uuid\") "
                + "VALUES (\(Record.values)), (\(Record.values.replacingOccurrences(of: "1, '2'", with: "2, '3'")))",
            try emails.insertMany([Record.sample(), Record.sample(2, "3")]))
        let differing = try emails.insertMany([Record.sample(), Record.sample(optional: "x")])
        assertSQL(
            "INSERT INTO \"emails\" (\"int\", \"string\", \"bool\", \"float\", \"double\", \"date\", \"uuid\", "
                + "\"optional\", \"sub\") VALUES (\(Record.values), NULL, NULL), (\(Record.values), 'x', NULL)", differing)
    }

    @Test func `an encodable is upserted`() throws {
        try assertSQL(
            "INSERT INTO \"emails\" \(Record.columns) VALUES (\(Record.values)) ON CONFLICT (\"string\") DO UPDATE SET "
                + "\"int\" = \"excluded\".\"int\", \"bool\" = \"excluded\".\"bool\", \"float\" = \"excluded\".\"float\", "
                + "\"double\" = \"excluded\".\"double\", \"date\" = \"excluded\".\"date\", "
                + "\"uuid\" = \"excluded\".\"uuid\"", try emails.upsert(Record.sample(), onConflictOf: string))
    }

    @Test func `an update by an encodable prints the columns that have values, and writes NULL into the others`() throws {
        let update = try emails.filter(int == 1).update(Record.sample(1, "3"))
        assertSQL(
            "UPDATE \"emails\" SET \"int\" = 1, \"string\" = '3', \"bool\" = 1, \"float\" = 3.0, \"double\" = 4.0, "
                + "\"date\" = '1970-01-01T00:00:00.000', \"uuid\" = 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F' "
                + "WHERE (\"int\" = 1)", update)
        let db = try Connection()
        try db.run(
            """
            CREATE TABLE emails ("int", "string", "bool", "float", "double", "date", "uuid", "optional", "sub")
            """)
        try db.run(try emails.insert(Record.sample(optional: "x")))
        #expect(try db.run(update) == 1)
        #expect(try db.scalar("SELECT optional IS NULL AND string = '3' FROM emails") as? Int64 == 1)
    }

    @Test func `a row is decoded, and gives a decoder`() throws {
        let db = try Connection()
        try db.run(
            emails.create {
                $0.column(int)
                $0.column(string)
                $0.column(bool)
                $0.column(Expression<Double>("float"))
                $0.column(double)
                $0.column(date)
                $0.column(Expression<UUID>("uuid"))
                $0.column(Expression<String?>("optional"))
                $0.column(Expression<String?>("sub"))
            })
        let value = Record.sample(optional: "o", sub: Record.sample(7))
        try db.run(try emails.insert(value))
        let row = try #require(try db.pluck(emails))
        let decoded: Record = try row.decode()
        #expect(decoded == value)
        #expect(try Record(from: row.decoder(userInfo: [:])) == value)
        let all: [Record] = try db.prepare(emails).map { try $0.decode() }
        #expect(all == [value])
        #expect(try db.prepare(emails).map { try $0.decode() as Record } == [value])
    }

    @Test func `an optional array of a value is JSON or nothing`() throws {
        struct Kept: Codable, Equatable {
            var myInt: Int
            var myString: String
            var myOptionalArray: [Int]?
        }
        let db = try Connection()
        let kept = Table("kept")
        try db.run(
            kept.create {
                $0.column(Expression<Int?>("myInt"))
                $0.column(Expression<String?>("myString"))
                $0.column(Expression<String?>("myOptionalArray"))
            })
        let values = [
            Kept(myInt: 13, myString: "foo", myOptionalArray: nil),
            Kept(myInt: 14, myString: "bar", myOptionalArray: [1, 2, 3]),
        ]
        for value in values { try db.run(kept.insert(value)) }
        #expect(try db.prepare(kept).map { try $0.decode() as Kept } == values)
        #expect(try db.run(kept.insertMany(values)) == 4)
        #expect(try db.scalar(kept.count) == 4)
    }

    @Test func `enums are stored by raw value`() throws {
        enum Color: String, Codable { case red, blue }
        struct Car: Codable, Equatable {
            let color: Color
            let other: Color?
        }
        let db = try Connection()
        try db.run("CREATE TABLE cars (color TEXT, other TEXT)")
        let cars = Table("cars")
        try db.run(cars.insert(Car(color: .red, other: .blue)))
        #expect(try db.scalar("SELECT color || other FROM cars") as? String == "redblue")
        let car: Car = try #require(try db.pluck(cars)).decode()
        #expect(car == Car(color: .red, other: .blue))
    }
}
