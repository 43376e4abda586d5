public import LiteVaultEngine
public import LiteVaultFoundation

extension Data: Binding, ColumnValue {
    /// A BLOB.
    public init?(stored: StoredValue) {
        guard case .blob(let bytes) = stored else { return nil }
        self = Data(bytes)
    }

    /// Reads a BLOB.
    @inlinable
    public static func read(from column: borrowing ColumnReader) throws -> Data {
        guard column.type == SQLITE_BLOB else { throw column.mismatch(expected: "a blob") }
        guard let start = sqlite3_value_blob(column.value) else { return Data() }
        return Data(bytes: start, count: Int(sqlite3_value_bytes(column.value)))
    }

    /// `sqlite3_bind_blob64`
    @inlinable
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, !bytes.isEmpty else {
                return sqlite3_bind_zeroblob(statement, index, 0)
            }
            return sqlite3_bind_blob64(statement, index, start, UInt64(bytes.count), transient)
        }
    }
}

extension Date: Binding, ColumnValue {
    /// A TEXT in any of the forms of ``DateText``.
    public init?(stored: StoredValue) {
        guard case .text(let text) = stored, let date = DateText.date(from: text) else { return nil }
        self = date
    }

    /// Reads TEXT in any of the forms of ``DateText``.
    public static func read(from column: borrowing ColumnReader) throws -> Date {
        let text = try String.read(from: column)
        guard let date = DateText.date(from: text) else { throw column.malformed(expected: "date") }
        return date
    }

    /// Binds TEXT such as `2026-11-21T08:53:00.000`, in UTC. `SQLITE_MISMATCH` outside of the years 0000 to 9999.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        DateText.string(exactly: self)?.bind(to: statement, at: index) ?? SQLITE_MISMATCH
    }
}

extension UUID: Binding, ColumnValue {
    /// A TEXT of 36 characters.
    public init?(stored: StoredValue) {
        guard case .text(let text) = stored, let uuid = UUID(uuidString: text) else { return nil }
        self = uuid
    }

    /// Reads TEXT of 36 characters.
    public static func read(from column: borrowing ColumnReader) throws -> UUID {
        guard let uuid = UUID(uuidString: try String.read(from: column)) else {
            throw column.malformed(expected: "UUID")
        }
        return uuid
    }

    /// Binds TEXT of 36 characters, in upper case.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        uuidString.bind(to: statement, at: index)
    }
}

extension URL: Binding, ColumnValue {
    /// A TEXT that is a URL.
    public init?(stored: StoredValue) {
        guard case .text(let text) = stored, let url = URL(string: text) else { return nil }
        self = url
    }

    /// Reads TEXT.
    public static func read(from column: borrowing ColumnReader) throws -> URL {
        guard let url = URL(string: try String.read(from: column)) else { throw column.malformed(expected: "URL") }
        return url
    }

    /// Binds the URL's text.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        absoluteString.bind(to: statement, at: index)
    }
}
