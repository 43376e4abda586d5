public import LiteVaultEngine

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
    /// An INTEGER that fits.
    public init?(stored: StoredValue) {
        guard case .integer(let number) = stored, let exact = Int(exactly: number) else { return nil }
        self = exact
    }

    /// Reads an INTEGER; throws where it does not fit.
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
