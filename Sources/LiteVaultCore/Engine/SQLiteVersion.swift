/// A version of the SQLite library, such as 3.46.1. SQLCipher reports that of the SQLite it contains.
public struct SQLiteVersion: Comparable, CustomStringConvertible, Sendable {
    /// The first number.
    public let major: Int
    /// The second number.
    public let minor: Int
    /// The third number.
    public var point: Int = 0

    /// A version by its three numbers.
    public init(major: Int, minor: Int, point: Int = 0) {
        self.major = major
        self.minor = minor
        self.point = point
    }

    /// A version from the form of `SQLITE_VERSION_NUMBER`: 3046001 is 3.46.1.
    public init(number: Int) {
        self.init(major: number / 1_000_000, minor: number / 1000 % 1000, point: number % 1000)
    }

    /// "SQLite 3.46.1".
    public var description: String { "SQLite \(major).\(minor).\(point)" }

    /// Earlier versions come first.
    public static func < (lhs: SQLiteVersion, rhs: SQLiteVersion) -> Bool {
        (lhs.major, lhs.minor, lhs.point) < (rhs.major, rhs.minor, rhs.point)
    }

    /// Versions are equal when all three numbers are.
    public static func == (lhs: SQLiteVersion, rhs: SQLiteVersion) -> Bool {
        (lhs.major, lhs.minor, lhs.point) == (rhs.major, rhs.minor, rhs.point)
    }
}
