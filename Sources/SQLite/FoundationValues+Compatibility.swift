public import Foundation
internal import LiteVaultCore
public import LiteVaultQuery
internal import LiteVaultSystem

// The conversions without `throws` that SQLite.swift declares. Rows are read by the throwing ones, so a malformed value
// in a file is an error and never ends the program; only code that calls these directly has to ensure that its text is
// valid.

extension Date {
    /// The date of a text; ends the program when the text is not a date. `DateText.date(from:)` returns nil instead.
    public static func fromDatatypeValue(_ stringValue: String) -> Date {
        guard let date = DateText.date(from: stringValue) else { malformed("date", "DateText.date(from:)") }
        return date
    }

    /// `2026-11-21T08:53:00.000`, in UTC, as SQLite.swift writes it.
    public var datatypeValue: String { DateText.stringWithT(from: self) }
}

extension UUID {
    /// The UUID of a text; ends the program when the text is not a UUID. `UUID(uuidString:)` returns nil instead.
    public static func fromDatatypeValue(_ stringValue: String) -> UUID {
        guard let uuid = UUID(uuidString: stringValue) else { malformed("UUID", "UUID(uuidString:)") }
        return uuid
    }
}

extension URL {
    /// The URL of a text; ends the program when the text is not a URL. `URL(string:)` returns nil instead.
    public static func fromDatatypeValue(_ stringValue: String) -> URL {
        guard let url = URL(stored: .text(stringValue)) else { malformed("URL", "URL(string:)") }
        return url
    }
}

// Text with dates as SQLite.swift writes them: under `import LiteVault` these have SQLite's own form.

extension Expressible {
    /// The SQL text, with values as literals: for logs, and for statements that take no parameters.
    public func asSQL() -> String { sql(dates: .textWithT) }
}

extension ExpressionType {
    /// The SQL text, with values as literals.
    public var description: String { asSQL() }
}

extension Setter {
    /// The SQL text, with values as literals.
    public var description: String { asSQL() }
}

private func malformed(_ expected: String, _ alternative: String) -> Never {
    fatalError("fromDatatypeValue(_:) got text that is not a valid \(expected): use \(alternative)")
}

/// The formatter of dates: `yyyy-MM-dd'T'HH:mm:ss.SSS`, `en_US_POSIX`, UTC. If it is replaced or its format changed
/// before the first use of a connection, dates are written and read by it; the forms of `DateText` are still read.
///
/// Unless this variable is used, dates are written and read without a formatter, which is several times as fast.
/// Getting and setting it is safe from every thread; changing the formatter's own properties is not.
public var dateFormatter: DateFormatter {
    get {
        formatter.withLock { formatter in
            let used = formatter ?? standardFormatter()
            if formatter == nil { use(used) }
            formatter = used
            return used
        }
    }
    set {
        formatter.withLock { formatter in
            formatter = newValue
            use(newValue)
        }
    }
}

private let formatter = Locked<DateFormatter?>(nil)

private func use(_ formatter: DateFormatter) {
    DateFormat.shared = DateFormat(string: { formatter.string(from: $0) }, date: { formatter.date(from: $0) })
}

private func standardFormatter() -> DateFormatter {
    let formatter = DateFormatter()
    formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ss.SSS"
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    return formatter
}
