/// A setting that a schedule cannot have. The reader of configuration files adds the line, and everything else the job's name.
package struct InvalidSetting: Error, Equatable {
    /// The setting's key in a configuration file; nil if the message says it.
    package let key: String?
    package let message: String
    package let remedy: String?

    package init(_ key: String?, _ message: String, _ remedy: String? = nil) {
        self.key = key
        self.message = message
        self.remedy = remedy
    }

    /// Rejects a duration outside of its limits.
    static func require(
        _ key: String, _ span: Duration, atLeast least: Duration = .zero, atMost most: Duration = longest,
        _ remedy: String? = nil
    ) throws(InvalidSetting) {
        guard span >= least else {
            throw InvalidSetting(
                key, "'\(TimeSpan.text(span))' is too short (at least \(TimeSpan.text(least)))", remedy)
        }
        guard span <= most else { throw InvalidSetting(key, "is limited to \(TimeSpan.text(most))", remedy) }
    }

    /// Rejects a number below 1, or above a limit.
    static func require(_ key: String, _ number: Int?, atMost most: Int = 1_000_000) throws(InvalidSetting) {
        guard let number else { return }
        guard number >= 1 else { throw InvalidSetting(key, "invalid number '\(number)' (expected 1 to \(most))") }
        guard number <= most else { throw InvalidSetting(key, "is limited to \(most)") }
    }

    /// Rejects a number of bytes outside of its limits.
    static func require(
        _ key: String, bytes: Int64, atLeast least: Int64, atMost most: Int64 = .max
    ) throws(InvalidSetting) {
        guard bytes >= least else {
            throw InvalidSetting(key, "'\(ByteSize.text(bytes))' is too small (at least \(ByteSize.text(least)))")
        }
        guard bytes <= most else { throw InvalidSetting(key, "is limited to \(ByteSize.text(most))") }
    }

    /// The longest duration that can be written: a hundred years.
    static let longest = Duration.seconds(100 * 366 * 86_400)
}

/// Sizes in the syntax of the configuration.
package enum ByteSize {
    private static let units: [(name: String, bytes: Int64)] = [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("B", 1),
    ]

    /// The number of bytes of `64MiB`, `1 GB` or `4096`; nil for any other text.
    package static func bytes(_ text: String) -> Int64? {
        let compact = text.filter { !$0.isWhitespace }
        let digits = compact.prefix { $0.isASCII && $0.isNumber }
        let name = compact.dropFirst(digits.count).lowercased()
        guard digits.count < 16, let number = Int64(digits) else { return nil }
        if name.isEmpty { return number }
        guard let unit = units.first(where: { $0.name.lowercased() == name }) else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit.bytes)
        return overflow ? nil : product
    }

    /// The shortest text that ``bytes(_:)`` accepts.
    package static func text(_ bytes: Int64) -> String {
        for unit in units where bytes >= unit.bytes && bytes % unit.bytes == 0 {
            return "\(bytes / unit.bytes)\(unit.name)"
        }
        return "\(bytes)B"
    }
}
