// What the documentation's snippets stand on: its columns, its tables, and rows in a real database.
//
// A comment `seeds 000:579` names the file of the seeds (000 to 003) and the line where the snippet's fence opens; 001 has
// no fences, its number is that of the snippet's first line. `ci/seeds` checks that no fence is forgotten.
import Foundation
import SQLite
import Testing

// Foundation has an `Expression` as well.
typealias Expression = SQLite.Expression

let id = Expression<Int64>("id")
let email = Expression<String>("email")
let balance = Expression<Double>("balance")
let verified = Expression<Bool>("verified")
let name = Expression<String?>("name")
let age = Expression<Int?>("age")
let user_id = Expression<Int64>("user_id")
let userId = Expression<Int64?>("user_id")
let managerId = Expression<Int64?>("manager_id")
let suffix = Expression<String?>("suffix")

let users = Table("users")
let posts = Table("posts")

/// A database with the documentation's tables, and the statements that ran on it.
final class Sample: @unchecked Sendable {
    let db: Connection
    private(set) var ran: [String] = []

    /// - Parameter rows: whether Alice (1) and Betty (2, whose manager is Alice) are there, and a post of each.
    init(rows: Bool = true) throws {
        db = try Connection()
        try db.execute(
            """
            CREATE TABLE users (
                id INTEGER PRIMARY KEY NOT NULL, email TEXT NOT NULL UNIQUE, name TEXT, age INTEGER,
                balance REAL NOT NULL DEFAULT 0, verified INTEGER NOT NULL DEFAULT 0, manager_id INTEGER);
            CREATE TABLE posts (id INTEGER PRIMARY KEY NOT NULL, user_id INTEGER, title TEXT, published_at TEXT);
            """)
        if rows {
            try db.execute(
                """
                INSERT INTO users VALUES (1, 'alice@mac.com', 'Alice', 30, 20000, 1, NULL);
                INSERT INTO users VALUES (2, 'betty@icloud.com', 'Betty', 40, 100, 0, 1);
                INSERT INTO posts VALUES (10, 1, 'first', '1999-12-31T23:59:59.000'), (11, 2, 'second', NULL);
                """)
        }
        db.trace { [weak self] in self?.ran.append($0) }
    }

    /// The statements that a block runs.
    func ran(_ block: () throws -> Void) rethrows -> [String] {
        ran = []
        try block()
        return ran
    }

    /// The emails of a query's rows.
    func emails(_ query: any QueryType) throws -> [String] { try db.prepareRowIterator(query).map { $0[email] } }
}

/// The statement's text is the documented one; where that is not what runs, it is `really`.
func expectSQL(
    _ text: String, _ documented: String, really: String? = nil, _ location: SourceLocation = #_sourceLocation
) {
    #expect(text == really ?? documented, sourceLocation: location)
    #expect(really != documented, "no longer a difference", sourceLocation: location)
}

/// The statement's text is the documented one; where that is not what runs, it is `really`.
func expectSQL(
    _ statement: any Expressible, _ documented: String, really: String? = nil,
    _ location: SourceLocation = #_sourceLocation
) {
    expectSQL(statement.asSQL(), documented, really: really, location)
}

/// What a table that is created by the block has between its parentheses. It is created, in a database of its own.
func definition(_ block: (TableBuilder) -> Void) throws -> String {
    let db = try Connection()
    try db.run("CREATE TABLE users (id INTEGER PRIMARY KEY)")
    let table = Table("t")
    let text = table.create(block: block)
    try db.run(text)
    return String(text.dropFirst("CREATE TABLE \"t\" (".count).dropLast())
}

/// A test's own directory, removed with it.
final class Folder: Sendable {
    let path = NSTemporaryDirectory() + "/seeds-" + UUID().uuidString
    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: path) }
    func callAsFunction(_ name: String) -> String { path + "/" + name }
}

/// Whether the linked engine is at least this version.
func engineHas(_ major: Int, _ minor: Int) -> Bool {
    EngineInfo.linked.sqliteVersion >= SQLiteVersion(major: major, minor: minor)
}

/// The statement throws an error that names the version it needs.
func expectNeeds(_ version: String, _ location: SourceLocation = #_sourceLocation, _ block: () throws -> Void) {
    #expect(sourceLocation: location) {
        try block()
    } throws: { error in
        (error as? EngineUnsupported)?.requiredVersion?.description == "SQLite " + version
    }
}
