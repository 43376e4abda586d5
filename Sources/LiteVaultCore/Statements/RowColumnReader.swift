/// Reads the columns of a row in their order. It must not outlive the row.
///
/// `RowView` cannot be captured next to a parameter pack (the compiler of Swift 6.3 crashes), this can.
package struct RowColumnReader {
    private let statement: OpaquePointer
    private var index: Int32 = -1

    init(_ statement: OpaquePointer) { self.statement = statement }

    /// The value of the next column.
    ///
    /// - Throws: `QueryError` when it is not there, is NULL or cannot be read as this type.
    package mutating func next<V: ColumnValue>(_: V.Type) throws -> V {
        index += 1
        return try V.read(from: ColumnReader(statement, index))
    }
}

extension RowView {
    /// A reader of the columns, from the first one.
    package var columns: RowColumnReader { RowColumnReader(statement) }
}
