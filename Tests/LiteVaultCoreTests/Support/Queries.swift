import LiteVaultCore

extension Connection {
    /// The first column of every row, as text; "NULL" for NULL.
    func column(_ sql: String, _ bindings: (any Binding)?...) throws -> [String] {
        try all(SQL(sql, bindings), as: StoredValue.self).map { value in
            value.binding.map { "\($0)" } ?? "NULL"
        }
    }

    /// The one number that a query gives.
    func number(_ sql: String, _ bindings: (any Binding)?...) throws -> Int64? {
        try value(SQL(sql, bindings), as: Int64?.self)
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
