public import LiteVaultCore

/// A piece of SQL, kept as a tree until it is needed as text: joining strings at every operator costs more than
/// everything else that a query does.
///
/// A node is an object: an expression's tree has an identity that columns are found by, and copying it copies one word.
@usableFromInline
package final class SQLNode: Sendable {
    /// What it is.
    @usableFromInline package let kind: Kind

    @inlinable
    init(_ kind: Kind) { self.kind = kind }

    /// What a piece of SQL can be.
    @usableFromInline
    package enum Kind: Sendable {
        /// SQL text as it is.
        case text(String)
        /// SQL text with parameters, and their values.
        case template(String, [(any Binding)?])
        /// A name, quoted when it is written.
        case identifier(String)
        /// A parameter with its value.
        case value((any Binding)?)
        /// Pieces with a separator between them.
        case joined([SQLNode], separator: String)
        /// `prefix(piece)`.
        case wrapped(String, SQLNode)
        /// Two operands with an operator between them, in parentheses.
        case operation(SQLNode, String, SQLNode)
        /// `table.column`.
        case qualified(SQLNode, SQLNode)
        /// A query.
        indirect case select(QueryClauses)
        /// An INSERT of one row.
        case insert(InsertedRow)
    }

    /// What tells this tree from every other one that is alive.
    @inlinable
    @inline(__always)
    package var identity: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

    /// The SQL text, with a `?` for each value.
    package var template: String {
        var builder = SQLBuilder()
        builder.append(self)
        return builder.sql
    }

    /// The values, in the order of the text.
    package var bindings: [(any Binding)?] {
        var builder = SQLBuilder()
        builder.append(self)
        return builder.bindings
    }
}

extension SQLNode {
    /// SQL text as it is.
    @inlinable
    package static func text(_ text: String) -> SQLNode { SQLNode(.text(text)) }

    /// SQL text with parameters, and their values.
    @inlinable
    package static func template(_ template: String, _ values: [(any Binding)?]) -> SQLNode {
        SQLNode(.template(template, values))
    }

    /// A name, quoted when it is written.
    @inlinable
    package static func identifier(_ name: String) -> SQLNode { SQLNode(.identifier(name)) }

    /// A parameter with its value.
    @inlinable
    package static func value(_ value: (any Binding)?) -> SQLNode { SQLNode(.value(value)) }

    /// Pieces with a separator between them.
    @inlinable
    package static func joined(_ nodes: [SQLNode], separator: String) -> SQLNode {
        SQLNode(.joined(nodes, separator: separator))
    }

    /// `prefix(piece)`.
    @inlinable
    package static func wrapped(_ prefix: String, _ node: SQLNode) -> SQLNode { SQLNode(.wrapped(prefix, node)) }

    /// `table.column`.
    @inlinable
    package static func qualified(_ table: SQLNode, _ column: SQLNode) -> SQLNode {
        SQLNode(.qualified(table, column))
    }

    /// A query.
    static func select(_ clauses: QueryClauses) -> SQLNode { SQLNode(.select(clauses)) }

    /// An INSERT of one row.
    static func insert(_ row: InsertedRow) -> SQLNode { SQLNode(.insert(row)) }

    /// Two operands with an operator between them, in parentheses unless asked otherwise.
    @inlinable
    package static func infix(_ lhs: SQLNode, _ name: String, _ rhs: SQLNode) -> SQLNode {
        SQLNode(.operation(lhs, name, rhs))
    }

    /// The same without parentheses, where asked for.
    package static func infix(_ lhs: SQLNode, _ name: String, _ rhs: SQLNode, isWrapped: Bool) -> SQLNode {
        isWrapped ? .infix(lhs, name, rhs) : .joined([lhs, .text(name), rhs], separator: " ")
    }

    /// A function and its arguments.
    package static func call(_ function: String, _ arguments: [SQLNode]) -> SQLNode {
        .wrapped(function, .joined(arguments, separator: ", "))
    }

    /// Words of SQL with blanks between them; what is nil is left out.
    package static func words(_ nodes: SQLNode?...) -> SQLNode { .joined(nodes.compactMap { $0 }, separator: " ") }
}
