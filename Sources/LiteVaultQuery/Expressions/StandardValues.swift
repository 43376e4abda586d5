public import LiteVaultCore
public import LiteVaultSystem

extension Int64: Value {
    /// `INTEGER`
    public static let declaredDatatype = "INTEGER"
    /// The number, unchanged.
    @inlinable
    public static func fromDatatypeValue(_ datatypeValue: Int64) -> Int64 { datatypeValue }
    /// The number, unchanged.
    @inlinable
    public var datatypeValue: Int64 { self }
}

extension Int: Value {
    /// `INTEGER`
    public static let declaredDatatype = Int64.declaredDatatype
    /// The number, clamped to the range of `Int` on 32-bit platforms.
    @inlinable
    public static func fromDatatypeValue(_ datatypeValue: Int64) -> Int { Int(clamping: datatypeValue) }
    /// The number as 64 bits.
    @inlinable
    public var datatypeValue: Int64 { Int64(self) }
}

extension Double: Value {
    /// `REAL`
    public static let declaredDatatype = "REAL"
    /// The number, unchanged.
    @inlinable
    public static func fromDatatypeValue(_ datatypeValue: Double) -> Double { datatypeValue }
    /// The number, unchanged.
    @inlinable
    public var datatypeValue: Double { self }
}

extension Bool: Value {
    /// `INTEGER`
    public static let declaredDatatype = Int64.declaredDatatype
    /// False for 0, true for any other number.
    @inlinable
    public static func fromDatatypeValue(_ datatypeValue: Int64) -> Bool { datatypeValue != 0 }
    /// 0 or 1.
    @inlinable
    public var datatypeValue: Int64 { self ? 1 : 0 }
}

extension String: Value {
    /// `TEXT`
    public static let declaredDatatype = "TEXT"
    /// The text, unchanged.
    @inlinable
    public static func fromDatatypeValue(_ datatypeValue: String) -> String { datatypeValue }
    /// The text, unchanged.
    @inlinable
    public var datatypeValue: String { self }
}

extension Blob: Value {
    /// `BLOB`
    public static let declaredDatatype = "BLOB"
    /// The bytes, unchanged.
    @inlinable
    public static func fromDatatypeValue(_ datatypeValue: Blob) -> Blob { datatypeValue }
    /// The bytes, unchanged.
    @inlinable
    public var datatypeValue: Blob { self }
}

extension Data: Value {
    /// `BLOB`
    public static var declaredDatatype: String { Blob.declaredDatatype }
    /// The bytes, unchanged.
    public static func fromDatatypeValue(_ dataValue: Blob) -> Data { Data(dataValue.bytes) }
    /// The bytes, unchanged.
    public var datatypeValue: Blob { Blob(bytes: [UInt8](self)) }
}

extension Date: Value {
    /// `TEXT`. For a connection that stores dates as numbers, declare the column as a number.
    public static var declaredDatatype: String { String.declaredDatatype }
    /// The date, unchanged.
    public static func fromDatatypeValue(_ datatypeValue: Date) -> Date { datatypeValue }
    /// The date, unchanged: how it is stored is up to the connection.
    @_disfavoredOverload  // module SQLite has the text of SQLite.swift
    public var datatypeValue: Date { self }
}

extension UUID: Value {
    /// `TEXT`
    public static var declaredDatatype: String { String.declaredDatatype }
    /// Parses a UUID of 36 characters.
    ///
    /// - Throws: `QueryError.malformedValue`
    @_disfavoredOverload  // module SQLite has a form that does not throw
    public static func fromDatatypeValue(_ stringValue: String) throws -> UUID {
        guard let uuid = UUID(uuidString: stringValue) else { throw malformed("UUID") }
        return uuid
    }
    /// 36 characters, in upper case.
    public var datatypeValue: String { uuidString }
}

extension URL: Value {
    /// `TEXT`
    public static var declaredDatatype: String { String.declaredDatatype }
    /// Parses a URL, or the JSON string of one.
    ///
    /// - Throws: `QueryError.malformedValue`
    @_disfavoredOverload  // module SQLite has a form that does not throw
    public static func fromDatatypeValue(_ stringValue: String) throws -> URL {
        guard let url = URL(stored: .text(stringValue)) else { throw malformed("URL") }
        return url
    }
    /// The URL's text.
    public var datatypeValue: String { absoluteString }
}

private func malformed(_ expected: String) -> QueryError { .malformedValue(name: "", expected: expected) }
