/// How an index is made.
public struct IndexOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Options by their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// It is no error when there is one of that name (`IF NOT EXISTS`); that one is left as it is.
    public static let ifNotExists = Self(rawValue: 1 << 0)
    /// No two rows may have the same values (`UNIQUE`).
    public static let unique = Self(rawValue: 1 << 1)
}
