public import LiteVaultCore

/// A Swift type that is stored as one of SQLite's storage classes.
///
/// Types of one's own conform by telling how they are stored:
///
/// ```swift
/// extension Color: Value {
///     static var declaredDatatype: String { Int64.declaredDatatype }
///     static func fromDatatypeValue(_ value: Int64) -> Color { Color(rgb: value) }
///     var datatypeValue: Int64 { rgb }
/// }
/// ```
public protocol Value: ColumnValue, Expressible, SQLType where Base == Self {
    /// What reading gives: the type itself.
    associatedtype ValueType = Self
    /// What it is stored as.
    associatedtype Datatype: Binding

    /// The type in CREATE TABLE: `INTEGER`, `REAL`, `TEXT` or `BLOB`, or any other that SQLite understands.
    static var declaredDatatype: String { get }

    /// The value for what was stored.
    ///
    /// - Throws: when it cannot be understood.
    static func fromDatatypeValue(_ datatypeValue: Datatype) throws -> ValueType

    /// What is stored for the value.
    var datatypeValue: Datatype { get }
}

/// The type of an expression: a `Value`, or an optional one where it may be NULL.
public protocol SQLType: Sendable {
    /// The type without the optional.
    associatedtype Base: Value
    /// The type of a comparison with it: `Bool`, or `Bool?` where it may be NULL.
    associatedtype Logical: Sendable = Bool
    /// The type of a number made from it, such as its length: `Int`, or `Int?` where it may be NULL.
    associatedtype Count: Sendable = Int
}

extension Optional: SQLType where Wrapped: Value {
    /// The type without the optional.
    public typealias Base = Wrapped
    /// NULL compared with anything is NULL.
    public typealias Logical = Bool?
    /// What is counted of NULL is NULL.
    public typealias Count = Int?
}

/// An optional, for constraints.
public protocol _OptionalType {
    /// The type inside.
    associatedtype WrappedType
}

extension Optional: _OptionalType {
    /// The type inside.
    public typealias WrappedType = Wrapped
}

extension Value {
    /// The value as a parameter.
    public var expression: SQLExpression<Void> { SQLExpression(root: .value(datatypeValue)) }

    /// Reads what the type is stored as, and makes the value of it.
    public static func read(from column: borrowing ColumnReader) throws -> Self {
        let stored: Datatype = try Datatype.read(from: column)
        guard let value = try fromDatatypeValue(stored) as? Self else {
            throw column.malformed(expected: String(describing: Self.self))
        }
        return value
    }

    /// Binds what the type is stored as.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        datatypeValue.bind(to: statement, at: index)
    }
}
