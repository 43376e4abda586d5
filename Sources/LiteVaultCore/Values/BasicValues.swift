public import LiteVaultEngine
internal import LiteVaultSystem

extension Int64: Number, ColumnValue {
    /// An INTEGER.
    public init?(stored: StoredValue) {
        guard case .integer(let number) = stored else { return nil }
        self = number
    }

    /// Reads an INTEGER.
    @inlinable
    public static func read(from column: borrowing ColumnReader) throws -> Int64 {
        guard column.type == SQLITE_INTEGER else { throw column.mismatch(expected: "an integer") }
        return sqlite3_value_int64(column.value)
    }

    /// `sqlite3_bind_int64`
    @inlinable
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, self)
    }
}

extension Int: Number, ColumnValue {
    /// An INTEGER in the range of `Int`.
    public init?(stored: StoredValue) {
        guard case .integer(let number) = stored, let exact = Int(exactly: number) else { return nil }
        self = exact
    }

    /// Reads an INTEGER; throws if it is out of range.
    @inlinable
    public static func read(from column: borrowing ColumnReader) throws -> Int {
        guard column.type == SQLITE_INTEGER,
            let value = Int(exactly: sqlite3_value_int64(column.value))
        else { throw column.mismatch(expected: "an integer") }
        return value
    }

    /// `sqlite3_bind_int64`
    @inlinable
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, Int64(self))
    }
}

extension Double: Number, ColumnValue {
    /// A REAL or an INTEGER.
    public init?(stored: StoredValue) {
        switch stored {
        case .real(let number): self = number
        case .integer(let number): self = Double(number)
        default: return nil
        }
    }

    /// Reads a REAL or an INTEGER.
    @inlinable
    public static func read(from column: borrowing ColumnReader) throws -> Double {
        guard column.type == SQLITE_FLOAT || column.type == SQLITE_INTEGER else {
            throw column.mismatch(expected: "a number")
        }
        return sqlite3_value_double(column.value)
    }

    /// `sqlite3_bind_double`. SQLite stores NaN as NULL.
    @inlinable
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_double(statement, index, self)
    }
}

extension Bool: Binding, ColumnValue {
    /// An INTEGER.
    public init?(stored: StoredValue) {
        guard case .integer(let number) = stored else { return nil }
        self = number != 0
    }

    /// Reads an INTEGER: 0 is false, everything else true.
    @inlinable
    public static func read(from column: borrowing ColumnReader) throws -> Bool {
        guard column.type == SQLITE_INTEGER else { throw column.mismatch(expected: "an integer") }
        return sqlite3_value_int64(column.value) != 0
    }

    /// `sqlite3_bind_int64` of 0 or 1.
    @inlinable
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, self ? 1 : 0)
    }
}

extension String: Binding, ColumnValue {
    /// A TEXT.
    public init?(stored: StoredValue) {
        guard case .text(let text) = stored else { return nil }
        self = text
    }

    /// Reads TEXT, including NUL bytes.
    @inlinable
    public static func read(from column: borrowing ColumnReader) throws -> String {
        guard column.type == SQLITE_TEXT else { throw column.mismatch(expected: "text") }
        return String(text: column.value)
    }

    /// The whole text of a value, by its length: `String(cString:)` ends at the first NUL.
    @inlinable
    package init(text value: OpaquePointer) {
        // The order matters: sqlite3_value_bytes returns the length in UTF-8 only after sqlite3_value_text.
        guard let bytes = sqlite3_value_text(value) else {
            self = ""
            return
        }
        self = String(
            decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value))), as: UTF8.self)
    }

    /// `sqlite3_bind_text64` with the length in bytes: NUL bytes are part of the text.
    @inlinable
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        // Without the copy that `withUTF8` makes: all native strings are contiguous.
        if let code = utf8.withContiguousStorageIfAvailable({ bindText($0, to: statement, at: index, transient) }) {
            return code
        }
        var copy = self
        return copy.withUTF8 { bindText($0, to: statement, at: index, transient) }
    }
}

@inlinable
@inline(__always)
func bindText(
    _ utf8: UnsafeBufferPointer<UInt8>, to statement: OpaquePointer, at index: Int32,
    _ lifetime: sqlite3_destructor_type?
) -> Int32 {
    utf8.withMemoryRebound(to: CChar.self) { bytes in
        // An empty string has no base address, and a null pointer would bind NULL.
        guard let start = bytes.baseAddress else { return sqlite3_bind_text(statement, index, "", 0, nil) }
        return sqlite3_bind_text64(statement, index, start, UInt64(bytes.count), lifetime, UInt8(SQLITE_UTF8))
    }
}

/// A sequence of bytes, as stored in a BLOB column.
public struct Blob: Sendable, Equatable, Hashable {
    /// The bytes.
    public let bytes: [UInt8]

    /// Creates a blob from bytes.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a blob by copying `length` bytes of memory. It is empty for a length below 1.
    public init(bytes: UnsafeRawPointer, length: Int) {
        self.bytes = Array(UnsafeRawBufferPointer(start: bytes, count: Swift.max(0, length)))
    }

    /// The bytes as lower-case hexadecimal digits.
    public func toHex() -> String { bytes.hexadecimal }
}

extension Blob: CustomStringConvertible {
    /// The blob as an SQL literal: `x'00ff'`.
    public var description: String { "x'\(toHex())'" }
}

extension Blob: Binding, ColumnValue {
    /// A BLOB.
    public init?(stored: StoredValue) {
        guard case .blob(let bytes) = stored else { return nil }
        self.init(bytes: bytes)
    }

    /// Reads a BLOB.
    @inlinable
    public static func read(from column: borrowing ColumnReader) throws -> Blob {
        Blob(bytes: try [UInt8].read(from: column))
    }

    /// `sqlite3_bind_blob64`
    @inlinable
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 { bytes.bind(to: statement, at: index) }
}

extension Array: Binding, ColumnValue, StatementArgument, _RowValue where Element == UInt8 {
    /// A BLOB.
    public init?(stored: StoredValue) {
        guard case .blob(let bytes) = stored else { return nil }
        self = bytes
    }

    /// Reads a BLOB.
    @inlinable
    public static func read(from column: borrowing ColumnReader) throws -> [UInt8] {
        guard column.type == SQLITE_BLOB else { throw column.mismatch(expected: "a blob") }
        return [UInt8](blob: column.value)
    }

    @inlinable
    package init(blob value: OpaquePointer) {
        // As for text: first the pointer, then the length. The pointer of an empty blob is null.
        let start = sqlite3_value_blob(value)
        self = [UInt8](UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value))))
    }

    /// `sqlite3_bind_blob64`
    @inlinable
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        withUnsafeBytes { bindBlob($0, to: statement, at: index) }
    }
}

@inlinable
@inline(__always)
func bindBlob(_ bytes: UnsafeRawBufferPointer, to statement: OpaquePointer, at index: Int32) -> Int32 {
    // A null pointer would bind NULL instead of an empty blob.
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
    return sqlite3_bind_blob64(statement, index, start, UInt64(bytes.count), transient)
}
