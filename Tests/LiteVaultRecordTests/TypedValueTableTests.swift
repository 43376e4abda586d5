import Foundation
import LiteVault
import Testing

// Every type of an expression, against every storage class, by every way of reading: one table. Checked SQL reads a column as
// `all(_:as:)` or a record does.

/// The values that a column has, as SQL. Each row of the table has an outcome for each of them.
private let literals = ["NULL", "1", "1.5", "'1'", "'x'", "x'31'"]

/// What reading has to give: the value's description, or `-` for an error that names the column.
private struct Expectation: Sendable, CustomTestStringConvertible {
    let type: String
    let outcomes: [String]
    let read: @Sendable (Connection) -> [String: String]
    var testDescription: String { type }

    init<T: Value & Sendable>(
        _ type: T.Type, _ outcomes: String, show: @escaping @Sendable (T) -> String = { "\($0)" }
    ) {
        self.type = "\(type)"
        self.outcomes = outcomes.split(separator: " ").map(String.init)
        let (weight, optional) = (SQLExpression<T>("weight"), SQLExpression<T?>("weight"))
        let (table, sql) = (Table("t"), "SELECT weight FROM t" as SQL)
        read = { db in
            [
                "typed": outcome { try db.all(table.select(weight)).first.map(show) },
                "typed, optional": outcome { try db.all(table.select(optional)).first?.map(show) },
                "row": outcome { try db.first(table, as: Row.self).map { show(try $0.value(of: weight)) } },
                "row, optional": outcome { try db.first(table, as: Row.self)?.value(of: optional).map(show) },
                "SQL": outcome { try db.all(sql, as: T.self).first.map(show) },
                "SQL, optional": outcome { try db.all(sql, as: T?.self).first?.map(show) },
                "one": outcome { show(try db.value(sql, as: T.self)) },
                "record": outcome { try Weight<T>.all(db).first.map { show($0.weight) } },
                "record, optional": outcome { try Weight<T?>.all(db).first?.weight.map(show) },
            ]
        }
    }
}

/// `-` for an error, which has to name the column, and for NULL.
private func outcome(_ read: () throws -> String?) -> String {
    do { return try read() ?? "-" } catch {
        #expect("\(error)".contains("weight"), "\(error)")
        return "-"
    }
}

/// A record with a column of any type.
private struct Weight<T: ColumnValue & Sendable>: Record {
    static var table: RecordTable<Self> { RecordTable("t", ["weight"]) }
    let weight: T
    var primaryKey: Never? { nil }

    init(row: inout RecordReader) throws { weight = try row.next() }
    func write(to row: inout RecordWriter) { row.bind(weight) }
}

private enum Letter: String, Value { case x, y }
private enum Digit: Int, Value { case one = 1 }

private let table: [Expectation] = [
    Expectation(Int.self, "- 1 - - - -"), Expectation(Int64.self, "- 1 - - - -"),
    Expectation(Double.self, "- 1.0 1.5 - - -"), Expectation(Bool.self, "- true - - - -"),
    Expectation(String.self, "- - - 1 x -"), Expectation(Blob.self, "- - - - - 31", show: { $0.toHex() }),
    Expectation(Data.self, "- - - - - 31", show: { Blob(bytes: [UInt8]($0)).toHex() }),
    Expectation(Date.self, "- 1.0 - - - -", show: { "\($0.timeIntervalSince1970)" }),
    Expectation(UUID.self, "- - - - - -"), Expectation(URL.self, "- - - 1 x -"),
    Expectation(Letter.self, "- - - - x -"), Expectation(Digit.self, "- one - - - -"),
]

@Suite struct TypedValueTableTests {
    @Test(arguments: table)
    private func `an expression of any type reads every storage class, or throws an error that names the column`(
        row: Expectation
    ) throws {
        let db = try Connection()
        for (literal, expected) in zip(literals, row.outcomes) {
            try db.execute("DROP TABLE IF EXISTS t; CREATE TABLE t AS SELECT \(literal) AS weight")
            for (way, read) in row.read(db) { #expect(read == expected, "\(row.type) of \(literal), \(way)") }
        }
        #expect(row.outcomes.count == literals.count)
    }
}
