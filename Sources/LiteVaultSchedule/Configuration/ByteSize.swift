/// Numbers of bytes as people write them.
package enum ByteSize {
    private static let units: [(name: String, bytes: Int64)] = [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("B", 1),
    ]

    /// The bytes of `64MiB`, `1 GB`, `4096`; nil for what is no size.
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

    /// As ``bytes(_:)`` reads it.
    package static func text(_ bytes: Int64) -> String {
        for unit in units where bytes >= unit.bytes && bytes % unit.bytes == 0 {
            return "\(bytes / unit.bytes)\(unit.name)"
        }
        return "0B"
    }
}
