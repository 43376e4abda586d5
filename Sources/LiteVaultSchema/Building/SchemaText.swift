internal import LiteVaultCore
internal import LiteVaultQuery

/// The text of schema statements. They take no parameters: values are written into them.
enum SchemaText {
    /// - Throws: `SchemaBuilderError.misplacedValue` if a value is in a position where its literal would be misread.
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

    /// The name of a table with columns of it: `"team"("id")`.
    static func names(_ columns: [String], of table: String) -> SQLNode {
        .joined([.identifier(table), names(columns)], separator: "")
    }

    /// A name, qualified by its database: `"archive"."player"`.
    static func identifier(_ name: String, in schemaName: String?) -> SQLNode {
        guard let schemaName else { return .identifier(name) }
        return .joined([.identifier(schemaName), .identifier(name)], separator: ".")
    }

    /// The node without its enclosing parentheses, if nothing follows them.
    var withoutParentheses: SQLNode {
        switch kind {
        case .operation(let lhs, let name, let rhs): return .infix(lhs, name, rhs, isWrapped: false)
        case .wrapped("", let inner):
            if case .joined(_, separator: " ") = inner.kind { return inner }
            return self
        default: return self
        }
    }

    /// `ON CONFLICT …` of NOT NULL and UNIQUE; nil for the default.
    static func conflict(_ resolution: OnConflict?) -> SQLNode? {
        resolution == .abort ? nil : keyConflict(resolution)
    }

    /// `ON CONFLICT …` of a primary key.
    static func keyConflict(_ resolution: OnConflict?) -> SQLNode? {
        resolution.map { .text("ON CONFLICT \($0.rawValue)") }
    }
}

/// A mistake in a schema definition. Nothing is changed.
public enum SchemaBuilderError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A table without columns.
    case noColumns(table: String)
    /// A table with more than one primary key.
    case severalPrimaryKeys(table: String)
    /// A column in raw SQL inside `primaryKey { }`, which needs its name and adds NOT NULL.
    case rawColumnInPrimaryKey(table: String)
    /// A foreign key to a table without a primary key. While foreign keys are enforced, the engine would reject every
    /// row with such a reference ("foreign key mismatch"): the rowid cannot be referenced.
    case noPrimaryKey(table: String)
    /// A foreign key with another number of columns than the primary key that it references.
    case foreignKeyMismatch(table: String, columns: [String], primaryKey: [String])
    /// A column of the primary key that references its own table.
    case ownKeyInPrimaryKey(table: String)
    /// An index without columns or on a constant: `expressions: ["email"]` is a string, `Column("email")` is a column.
    case invalidIndex(name: String)
    /// No index on exactly these columns can be dropped.
    case noSuchIndex(table: String, columns: [String])
    /// Several indexes are on these columns: drop one by its name.
    case ambiguousIndex(table: String, columns: [String], names: [String])
    /// A value inside quotes or a comment, or a `?` in SQL text: it cannot be written into the statement.
    case misplacedValue(sql: String)
    /// A full-text index cannot be synchronized with this table.
    case cannotSynchronize(table: String, reason: String)

    /// The mistake, and how to correct it.
    public var description: String {
        switch self {
        case .noColumns(let table): "table \"\(table)\" has no columns; add one"
        case .severalPrimaryKeys(let table):
            "table \"\(table)\" has more than one primary key; use primaryKey([…]) for a key of several columns"
        case .rawColumnInPrimaryKey(let table):
            "table \"\(table)\": a column in raw SQL cannot be declared inside primaryKey { }; name it in primaryKey([…])"
        case .noPrimaryKey(let table):
            "table \"\(table)\" has no primary key to reference; declare one, or name a unique column"
        case .foreignKeyMismatch(let table, let columns, let key):
            "\(columns) cannot reference table \"\(table)\", whose primary key is \(key); name the referenced columns"
        case .ownKeyInPrimaryKey(let table):
            "the primary key of table \"\(table)\" cannot be derived from itself; declare its columns with column(_:_:)"
        case .invalidIndex(let name):
            "index \"\(name)\" needs columns or expressions, not constants; use Column(\"name\") for a column"
        case .noSuchIndex(let table, let columns):
            "table \"\(table)\" has no index on \(columns) that can be dropped; an index of a constraint cannot"
        case .ambiguousIndex(let table, let columns, let names):
            "table \"\(table)\" has several indexes on \(columns): \(names); drop one by its name"
        case .misplacedValue(let sql):
            "a value is inside quotes or a comment, or a ? has no value: \(sql)"
        case .cannotSynchronize(let table, let reason):
            "a full-text index cannot be synchronized with table \"\(table)\": \(reason)"
        }
    }
}
