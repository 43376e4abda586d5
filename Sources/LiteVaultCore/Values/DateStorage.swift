internal import LiteVaultEngine
public import LiteVaultSystem

/// How a database stores dates.
///
/// Values are compared as they are stored, so that all dates of a column need the same form. A connection has one for what
/// it writes and compares with, ``Connection/dateStorage``; a column may have another, ``StoredDate``. Reading takes all
/// forms, whatever the connection's is.
///
/// `DateColumn` counts the forms in a column, and rewrites them.
public enum DateStorage: String, Sendable, Hashable, CaseIterable {
    /// `2026-11-26 10:00:00`, as `CURRENT_TIMESTAMP` and `datetime()` write it, with milliseconds if there are any:
    /// `2026-11-26 10:00:00.250`. In UTC. The default.
    case text
    /// `2026-11-26 10:00:00.000`, always with milliseconds, as GRDB writes it.
    case textWithMilliseconds
    /// `2026-11-26T10:00:00.000`, as SQLite.swift writes it. The default of module `SQLite`.
    case textWithT
    /// Seconds since 1970, as `unixepoch()` returns them: an INTEGER, or a REAL if there is a fraction.
    case secondsSince1970
    /// Milliseconds since 1970, an INTEGER.
    case millisecondsSince1970
    /// Days since noon on November 24, 4714 BC, as `julianday()` returns them: a REAL, exact to the millisecond.
    case julianDay

    /// The value that stands for a date; nil outside of the years 0000 to 9999, which SQLite's date functions do not
    /// know.
    public func value(of date: Date) -> StoredValue? {
        switch self {
        case .text, .textWithMilliseconds, .textWithT: return DateText.string(from: date, as: self).map { .text($0) }
        case .secondsSince1970:
            guard DateText.milliseconds(of: date) != nil else { return nil }
            let seconds = date.timeIntervalSince1970
            return Int64(exactly: seconds).map { .integer($0) } ?? .real(seconds)
        case .millisecondsSince1970:
            return DateText.milliseconds(of: date).map { .integer($0 + Self.from1970To2001) }
        case .julianDay:
            return DateText.milliseconds(of: date).map {
                .real(Double($0 + Self.from1970To2001 + Self.julianDay1970) / 86_400_000)
            }
        }
    }

    /// The date that a value stands for, in any of the forms; nil if it is not a date.
    ///
    /// If this form is a number, all numbers are of it, and numbers in text, too, since a column of type TEXT has changed
    /// them into it. If this form is text, a REAL from 0 to 5,373,484.5 is a Julian day, any other number means seconds since
    /// 1970 within the years 0000 to 9999, and milliseconds beyond.
    public func date(of stored: StoredValue) -> Date? {
        switch stored {
        case .text(let text): DateText.date(from: text) ?? number(in: text).flatMap { date(of: $0, isInteger: false) }
        case .integer(let number): date(of: Double(number), isInteger: true)
        case .real(let number): date(of: number, isInteger: false)
        case .null, .blob: nil
        }
    }

    private func date(of number: Double, isInteger: Bool) -> Date? {
        let form = isText ? Self.guess(number, isInteger: isInteger) : self
        switch form {
        case .secondsSince1970:
            return Self.years.contains(number) ? Date(timeIntervalSince1970: number) : nil
        case .millisecondsSince1970:
            return Self.years.contains(number / 1000) ? Date(timeIntervalSince1970: number / 1000) : nil
        case .julianDay:
            guard (0...6_000_000).contains(number) else { return nil }
            let milliseconds = (number * 86_400_000).rounded() - Double(Self.julianDay1970)
            return Self.years.contains(milliseconds / 1000) ? Date(timeIntervalSince1970: milliseconds / 1000) : nil
        default: return nil
        }
    }

    private func number(in text: String) -> Double? { isText ? nil : Double(text) }

    /// The form of a value; nil if it is not a date, and for text in a form that is read but never written.
    public static func form(of stored: StoredValue) -> DateStorage? {
        switch stored {
        case .text(let text):
            guard DateText.date(from: text) != nil else { return nil }
            return [DateStorage.text, .textWithMilliseconds, .textWithT].first { $0.isForm(of: text) }
        case .integer(let number): return guess(Double(number), isInteger: true)
        case .real(let number): return guess(number, isInteger: false)
        case .null, .blob: return nil
        }
    }

    private func isForm(of text: String) -> Bool {
        let bytes = Array(text.utf8)
        // A zone makes it one of another form, whatever its length is.
        let hasSeconds = bytes.count >= 19 && bytes[16] == UInt8(ascii: ":") && isNumber(17..<19)
        guard hasSeconds,
            bytes.count == 19 || (bytes.count == 23 && bytes[19] == UInt8(ascii: ".") && isNumber(20..<23))
        else { return false }
        func isNumber(_ range: Range<Int>) -> Bool {
            bytes[range].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        switch (self, bytes.count) {
        case (.text, 19): return bytes[10] == UInt8(ascii: " ")
        // With milliseconds that are not 0, both forms are the same; it counts as the one that is the default.
        case (.text, 23): return bytes[10] == UInt8(ascii: " ") && bytes[20...] != [48, 48, 48]
        case (.textWithMilliseconds, 23): return bytes[10] == UInt8(ascii: " ")
        case (.textWithT, 23): return bytes[10] == UInt8(ascii: "T")
        default: return false
        }
    }

    /// The form of a number that nothing is known about.
    private static func guess(_ number: Double, isInteger: Bool) -> DateStorage? {
        if !isInteger, (0...5_373_484.5).contains(number) { return .julianDay }
        if years.contains(number) { return .secondsSince1970 }
        return years.contains(number / 1000) ? .millisecondsSince1970 : nil
    }

    private var isText: Bool {
        switch self {
        case .text, .textWithMilliseconds, .textWithT: true
        case .secondsSince1970, .millisecondsSince1970, .julianDay: false
        }
    }

    /// The years 0000 to 9999 in seconds since 1970, with what is rounded into them when it is written.
    private static let years = -62_167_219_200.0005..<253_402_300_800.0
    private static let from1970To2001: Int64 = 978_307_200_000
    private static let julianDay1970: Int64 = 210_866_760_000_000
}

/// How the open connections store dates, by their handles: what binds a value knows the statement only.
package enum DateStorages {
    private static let others = Locked<[UInt: DateStorage]>([:])
    /// Whether there ever was a connection that does not store dates in the default form.
    private static let hasOthers = AtomicFlag()

    static func set(_ storage: DateStorage, for db: OpaquePointer) {
        guard storage != .text || hasOthers.isRaised else { return }
        hasOthers.set(true)
        others.withLock { $0[UInt(bitPattern: db)] = storage == .text ? nil : storage }
    }

    package static func storage(of db: OpaquePointer?) -> DateStorage {
        guard hasOthers.isRaised, let db else { return .text }
        return others.withLock { $0[UInt(bitPattern: db)] } ?? .text
    }
}

extension ColumnReader {
    package var dates: DateStorage { DateStorages.storage(of: sqlite3_db_handle(statement)) }
}

/// A date that is bound in a form of its own, whatever the connection's is.
package struct FormedDate: Binding, Equatable {
    package let date: Date
    package let storage: DateStorage

    package init(_ date: Date, as storage: DateStorage) { (self.date, self.storage) = (date, storage) }

    /// Never read: ``StoredDate`` is.
    package init?(stored: StoredValue) { nil }

    package static func read(from column: borrowing ColumnReader) throws -> FormedDate {
        throw column.mismatch(expected: "a date")
    }

    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        date.bind(to: statement, at: index, as: storage)
    }
}
