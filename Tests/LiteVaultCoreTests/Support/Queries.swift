import LiteVaultCore

extension Connection {
    /// The first column of every row, as text; "NULL" for NULL.
    func column(_ sql: String, _ bindings: (any Binding)?...) throws -> [String] {
        try Array(try prepare(sql, bindings)).map { row in row.first.flatMap { $0 }.map { "\($0)" } ?? "NULL" }
    }

    /// The one number that a query gives.
    func number(_ sql: String, _ bindings: (any Binding)?...) throws -> Int64? {
        try scalar(sql, bindings) as? Int64
    }
}

/// An error that nothing in the library throws.
struct Mishap: Error, Equatable, CustomStringConvertible {
    var text = "mishap"
    var description: String { text }
}

extension SQLiteVersion {
    /// The oldest engine that the tests run on.
    static func isLinked(_ major: Int, _ minor: Int) -> Bool {
        EngineInfo.linked.sqliteVersion >= SQLiteVersion(major: major, minor: minor)
    }
}
