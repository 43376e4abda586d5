internal import CBaseline
internal import GRDB
internal import LiteVault

/// The same database in memory, opened by each library.
///
/// In memory, since reading files costs all of them the same and would hide what they differ in.
struct Databases {
    let c: OpaquePointer
    let liteVault: Connection
    let grdb: GRDB.DatabaseQueue

    init(_ schema: String) throws {
        c = baseline_open(schema)
        liteVault = try Connection()
        try liteVault.execute(schema)
        grdb = try GRDB.DatabaseQueue()
        try grdb.inDatabase { try $0.execute(sql: schema) }
    }
}

/// Numbers 1 to n, for schemas that fill a table.
func numbers(_ count: Int) -> String {
    "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
}
