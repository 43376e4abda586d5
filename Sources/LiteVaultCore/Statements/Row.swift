/// A row that was copied out of a query: it can be kept, sent elsewhere, and holds nothing of the database back.
public struct Row: Sendable {
    /// The names of the columns, in order.
    public let columnNames: [String]
    /// The values, each of its column's own storage class, or nil for NULL.
    public let values: [(any Binding)?]

    /// A row by its columns.
    package init(columnNames: [String], values: [(any Binding)?]) {
        self.columnNames = columnNames
        self.values = values
    }

    /// The value of a column by its position from 0; nil for NULL.
    ///
    /// - Throws: `QueryError.noSuchColumn`
    public func value(at index: Int) throws -> (any Binding)? {
        guard values.indices.contains(index) else {
            throw QueryError.noSuchColumn(name: "#\(index)", columns: columnNames)
        }
        return values[index]
    }

    /// The value of a column by its name; nil for NULL.
    ///
    /// - Throws: `QueryError.noSuchColumn`, or `.ambiguousColumn` when two columns have the name.
    public func value(named name: String) throws -> (any Binding)? {
        let matches = columnNames.indices.filter { columnNames[$0] == name }
        guard let index = matches.first else { throw QueryError.noSuchColumn(name: name, columns: columnNames) }
        guard matches.count == 1 else {
            throw QueryError.ambiguousColumn(name: name, similar: matches.map { columnNames[$0] })
        }
        return values[index]
    }
}
