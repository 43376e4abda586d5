import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

@Suite struct FindingTests {
    let db: Connection

    init() throws {
        db = try emptyDatabase()
        for (name, population) in [("Bonn", 330), ("Ulm", 126), ("Jena", nil as Int?)] {
            var city = City(name: name, population: population)
            try city.insert(db)
        }
    }

    // MARK: By key

    @Test func `a key finds its record, or throws, or gives nil`() throws {
        #expect(try City.find(db, 2).name == "Ulm")
        #expect(try City.first(db, key: 2)?.name == "Ulm")
        #expect(try City.first(db, key: 9) == nil)
        #expect(try City.exists(db, key: 3))
        #expect(try !City.exists(db, key: 9))
        do {
            _ = try City.find(db, 9)
            Issue.record("there is no such row")
        } catch let error as VaultError {
            #expect(error.code == .notFound)
            #expect(error.description == "The row does not exist in 'city'. It was never inserted, or is deleted.")
        }
    }

    @Test func `finding a record runs one constant statement`() throws {
        let run = try statements(of: db) { _ = try City.find(db, 1) }
        #expect(run == [#"SELECT "id", "name", "population" FROM "city" WHERE "id" = 1"#])
    }

    @Test func `several keys give their records in the order of the keys`() throws {
        #expect(try City.find(db, [3, 1, 3]).map(\.name) == ["Jena", "Bonn", "Jena"])
        #expect(try City.find(db, [] as [Int]).isEmpty)
        #expect { try City.find(db, [1, 9]) } throws: { ($0 as? VaultError)?.code == .notFound }
        #expect(Set(try City.all(db, keys: [1, 9, 2]).map(\.name)) == ["Bonn", "Ulm"])
    }

    @Test func `a key of several columns finds its record`() throws {
        for (team, player) in [(1, "Ada"), (1, "Grace"), (2, "Ada")] as [(Int64, String)] {
            var member = Membership(team: team, player: player)
            try member.insert(db)
        }
        let key = Membership.PrimaryKey(team: 1, player: "Grace")
        #expect(try Membership.find(db, key) == Membership(team: 1, player: "Grace"))
        let keys = [key, .init(team: 2, player: "Ada")]
        #expect(try Membership.find(db, keys).map(\.team) == [1, 2])
        #expect(try Membership.first(db, key: .init(team: 2, player: "Grace")) == nil)
        #expect(try Membership.exists(db, key: key))
        #expect(try Membership.delete(db, key: key))
    }

    @Test func `more keys than a statement has parameters take several statements`() throws {
        let limit = db.parameterLimit
        try db.transaction {
            for id in 10..<(limit + 100) {
                var city = City(id: id, name: "City \(id)")
                try city.insert(db)
            }
        }
        let keys = Array(10..<(limit + 100))
        #expect(try City.find(db, keys).map(\.id) == keys)
        let run = try statements(of: db) { _ = try City.all(db, keys: keys) }
        #expect(run.count == 2)
    }

    // MARK: By unique columns

    @Test func `a condition on unique columns finds one record, and several are an error`() throws {
        #expect(try City.find(db, where: City.name == "Ulm").id == 2)
        #expect(try City.find(db, where: City.population == 330).id == 1)
        #expect { try City.find(db, where: City.name == "Rom") } throws: { ($0 as? VaultError)?.code == .notFound }
        #expect { try City.find(db, where: City.population != nil) } throws: { ($0 as? VaultError)?.code == .notUnique }
    }

    // MARK: Queries

    @Test func `a query gives records, tuples and numbers`() throws {
        let cities = City.filter(City.population != nil).order(City.name.desc)
        #expect(try cities.all(db).map(\.name) == ["Ulm", "Bonn"])
        #expect(try cities.first(db)?.name == "Ulm")
        #expect(try cities.limit(1).one(db).name == "Ulm")
        #expect(try cities.count(db) == 2)
        #expect(try cities.limit(1).count(db) == 1)
        #expect(try cities.limit(0).first(db) == nil)
        #expect(try cities.exists(db))
        #expect(try !City.filter(City.name == "Rom").exists(db))
        var names: [String] = []
        try cities.forEach(db) { names.append($0.name) }
        #expect(names == ["Ulm", "Bonn"])
        let rows: [(String, Int?)] = try db.all(cities.select(City.name, City.population))
        #expect(rows.map(\.0) == ["Ulm", "Bonn"])
        #expect(try db.value(City.query.select(City.population.sum)) == 456)
        #expect(try City.count(db) == 3)
        #expect(try City.first(db) != nil)
        #expect(try City.limit(1, offset: 2).all(db).count == 1)
    }

    @Test func `a query reads the record's columns, whatever else it selects, and under an alias`() throws {
        let query = City.order(City.name).alias("c")
        #expect(try query.select(City.population, City.name).all(db).map(\.name) == ["Bonn", "Jena", "Ulm"])
        #expect(try query.first(db)?.name == "Bonn")
        #expect(try query.limit(2).deleteAll(db) == 2)
        #expect(try City.all(db).map(\.name) == ["Ulm"])
    }

    @Test func `a literal gives records, with its values bound`() throws {
        let names = ["Ulm", "Jena'; --"]
        let found = try db.all(
            "SELECT \(City.columnList) FROM city WHERE name IN \(names) ORDER BY name", as: City.self)
        #expect(found.map(\.name) == ["Ulm"])
        #expect(try db.first("SELECT \(City.columnList) FROM city WHERE name = \("nowhere")", as: City.self) == nil)
        #expect { try db.all("SELECT name FROM city", as: City.self) } throws: {
            ($0 as? VaultError)?.code == .conformance
        }
        #expect(try City.all(db, sql: "SELECT \(City.columnList) FROM city WHERE name = \("Bonn")").count == 1)
    }

    @Test func `SQL by hand gives records, if its columns are the record's`() throws {
        let sql: SQL = "SELECT \(City.columnList) FROM city WHERE name > ? ORDER BY name"
        #expect(try City.all(db, sql: sql, with: "C").map(\.name) == ["Jena", "Ulm"])
        #expect(try City.first(db, sql: sql, with: Bindings(["C"]))?.name == "Jena")
        #expect(try City.first(db, sql: sql, with: "Z") == nil)
        #expect(try db.all(sql, with: "C", as: City.self).map(\.name) == ["Jena", "Ulm"])
        #expect(try db.first(sql, with: "C", as: City.self)?.name == "Jena")
        #expect {
            try City.all(db, sql: "SELECT id, population, name FROM city")
        } throws: { ($0 as? VaultError)?.code == .conformance }
        #expect { try City.all(db, sql: "SELECT name FROM city") } throws: { ($0 as? VaultError)?.code == .conformance }
    }

    @Test(arguments: [true, false])
    func `H-SCH-18: columns that another connection has changed are seen by a cached statement`(isAll: Bool) throws {
        let scratch = Scratch()
        let path = scratch.path("a.db")
        let reader = try Connection(path)
        let other = try Connection(path)
        try reader.execute(City.schema)
        try reader.run("INSERT INTO city VALUES (1, 'Bonn', 330)")
        let sql: SQL = "SELECT * FROM city"
        func names() throws -> [String] {
            if isAll { return try reader.all(sql, as: City.self).map(\.name) }
            return [try reader.first(sql, as: City.self)?.name ?? "none"]
        }
        #expect(try names() == ["Bonn"])
        try other.execute(
            """
            DROP TABLE city;
            CREATE TABLE city (id INTEGER PRIMARY KEY, population INTEGER, name TEXT);
            INSERT INTO city VALUES (1, 'many', 330)
            """)
        #expect { try names() } throws: { ($0 as? VaultError)?.code == .conformance }
        // Without a row, too; and once they are the record's again, it is read again.
        try other.execute("DELETE FROM city")
        #expect { try names() } throws: { ($0 as? VaultError)?.code == .conformance }
        try other.execute("DROP TABLE city; \(City.schema); INSERT INTO city VALUES (1, 'Ulm', 126)")
        #expect(try names() == ["Ulm"])
    }

    @Test func `a value that the property cannot hold is an error that names the column`() throws {
        try db.run("UPDATE city SET population = 'many' WHERE id = 1")
        #expect {
            try City.find(db, 1)
        } throws: { ($0 as? QueryError) == .unexpectedType(name: "population", expected: "an integer", found: "text") }
    }

    @Test(arguments: [
        ("'[\"a\", 2]'", "JSON of Array<String> at 1"), ("'no JSON'", "JSON of Array<String>"),
        ("x'7b'", "JSON of Array<String>"),
    ])
    func `JSON that the property cannot hold is an error that names the column and the place`(
        sql: String, expected: String
    ) throws {
        let db = try Connection()
        try db.execute(Note.schema)
        try db.run("INSERT INTO note (title, tags, version) VALUES ('a', \(sql: sql), 0)")
        #expect {
            try Note.find(db, 1)
        } throws: { ($0 as? QueryError) == .malformedValue(name: "tags", expected: expected) }
    }

    @Test func `H-SCH-24 a compound query combines records by their own columns, in whichever order the table has them`() throws {
        struct Turned: Record, Hashable {
            var id: Int64?
            var name: String
            var code: String
            static let table = RecordTable<Turned>("turned", [.rowID("id", \.id), "name", "code"])
            var primaryKey: Int64? { id }
            init(row: inout RecordReader) throws { (id, name, code) = (try row.next(), try row.next(), try row.next()) }
            func write(to row: inout RecordWriter) {
                row.bind(id)
                row.bind(name)
                row.bind(code)
            }
        }
        let (id, name) = (SQLExpression<Int64>("id"), SQLExpression<String>("name"))
        try db.execute(
            """
            CREATE TABLE turned (code TEXT NOT NULL, name TEXT NOT NULL, id INTEGER PRIMARY KEY, unread TEXT);
            INSERT INTO turned VALUES ('1', 'a', 10, 'x'), ('2', 'b', 20, 'y'), ('3', 'c', 30, 'z')
            """)
        let either: SQLExpression<Bool> = name == "a" || name == "b"
        let both = try Turned.filter(either).order(id).all(db)
        #expect(both.map(\.code) == ["1", "2"])
        let (first, second) = (Turned.filter(name == "a"), Turned.filter(name == "b"))
        #expect(try first.union(second).order(id).all(db) == both)
        #expect(try first.unionAll(second.limit(1)).order(id).all(db) == both)
        #expect(try Turned.query.except(Turned.query.except(first.union(second))).order(id).all(db) == both)
        #expect(try Turned.query.intersect(second).one(db) == both[1])
        #expect(try first.union(second).count(db) == 2)
        let rows = try db.all(first.union(second), as: Row.self)
        #expect(try rows.map { try $0.value(of: id) }.sorted() == [10, 20])
        #expect(try first.union(second).deleteAll(db) == 2)
        #expect(try Turned.query.one(db).name == "c")
    }

    @Test func `a conformance that forgets a column is an error, not a wrong value`() throws {
        struct Short: Record {
            var id: Int64?
            static let table = RecordTable<Short>("city", [.rowID("id", \.id), "name", "population"])
            var primaryKey: Int64? { id }
            init() {}
            init(row: inout RecordReader) throws { id = try row.next() }
            func write(to row: inout RecordWriter) { row.bind(id) }
        }
        #expect { try Short.find(db, 1) } throws: { ($0 as? VaultError)?.code == .conformance }
        var short = Short()
        #expect { try short.insert(db) } throws: { ($0 as? VaultError)?.code == .conformance }
        #expect(try City.count(db) == 3)
    }
}
