import LiteVault

// The records of the tests on relations, and the relations between them: those of GRDB's guide to associations.

struct Country: Record, Hashable {
    var code: String
    var name: String

    static let code = SQLExpression<String>("code")
    static let name = SQLExpression<String>("name")
    static let table = RecordTable<Country>("country", [.key("code"), "name"])
    var primaryKey: String? { code }

    init(row: inout RecordReader) throws { (code, name) = (try row.next(), try row.next()) }
    func write(to row: inout RecordWriter) {
        row.bind(code)
        row.bind(name)
    }

    static let demographics: Relation<Country, Demographics?> = .hasOne(Demographics.countryCode)
    static let passports: Relation<Country, [Passport]> = .hasMany(Passport.countryCode)
    static let citizens: Relation<Country, [Citizen]> = .hasMany(through: passports, Passport.citizen)
    static let authors: Relation<Country, [Person]> = .hasMany(Person.countryCode)
}

struct Demographics: Record, Hashable {
    var id: Int64?
    var countryCode: String
    var population: Int

    static let countryCode = SQLExpression<String>("countryCode")
    static let population = SQLExpression<Int>("population")
    static let table = RecordTable<Demographics>("demographics", [.rowID("id", \.id), "countryCode", "population"])
    var primaryKey: Int64? { id }

    init(row: inout RecordReader) throws {
        (id, countryCode, population) = (try row.next(), try row.next(), try row.next())
    }
    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(countryCode)
        row.bind(population)
    }

    static let country: Relation<Demographics, Country> = .belongsTo(countryCode)
}

struct Citizen: Record, Hashable {
    var id: Int64?
    var name: String

    static let id = SQLExpression<Int64>("id")
    static let name = SQLExpression<String>("name")
    static let table = RecordTable<Citizen>("citizen", [.rowID("id", \.id), "name"])
    var primaryKey: Int64? { id }

    init(row: inout RecordReader) throws { (id, name) = (try row.next(), try row.next()) }
    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(name)
    }

    static let passports: Relation<Citizen, [Passport]> = .hasMany(Passport.citizenID)
    static let countries: Relation<Citizen, [Country]> = .hasMany(through: passports, Passport.country)
}

struct Passport: Record, Hashable {
    var countryCode: String
    var citizenID: Int64

    struct PrimaryKey: CompositeKey {
        var countryCode: String
        var citizenID: Int64
        func write(to row: inout RecordWriter) {
            row.bind(countryCode)
            row.bind(citizenID)
        }
    }

    static let countryCode = SQLExpression<String>("countryCode")
    static let citizenID = SQLExpression<Int64>("citizenID")
    static let table = RecordTable<Passport>("passport", [.key("countryCode"), .key("citizenID")])
    var primaryKey: PrimaryKey? { PrimaryKey(countryCode: countryCode, citizenID: citizenID) }

    init(row: inout RecordReader) throws { (countryCode, citizenID) = (try row.next(), try row.next()) }
    func write(to row: inout RecordWriter) {
        row.bind(countryCode)
        row.bind(citizenID)
    }

    static let country: Relation<Passport, Country> = .belongsTo(countryCode)
    static let citizen: Relation<Passport, Citizen> = .belongsTo(citizenID)
    static let visas: Relation<Passport, [Visa]> = .hasMany([Visa.countryCode, Visa.citizenID])
}

/// Refers to a key of two columns.
struct Visa: Record, Hashable {
    var id: Int64?
    var countryCode: String?
    var citizenID: Int64?
    var days: Int

    static let countryCode = SQLExpression<String?>("countryCode")
    static let citizenID = SQLExpression<Int64?>("citizenID")
    static let days = SQLExpression<Int>("days")
    static let table = RecordTable<Visa>("visa", [.rowID("id", \.id), "countryCode", "citizenID", "days"])
    var primaryKey: Int64? { id }

    init(row: inout RecordReader) throws {
        (id, countryCode, citizenID, days) = (try row.next(), try row.next(), try row.next(), try row.next())
    }
    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(countryCode)
        row.bind(citizenID)
        row.bind(days)
    }

    static let passport: Relation<Visa, Passport?> = .belongsTo([countryCode, citizenID])
}

struct Person: Record, Hashable {
    var id: Int64?
    var name: String
    var countryCode: String?

    static let id = SQLExpression<Int64>("id")
    static let name = SQLExpression<String>("name")
    static let countryCode = SQLExpression<String?>("countryCode")
    static let table = RecordTable<Person>("person", [.rowID("id", \.id), "name", "countryCode"])
    var primaryKey: Int64? { id }

    init(row: inout RecordReader) throws {
        (id, name, countryCode) = (try row.next(), try row.next(), try row.next())
    }
    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(name)
        row.bind(countryCode)
    }

    static let country: Relation<Person, Country?> = .belongsTo(countryCode)
    static let books: Relation<Person, [Book]> = .hasMany(Book.authorID)
    static let translations: Relation<Person, [Book]> = .hasMany(Book.translatorID)
    static let libraries: Relation<Person, [Library]> = .hasMany(through: books, Book.library)
}

struct Library: Record, Hashable {
    var id: Int64?
    var name: String

    static let name = SQLExpression<String>("name")
    static let table = RecordTable<Library>("library", [.rowID("id", \.id), "name"])
    var primaryKey: Int64? { id }

    init(row: inout RecordReader) throws { (id, name) = (try row.next(), try row.next()) }
    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(name)
    }

    static let address: Relation<Library, Address?> = .hasOne(Address.libraryID)
    /// By a unique column that is not the primary key.
    static let plaques: Relation<Library, [Plaque]> = .hasMany([Plaque.library], references: [name])
}

struct Address: Record, Hashable {
    var id: Int64?
    var libraryID: Int64
    var city: String

    static let libraryID = SQLExpression<Int64>("libraryID")
    static let city = SQLExpression<String>("city")
    static let table = RecordTable<Address>("address", [.rowID("id", \.id), "libraryID", "city"])
    var primaryKey: Int64? { id }

    init(row: inout RecordReader) throws { (id, libraryID, city) = (try row.next(), try row.next(), try row.next()) }
    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(libraryID)
        row.bind(city)
    }
}

struct Plaque: Record, Hashable {
    var text: String
    var library: String

    static let library = SQLExpression<String>("library")
    static let table = RecordTable<Plaque>("plaque", ["text", "library"])

    init(row: inout RecordReader) throws { (text, library) = (try row.next(), try row.next()) }
    func write(to row: inout RecordWriter) {
        row.bind(text)
        row.bind(library)
    }

    static let owner: Relation<Plaque, Library> = .belongsTo(library, references: Library.name)
}

struct Book: Record, Hashable {
    var id: Int64?
    var title: String
    var authorID: Int64
    var translatorID: Int64?
    var libraryID: Int64?
    var pages: Int

    static let id = SQLExpression<Int64>("id")
    static let title = SQLExpression<String>("title")
    static let authorID = SQLExpression<Int64>("authorID")
    static let translatorID = SQLExpression<Int64?>("translatorID")
    static let libraryID = SQLExpression<Int64?>("libraryID")
    static let pages = SQLExpression<Int>("pages")
    static let table = RecordTable<Book>(
        "book", [.rowID("id", \.id), "title", "authorID", "translatorID", "libraryID", "pages"])
    var primaryKey: Int64? { id }

    init(row: inout RecordReader) throws {
        id = try row.next()
        title = try row.next()
        authorID = try row.next()
        translatorID = try row.next()
        libraryID = try row.next()
        pages = try row.next()
    }
    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(title)
        row.bind(authorID)
        row.bind(translatorID)
        row.bind(libraryID)
        row.bind(pages)
    }

    static let author: Relation<Book, Person> = .belongsTo(authorID)
    static let translator: Relation<Book, Person?> = .belongsTo(translatorID)
    static let library: Relation<Book, Library?> = .belongsTo(libraryID)
    static let address: Relation<Book, Address?> = .hasOne(through: library, Library.address)
}

/// Refers to itself.
struct Employee: Record, Hashable {
    var id: Int64?
    var name: String
    var managerID: Int64?

    static let name = SQLExpression<String>("name")
    static let managerID = SQLExpression<Int64?>("managerID")
    static let table = RecordTable<Employee>("employee", [.rowID("id", \.id), "name", "managerID"])
    var primaryKey: Int64? { id }

    init(row: inout RecordReader) throws { (id, name, managerID) = (try row.next(), try row.next(), try row.next()) }
    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(name)
        row.bind(managerID)
    }

    static let manager: Relation<Employee, Employee?> = .belongsTo(managerID)
    static let subordinates: Relation<Employee, [Employee]> = .hasMany(managerID)
}

/// A small library.
func libraryDatabase() throws -> Connection {
    let db = try Connection()
    try db.execute(
        """
        CREATE TABLE country (code TEXT PRIMARY KEY COLLATE NOCASE, name TEXT NOT NULL);
        CREATE TABLE demographics (
            id INTEGER PRIMARY KEY, countryCode TEXT NOT NULL UNIQUE COLLATE NOCASE REFERENCES country,
            population INTEGER NOT NULL);
        CREATE TABLE citizen (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE passport (
            countryCode TEXT NOT NULL COLLATE NOCASE REFERENCES country, citizenID INTEGER NOT NULL REFERENCES citizen,
            PRIMARY KEY (countryCode, citizenID)) WITHOUT ROWID;
        CREATE TABLE visa (
            id INTEGER PRIMARY KEY, countryCode TEXT, citizenID INTEGER, days INTEGER NOT NULL,
            FOREIGN KEY (countryCode, citizenID) REFERENCES passport);
        CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, countryCode TEXT REFERENCES country);
        CREATE TABLE library (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE address (id INTEGER PRIMARY KEY, libraryID INTEGER NOT NULL UNIQUE, city TEXT NOT NULL);
        CREATE TABLE plaque (text TEXT NOT NULL, library TEXT NOT NULL);
        CREATE TABLE book (
            id INTEGER PRIMARY KEY, title TEXT NOT NULL, authorID INTEGER NOT NULL REFERENCES person,
            translatorID INTEGER REFERENCES person, libraryID INTEGER REFERENCES library, pages INTEGER NOT NULL);
        CREATE INDEX bookByAuthor ON book (authorID);
        CREATE TABLE employee (id INTEGER PRIMARY KEY, name TEXT NOT NULL, managerID INTEGER REFERENCES employee);

        INSERT INTO country VALUES ('de', 'Germany'), ('fr', 'France'), ('va', 'Vatican');
        INSERT INTO demographics VALUES (1, 'DE', 83), (2, 'fr', 67);
        INSERT INTO citizen VALUES (1, 'Ada'), (2, 'Ben'), (3, 'Cleo');
        INSERT INTO passport VALUES ('de', 1), ('fr', 1), ('fr', 2);
        INSERT INTO visa VALUES (1, 'fr', 1, 30), (2, 'fr', 1, 60), (3, 'fr', 2, 90), (4, NULL, 2, 10);
        INSERT INTO person VALUES (1, 'Mann', 'de'), (2, 'Zola', 'fr'), (3, 'Nobody', NULL);
        INSERT INTO library VALUES (1, 'East'), (2, 'West');
        INSERT INTO address VALUES (1, 1, 'Jena');
        INSERT INTO plaque VALUES ('Founded 1900', 'East'), ('Closed on Sundays', 'East');
        INSERT INTO book VALUES
            (1, 'Buddenbrooks', 1, NULL, 1, 700), (2, 'Germinal', 2, 1, 2, 500), (3, 'Nana', 2, 1, 1, 450),
            (4, 'Joseph', 1, NULL, NULL, 1300);
        INSERT INTO employee VALUES (1, 'Root', NULL), (2, 'Left', 1), (3, 'Right', 1), (4, 'Leaf', 2);
        """)
    return db
}
