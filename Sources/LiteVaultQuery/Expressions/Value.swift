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
public protocol Value: Expressible, SQLType where Base == Self, Logical == Bool, Count == Int {
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
public protocol SQLType: ColumnValue {
    /// The type without the optional.
    associatedtype Base: Value
    /// The type of a comparison with it: `Bool`, or `Bool?` where it may be NULL.
    associatedtype Logical: Sendable = Bool
    /// The type of a number made from it, such as its length: `Int`, or `Int?` where it may be NULL.
    associatedtype Count: Sendable = Int

    /// The value of a stored one; for an optional type, nil of NULL.
    ///
    /// - Throws: `QueryError` when it is NULL where there is no place for it, or of another storage class.
    static func value(of stored: StoredValue) throws -> Self

    /// What is bound for the value; nil for NULL.
    var boundValue: (any Binding)? { get }
}

extension Optional: SQLType where Wrapped: Value {
    /// The type without the optional.
    public typealias Base = Wrapped
    /// NULL compared with anything is NULL.
    public typealias Logical = Bool?
    /// What is counted of NULL is NULL.
    public typealias Count = Int?

    /// nil for NULL, else the value.
    ///
    /// - Throws: as of the type inside.
    public static func value(of stored: StoredValue) throws -> Wrapped? {
        stored == .null ? nil : try Wrapped.value(of: stored)
    }

    /// What is bound for the value; nil for nil.
    public var boundValue: (any Binding)? { self?.boundValue }
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
    /// The value of a stored one.
    ///
    /// - Throws: `QueryError` when it is NULL or of another storage class, and what `fromDatatypeValue` throws.
    public static func value(of stored: StoredValue) throws -> Self {
        guard stored != .null else { throw QueryError.unexpectedNullValue(name: declaredDatatype) }
        guard let datatypeValue = Datatype(stored: stored), let value = try fromDatatypeValue(datatypeValue) as? Self
        else {
            throw QueryError.unexpectedType(name: "value", expected: declaredDatatype, found: stored.kind)
        }
        return value
    }

    /// What is bound for the value.
    public var boundValue: (any Binding)? { datatypeValue }

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
