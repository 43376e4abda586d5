package import Foundation

/// The formatter that module `SQLite` offers as the global `dateFormatter`.
///
/// Nobody pays for it who does not ask: until it is read or set for the first time, ``DateText`` writes and reads alone.
/// From then on the formatter is used, because whoever has it may change its format.
package final class DateFormat: @unchecked Sendable {  // `inUse` only under `lock`
    package static let shared = DateFormat()

    private let lock = NSLock()
    private var inUse: DateFormatter?

    package var formatter: DateFormatter {
        get {
            lock.withLock {
                if let inUse { return inUse }
                let formatter = Self.standard()
                inUse = formatter
                return formatter
            }
        }
        set { lock.withLock { inUse = newValue } }
    }

    /// Forgets the formatter: ``DateText`` is alone again.
    package func reset() { lock.withLock { inUse = nil } }

    func string(from date: Date) -> String? { lock.withLock { inUse?.string(from: date) } }

    func date(from text: String) -> Date? { lock.withLock { inUse?.date(from: text) } }

    private static func standard() -> DateFormatter {
        let formatter = DateFormatter()
        formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ss.SSS"
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        return formatter
    }
}
