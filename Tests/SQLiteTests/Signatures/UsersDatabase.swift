import SQLite

/// A database with the table that SQLite.swift's own examples use, and every statement that it ran.
final class UsersDatabase {
    let db: Connection
    private(set) var ran: [String] = []

    init() throws {
        db = try Connection()
        try db.execute(
            """
            CREATE TABLE users (
                id INTEGER PRIMARY KEY,
                email TEXT NOT NULL UNIQUE,
                age INTEGER,
                salary REAL,
                admin BOOLEAN NOT NULL DEFAULT 0 CHECK (admin IN (0, 1)),
                manager_id INTEGER,
                created_at DATETIME,
                FOREIGN KEY(manager_id) REFERENCES users(id)
            )
            """)
        db.trace { [unowned self] in ran.append($0) }
    }

    @discardableResult
    func insert(_ name: String, age: Int? = nil, admin: Bool = false) throws -> Statement {
        try db.run(
            "INSERT INTO \"users\" (email, age, admin) values (?, ?, ?)", "\(name)@example.com", age?.datatypeValue,
            admin.datatypeValue)
    }

    func count(_ sql: String) -> Int { ran.filter { $0 == sql }.count }
}
