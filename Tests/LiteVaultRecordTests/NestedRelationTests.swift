import LiteVault
import Testing

@Suite struct NestedRelationTests {
    let db: Connection

    init() throws { db = try libraryDatabase() }

    private func selects(_ body: () throws -> Void) throws -> Int {
        try statements(of: db, body).filter { $0.hasPrefix("SELECT") }.count
    }

    @Test func `three levels take three statements, whatever their number`() throws {
        let authors = Country.authors.order(Person.name).including(Person.books.order(Book.title))
        var rows: [(Country, [(Person, [Book])])] = []
        #expect(try selects { rows = try Country.order(Country.code).including(authors).all(db) } == 3)
        #expect(rows.map(\.0.code) == ["de", "fr", "va"])
        #expect(rows.map { $0.1.map(\.0.name) } == [["Mann"], ["Zola"], []])
        #expect(
            rows.map { $0.1.map { $0.1.map(\.title) } } == [[["Buddenbrooks", "Joseph"]], [["Germinal", "Nana"]], []])
        try db.transaction {
            for id in 10..<210 {
                try db.run("INSERT INTO person VALUES (?, ?, ?)", with: id, "Person \(id)", id % 2 == 0 ? "de" : "fr")
                try db.run(
                    "INSERT INTO book (title, authorID, pages) VALUES (?, ?, 1), ('Other', ?, 2)", with: "Book \(id)",
                    id, id)
            }
        }
        #expect(try selects { rows = try Country.order(Country.code).including(authors).all(db) } == 3)
        #expect(rows.map(\.1.count) == [101, 101, 0])
        for (country, authors) in rows {
            for (author, books) in authors {
                #expect(author.countryCode == country.code)
                #expect(books.count == 2)
                #expect(books.allSatisfy { $0.authorID == author.id })
            }
        }
    }

    @Test func `several relations of the records in between are loaded together`() throws {
        let books = Person.books.order(Book.id).including(Book.translator, Book.library)
        var rows: [(Person, [(Book, Person?, Library?)])] = []
        #expect(try selects { rows = try Person.order(Person.id).including(books).all(db) } == 4)
        #expect(rows.map { $0.1.map(\.0.title) } == [["Buddenbrooks", "Joseph"], ["Germinal", "Nana"], []])
        #expect(rows.map { $0.1.map { $0.1?.name } } == [[nil, nil], ["Mann", "Mann"], []])
        #expect(rows.map { $0.1.map { $0.2?.name } } == [["East", nil], ["West", "East"], []])
    }

    @Test func `to-one relations lead on, and to nothing where there is no row`() throws {
        let rows = try Book.order(Book.id).including(Book.author.including(Person.translations)).all(db)
        #expect(rows.map { $0.1.0.name } == ["Mann", "Zola", "Zola", "Mann"])
        #expect(rows.map { $0.1.1.count } == [2, 0, 0, 2])
        let libraries = try Book.order(Book.id).including(Book.library.including(Library.address)).all(db)
        #expect(libraries.map { $0.1?.0.name } == ["East", "West", "East", nil])
        #expect(libraries.map { $0.1?.1?.city } == ["Jena", nil, "Jena", nil])
    }

    @Test func `four levels, by way of a table that refers to itself`() throws {
        try db.run("INSERT INTO employee VALUES (5, 'Twig', 4)")
        let below = Employee.subordinates.including(Employee.subordinates.including(Employee.subordinates))
        let rows = try Employee.filter(Employee.managerID == nil).including(below).all(db)
        #expect(rows.map(\.0.name) == ["Root"])
        #expect(rows[0].1.map(\.0.name) == ["Left", "Right"])
        #expect(rows[0].1.map { $0.1.map(\.0.name) } == [["Leaf"], []])
        #expect(rows[0].1[0].1[0].1.map(\.name) == ["Twig"])
    }

    @Test func `rows found through another table keep their own keys`() throws {
        let citizens = Country.citizens.order(Citizen.name).including(Citizen.countries.order(Country.code))
        let rows = try Country.order(Country.code).including(citizens).all(db)
        #expect(rows.map { $0.1.map(\.0.name) } == [["Ada"], ["Ada", "Ben"], []])
        #expect(rows.map { $0.1.map { $0.1.map(\.code) } } == [[["de", "fr"]], [["de", "fr"], ["fr"]], []])
    }

    @Test func `what belongs to records that are there already`() throws {
        let people = try Person.find(db, [2, 3, 2])
        let rows = try Person.books.order(Book.id).including(Book.library).load(db, for: people)
        #expect(rows.map { $0.map(\.0.title) } == [["Germinal", "Nana"], [], ["Germinal", "Nana"]])
        #expect(rows[2].map { $0.1?.name } == ["West", "East"])
    }

    @Test func `a row that has to be there and is not is an error at any level`() throws {
        try db.execute("PRAGMA foreign_keys = OFF; UPDATE book SET authorID = 77, translatorID = 2 WHERE id = 1")
        #expect {
            try Person.including(Person.translations.including(Book.author)).all(db)
        } throws: {
            ($0 as? VaultError)?.code == .notFound
        }
    }

    @Test func `conditions and counts lead on from relation to relation`() throws {
        let long = Country.authors.exists(where: Person.books.exists(where: Book.pages > 600))
        #expect(try Country.filter(long).all(db).map(\.code) == ["de"])
        let translated = Person.books.filter(Book.translator.exists)
        #expect(try Person.filter(translated.count == 2).all(db).map(\.name) == ["Zola"])
        let busy = Country.authors.filter(Person.translations.count > 0)
        let rows = try Country.order(Country.code).annotated(with: busy.count).all(db)
        #expect(rows.map(\.1) == [1, 0, 0])
    }
}
