internal import LiteVaultCore
internal import LiteVaultSystem

/// SQL text while it is put together, as bytes: text of a database need not be valid.
package struct SQLText: ~Copyable {
    private var storage: [UInt8] = []
    /// The encoding of the database that the text comes from and goes to.
    private let encoding: TextEncoding

    init(_ encoding: TextEncoding) { self.encoding = encoding }

    init(line: String) {
        self.init(.utf8)
        append(line + "\n")
    }

    package func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        try storage.withUnsafeBytes(body)
    }

    mutating func removeAll() { storage.removeAll(keepingCapacity: true) }
    mutating func append(_ text: String) { storage.append(contentsOf: text.utf8) }

    /// Replaces the text with a statement: its start, columns of the current row as literals, and `);`.
    mutating func set(_ row: borrowing RowView, _ columns: Range<Int>, after start: String) throws {
        removeAll()
        append(start)
        for index in columns {
            if index > columns.lowerBound { append(", ") }
            try appendLiteral(row, index)
        }
        append(");\n")
    }

    /// Appends a column of the current row as a literal that stands for the same value of the same storage class.
    mutating func appendLiteral(_ row: borrowing RowView, _ index: Int) throws {
        switch try row.get(index, as: ExactValue.self) {
        case .null: append("NULL")
        case .integer(let number): append(String(number))
        case .real(let number): append(Quoting.sqlReal(number))
        case .blob(let bytes): appendBlob(bytes)
        case .text(let bytes): appendText(bytes)
        }
    }

    private mutating func appendBlob(_ bytes: [UInt8]) {
        storage.reserveCapacity(storage.count + 2 * bytes.count + 3)
        append("x'")
        for byte in bytes {
            storage.append(Hexadecimal.digit(byte >> 4))
            storage.append(Hexadecimal.digit(byte & 15))
        }
        append("'")
    }

    /// A quoted string. A NUL would end the statement, and SQLite's shell drops a CR at the end of a line, so they are written as `char(0)` and
    /// `char(13)`. Bytes that the engine would not make of a literal again are cast.
    private mutating func appendText(_ bytes: [UInt8]) {
        if let utf8 = encoding.utf8(bytes) {
            return Quoting.appendSQLText(utf8, replacing: [0, UInt8(ascii: "\r")], to: &storage)
        }
        append("CAST(")
        appendBlob(bytes)
        append(" AS TEXT)")
    }
}
