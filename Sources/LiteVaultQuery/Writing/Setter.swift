public import LiteVaultCore

/// An assignment to a column, for INSERT and UPDATE: `name <- "Ada"`.
public struct Setter: Expressible, CustomStringConvertible {
    /// The column, as the statement writes it.
    @usableFromInline package let column: SQLNode
    // The value, as separate fields rather than an enum: an INSERT reads most of them without retaining anything.
    @usableFromInline let kind: Kind
    /// An integer, or the bits of a real.
    @usableFromInline let bits: Int64
    @usableFromInline let text: String
    /// An expression, or a value of another type.
    @usableFromInline let node: SQLNode?

    @usableFromInline
    enum Kind: UInt8, Sendable { case null, integer, real, text, other, expression }

    @inlinable
    init(_ column: SQLNode, _ kind: Kind, bits: Int64 = 0, text: String = "", node: SQLNode? = nil) {
        self.column = column
        self.kind = kind
        self.bits = bits
        self.text = text
        self.node = node
    }

    package init(column: SQLNode, value: SQLNode) { self.init(column, .expression, node: value) }

    /// An assignment of a value, or of NULL for nil. Its type is known where the compiler specializes this.
    @inlinable
    @inline(__always)
    package init<V: Binding>(_ column: SQLNode, to value: V?) {
        guard let value else {
            self.init(column, .null)
            return
        }
        if let number = sameType(value, as: Int64.self) {
            self.init(column, .integer, bits: number)
        } else if let number = sameType(value, as: Double.self) {
            self.init(column, .real, bits: Int64(bitPattern: number.bitPattern))
        } else if let text = sameType(value, as: String.self) {
            self.init(column, .text, text: text)
        } else {
            self.init(column, .other, node: .value(value))
        }
    }

    /// An assignment of a value whose type is known only at run time, or of NULL for nil.
    init(_ column: SQLNode, toAny value: (any Binding)?) {
        switch value {
        case nil: self.init(column, .null)
        case let number as Int64: self.init(column, .integer, bits: number)
        case let number as Int: self.init(column, .integer, bits: Int64(number))
        case let number as Double: self.init(column, .real, bits: Int64(bitPattern: number.bitPattern))
        case let text as String: self.init(column, .text, text: text)
        case let other?: self.init(column, .other, node: .value(other))
        }
    }

    /// An assignment of the value that the INSERT would have written, for ON CONFLICT DO UPDATE: `"name" = "excluded"."name"`.
    package init(excluded column: SQLNode) {
        self.init(column: column, value: .qualified(.identifier("excluded"), column))
    }

    package var value: SQLNode {
        switch kind {
        case .null: .value(nil)
        case .integer: .value(bits)
        case .real: .value(real)
        case .text: .value(text)
        case .other, .expression: node ?? .value(nil)
        }
    }

    var real: Double { Double(bitPattern: UInt64(bitPattern: bits)) }

    /// Whether the column is set to a value rather than an expression.
    var isValue: Bool { kind != .expression }

    /// The assignment as UPDATE … SET writes it.
    public var expression: SQLExpression<Void> {
        SQLExpression(root: .infix(column, "=", value, isWrapped: false))
    }

    /// The SQL text, with the value as a literal.
    @_disfavoredOverload  // as asSQL()
    public var description: String { sql(dates: .text) }
}
