/// A row that was copied out of a query: it can be kept, sent elsewhere, and holds nothing of the database back.
public struct Row: Sendable {
    /// What the columns are called. Rows of one query share it.
    package let columns: RowColumns
    /// The values, in the order of the columns.
    package let cells: [StoredValue]

    package init(columns: RowColumns, cells: [StoredValue]) {
        self.columns = columns
        self.cells = cells
    }

    /// The names of the columns, in order, as the query gives them.
    public var names: [String] { columns.names }

    /// The values, each of its column's own storage class, or nil for NULL.
    public var values: [(any Binding)?] { cells.map(\.binding) }

    /// The value of a column by its position from 0; nil for NULL.
    ///
    /// - Throws: `QueryError.noSuchColumn`
    public func value(at index: Int) throws -> (any Binding)? {
        guard cells.indices.contains(index) else {
            throw QueryError.noSuchColumn(name: "#\(index)", columns: names)
        }
        return cells[index].binding
    }

    /// The value of a column by its name; nil for NULL.
    ///
    /// - Throws: `QueryError.noSuchColumn`, or `.ambiguousColumn` when two columns have the name.
    public func value(named name: String) throws -> (any Binding)? {
        let matches = names.indices.filter { names[$0] == name }
        guard let index = matches.first else { throw QueryError.noSuchColumn(name: name, columns: names) }
        guard matches.count == 1 else {
            throw QueryError.ambiguousColumn(name: name, similar: matches.map { names[$0] })
        }
        return cells[index].binding
    }
}

/// What the columns of a row are called.
package final class RowColumns: Sendable {
    /// As the query gives them.
    package let names: [String]
    /// As expressions name them: quoted, and with the table where the query says so.
    package let keys: [String]
    /// The position of each key; of the last column where several have it.
    package let positions: [String: Int]
    /// The position of each key that is one quoted name, without the quotes.
    private let plainPositions: [String: Int]

    package init(names: [String], keys: [String]? = nil) {
        self.names = names
        self.keys = keys ?? names.map(quoted)
        positions = Dictionary(self.keys.enumerated().map { ($1, $0) }, uniquingKeysWith: { $1 })
        let plain = zip(self.keys, names).enumerated().filter { $1.0 == quoted($1.1) }.map { ($1.1, $0) }
        plainPositions = Dictionary(plain, uniquingKeysWith: { $1 })
    }

    /// The position of a column that is named without its table, by its name without quotes.
    package func plainPosition(of name: String) -> Int? { plainPositions[name] }
}
