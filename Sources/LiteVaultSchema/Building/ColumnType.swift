/// The declared type of a column. SQLite derives from it how values are converted when they are stored
/// (https://sqlite.org/datatype3.html#type_affinity).
public struct ColumnType: RawRepresentable, Hashable, Sendable {
    /// The type's text in CREATE TABLE.
    public let rawValue: String

    /// A type by its text, such as `VARCHAR(20)`. It is used as it is: never build it from input.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `TEXT`
    public static let text = ColumnType(rawValue: "TEXT")
    /// `INTEGER`
    public static let integer = ColumnType(rawValue: "INTEGER")
    /// `DOUBLE`
    public static let double = ColumnType(rawValue: "DOUBLE")
    /// `REAL`
    public static let real = ColumnType(rawValue: "REAL")
    /// `NUMERIC`
    public static let numeric = ColumnType(rawValue: "NUMERIC")
    /// `BOOLEAN`
    public static let boolean = ColumnType(rawValue: "BOOLEAN")
    /// `BLOB`
    public static let blob = ColumnType(rawValue: "BLOB")
    /// `DATE`
    public static let date = ColumnType(rawValue: "DATE")
    /// `DATETIME`
    public static let datetime = ColumnType(rawValue: "DATETIME")
    /// `ANY`: in a strict table, values are stored as they are.
    public static let any = ColumnType(rawValue: "ANY")
    /// JSON as text: `TEXT`
    public static let json = ColumnType(rawValue: "TEXT")
    /// JSON as text: `TEXT`
    public static let jsonText = ColumnType(rawValue: "TEXT")
    /// JSON in the binary form of SQLite 3.45 and later: `BLOB`
    public static let jsonb = ColumnType(rawValue: "BLOB")
}
