/// Reads the columns of a row in their order. It must not outlive the row.
///
/// `RowView` cannot be captured next to a parameter pack (the compiler of Swift 6.3 crashes), this can.
@usableFromInline
package struct RowColumnReader {
    @usableFromInline let statement: OpaquePointer
    @usableFromInline var index: Int32 = -1

    @inlinable
    package init(_ execution: Execution) { statement = execution.handle }

    /// The value of the next column.
    ///
    /// - Throws: `QueryError` when it is not there, is NULL or cannot be read as this type.
    @inlinable
    @inline(__always)
    package mutating func next<V: ColumnValue>(_: V.Type) throws -> V {
        index &+= 1
        return try V.read(from: ColumnReader(statement, index))
    }
}
