import LiteVaultCore
import LiteVaultTestSupport

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

extension Scratch {
    /// Makes a database with the rows 1, 2 and 3 in `t(x)`.
    @discardableResult
    func database(_ name: String = "test.db") throws -> String {
        let db = try Connection(path(name))
        try db.execute("CREATE TABLE t(x); INSERT INTO t VALUES (1), (2), (3)")
        try db.close()
        return path(name)
    }
}

/// An error that nothing in the library throws.
struct Mishap: Error, Equatable, CustomStringConvertible {
    var text = "mishap"
    var description: String { text }
}
