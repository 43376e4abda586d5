internal import LiteVaultCore
internal import LiteVaultQuery

/// The text of a statement of the schema. Such statements take no parameters: values are written into them.
enum SchemaText {
    /// - Throws: `SchemaBuilderError.misplacedValue` when a value stands where a literal would be misread.
    static func text(of node: SQLNode) throws -> String {
        var builder = SQLBuilder()
        builder.append(node)
        let places = SQLTokens(builder.sql).filter { $0.kind == .other && $0.text == "?" }
        guard places.count == builder.bindings.count else {
            throw SchemaBuilderError.misplacedValue(sql: builder.sql)
        }
        return LiteralSQL.text(builder.sql, builder.bindings)
    }
}

extension SQLNode {
    /// Names in parentheses.
    static func names(_ names: [String]) -> SQLNode {
        .wrapped("", .joined(names.map(SQLNode.identifier), separator: ", "))
    }

    /// The name of a table with columns in it: `"team"("id")`.
    static func names(_ columns: [String], of table: String) -> SQLNode {
        .joined([.identifier(table), names(columns)], separator: "")
    }

    /// The piece without the pair of parentheses around it, where nothing follows it.
    var withoutParentheses: SQLNode {
        switch kind {
        case .operation(let lhs, let name, let rhs): return .infix(lhs, name, rhs, isWrapped: false)
        case .wrapped("", let inner):
            if case .joined(_, separator: " ") = inner.kind { return inner }
            return self
        default: return self
        }
    }

    /// `ON CONFLICT …`, where it is not the default.
    static func conflict(_ resolution: OnConflict?) -> SQLNode? {
        guard let resolution, resolution != .abort else { return nil }
        return .text("ON CONFLICT \(resolution.rawValue)")
    }
}
