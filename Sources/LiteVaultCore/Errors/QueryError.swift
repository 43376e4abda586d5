/// A column or table that is not there, or a value that is not what the code expects.
public enum QueryError: Error, CustomStringConvertible, Sendable, Equatable {
    /// There is no table of that name.
    case noSuchTable(name: String)
    /// The result has no such column; `columns` are those that it has.
    case noSuchColumn(name: String, columns: [String])
    /// Several columns could be meant.
    case ambiguousColumn(name: String, similar: [String])
    /// The value is NULL where the type has no place for it.
    case unexpectedNullValue(name: String)
    /// The value is of another storage class than the type can be read from.
    case unexpectedType(name: String, expected: String, found: String)
    /// The value is of the right storage class, but its content cannot be understood, such as a date.
    case malformedValue(name: String, expected: String)
    /// There is no row, where one was to be read. Keys in the SQL text are replaced.
    case noRow(sql: String)

    /// What is wrong, with the names concerned. Values are left out: they may be confidential.
    public var description: String {
        switch self {
        case .noSuchTable(let name): "No such table: \(name)"
        case .noSuchColumn(let name, let columns): "No such column `\(name)` in columns \(columns)"
        case .ambiguousColumn(let name, let similar): "Ambiguous column `\(name)` (please disambiguate: \(similar))"
        case .unexpectedNullValue(let name): "Unexpected null value for column `\(name)`"
        case .unexpectedType(let name, let expected, let found):
            "Column `\(name)` holds \(found), which cannot be read as \(expected)"
        case .malformedValue(let name, let expected): "The value of column `\(name)` is not a valid \(expected)"
        case .noRow(let sql): "The query returned no row (\(sql))"
        }
    }
}
