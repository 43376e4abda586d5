internal import LiteVaultEngine
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// A decimal number that is stored as text where a column leaves that unchanged.
///
/// One of more digits than a REAL has is bound for such a column only, and is `SQLITE_MISMATCH` for all others: the engine would convert
/// it, and digits would be lost. Any other one is a number elsewhere.
package struct LongDecimal: Binding, CustomStringConvertible {
    /// The number in decimal digits.
    package let text: String
    /// The same number, if a REAL has all of its digits.
    package let number: Double?
    /// The column that it is written into; nil while it is not known.
    package var column: (name: String, table: String, database: String?)?

    package init(text: String, number: Double? = nil) { (self.text, self.number) = (text, number) }

    /// Never read: a column holds text.
    package init?(stored: StoredValue) { nil }

    /// Never read: a column holds text.
    package static func read(from column: borrowing ColumnReader) throws -> LongDecimal {
        throw column.mismatch(expected: "a decimal number")
    }

    package var description: String { text }

    /// Binds the text, or the number. `SQLITE_MISMATCH` for a column that would round it.
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        let affinity = affinity(sqlite3_db_handle(statement))
        guard let number else {
            guard affinity == .text || affinity == .blob else { return DatabaseError.unstorable(at: index) }
            return text.bind(to: statement, at: index)
        }
        // The engine's own conversion to text has 15 or 17 digits, depending on its version.
        if affinity == .text { return text.bind(to: statement, at: index) }
        return number.bind(to: statement, at: index)
    }

    /// The affinity of the column; nil if the column is not known.
    private func affinity(_ db: OpaquePointer?) -> SQLAffinity? {
        guard let db, let column else { return nil }
        var declared: UnsafePointer<CChar>?
        let code = sqlite3_table_column_metadata(
            db, column.database, column.table, column.name, &declared, nil, nil, nil, nil)
        guard code == SQLITE_OK else { return nil }
        return SQLAffinity(declared.map { String(cString: $0) } ?? "")
    }
}
