public import LiteVaultCore

/// A piece of SQL, kept as a tree until it is needed as text: joining strings at every operator costs more than
/// everything else that a query does.
///
/// Each case is a reference, so that a node is one word: an expression's tree has an identity that columns are found by.
@usableFromInline
package indirect enum SQLNode: Sendable {
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
    case select(QueryClauses)
    /// An INSERT of one row.
    case insert(InsertedRow)

    /// Two operands with an operator between them, in parentheses unless asked otherwise.
    @inlinable
    package static func infix(_ lhs: SQLNode, _ name: String, _ rhs: SQLNode) -> SQLNode { .operation(lhs, name, rhs) }

    /// The same without parentheses, where asked for.
    package static func infix(_ lhs: SQLNode, _ name: String, _ rhs: SQLNode, isWrapped: Bool) -> SQLNode {
        isWrapped ? .operation(lhs, name, rhs) : .joined([lhs, .text(name), rhs], separator: " ")
    }

    /// A function and its arguments.
    package static func call(_ function: String, _ arguments: [SQLNode]) -> SQLNode {
        .wrapped(function, .joined(arguments, separator: ", "))
    }

    /// Words of SQL with blanks between them; what is nil is left out.
    package static func words(_ nodes: SQLNode?...) -> SQLNode { .joined(nodes.compactMap { $0 }, separator: " ") }

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

    /// What tells this tree from every other one that is alive: the address of its memory.
    ///
    /// All cases are references, which the tests check by the size: the bits are an address and the case.
    @inlinable
    @inline(__always)
    package var identity: UInt { unsafeBitCast(self, to: UInt.self) }
}
