public import LiteVaultCore
public import LiteVaultSystem

/// A form of ``DateStorage`` as a type, for ``StoredDate``.
public protocol DateForm: Sendable {
    /// The form.
    static var storage: DateStorage { get }
}

extension DateStorage {
    /// ``DateStorage/text`` as a type.
    public enum Text: DateForm {
        /// `.text`
        public static var storage: DateStorage { .text }
    }

    /// ``DateStorage/textWithMilliseconds`` as a type.
    public enum TextWithMilliseconds: DateForm {
        /// `.textWithMilliseconds`
        public static var storage: DateStorage { .textWithMilliseconds }
    }

    /// ``DateStorage/textWithT`` as a type.
    public enum TextWithT: DateForm {
        /// `.textWithT`
        public static var storage: DateStorage { .textWithT }
    }

    /// ``DateStorage/secondsSince1970`` as a type.
    public enum SecondsSince1970: DateForm {
        /// `.secondsSince1970`
        public static var storage: DateStorage { .secondsSince1970 }
    }

    /// ``DateStorage/millisecondsSince1970`` as a type.
    public enum MillisecondsSince1970: DateForm {
        /// `.millisecondsSince1970`
        public static var storage: DateStorage { .millisecondsSince1970 }
    }

    /// ``DateStorage/julianDay`` as a type.
    public enum JulianDay: DateForm {
        /// `.julianDay`
        public static var storage: DateStorage { .julianDay }
    }
}

/// A date in a column whose form is not the connection's ``Connection/dateStorage``.
///
/// It is written, compared and read in this form wherever a value can be: as the type of an expression, as an argument, as a
/// property of a `Codable` type or a record.
///
/// ```swift
/// let created = SQLExpression<StoredDate<DateStorage.MillisecondsSince1970>>("created")
/// try db.all(notes.filter(created > StoredDate(yesterday)), as: Note.self)
///
/// struct Note: Codable {
///     @StoredDate<DateStorage.MillisecondsSince1970> var created: Date
/// }
/// ```
@propertyWrapper
public struct StoredDate<Form: DateForm>: Binding, Value, Hashable, Comparable {
    /// The date.
    public var wrappedValue: Date

    /// Creates the value of a property.
    public init(wrappedValue: Date) { self.wrappedValue = wrappedValue }

    /// Creates a value.
    public init(_ date: Date) { wrappedValue = date }

    /// Any of the forms of a date; a number is of this form, if it is one.
    public init?(stored: StoredValue) {
        guard let date = Form.storage.date(of: stored) else { return nil }
        wrappedValue = date
    }

    /// Reads any of the forms of a date; a number is of this form, if it is one.
    public static func read(from column: borrowing ColumnReader) throws -> StoredDate {
        let stored = try StoredValue.read(from: column)
        if let value = StoredDate(stored: stored) { return value }
        switch stored {
        case .null, .blob: throw column.mismatch(expected: "a date")
        default: throw column.malformed(expected: "date")
        }
    }

    /// Binds the date in this form. `SQLITE_MISMATCH` outside of the years 0000 to 9999.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        formed.bind(to: statement, at: index)
    }

    /// `TEXT`, `INTEGER` or `REAL`.
    public static var declaredDatatype: String {
        switch Form.storage {
        case .text, .textWithMilliseconds, .textWithT: "TEXT"
        case .secondsSince1970, .millisecondsSince1970: "INTEGER"
        case .julianDay: "REAL"
        }
    }

    /// The value, unchanged.
    public static func fromDatatypeValue(_ datatypeValue: StoredDate) -> StoredDate { datatypeValue }
    /// The value, unchanged.
    public var datatypeValue: StoredDate { self }

    /// Whether a date is earlier than another.
    public static func < (lhs: StoredDate, rhs: StoredDate) -> Bool { lhs.wrappedValue < rhs.wrappedValue }
}

extension StoredDate: Codable {
    /// Decodes a date, as part of JSON.
    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Date.self)
    }

    /// Encodes the date, as part of JSON.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

/// A value that is a date in a form of its own.
package protocol DateWithForm {
    var formed: FormedDate { get }
}

extension StoredDate: DateWithForm {
    package var formed: FormedDate { FormedDate(wrappedValue, as: Form.storage) }
}
