public import LiteVaultCore
internal import LiteVaultSystem

/// A Swift type that can be stored in a column.
///
/// A custom type conforms by converting to and from a type that SQLite stores:
///
/// ```swift
/// extension Color: Value {
///     static var declaredDatatype: String { Int64.declaredDatatype }
///     static func fromDatatypeValue(_ value: Int64) -> Color { Color(rgb: value) }
///     var datatypeValue: Int64 { rgb }
/// }
/// ```
public protocol Value: Expressible, SQLType where SQLBase == Self, SQLLogical == Bool, SQLCount == Int {
    /// The type that reading returns: the type itself.
    associatedtype ValueType = Self
    /// The type that is stored.
    associatedtype Datatype: Binding

    /// The type in CREATE TABLE: `INTEGER`, `REAL`, `TEXT`, `BLOB` or another name that SQLite accepts.
    static var declaredDatatype: String { get }

    /// Converts a stored value.
    ///
    /// - Throws: when it does not represent a value of the type.
    static func fromDatatypeValue(_ datatypeValue: Datatype) throws -> ValueType

    /// The value to store.
    var datatypeValue: Datatype { get }
}

/// The type of an expression: a `Value`, or an optional `Value` if it may be NULL.
///
/// The associated types have a prefix because a `Value` may have a nested type `Base`, `Logical` or `Count` of its own.
public protocol SQLType: ColumnValue {
    /// The type without the optional.
    associatedtype SQLBase: Value
    /// The type of a comparison: `Bool`, or `Bool?` if the expression may be NULL.
    associatedtype SQLLogical: Sendable = Bool
    /// The type of a number derived from it, such as its length: `Int`, or `Int?` if the expression may be NULL.
    associatedtype SQLCount: Sendable = Int

    /// Converts a stored value; for an optional type, NULL becomes nil.
    ///
    /// - Throws: `QueryError` when it is NULL and the type is not optional, or when it is of another storage class.
    static func value(of stored: StoredValue) throws -> Self

    /// The value to bind; nil for NULL.
    var boundValue: (any Binding)? { get }
}

extension SQLType {
    /// Converts a stored value, where a number for a date is of a form.
    static func value(of stored: StoredValue, dates: DateStorage) throws -> Self {
        guard SQLBase.Datatype.self == Date.self, let date = dates.date(of: stored) as? SQLBase.Datatype,
            let value = try SQLBase.fromDatatypeValue(date) as? Self
        else { return try value(of: stored) }
        return value
    }
}

extension Optional: SQLType where Wrapped: Value {
    /// The type without the optional.
    public typealias SQLBase = Wrapped
    /// NULL compared with anything is NULL.
    public typealias SQLLogical = Bool?
    /// A number derived from NULL is NULL.
    public typealias SQLCount = Int?

    /// Converts a stored value; NULL becomes nil.
    ///
    /// - Throws: what the wrapped type throws.
    public static func value(of stored: StoredValue) throws -> Wrapped? {
        stored == .null ? nil : try Wrapped.value(of: stored)
    }

    /// The value to bind; nil for nil.
    public var boundValue: (any Binding)? { self?.boundValue }
}

/// An optional type, for generic constraints.
public protocol _OptionalType {
    /// The wrapped type.
    associatedtype WrappedType
}

extension Optional: _OptionalType {
    /// The wrapped type.
    public typealias WrappedType = Wrapped
}

extension Value {
    /// Converts a stored value.
    ///
    /// - Throws: `QueryError` when it is NULL or of another storage class, and what `fromDatatypeValue` throws.
    public static func value(of stored: StoredValue) throws -> Self {
        guard stored != .null else { throw QueryError.unexpectedNullValue(name: declaredDatatype) }
        guard let datatypeValue = Datatype(stored: stored) else {
            // A type may read more than the type it is stored as: a UUID reads 16 bytes, too.
            if let type = Self.self as? any Binding.Type, let value = type.init(stored: stored) as? Self {
                return value
            }
            if let value = wrapped(stored) { return value }
            throw QueryError.unexpectedType(name: "value", expected: declaredDatatype, found: stored.kind)
        }
        guard let value = try fromDatatypeValue(datatypeValue) as? Self else {
            throw QueryError.unexpectedType(name: "value", expected: declaredDatatype, found: stored.kind)
        }
        return value
    }

    /// The value to bind.
    public var boundValue: (any Binding)? { datatypeValue }

    /// The value as a parameter.
    public var expression: SQLExpression<Void> { SQLExpression(root: .value(datatypeValue)) }

    /// Reads the stored type from a column and converts it.
    @inlinable
    public static func read(from column: borrowing ColumnReader) throws -> Self {
        let stored: Datatype
        do { stored = try Datatype.read(from: column) } catch {
            if let value = wrapped(try StoredValue.read(from: column)) { return value }
            throw error
        }
        do {
            if let value = try fromDatatypeValue(stored) as? Self { return value }
        } catch QueryError.malformedValue("", let expected) {
            // The type does not know the column.
            throw column.malformed(expected: expected)
        }
        throw column.malformed(expected: String(describing: Self.self))
    }

    /// The value for a raw value of a type that reads more than it is stored as, such as a UUID; nil for any other type, and for one that is
    /// stored in a form of its own.
    @usableFromInline
    static func wrapped(_ stored: StoredValue) -> Self? {
        func hasDatatype<V: Value>(_: V.Type) -> Bool { V.Datatype.self == Datatype.self }
        func value<R: RawRepresentable>(_: R.Type) -> Any? {
            guard let type = R.RawValue.self as? any (Binding & Value).Type, hasDatatype(type),
                let raw = type.init(stored: stored) as? R.RawValue
            else { return nil }
            return R(rawValue: raw)
        }
        return (Self.self as? any RawRepresentable.Type).flatMap { value($0) } as? Self
    }

    /// Binds the stored type to a parameter.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        datatypeValue.bind(to: statement, at: index)
    }
}

/// An enum with raw values only needs to declare the conformance: `enum Status: String, Value { case open, done }`. It is
/// stored as its raw value.
extension Value where Self: RawRepresentable, RawValue: Value, RawValue.ValueType == RawValue {
    /// The raw value's type.
    public static var declaredDatatype: String { RawValue.declaredDatatype }

    /// Converts a stored raw value to its case.
    ///
    /// - Throws: `QueryError.malformedValue` for an unknown raw value, for instance in a file written by a newer
    ///   version of the application; what converting the raw value throws.
    public static func fromDatatypeValue(_ datatypeValue: RawValue.Datatype) throws -> Self {
        guard let value = Self(rawValue: try RawValue.fromDatatypeValue(datatypeValue)) else {
            throw QueryError.malformedValue(name: "", expected: String(describing: Self.self))
        }
        return value
    }

    /// The raw value.
    public var datatypeValue: RawValue.Datatype { rawValue.datatypeValue }
}
