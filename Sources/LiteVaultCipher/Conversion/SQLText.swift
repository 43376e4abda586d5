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
        case .real(let number): appendReal(number)
        case .blob(let bytes): appendBlob(bytes)
        case .text(let bytes): appendText(bytes)
        }
    }

    /// A literal of at most 15 digits, 4 of them decimals, or an integer multiplied or divided by powers of two. These are exact in each
    /// version. The engine's conversion of other literals is off by a bit for one in some thousands: `958242.646213` in 3.40.1.
    private mutating func appendReal(_ number: Double) {
        guard number.isFinite else { return append(number < 0 ? "-1e999" : "1e999") }
        let text = String(number)
        let decimals = text.utf8.firstIndex(of: UInt8(ascii: ".")).map { text.utf8[$0...].dropFirst().count } ?? 0
        let isShort = text.utf8.lazy.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count <= 15
        guard number != 0, !isShort || decimals > 4 || !(1e-4..<1e15).contains(number.magnitude) else {
            return append(text)
        }
        var integer = Int64(number.significand * 0x1p52)
        var exponent = Int(number.exponent) - 52
        let zeros = integer.trailingZeroBitCount
        integer >>= zeros
        exponent += zeros
        append((number < 0 ? "-" : "") + String(integer) + (exponent == 0 ? ".0" : ""))
        while exponent != 0 {
            let step = min(abs(exponent), 53)
            append((exponent > 0 ? "*" : "/") + String(Int64(1) << step) + ".0")
            exponent += exponent > 0 ? -step : step
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
