import Foundation
import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

private enum Mood: String, Codable { case good, bad }
private enum Level: Int, Codable { case low = 1, high = 2 }
private struct Address: Codable, Equatable { var street: String; var numbers: [Int] }
private struct Person: Codable, Equatable {
    var id: Int
    var name: String
    var small: UInt8
    var ratio: Float
    var weight: Double
    var isAdmin: Bool
    var born: Date
    var key: UUID
    var photo: Data
    var site: URL
    var mood: Mood
    var level: Level
    var address: Address
    var nickname: String?
    var tags: [String]?
}

private let ada = Person(
    id: 1, name: "Ada", small: 200, ratio: 1.5, weight: 60.25, isAdmin: true, born: Date(timeIntervalSince1970: 0.125),
    key: UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!, photo: Data([0, 255]),
    site: URL(string: "https://example.com/a?b")!, mood: .good, level: .high,
    address: Address(street: "x\"y", numbers: [1, 2]), nickname: nil, tags: ["a"])

private let people = Table("people")

private func database() throws -> Connection {
    let db = try Connection()
    try db.execute(
        """
        CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, small INT, ratio REAL, weight REAL, isAdmin INT, born TEXT,
            "key" TEXT, photo BLOB, site TEXT, mood TEXT, level INT, address TEXT, nickname TEXT DEFAULT 'none', tags TEXT)
        """)
    return db
}

@Suite struct CodableTests {
    @Test func `a value comes back equal`() throws {
        let db = try database()
        try db.run(people.insert(ada))
        let row = try #require(try db.first(people, as: Row.self))
        var expected = ada
        expected.nickname = "none"
        let decoded: Person = try row.decode()
        #expect(decoded == expected, "what is nil was left out of the INSERT, so the column has its default value")
    }

    @Test func `enums are stored by their raw value, types with parts as JSON`() throws {
        let db = try database()
        try db.run(people.insert(ada))
        #expect(try db.value("SELECT mood FROM people", as: String.self) == "good")
        #expect(try db.value("SELECT level FROM people", as: Int.self) == 2)
        #expect(try db.value("SELECT typeof(photo) FROM people", as: String.self) == "blob")
        #expect((try db.value("SELECT address FROM people", as: String?.self))?.contains("\"numbers\":[1,2]") == true)
    }

    /// The encoder's own order differs from process to process, and a dictionary's from value to value.
    @Test func `equal values are equal texts`() throws {
        struct Place: Codable { var place: [String: Int] }
        let db = try Connection()
        try db.execute("CREATE TABLE places (place TEXT)")
        let letters = "abcdefghijklmnop".map(String.init)
        for order in [letters, letters.reversed(), letters.shuffled()] {
            var place: [String: Int] = [:]
            for letter in order { place[letter] = 1 }
            try db.run(Table("places").insert(Place(place: place)))
        }
        let expected = "{" + letters.map { "\"\($0)\":1" }.joined(separator: ",") + "}"
        #expect(try db.all("SELECT DISTINCT place FROM places", as: String.self) == [expected])
    }

    @Test func `an update writes nil as NULL`() throws {
        let db = try database()
        try db.run(people.insert(ada))
        try db.run(people.update(ada))
        #expect(try db.value("SELECT nickname FROM people", as: StoredValue.self) == .null)
        let decoded: Person = try #require(try db.first(people, as: Row.self)).decode()
        #expect(decoded == ada)
    }

    @Test func `many values with nil in different places keep their columns`() throws {
        let db = try database()
        var first = ada, second = ada
        first.nickname = "A"
        first.tags = nil
        second.id = 2
        second.nickname = nil
        second.tags = ["b"]
        try db.run(people.insertMany([first, second]))
        let decoded: [Person] = try db.all(people.order(SQLExpression<Int>("id")), as: Row.self).map {
            try $0.decode()
        }
        #expect(decoded == [first, second])
    }

    @Test func `a raw value that was stored as JSON, in quotes, is still read`() throws {
        let db = try database()
        try db.run(people.insert(ada))
        try db.run("UPDATE people SET mood = '\"bad\"'")
        let decoded: Person = try #require(try db.first(people, as: Row.self)).decode()
        #expect(decoded.mood == .bad)
    }

    @Test func `an upsert replaces the values of a row`() throws {
        let db = try database()
        try db.run(people.insert(ada))
        var changed = ada
        changed.name = "Augusta"
        guard EngineInfo.linked.isAtLeast(3, 24) else {
            // Not a skip that nobody sees: an engine without ON CONFLICT refuses, and the row stays.
            #expect {
                try db.run(people.upsert(changed, onConflictOf: SQLExpression<Int>("id")))
            } throws: { ($0 as? VaultError)?.code == .unsupported }
            #expect(try db.value("SELECT name FROM people", as: String.self) == "Ada")
            return
        }
        try db.run(people.upsert(changed, onConflictOf: SQLExpression<Int>("id")))
        let decoded: Person = try #require(try db.first(people, as: Row.self)).decode()
        #expect(decoded.name == "Augusta")
    }

    @Test func `a type without coding keys is rejected with an error`() throws {
        #expect(throws: EncodingError.self) { try people.insert([1, 2]) }
        #expect(throws: EncodingError.self) { try people.insert(5) }
        struct Big: Encodable { let number = UInt64.max }
        #expect(throws: EncodingError.self) { try people.insert(Big()) }
    }

    @Test func `missing, NULL and mistyped columns are errors`() throws {
        let db = try database()
        try db.run(people.insert(ada))
        struct Other: Decodable { let missing: Int }
        let row = try #require(try db.first(people, as: Row.self))
        #expect(throws: DecodingError.self) { let _: Other = try row.decode() }
        try db.run("UPDATE people SET name = NULL")
        let null = try #require(try db.first(people, as: Row.self))
        #expect(throws: DecodingError.self) { let _: Person = try null.decode() }
        try db.run("UPDATE people SET name = 'x', small = 300")
        let overflow = try #require(try db.first(people, as: Row.self))
        #expect(throws: DecodingError.self) { let _: Person = try overflow.decode() }
    }
}
