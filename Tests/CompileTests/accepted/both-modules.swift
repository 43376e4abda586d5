// A file that imports both modules, as one that moves from one to the other does: nothing is ambiguous.
import LiteVault
import SQLite

func both(_ path: String) throws -> [String] {
    let db = try Connection(path)
    _ = try Connection(.inMemory, readonly: false, journalMode: .wal)
    _ = try Connection()
    try db.execute("CREATE TABLE t (a, b)")
    try db.run("DELETE FROM t")
    try db.run("INSERT INTO t VALUES (?, ?)", 1, "x")
    try db.run("INSERT INTO t VALUES (?, ?)", with: 1, "x")
    let result = try db.run("INSERT INTO t VALUES (?, ?)", with: 2, "y")
    _ = (result.changes, result.insertedRowID, db.changes, db.lastInsertRowid, db.totalChanges)
    _ = try db.scalar("SELECT count(*) FROM t") as? Int64 ?? 0
    _ = try db.value("SELECT count(*) FROM t", as: Int.self)
    let statement = try db.prepare("SELECT b FROM t WHERE a = ?")
    _ = try statement.bind(1).step()
    let text: String = statement.row[0]
    try statement.run(1)
    try statement.run(with: 1)
    for row in try db.prepare("SELECT b FROM t WHERE a = ?", 1) { _ = row[0] as? String }
    try db.forEach("SELECT b FROM t") { row in _ = try row.get(0, as: String.self) }
    db.foreignKeys = true
    try db.setPragma(.foreignKeys, to: true)
    db.userVersion = 3
    db.journalMode = .wal
    try db.setJournalMode(.wal)
    try db.setSynchronous(.normal)
    db.busyTimeout = 5
    db.lockTimeout = .seconds(5)
    db.createFunction("f") { _ in 1 }
    try db.defineFunction("g") { _ in 1 }
    try db.savepoint { try db.transaction {} }
    try db.vacuum()
    db.trace { _ in }
    _ = (db.handle, db.readonly, db.isReadOnly, db.usesExtendedErrorCodes)
    let (t, a) = (Table("t"), SQLite.Expression<Int64>("a"))
    let id: Int64 = try db.run(t.insert(a <- 3))
    let count: Int = try db.run(t.filter(a == id).delete())
    _ = (try db.run(t.insert(a <- 4)).insertedRowID, count)
    return try db.all("SELECT b FROM t", as: String.self) + [text]
}
