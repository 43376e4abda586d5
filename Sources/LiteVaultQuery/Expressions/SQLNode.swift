public import LiteVaultCore

/// A piece of SQL, kept as a tree until its text is needed: concatenating strings at every operator would cost more than
/// everything else a query does.
///
/// A node is an object. The identity of an expression's tree is what columns are looked up by, and copying an expression
/// copies one word.
@usableFromInline
package final class SQLNode: Sendable {
    @usableFromInline package let kind: Kind

    @inlinable
    init(_ kind: Kind) { self.kind = kind }

    @usableFromInline
    package enum Kind: Sendable {
        /// SQL text, used verbatim.
        case text(String)
        /// SQL text with parameters, and their values.
        case template(String, [(any Binding)?])
        /// A name, quoted when rendered.
        case identifier(String)
        case value((any Binding)?)
        case joined([SQLNode], separator: String)
        /// `prefix(piece)`.
        case wrapped(String, SQLNode)
        /// Two operands with an operator between them, in parentheses.
        case operation(SQLNode, String, SQLNode)
        /// `table.column`.
        case qualified(SQLNode, SQLNode)
        /// A piece that renders itself: a SELECT, or an INSERT of one row.
        case fragment(any SQLFragment)
    }

    /// Distinguishes this tree from every other live one.
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
    /// The number of values.
    var parameterCount: Int {
        switch kind {
        case .value: 1
        case .text, .identifier: 0
        default: bindings.count
        }
    }

    @inlinable
    package static func text(_ text: String) -> SQLNode { SQLNode(.text(text)) }

    /// SQL text with parameters, and their values.
    @inlinable
    package static func template(_ template: String, _ values: [(any Binding)?]) -> SQLNode {
        SQLNode(.template(template, values))
    }

    /// A name, quoted when rendered.
    @inlinable
    package static func identifier(_ name: String) -> SQLNode { SQLNode(.identifier(name)) }

    @inlinable
    package static func value(_ value: (any Binding)?) -> SQLNode { SQLNode(.value(value)) }

    @inlinable
    package static func joined(_ nodes: [SQLNode], separator: String) -> SQLNode {
        SQLNode(.joined(nodes, separator: separator))
    }

    /// `prefix(piece)`.
    @inlinable
    package static func wrapped(_ prefix: String, _ node: SQLNode) -> SQLNode { SQLNode(.wrapped(prefix, node)) }

    @inlinable
    package static func qualified(_ table: SQLNode, _ column: SQLNode) -> SQLNode {
        SQLNode(.qualified(table, column))
    }

    /// A piece that renders itself.
    static func fragment(_ fragment: some SQLFragment) -> SQLNode { SQLNode(.fragment(fragment)) }

    /// Two operands with an operator between them, in parentheses.
    @inlinable
    package static func infix(_ lhs: SQLNode, _ name: String, _ rhs: SQLNode) -> SQLNode {
        SQLNode(.operation(lhs, name, rhs))
    }

    /// Two operands with an operator between them, in parentheses only if `isWrapped`.
    package static func infix(_ lhs: SQLNode, _ name: String, _ rhs: SQLNode, isWrapped: Bool) -> SQLNode {
        isWrapped
            ? .infix(lhs, name, rhs) : .joined([lhs.asLeftOperand(of: name), .text(name), rhs], separator: " ")
    }

    /// The node as a left operand. In SQL, `NOT (a) = b` is `NOT (a = b)`: only `AND` and `OR` bind looser than `NOT`.
    func asLeftOperand(of name: String) -> SQLNode {
        guard case .wrapped("NOT ", _) = kind, name != "AND", name != "OR" else { return self }
        return .wrapped("", self)
    }

    package static func call(_ function: String, _ arguments: [SQLNode]) -> SQLNode {
        .wrapped(function, .joined(arguments, separator: ", "))
    }

    /// Pieces separated by spaces; nil is left out.
    package static func words(_ nodes: SQLNode?...) -> SQLNode { .joined(nodes.compactMap { $0 }, separator: " ") }
}

/// A piece of SQL that renders itself, for kinds of statements that trees do not model.
@usableFromInline
package protocol SQLFragment: Sendable {
    /// Appends the piece's text and values.
    func render(into builder: inout SQLBuilder)
}

extension SQLNode {
    /// A column's name as text: equal for equal columns.
    var columnText: String {
        if case .identifier(let name) = kind { return name }
        return template
    }

    /// A column's name, for sets and dictionaries of columns.
    var columnName: SQLName { SQLName(columnText) }

    /// Whether two lists have the same columns. May be false for equal lists: only cheap comparisons are made.
    static func areSame(_ left: [SQLNode], _ right: [SQLNode]) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
    }

    /// Whether two nodes are the same column. May be false for equal columns: only cheap comparisons are made.
    static func isSame(_ left: SQLNode, _ right: SQLNode) -> Bool {
        if left === right { return true }
        switch (left.kind, right.kind) {
        case (.identifier(let left), .identifier(let right)), (.text(let left), .text(let right)):
            return isSameText(left, right)
        case (.qualified(let leftTable, let left), .qualified(let rightTable, let right)):
            return isSame(left, right) && isSame(leftTable, rightTable)
        default: return false
        }
    }
}
