// What `import LiteVault` does not have, because it traps, loses an error, takes a key too late, or clashes with a name of
// Foundation's. All of it compiles here; with `import LiteVault` in place of the next line each marked one is refused.
import SQLite

let users = Table("users")

func keyThatRefers() -> String { users.create { $0.column(rowid, primaryKey: true, references: users, rowid) } }  // refused
func expression() -> String { Expression<Int64>("id").template }  // refused
func error() -> Result { Result.error(message: "", code: 1, statement: nil) }  // refused
func trappingColumn(_ row: Row) -> Int64 { row[rowid] }  // refused
func trappingLoop(_ db: Connection) throws { for row in try db.prepare(users) { _ = row } }  // refused
func untypedScalar(_ db: Connection) throws -> Any? { try db.scalar("SELECT 1") }  // refused
func lossyCursor(_ statement: Statement) -> Int64 { statement.row[0] }  // refused
func stepping(_ statement: Statement) throws -> Bool { try statement.step() }  // refused
func iterator(_ db: Connection) throws -> RowIterator { try db.prepareRowIterator(users) }  // refused
func silentSetter(_ db: Connection) { db.foreignKeys = true }  // refused
func silentMode(_ db: Connection) { db.journalMode = .wal }  // refused
func silentFunction(_ db: Connection) { db.createFunction("f") { _ in nil } }  // refused
func lateKey(_ db: Connection) throws { try db.key("secret") }  // refused
func lateRekey(_ db: Connection) throws { try db.rekey("secret") }  // refused
func export(_ db: Connection) throws { try db.sqlcipher_export(.inMemory, key: "secret") }  // refused
func seconds(_ db: Connection) { db.busyTimeout = 5 }  // refused
func unguarded(_ db: Connection) -> OpaquePointer { db.handle }  // refused
