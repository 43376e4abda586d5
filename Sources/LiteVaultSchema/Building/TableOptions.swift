/// How a table is made.
public struct TableOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Options by their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// It is no error when there is one of that name (`IF NOT EXISTS`); that one is left as it is.
    public static let ifNotExists = Self(rawValue: 1 << 0)
    /// It belongs to the connection and goes with it (`TEMPORARY`).
    public static let temporary = Self(rawValue: 1 << 1)
    /// Rows are kept by their primary key alone (https://sqlite.org/withoutrowid.html).
    public static let withoutRowID = Self(rawValue: 1 << 2)
    /// Only values of the declared types are taken (https://sqlite.org/stricttables.html). SQLite 3.37 and later.
    public static let strict = Self(rawValue: 1 << 3)
}
