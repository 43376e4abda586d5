// A module that imports SQLite and `library.swift`: each name that SQLite.swift lacks is the library's.
import Foundation
import Library
import SQLite

func use(_ db: Connection) throws {
    try db.setUserVersion(3)
    let version: Int32 = try db.readUserVersion()
    try db.setForeignKeys(true)
    try db.prepareRest(db)
    _ = (version, db.isInTransaction, try db.integrityCheck(), try db.hasKey())
}

extension Connection {
    func prepareRest(_ db: Connection) throws {
        try setApplicationID(3)
        try drop(index: "i")
        try savepoint { finalizeAll() }
    }
}

func names() -> [Any] {
    let column = Column("a")
    let sql: SQL = "SELECT 1"
    let window = Window(width: 3)
    let letter = Case.upper
    let returning = Returning()
    let types: [Any.Type] = [
        TypedQuery.self, TableOptions.self, ColumnType.self, ResultCode.self, FTS5.self, JSONColumn.self, DatabaseKey.self,
        StoredValue.self, TypedStatement.self, WritingStatement.self, RunResult.self, DatabasePool.self, DatabaseQueue.self,
    ]
    return [column, sql, window, letter, returning, types]
}

func migrate(_ db: Connection) -> Migrator { Migrator(db) }
func refuse() throws { throw DatabaseError() }
let number = when(exists("a"), then: length("b"))

// And everything that SQLite.swift has works as before.
let id = SQLite.Expression<Int64>("id")
let name = SQLite.Expression<String?>("name")
let users = Table("users")

func read(_ db: Connection) throws -> [String?] {
    try db.run(users.create(ifNotExists: true) { $0.column(id, primaryKey: .autoincrement) })
    try db.run(users.insert(name <- "a", id <- 1))
    try db.run(users.filter(id == 1 && name != nil || rowid > 3).update(name <- "b", id += 1, id++))
    let statement = try db.prepare("SELECT 1")
    for row in statement { _ = row[0] as? Int64 }
    _ = try db.scalar(users.select(count(*)).filter(![1, 2].contains(id)))
    _ = (id.sum, name.lowercaseString, name ?? "x", cast(id) as SQLite.Expression<String>, rowNumber(id), -id, ~id)
    do { try db.enableWAL() } catch let Result.error(_, code, _) where code == SQLITE_BUSY {}
    return try db.prepare(users.select(name)).map { $0[name] }
}
