package import LiteVaultCore

/// A piece of SQL, kept as a tree until it is needed as text: joining strings at every operator costs more than
/// everything else that a query does.
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

    /// Two operands with an operator between them, in parentheses unless asked otherwise.
    package static func infix(_ lhs: SQLNode, _ name: String, _ rhs: SQLNode, isWrapped: Bool = true) -> SQLNode {
        let pair = SQLNode.joined([lhs, .text(name), rhs], separator: " ")
        return isWrapped ? .wrapped("", pair) : pair
    }

    /// A function and its arguments.
    package static func call(_ function: String, _ arguments: [SQLNode]) -> SQLNode {
        .wrapped(function, .joined(arguments, separator: ", "))
    }

    /// Words of SQL with blanks between them; what is nil is left out.
    package static func words(_ nodes: SQLNode?...) -> SQLNode { .joined(nodes.compactMap { $0 }, separator: " ") }
}

/// SQL text in the making, and the values of its parameters.
package struct SQLBuilder {
    package private(set) var sql = ""
    package private(set) var bindings: [(any Binding)?] = []

    package init() { sql.reserveCapacity(128) }

    package mutating func append(_ node: SQLNode) {
        switch node {
        case .text(let text): sql += text
        case .template(let template, let values):
            sql += template
            bindings += values
        case .identifier(let name): appendQuoted(name)
        case .value(let value):
            sql += "?"
            bindings.append(value)
        case .joined(let nodes, let separator):
            var isFirst = true
            for node in nodes {
                if !isFirst { sql += separator }
                isFirst = false
                append(node)
            }
        case .wrapped(let prefix, let inner):
            sql += prefix
            sql += "("
            append(inner)
            sql += ")"
        }
    }

    private mutating func appendQuoted(_ name: String) {
        sql += "\""
        if name.utf8.contains(UInt8(ascii: "\"")) {
            for character in name { sql += character == "\"" ? "\"\"" : String(character) }
        } else {
            sql += name
        }
        sql += "\""
    }
}
