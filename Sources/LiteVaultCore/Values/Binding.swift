/// A value that can be bound to a parameter of a statement and comes back from an untyped column.
///
/// The storage classes are `Int64`, `Double`, `String` and `Blob` (and NULL, as nil). The other types here are stored
/// as one of them.
public protocol Binding: ColumnValue {
    /// Binds the value to a parameter: one of the `sqlite3_bind_…` functions.
    ///
    /// - Parameters:
    ///   - statement: a prepared `sqlite3_stmt`, not being stepped.
    ///   - index: the parameter, from 1.
    /// - Returns: the engine's result code.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32

    /// The value for what is stored, or nil when the type cannot be read from this storage class, or this content.
    init?(stored: StoredValue)
}

/// A value that is stored as a number: INTEGER or REAL.
public protocol Number: Binding {}
