public import LiteVaultEngine

/// `SQLITE_TRANSIENT`: the engine copies the bytes. A cast macro, which is not imported into Swift.
@usableFromInline
package var transient: sqlite3_destructor_type {
    @inlinable get { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

extension String: Binding, ColumnValue {
    /// A TEXT.
    public init?(stored: StoredValue) {
        guard case .text(let text) = stored else { return nil }
        self = text
    }

    /// Reads TEXT, NUL bytes included.
    @inlinable
    public static func read(from column: borrowing ColumnReader) throws -> String {
        guard column.type == SQLITE_TEXT else { throw column.mismatch(expected: "text") }
        return String(text: column.value)
    }

    /// The whole text of a value: by its length, since `String(cString:)` ends at the first NUL.
    @inlinable
    init(text value: OpaquePointer) {
        // The order matters: sqlite3_value_bytes gives the length in UTF-8 only after sqlite3_value_text.
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
        // Without the copy that `withUTF8` needs: all native strings are contiguous.
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
