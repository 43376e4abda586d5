internal import LiteVaultEngine
internal import LiteVaultQuoting
internal import LiteVaultSupport

/// A decimal number of more digits than a REAL has. It is bound only for a column that stores text unchanged, and is
/// `SQLITE_MISMATCH` for all others: the engine would convert it, and digits would be lost.
package struct LongDecimal: Binding, CustomStringConvertible {
    /// The number in decimal digits.
    package let text: String
    /// The column that it is written into; nil while it is not known.
    package var column: (name: String, table: String, database: String?)?

    package init(text: String) { self.text = text }

    /// Never read: a column holds text.
    package init?(stored: StoredValue) { nil }

    /// Never read: a column holds text.
    package static func read(from column: borrowing ColumnReader) throws -> LongDecimal {
        throw column.mismatch(expected: "a decimal number")
    }

    package var description: String { text }

    /// Binds the text. `SQLITE_MISMATCH` for a column that would convert it.
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        guard keepsText(sqlite3_db_handle(statement)) else { return SQLITE_MISMATCH }
        return text.bind(to: statement, at: index)
    }

    /// Whether the declared type of the column gives it the affinity TEXT or BLOB (https://sqlite.org/datatype3.html).
    private func keepsText(_ db: OpaquePointer?) -> Bool {
        guard let db, let column else { return false }
        var declared: UnsafePointer<CChar>?
        let code = sqlite3_table_column_metadata(
            db, column.database, column.table, column.name, &declared, nil, nil, nil, nil)
        guard code == SQLITE_OK else { return false }
        guard let declared else { return true }
        let type = foldedKeyword(String(cString: declared))
        if type.utf8.isEmpty { return true }
        func has(_ name: String) -> Bool { type.firstRange(ofText: name) != nil }
        return !has("INT") && (has("CHAR") || has("CLOB") || has("TEXT") || has("BLOB"))
    }
}
