import Foundation
import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

private enum Mood: String, Codable { case good, bad }
private struct Address: Codable, Equatable { var street: String }
private struct Person: Codable, Equatable {
    var id: Int64
    var name: String
    var weight: Double?
    var isAdmin: Bool
    var age: Int?
    var nickname: String?
    var mood: Mood
    var address: Address?
    var small: UInt8
    var born: Date
}

private let people = Table("people")
private let personID = SQLExpression<Int64>("id")

private let ada = Person(
    id: 1, name: "Ada", weight: 60, isAdmin: true, age: 36, nickname: nil, mood: .good,
    address: Address(street: "x"), small: 200, born: Date(timeIntervalSince1970: 0))
private let bob = Person(
    id: 2, name: "Bob", weight: nil, isAdmin: false, age: nil, nickname: "B", mood: .bad, address: nil, small: 1,
    born: Date(timeIntervalSince1970: 1))

private func database() throws -> Connection {
    let db = try Connection()
    try db.execute(
        """
        CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, weight, isAdmin INT, age INT, nickname TEXT, mood TEXT,
            address TEXT, small INT, born TEXT)
        """)
    try db.run(people.insert(ada))
    try db.run(people.insert(bob))
    return db
}

/// Keeps what decoding was done with, which a value should not do.
private final class Hoard: @unchecked Sendable {  // used by one thread
    var decoder: (any Decoder)?
    var read: (() throws -> Int64)?
}
private let hoardKey = CodingUserInfoKey(rawValue: "hoard")
private struct Hoarder: Decodable {
    enum CodingKeys: CodingKey { case id, name }
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        _ = try container.decode(Int64.self, forKey: .id)
        let hoard = hoardKey.flatMap { decoder.userInfo[$0] } as? Hoard
        hoard?.decoder = decoder
        hoard?.read = { try container.decode(Int64.self, forKey: .id) }
    }
}

@Suite struct QueryDecodingTests {
    @Test func `all rows of a query are decoded, and the first one`() throws {
        let db = try database()
        #expect(try db.all(people.order(personID), as: Person.self) == [ada, bob])
        #expect(try db.all(people.order(personID.desc), as: Person.self) == [bob, ada])
        #expect(try db.all(people.filter(personID > 5), as: Person.self) == [])
        #expect(try db.first(people.order(personID.desc), as: Person.self) == bob)
        #expect(try db.first(people.filter(personID > 5), as: Person.self) == nil)
    }

    @Test func `rows of a literal are decoded by the names of its columns`() throws {
        let db = try database()
        enum Feeling: String, Value { case bad }
        let all = try db.all("SELECT * FROM people WHERE id IN \([1, 2]) ORDER BY id", as: Person.self)
        #expect(all == [ada, bob])
        #expect(try db.first("SELECT * FROM people WHERE mood = \(Feeling.bad)", as: Person.self) == bob)
        #expect(try db.first("SELECT * FROM people WHERE id > \(5)", as: Person.self) == nil)
        #expect(throws: DecodingError.self) { try db.all("SELECT id FROM people", as: Person.self) }
        #expect(try db.all("SELECT id FROM people WHERE \(personID == 2)", as: Int64.self) == [2])
        #expect(try db.value("SELECT \(people.count)", as: Int.self) == 2)
    }

    @Test func `the rows decoded one by one are the same`() throws {
        let decoded: [Person] = try database().all(people.order(personID), as: Row.self).map { try $0.decode() }
        #expect(decoded == [ada, bob])
    }

    @Test(arguments: [
        "UPDATE people SET name = NULL", "UPDATE people SET name = x'00'", "UPDATE people SET id = 3, age = 'x'",
        "UPDATE people SET weight = 'x'", "UPDATE people SET isAdmin = 'x'",
        "UPDATE people SET nickname = 5.5, mood = 5",
        "UPDATE people SET small = 300", "UPDATE people SET mood = 'other'",
    ])
    func `a value of another type is an error that names its key`(change: String) throws {
        let db = try database()
        try db.execute(change + " WHERE id = 1")
        #expect(throws: DecodingError.self) { try db.all(people, as: Person.self) }
        #expect(throws: DecodingError.self) {
            let _: [Person] = try db.all(people, as: Row.self).map { try $0.decode() }
        }
        #expect(try db.all(people.filter(personID == 2), as: Person.self) == [bob], "the connection can be used")
    }

    @Test func `a missing column is an error, and nil where it may be missing`() throws {
        struct Other: Decodable { let id: Int64; let missing: Int }
        struct Lenient: Decodable { let id: Int64; let missing: Int?; let absent: String?; let gone: Mood? }
        let db = try database()
        #expect(throws: DecodingError.self) { try db.all(people, as: Other.self) }
        let lenient = try db.all(people, as: Lenient.self)
        #expect(lenient.map(\.id) == [1, 2])
        #expect(lenient.allSatisfy { $0.missing == nil && $0.absent == nil && $0.gone == nil })
    }

    @Test func `a property for which there are two columns is an error, optional or not`() throws {
        struct Named: Decodable { let name: String? }
        let db = try database()
        let other = people.alias("other")
        let both = people.join(other, on: people[personID] == other[personID])
        #expect(throws: DecodingError.self) { try db.all(both, as: Named.self) }
        #expect(try db.all(people.order(personID), as: Named.self).map(\.name) == ["Ada", "Bob"])
    }

    @Test func `keys of any kind name columns`() throws {
        struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        struct Free: Decodable, Equatable {
            let values: [String]
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                #expect(container.allKeys.count == 10)
                #expect(container.contains(Key(stringValue: "name")))
                #expect(!container.contains(Key(stringValue: "nothing")))
                #expect(try container.decodeNil(forKey: Key(stringValue: "id")) == false)
                values = try ["name", "mood"].map { try container.decode(String.self, forKey: Key(stringValue: $0)) }
            }
        }
        #expect(
            try database().all(people.order(personID), as: Free.self).map(\.values) == [
                ["Ada", "good"], ["Bob", "bad"],
            ])
    }

    @Test func `a class and its superclass read the columns of their own keys`() throws {
        class Base: Decodable {
            enum CodingKeys: CodingKey { case name, id }
            let name: String
            required init(from decoder: any Decoder) throws {
                name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
            }
        }
        final class Derived: Base {
            enum DerivedKeys: CodingKey { case age, mood }
            let mood: String
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: DerivedKeys.self)
                mood = try container.decode(String.self, forKey: .mood)
                try super.init(from: container.superDecoder())
            }
        }
        let derived = try database().all(people.order(personID), as: Derived.self)
        #expect(derived.map(\.name) == ["Ada", "Bob"])
        #expect(derived.map(\.mood) == ["good", "bad"])
    }

    @Test func `a value that reads the database while it is decoded does not disturb the query`() throws {
        struct Curious: Decodable {
            let name: String
            let count: Int
            enum CodingKeys: CodingKey { case name }
            init(from decoder: any Decoder) throws {
                let db = hoardKey.flatMap { decoder.userInfo[$0] } as? Connection
                count = try db?.all(people, as: Person.self).count ?? -1
                name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
            }
        }
        let db = try database()
        let key = try #require(hoardKey)
        let values = try db.all(people, as: Curious.self, userInfo: [key: db])
        #expect(values.map(\.name) == ["Ada", "Bob"])
        #expect(values.map(\.count) == [2, 2])
    }

    @Test func `a kept decoder throws after the query has ended`() throws {
        let db = try database()
        let hoard = Hoard()
        let key = try #require(hoardKey)
        _ = try db.all(people, as: Hoarder.self, userInfo: [key: hoard])
        let decoder = try #require(hoard.decoder)
        let read = try #require(hoard.read)
        #expect(throws: DecodingError.self) { try read() }
        #expect(throws: DecodingError.self) { try decoder.container(keyedBy: Hoarder.CodingKeys.self) }
        try db.close()
        #expect(throws: DecodingError.self) { try read() }
    }

    @Test func `a type without coding keys cannot be decoded from a row`() throws {
        #expect(throws: DecodingError.self) { try database().all(people, as: Int.self) }
        #expect(throws: DecodingError.self) { try database().all(people, as: [Int].self) }
    }
}
