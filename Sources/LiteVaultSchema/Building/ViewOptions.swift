/// How a view is made.
public struct ViewOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Options by their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// It is no error when there is one of that name (`IF NOT EXISTS`); that one is left as it is.
    public static let ifNotExists = Self(rawValue: 1 << 0)
    /// It belongs to the connection and goes with it (`TEMPORARY`).
    public static let temporary = Self(rawValue: 1 << 1)
}
