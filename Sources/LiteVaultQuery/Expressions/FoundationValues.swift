public import Foundation
public import LiteVaultCore

extension Data: Value {
    /// `BLOB`
    public static var declaredDatatype: String { Blob.declaredDatatype }
    /// The bytes as they are.
    public static func fromDatatypeValue(_ dataValue: Blob) -> Data { Data(dataValue.bytes) }
    /// The bytes as they are.
    public var datatypeValue: Blob { Blob(bytes: [UInt8](self)) }
}

extension Date: Value {
    /// `TEXT`
    public static var declaredDatatype: String { String.declaredDatatype }
    /// The date of a text in one of the forms of `DateText`.
    ///
    /// - Throws: `QueryError.malformedValue`
    @_disfavoredOverload  // module SQLite has a form that does not throw
    public static func fromDatatypeValue(_ stringValue: String) throws -> Date {
        guard let date = DateText.date(from: stringValue) else { throw malformed("date") }
        return date
    }
    /// `2026-11-21T08:53:00.000`, in UTC.
    public var datatypeValue: String { DateText.string(from: self) }
}

extension UUID: Value {
    /// `TEXT`
    public static var declaredDatatype: String { String.declaredDatatype }
    /// The UUID of a text of 36 characters.
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
    /// The URL of a text.
    ///
    /// - Throws: `QueryError.malformedValue`
    @_disfavoredOverload  // module SQLite has a form that does not throw
    public static func fromDatatypeValue(_ stringValue: String) throws -> URL {
        guard let url = URL(string: stringValue) else { throw malformed("URL") }
        return url
    }
    /// The URL's text.
    public var datatypeValue: String { absoluteString }
}

private func malformed(_ expected: String) -> QueryError { .malformedValue(name: "", expected: expected) }
