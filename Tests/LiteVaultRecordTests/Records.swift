import Foundation
import LiteVault
import Testing

// The records of these tests. They are written by hand: the specification of what the schema plugin generates.

struct Note: Hashable {
    var id: Int64?
    var title: String
    var body: String?
    var tags: [String] = []
    var created: String?
    var titleLength: Int?
    var version = 0
}

extension Note: Record, Identifiable {
    static let id = SQLExpression<Int64>("id")
    static let title = SQLExpression<String>("title")
    static let body = SQLExpression<String?>("body")
    static let created = SQLExpression<String>("created")
    static let version = SQLExpression<Int>("version")

    /// SQLite 3.31 and later have generated columns; before, a trigger does the same.
    static let hasGeneratedColumns = EngineInfo.linked.isAtLeast(3, 31)

    static let schema =
        hasGeneratedColumns
        ? """
        CREATE TABLE note (
            id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, body TEXT, tags TEXT NOT NULL,
            created TEXT NOT NULL DEFAULT 'today', titleLength INTEGER AS (length(title)), version INTEGER NOT NULL)
        """
        : """
        CREATE TABLE note (
            id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, body TEXT, tags TEXT NOT NULL,
            created TEXT NOT NULL DEFAULT 'today', titleLength INTEGER, version INTEGER NOT NULL);
        CREATE TRIGGER noteInserted AFTER INSERT ON note BEGIN
            UPDATE note SET titleLength = length(title) WHERE id = new.id;
        END;
        CREATE TRIGGER noteUpdated AFTER UPDATE OF title ON note BEGIN
            UPDATE note SET titleLength = length(title) WHERE id = new.id;
        END
        """

    static let table = RecordTable<Note>(
        "note",
        [
            .rowID("id", \.id), "title", "body", "tags", .defaulted("created"), .generated("titleLength"),
            .version("version", \.version),
        ])

    var primaryKey: Int64? { id }

    init(row: inout RecordReader) throws {
        id = try row.next()
        title = try row.next()
        body = try row.next()
        tags = try row.nextJSON()
        created = try row.next()
        titleLength = try row.next()
        version = try row.next()
    }

    func write(to row: inout RecordWriter) throws {
        row.bind(id)
        row.bind(title)
        row.bind(body)
        try row.bindJSON(tags)
        row.bind(created)
        row.bind(titleLength)
        row.bind(version)
    }
}

/// A table of the simplest kind: a number that the engine gives, and plain columns.
struct City: Hashable {
    var id: Int?
    var name: String
    var population: Int?
}

extension City: Record {
    static let name = SQLExpression<String>("name")
    static let population = SQLExpression<Int?>("population")
    static let schema = "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL, population INTEGER)"
    static let table = RecordTable<City>("city", [.rowID("id", \.id), "name", "population"])
    var primaryKey: Int? { id }

    init(row: inout RecordReader) throws {
        id = try row.next()
        name = try row.next()
        population = try row.next()
    }

    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(name)
        row.bind(population)
    }
}

/// A key of two columns.
struct Membership: Record, Hashable {
    var team: Int64
    var player: String
    var role: String?

    struct PrimaryKey: CompositeKey {
        var team: Int64
        var player: String

        func write(to row: inout RecordWriter) {
            row.bind(team)
            row.bind(player)
        }
    }

    static let schema = """
        CREATE TABLE membership (
            team INTEGER NOT NULL, player TEXT NOT NULL, role TEXT, PRIMARY KEY (team, player)) WITHOUT ROWID
        """
    static let role = SQLExpression<String?>("role")
    static let table = RecordTable<Membership>("membership", [.key("team"), .key("player"), "role"])
    var primaryKey: PrimaryKey? { PrimaryKey(team: team, player: player) }

    init(team: Int64, player: String, role: String? = nil) {
        self.team = team
        self.player = player
        self.role = role
    }

    init(row: inout RecordReader) throws {
        team = try row.next()
        player = try row.next()
        role = try row.next()
    }

    func write(to row: inout RecordWriter) {
        row.bind(team)
        row.bind(player)
        row.bind(role)
    }
}

/// No key at all.
struct LogLine: Record, Hashable {
    var text: String
    var level: Int

    static let schema = "CREATE TABLE log (text TEXT NOT NULL, level INTEGER NOT NULL DEFAULT 3)"
    static let level = SQLExpression<Int>("level")
    static let table = RecordTable<LogLine>("log", ["text", "level"])

    init(text: String, level: Int) {
        self.text = text
        self.level = level
    }

    init(row: inout RecordReader) throws {
        text = try row.next()
        level = try row.next()
    }

    func write(to row: inout RecordWriter) {
        row.bind(text)
        row.bind(level)
    }
}

/// A column with the name that SQLite gives to the key of every table.
struct Renamed: Record, Hashable {
    var id: Int64?
    var rowid: Int64
    var made: String?

    static let table = RecordTable<Renamed>("renamed", [.rowID("id", \.id), "rowid", .defaulted("made")])

    var primaryKey: Int64? { id }

    init(id: Int64? = nil, rowid: Int64, made: String? = nil) { (self.id, self.rowid, self.made) = (id, rowid, made) }

    init(row: inout RecordReader) throws { (id, rowid, made) = (try row.next(), try row.next(), try row.next()) }

    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(rowid)
        row.bind(made)
    }
}

/// A key that the table's DEFAULT makes, and an enumeration.
struct Token: Record, Hashable {
    enum Kind: String, Value { case access, refresh }

    var code: String?
    var kind: Kind
    var uses: Int?

    static let schema = """
        CREATE TABLE token (
            code TEXT PRIMARY KEY NOT NULL DEFAULT (lower(hex(randomblob(8)))), kind TEXT NOT NULL,
            uses INTEGER NOT NULL DEFAULT 7)
        """
    static let table = RecordTable<Token>("token", [.key("code", defaulted: true), "kind", .defaulted("uses")])
    var primaryKey: String? { code }

    init(code: String? = nil, kind: Kind, uses: Int? = nil) {
        self.code = code
        self.kind = kind
        self.uses = uses
    }

    init(row: inout RecordReader) throws {
        code = try row.next()
        kind = try row.next()
        uses = try row.next()
    }

    func write(to row: inout RecordWriter) {
        row.bind(code)
        row.bind(kind)
        row.bind(uses)
    }
}

/// A final class.
final class Account: RecordObject {
    var id: Int64?
    var name: String
    var opened: String?

    static let schema = """
        CREATE TABLE account (id INTEGER PRIMARY KEY, name TEXT NOT NULL, opened TEXT NOT NULL DEFAULT 'now')
        """
    static let table = RecordTable<Account>("account", [.rowID("id", \.id), "name", .defaulted("opened")])
    var primaryKey: Int64? { id }

    init(name: String) { self.name = name }

    init(row: inout RecordReader) throws {
        id = try row.next()
        name = try row.next()
        opened = try row.next()
    }

    func reload(row: inout RecordReader) throws {
        id = try row.next()
        name = try row.next()
        opened = try row.next()
    }

    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(name)
        row.bind(opened)
    }
}

/// Checks itself before it is written, and keeps a log.
struct Entry: Record, Hashable {
    var id: Int64?
    var amount: Int
    var edits = 0

    struct Negative: Error {}

    static let schema = "CREATE TABLE entry (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL, edits INTEGER NOT NULL)"
    static let table = RecordTable<Entry>("entry", [.rowID("id", \.id), "amount", "edits"])
    var primaryKey: Int64? { id }

    init(amount: Int) { self.amount = amount }

    init(row: inout RecordReader) throws {
        id = try row.next()
        amount = try row.next()
        edits = try row.next()
    }

    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(amount)
        row.bind(edits)
    }

    mutating func willWrite(_ operation: RecordOperation, _ db: Connection) throws {
        if amount < 0 { throw Negative() }
        if operation == .update { edits += 1 }
    }

    func didWrite(_ operation: RecordOperation, _ db: Connection) throws {
        var line = LogLine(text: operation.rawValue, level: amount)
        try line.insert(db)
    }
}

/// An empty database with the tables of all records.
func emptyDatabase() throws -> Connection {
    let db = try Connection()
    for schema in [
        Note.schema, City.schema, Membership.schema, LogLine.schema, Token.schema, Account.schema, Entry.schema,
    ] {
        try db.execute(schema)
    }
    return db
}

/// The statements that a closure runs, as the engine traces them, without those of transactions.
func statements(of db: Connection, _ body: () throws -> Void) rethrows -> [String] {
    let seen = SeenStatements()
    // The first insert of a process looks for the index that a key has which is not the rowid.
    db.setTrace { if !$0.hasPrefix("PRAGMA index_list") { seen.texts.append($0) } }
    defer { db.setTrace(nil) }
    try body()
    return seen.texts
}

/// What a trace has seen. It is called on the thread that runs the statement.
final class SeenStatements: @unchecked Sendable { var texts: [String] = [] }

/// A record with a number, for tables of several kinds.
struct Keyed: Record, Hashable {
    var id: Int64?
    var name: String

    static let table = RecordTable<Keyed>("keyed", [.rowID("id", \.id), "name"])
    var primaryKey: Int64? { id }

    init(name: String) { self.name = name }

    init(row: inout RecordReader) throws {
        id = try row.next()
        name = try row.next()
    }

    func write(to row: inout RecordWriter) {
        row.bind(id)
        row.bind(name)
    }
}
