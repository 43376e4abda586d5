public import LiteVaultEngine
public import LiteVaultSystem

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
        withUnsafeBytes { bindBlob($0, to: statement, at: index) }
    }
}

extension Date: Binding, ColumnValue {
    /// Any of the forms of ``DateStorage``.
    public init?(stored: StoredValue) {
        guard let date = DateStorage.text.date(of: stored) else { return nil }
        self = date
    }

    /// Reads TEXT in any of the forms of ``DateText``, and numbers as ``DateStorage`` says.
    public static func read(from column: borrowing ColumnReader) throws -> Date {
        if column.type == SQLITE_TEXT, let date = DateText.date(from: String(text: column.value)) { return date }
        if column.type == SQLITE_NULL || column.type == SQLITE_BLOB { throw column.mismatch(expected: "a date") }
        guard let date = column.dates.date(of: StoredValue(column.value)) else {
            throw column.malformed(expected: "date")
        }
        return date
    }

    /// Binds the date in the form of the connection's ``Connection/dateStorage``. Outside of the years 0000 to 9999 it returns
    /// `SQLITE_MISMATCH`, with the number of the parameter in the bits above the primary code.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        bind(to: statement, at: index, as: DateStorages.storage(of: sqlite3_db_handle(statement)))
    }

    func bind(to statement: OpaquePointer, at index: Int32, as storage: DateStorage) -> Int32 {
        storage.value(of: self)?.bind(to: statement, at: index) ?? DatabaseError.unstorable(at: index)
    }
}

extension UUID: Binding, ColumnValue {
    /// A TEXT of 36 characters, or a BLOB of 16 bytes.
    public init?(stored: StoredValue) {
        switch stored {
        case .text(let text):
            guard let uuid = UUID(uuidString: text) else { return nil }
            self = uuid
        case .blob(let bytes):
            guard bytes.count == 16 else { return nil }
            self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        default: return nil
        }
    }

    /// Reads TEXT of 36 characters, or a BLOB of 16 bytes, as GRDB and others store it.
    public static func read(from column: borrowing ColumnReader) throws -> UUID {
        if column.type == SQLITE_BLOB {
            guard let uuid = UUID(stored: StoredValue(column.value)) else { throw column.malformed(expected: "UUID") }
            return uuid
        }
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
    /// A TEXT that is a URL, or the JSON string of one.
    public init?(stored: StoredValue) {
        guard case .text(let text) = stored, let url = URL(text) else { return nil }
        self = url
    }

    /// Reads TEXT: a URL, or the JSON string of one.
    public static func read(from column: borrowing ColumnReader) throws -> URL {
        guard let url = URL(try String.read(from: column)) else { throw column.malformed(expected: "URL") }
        return url
    }

    /// SQLite.swift stores the URL of a Codable value as `"https:\/\/example.com"`, quotes and backslashes included. No URL
    /// begins with a quote.
    private init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "\"") else {
            self.init(string: text)
            return
        }
        guard let url = try? JSONDecoder().decode(String.self, from: Data(text.utf8)) else { return nil }
        self.init(string: url)
    }

    /// Binds the URL's text.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        absoluteString.bind(to: statement, at: index)
    }
}
