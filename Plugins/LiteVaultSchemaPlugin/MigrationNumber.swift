/// What the name of a migration begins with, by which migrations are in order: a number (`0002-add-email.sql`), or a date, with a
/// time or a number after it or not (`2026-11-24-add-email.sql`, `2026-11-24-1530-add-email.sql`).
struct MigrationNumber: Hashable, Comparable {
    private let parts: [Int]

    /// - Returns: nil if the name does not begin with digits, or with more of them than a number has.
    init?(_ name: String) {
        // Bytes: a combining character would make another character of a digit.
        let groups = name.utf8.split(omittingEmptySubsequences: false) { [0x2D, 0x5F, 0x2E].contains($0) }
        let digits = groups.map { $0.prefix { (0x30...0x39).contains($0) } }
        let isDate = digits.prefix(3).map(\.count) == [4, 2, 2]
        // All groups that are digits only; that of "2nd-try" is not.
        let leading = isDate ? zip(groups, digits).prefix { $0.count == $1.count && !$1.isEmpty }.count : 1
        let parts = digits.prefix(max(leading, isDate ? 3 : 1)).map { Int(String(decoding: $0, as: UTF8.self)) }
        guard !parts.isEmpty, !parts.contains(nil) else { return nil }
        self.parts = parts.compactMap { $0 }
    }

    static func < (left: MigrationNumber, right: MigrationNumber) -> Bool {
        left.parts.lexicographicallyPrecedes(right.parts)
    }
}
