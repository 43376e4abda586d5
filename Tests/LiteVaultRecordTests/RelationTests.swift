import Foundation
import LiteVault
import LiteVaultEngine
import Testing

@Suite struct RelationTests {
    let db: Connection

    init() throws { db = try libraryDatabase() }

    // MARK: Loading by a statement for each relation

    @Test func `parents with their children take two statements, whatever their number`() throws {
        var rows: [(Person, [Book])] = []
        let run = try statements(of: db) { rows = try Person.order(Person.name).including(Person.books).all(db) }
        #expect(rows.map(\.0.name) == ["Mann", "Nobody", "Zola"])
        #expect(rows.map { $0.1.map(\.title) } == [["Buddenbrooks", "Joseph"], [], ["Germinal", "Nana"]])
        #expect(run.filter { $0.hasPrefix("SELECT") }.count == 2)
        try db.transaction {
            for id in 10..<2000 {
                try db.run("INSERT INTO person VALUES (?, ?, NULL)", with: id, "Person \(id)")
                try db.run(
                    "INSERT INTO book (title, authorID, pages) VALUES (?, ?, 1), ('Other', ?, 2)", with: "Book \(id)",
                    id, id)
            }
        }
        let many = try statements(of: db) { rows = try Person.including(Person.books).all(db) }
        #expect(rows.count == 1993)
        #expect(rows.allSatisfy { $0.0.name == "Nobody" || $0.1.count == 2 })
        #expect(rows.allSatisfy { person, books in books.allSatisfy { $0.authorID == person.id } })
        let selects = many.filter { $0.hasPrefix("SELECT") }.count
        #expect(selects == 2 || db.parameterLimit < 2000)
    }

    @Test func `a filter's values count among the parameters of a statement`() throws {
        try db.withHandle { sqlite3_limit($0, SQLITE_LIMIT_VARIABLE_NUMBER, 8) }
        for id in Int64(10)..<21 {
            try db.run("INSERT INTO person VALUES (?, 'Someone', NULL)", with: id)
            try db.run("INSERT INTO book (title, authorID, pages) VALUES ('A', ?, 1), ('B', ?, 2)", with: id, id)
        }
        let rows = try Person.filter(Person.name == "Someone")
            .including(Person.books.filter(Book.title == "B")).all(db)
        #expect(rows.count == 11)
        #expect(rows.allSatisfy { person, books in books.map(\.authorID) == [person.id] && books[0].title == "B" })
    }

    @Test func `several relations of any kind are loaded together`() throws {
        let rows = try Book.order(Book.id).including(Book.author, Book.translator, Book.library).all(db)
        #expect(rows.map(\.1.name) == ["Mann", "Zola", "Zola", "Mann"])
        #expect(rows.map { $0.2?.name } == [nil, "Mann", "Mann", nil])
        #expect(rows.map { $0.3?.name } == ["East", "West", "East", nil])
        let first = try Book.order(Book.id.desc).including(Book.author).first(db)
        #expect(first?.0.title == "Joseph")
        #expect(first?.1.name == "Mann")
        #expect(try Book.filter(Book.id == 99).including(Book.author).first(db) == nil)
    }

    @Test func `to-one by a unique foreign key`() throws {
        let rows = try Country.order(Country.code).including(Country.demographics).all(db)
        // The keys are equal under the columns' collation: 'DE' is 'de'.
        #expect(rows.map { $0.1?.population } == [83, 67, nil])
        #expect(try Demographics.including(Demographics.country).all(db).map(\.1.name) == ["Germany", "France"])
    }

    @Test func `through another table, in both directions`() throws {
        let countries = try Country.order(Country.code).including(Country.citizens.order(Citizen.name.desc)).all(db)
        #expect(countries.map { $0.1.map(\.name) } == [["Ada"], ["Ben", "Ada"], []])
        let citizens = try Citizen.order(Citizen.id).including(Citizen.countries.order(Country.code)).all(db)
        #expect(citizens.map { $0.1.map(\.code) } == [["de", "fr"], ["fr"], []])
        let people = try Person.order(Person.id).including(Person.libraries.order(Library.name)).all(db)
        #expect(people.map { $0.1.map(\.name) } == [["East"], ["East", "West"], []])
        let books = try Book.order(Book.id).including(Book.address).all(db)
        #expect(books.map { $0.1?.city } == ["Jena", nil, "Jena", nil])
    }

    @Test func `a table that refers to itself`() throws {
        let rows = try Employee.query.including(Employee.manager, Employee.subordinates).all(db)
        #expect(rows.map { $0.1?.name } == [nil, "Root", "Root", "Left"])
        #expect(rows.map { $0.2.map(\.name) } == [["Left", "Right"], ["Leaf"], [], []])
    }

    @Test func `keys of several columns`() throws {
        let rows = try Passport.order(Passport.countryCode, Passport.citizenID).including(Passport.visas).all(db)
        #expect(rows.map { $0.1.map(\.days) } == [[], [30, 60], [90]])
        let visas = try Visa.query.including(Visa.passport).all(db)
        #expect(visas.map { $0.1?.citizenID } == [1, 1, 2, nil])
    }

    @Test func `H-TXT-15: keys that are canonically equal are those of two records`() throws {
        try db.execute(
            """
            INSERT INTO country VALUES ('caf\u{e9}', 'composed'), ('cafe\u{301}', 'decomposed');
            INSERT INTO person VALUES (901, 'Ada', 'caf\u{e9}'), (902, 'Ben', 'cafe\u{301}')
            """)
        let countries = try Country.find(db, ["caf\u{e9}", "cafe\u{301}"])
        #expect(countries.map(\.name) == ["composed", "decomposed"])
        let authors = try Country.authors.load(db, for: countries)
        #expect(authors.map { $0.map(\.name) } == [["Ada"], ["Ben"]])
        let homes = try Person.country.load(db, for: try Person.find(db, [901, 902]))
        #expect(homes.map { $0?.name } == ["composed", "decomposed"])
        try db.run("DELETE FROM country WHERE name = 'decomposed'")
        #expect { try Country.find(db, ["caf\u{e9}", "cafe\u{301}"]) } throws: {
            ($0 as? VaultError)?.code == .notFound
        }
    }

    @Test func `H-TXT-19: keys that are equal under the collation of the column have the same rows`() throws {
        try db.run("INSERT INTO passport VALUES ('DE', 2)")
        let rows = try Passport.including(Passport.country).all(db)
        #expect(rows.count == 4)
        #expect(Set(rows.filter { $0.1.code == "de" }.map(\.0.countryCode)) == ["de", "DE"])
        #expect(try Passport.joining(Passport.country).all(db).count == 4)
        #expect(try Country.find(db, ["de", "DE", "fr", "De"]).map(\.code) == ["de", "de", "fr", "de"])
        #expect { try Country.find(db, ["de", "xx"]) } throws: { ($0 as? VaultError)?.code == .notFound }
        // Under BINARY they are different, and their rows, too.
        try db.execute("INSERT INTO library VALUES (3, 'EAST'); INSERT INTO plaque VALUES ('Open', 'EAST')")
        #expect(try Library.query.including(Library.plaques).all(db).map { $0.1.count } == [2, 0, 1])
        #expect(try Plaque.query.including(Plaque.owner).all(db).map { $0.1.id } == [1, 1, 3])
    }

    @Test func `a reference to another unique column`() throws {
        #expect(try Library.query.including(Library.plaques).all(db).map { $0.1.count } == [2, 0])
        #expect(try Plaque.query.including(Plaque.owner).all(db).map { $0.1.id } == [1, 1])
    }

    @Test func `a relation can be restricted and sorted`() throws {
        let long = Person.books.filter(Book.pages > 460).order(Book.pages.desc)
        let rows = try Person.order(Person.id).including(long).all(db)
        #expect(rows.map { $0.1.map(\.title) } == [["Joseph", "Buddenbrooks"], ["Germinal"], []])
    }

    @Test func `what belongs to records that are there already`() throws {
        let zola = try Person.find(db, 2)
        #expect(try Person.books.load(db, for: zola).map(\.title) == ["Germinal", "Nana"])
        let books = try Book.find(db, [4, 2])
        #expect(try Book.author.load(db, for: books).map(\.name) == ["Mann", "Zola"])
        #expect(try Book.translator.load(db, for: books[0]) == nil)
    }

    @Test func `a row that has to be there and is not is an error`() throws {
        try db.execute("PRAGMA foreign_keys = OFF; UPDATE book SET authorID = 77 WHERE id = 1")
        #expect { try Book.including(Book.author).all(db) } throws: { ($0 as? VaultError)?.code == .notFound }
        #expect(try Book.joining(Book.author).all(db).count == 3)
    }

    // MARK: Joining

    @Test func `to-one relations are joined by one statement`() throws {
        var rows: [(Book, Person, Person?)] = []
        let run = try statements(of: db) {
            rows = try Book.order(Book.id).joining(Book.author, Book.translator).all(db)
        }
        #expect(run.count == 1)
        #expect(rows.map(\.1.name) == ["Mann", "Zola", "Zola", "Mann"])
        #expect(rows.map { $0.2?.name } == [nil, "Mann", "Mann", nil])
        #expect(try Employee.joining(Employee.manager).all(db).map { $0.1?.name } == [nil, "Root", "Root", "Left"])
        #expect(try Book.order(Book.id).joining(Book.address).all(db).map { $0.1?.city } == ["Jena", nil, "Jena", nil])
        #expect(try Book.order(Book.id).joining(Book.author).first(db)?.1.name == "Mann")
        #expect(try Visa.joining(Visa.passport).all(db).map { $0.1?.citizenID } == [1, 1, 2, nil])
    }

    @Test func `conditions and orders name the columns of a joined relation by the relation`() throws {
        let name = Book.author[Person.name]
        let rows = try Book.filter(name == "Zola").order(Book.title).joining(Book.author).all(db)
        #expect(rows.map(\.0.title) == ["Germinal", "Nana"])
        let sorted = try Book.query.joined(to: Book.author).order(name.desc, Book.title).all(db)
        #expect(sorted.map(\.title) == ["Germinal", "Nana", "Buddenbrooks", "Joseph"])
        let tuples: [(String, String?)] = try db.all(
            Book.query.joined(to: Book.author).order(Book.id).select(Book.title, name))
        #expect(tuples.map { $0.1 } == ["Mann", "Zola", "Zola", "Mann"])
        #expect(try Book.query.joined(to: Book.library, .inner).count(db) == 3)
        struct Titled: Decodable { var title: String }
        let joined = Book.query.joined(to: Book.author).order(Book.id)
        let whole = try db.all(joined, as: Row.self)
        #expect(try whole.map { try $0.value(of: name) } == ["Mann", "Zola", "Zola", "Mann"])
        #expect(try whole.map { try $0.value(of: Book.title) } == tuples.map { $0.0 })
        #expect(try db.all(joined, as: Titled.self).map(\.title) == tuples.map { $0.0 })
    }

    @Test func `a restricted relation restricts the joined rows`() throws {
        let zola = Book.author.filter(Person.name == "Zola")
        #expect(try Book.joining(zola).all(db).map(\.0.title) == ["Germinal", "Nana"])
    }

    // MARK: Related rows in conditions, orders and values

    @Test func `related rows can be asked for, counted and added up in a query of their parents`() throws {
        #expect(try Person.filter(Person.books.exists).order(Person.id).all(db).map(\.name) == ["Mann", "Zola"])
        #expect(try Person.filter(!Person.books.exists).all(db).map(\.name) == ["Nobody"])
        #expect(try Person.filter(Person.books.exists(where: Book.pages > 1000)).all(db).map(\.name) == ["Mann"])
        #expect(try Person.filter(Person.translations.count >= 2).all(db).map(\.name) == ["Mann"])
        #expect(try Person.order(Person.books.sum(Book.pages).desc).first(db)?.name == "Mann")
        #expect(try Employee.filter(Employee.subordinates.count == 2).all(db).map(\.name) == ["Root"])
        #expect(try Employee.filter(Employee.manager.exists(where: Employee.name == "Root")).count(db) == 2)
        #expect(try Country.filter(Country.citizens.count > 1).all(db).map(\.code) == ["fr"])
        #expect(try Passport.order(Passport.visas.count.desc).first(db)?.citizenID == 1)
        #expect(try Book.order(Book.author.value(of: Person.name).desc, Book.id).first(db)?.title == "Germinal")
    }

    @Test func `relations nest in conditions`() throws {
        let readers = Country.authors.exists(where: Person.books.exists(where: Book.pages > 1000))
        #expect(try Country.filter(readers).all(db).map(\.code) == ["de"])
        let grand = Employee.subordinates.exists(where: Employee.subordinates.exists)
        #expect(try Employee.filter(grand).all(db).map(\.name) == ["Root"])
    }

    @Test func `records come with numbers of their related rows`() throws {
        let rows = try Person.order(Person.id).annotated(
            with: Person.books.count, Person.books.sum(Book.pages), Person.books.max(Book.title)
        ).all(db)
        #expect(rows.map(\.1) == [2, 2, 0])
        #expect(rows.map(\.2) == [2000, 950, nil])
        #expect(rows.map(\.3) == ["Joseph", "Nana", nil])
        let first = try Person.order(Person.id).annotated(
            with: Person.books.average(Book.pages), Person.books.min(Book.pages)
        ).first(db)
        #expect(first?.1 == 1000)
        #expect(first?.2 == 700)
        let tuples: [(String, Int)] = try db.all(Person.order(Person.id).select(Person.name, Person.books.count))
        #expect(tuples.map { $0.1 } == [2, 2, 0])
    }

    @Test func `subqueries of relations use the index of the foreign key`() throws {
        func plan(_ query: some QueryType) throws -> String {
            try db.all("EXPLAIN QUERY PLAN \(sql: query.asSQL())") { try $0.get(3, as: String.self) }.joined(
                separator: "\n")
        }
        #expect(try plan(Person.filter(Person.books.count > 1)).contains("bookByAuthor"))
        #expect(try plan(Person.filter(Person.books.exists(where: Book.pages > 5))).contains("bookByAuthor"))
        let joined = try plan(Book.query.joined(to: Book.author).select(Book.title, Book.author[Person.name]))
        let filtered = try plan(Book.query.joined(to: Book.author).filter(Book.author[Person.name] == "x"))
        // Old engines do not see through the right side of an outer join: they make an index for the statement.
        let isOld = !EngineInfo.linked.isAtLeast(3, 35)
        #expect(joined.contains(isOld ? "AUTOMATIC" : "USING INTEGER PRIMARY KEY"))
        #expect((joined + filtered).contains("AUTOMATIC") == isOld)
        #expect(!(joined + filtered).contains("MATERIALIZE"))
    }

    // MARK: Mistakes

    @Test func `a relation with a column that is not the record's is an error where it is used`() throws {
        let wrong: Relation<Book, Person> = .belongsTo(SQLExpression<Int64>("nobody"))
        #expect { try Book.including(wrong).all(db) } throws: { ($0 as? VaultError)?.code == .conformance }
        #expect { try Book.joining(wrong).all(db) } throws: { ($0 as? VaultError)?.code == .conformance }
        #expect { try Book.filter(wrong.exists).all(db) } throws: { "\($0)".contains("'\"nobody\"' is not a column") }
        let short: Relation<Visa, Passport?> = .belongsTo([Visa.countryCode])
        #expect { try Visa.including(short).all(db) } throws: { ($0 as? VaultError)?.code == .conformance }
    }

    @Test func `a filter or an order of the table in between is an error, not left out`() throws {
        let ordered: Relation<Country, [Citizen]> = .hasMany(
            through: Country.passports.order(Passport.citizenID.desc), Passport.citizen)
        let filtered: Relation<Country, [Citizen]> = .hasMany(
            through: Country.passports.filter(Passport.citizenID > 1), Passport.citizen)
        for relation in [ordered, filtered] {
            #expect { try Country.including(relation).all(db) } throws: { ($0 as? VaultError)?.code == .conformance }
        }
        #expect { try Country.including(ordered).all(db) } throws: { "\($0)".contains("has an order") }
    }

    // MARK: Pools

    @Test func `relations are loaded from a queue, with and without waiting`() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(
                """
                CREATE TABLE employee (id INTEGER PRIMARY KEY, name TEXT NOT NULL, managerID INTEGER);
                INSERT INTO employee VALUES (1, 'Root', NULL), (2, 'Left', 1);
                """)
        }
        #expect(try await Employee.including(Employee.subordinates).all(queue).map { $0.1.count } == [1, 0])
        #expect(try await Employee.joining(Employee.manager).first(queue)?.1 == nil)
        #expect(try await Employee.annotated(with: Employee.subordinates.count).all(queue).map(\.1) == [1, 0])
        let root = try await Employee.find(queue, 1)
        #expect(try await Employee.subordinates.load(queue, for: root).map(\.name) == ["Left"])
    }
}
