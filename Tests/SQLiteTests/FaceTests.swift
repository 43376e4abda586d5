import Foundation
import LiteVaultQuery
import SQLite
import Testing

// What a column reads as by `import SQLite` and by `import LiteVault`, for every type and storage class: one table, whose rows
// with a difference are those of the migration page.

/// The values that a column has, as SQL.
private let literals = ["NULL", "1", "1.5", "'1'", "'x'", "x'31'"]

/// A type, and how each face reads it.
private struct Reading: Sendable, CustomTestStringConvertible {
    let type: String
    /// `get` of the type, `get` of its optional, `value(of:)` and `value(of:)` of its optional.
    let outcomes: @Sendable (SQLite.Row) -> [String]
    var testDescription: String { type }

    init<T: Value & Sendable>(_ type: T.Type, show: @escaping @Sendable (T) -> String = { "\($0)" }) {
        self.type = "\(type)"
        let (column, optional) = (SQLExpression<T>("v"), SQLExpression<T?>("v"))
        outcomes = { row in
            [
                outcome { show(try row.get(column)) },
                outcome { try row.get(optional).map(show) ?? "nil" },
                outcome { show(try row.value(of: column)) },
                outcome { try row.value(of: optional).map(show) ?? "nil" },
            ]
        }
    }
}

private func outcome(_ read: () throws -> String) -> String {
    do { return try read() } catch QueryError.unexpectedNullValue(let name) {
        #expect(name == "\"v\"" || name == "v")
        return "`unexpectedNullValue`"
    } catch QueryError.unexpectedType(let name, _, _) {
        #expect(name == "\"v\"" || name == "v")
        return "`unexpectedType`"
    } catch QueryError.malformedValue { return "`malformedValue`" } catch { return "\(error)" }
}

private let readings = [
    Reading(Int.self), Reading(Int64.self), Reading(Double.self), Reading(Bool.self), Reading(String.self),
    Reading(Blob.self, show: { $0.toHex() }), Reading(Data.self, show: { Blob(bytes: [UInt8]($0)).toHex() }),
    Reading(Date.self, show: { "\($0.timeIntervalSince1970)" }), Reading(UUID.self), Reading(URL.self),
]

@Suite struct FaceTests {
    private func rows() throws -> [(literal: String, row: SQLite.Row)] {
        let db = try Connection()
        return try literals.map { literal in
            try db.execute("DROP TABLE IF EXISTS t; CREATE TABLE t AS SELECT \(literal) AS v")
            return (literal, try #require(try db.pluck(Table("t"))))
        }
    }

    @Test func `the faces differ in what the migration page has, and in nothing else`() throws {
        let rows = try rows()
        var table: [String] = []
        for reading in readings {
            // Values that read alike are one row.
            var found: [(outcomes: [String], literals: [String])] = []
            for (literal, row) in rows {
                let outcomes = reading.outcomes(row)
                guard outcomes[0] != outcomes[2] || outcomes[1] != outcomes[3] else { continue }
                if let index = found.firstIndex(where: { $0.outcomes == outcomes }) {
                    found[index].literals.append(literal)
                } else {
                    found.append((outcomes, [literal]))
                }
            }
            table += found.map { outcomes, literals in
                let values = literals.map { "`\($0)`" }.joined(separator: ", ")
                return "| `\(reading.type)` | \(values) | \(outcomes[0]), \(outcomes[1]) | \(outcomes[2]), \(outcomes[3]) |"
            }
        }
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/LiteVault/Documentation.docc/MigratingFromSQLiteSwift.md")
        let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").map(String.init)
        let head = lines.firstIndex { $0.hasPrefix("| Type | Value |") }
        let written = Array(lines.dropFirst((head ?? lines.count) + 2).prefix { $0.hasPrefix("|") })
        #expect(written == table, "\n\(table.joined(separator: "\n"))")
    }
}
