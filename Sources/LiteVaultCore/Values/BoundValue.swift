public import LiteVaultEngine

/// A value on its way to a parameter. The types that SQLite stores as they are are held directly: copying an
/// `any Binding` asks its type at run time, several times for each value of an INSERT.
@usableFromInline
package enum BoundValue: Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    indirect case other(any Binding)

    /// The value, of a type that is known where the compiler specialises this.
    @inlinable
    @inline(__always)
    package init<V: Binding>(_ value: V) {
        // Casting bits is sound here: each is done only where both types are the same.
        if V.self == Int64.self {
            self = .integer(unsafeBitCast(value, to: Int64.self))
        } else if V.self == Double.self {
            self = .real(unsafeBitCast(value, to: Double.self))
        } else if V.self == String.self {
            self = .text(unsafeBitCast(value, to: String.self))
        } else {
            self = .other(value)
        }
    }

    /// The value, of a type that is known only now; NULL for nil.
    package init(_ value: (any Binding)?) {
        switch value {
        case nil: self = .null
        case let number as Int64: self = .integer(number)
        case let number as Int: self = .integer(Int64(number))
        case let number as Double: self = .real(number)
        case let text as String: self = .text(text)
        case let other?: self = .other(other)
        }
    }

    /// The value by its Swift type; nil for NULL.
    package var binding: (any Binding)? {
        switch self {
        case .null: nil
        case .integer(let number): number
        case .real(let number): number
        case .text(let text): text
        case .other(let value): value
        }
    }

    /// Binds the value to a parameter, from 1. Returns the engine's result code.
    @inlinable
    package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let number): sqlite3_bind_int64(statement, index, number)
        case .real(let number): sqlite3_bind_double(statement, index, number)
        case .text(let text): text.bind(to: statement, at: index)
        case .other(let value): value.bind(to: statement, at: index)
        }
    }
}
