/// A row that was copied out of a query: it can be kept, sent elsewhere, and holds nothing of the database back.
///
/// The memory of a row that nobody kept is used again for the next one.
public struct Row: Sendable {
    /// The values. Never changed while a row refers to them.
    @usableFromInline package let storage: RowCells

    package init(_ storage: RowCells) { self.storage = storage }

    /// A row of values that come from elsewhere.
    package init(columns: RowColumns, cells: [StoredValue]) { storage = RowCells(columns, cells) }

    /// What the columns are called. Rows of one query share it.
    package var columns: RowColumns { storage.columns }

    /// The values, in the order of the columns.
    package var cells: [StoredValue] { (0..<storage.count).map(storage.stored) }

    /// The names of the columns, in order, as the query gives them.
    public var names: [String] { columns.names }

    /// The values, each of its column's own storage class, or nil for NULL.
    public var values: [(any Binding)?] { (0..<storage.count).map { storage.stored($0).binding } }

    /// The value of a column by its position from 0; nil for NULL.
    ///
    /// - Throws: `QueryError.noSuchColumn`
    public func value(at index: Int) throws -> (any Binding)? {
        guard index >= 0, index < storage.count else {
            throw QueryError.noSuchColumn(name: "#\(index)", columns: names)
        }
        return storage.stored(index).binding
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
        return try value(at: index)
    }
}
