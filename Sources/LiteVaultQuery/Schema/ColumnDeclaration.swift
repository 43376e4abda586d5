/// A column as CREATE TABLE and ADD COLUMN declare it, its clauses in the order of the SQL text.
struct ColumnDeclaration {
    let name: SQLNode
    let datatype: String
    let isNullable: Bool
    var primaryKey: PrimaryKey?
    var isUnique = false
    var check: SQLNode?
    var defaultValue: SQLNode?
    var references: (table: any QueryType, column: SQLNode)?
    var collation: Collation?

    /// A column by its expression: one of an optional type may be NULL.
    init<T: SQLType>(_ column: SQLExpression<T>) {
        name = column.root
        datatype = T.Base.declaredDatatype
        isNullable = T.self is any _OptionalType.Type
    }

    /// The same, with more clauses.
    func with(_ change: (inout ColumnDeclaration) -> Void) -> ColumnDeclaration {
        var declaration = self
        change(&declaration)
        return declaration
    }

    var node: SQLNode {
        .words(
            name, .text(datatype), primaryKey.map { .text($0.sql) }, isNullable ? nil : .text("NOT NULL"),
            isUnique ? .text("UNIQUE") : nil, check.map { .words(.text("CHECK"), $0.inParentheses) },
            defaultValue.map { .wrapped("DEFAULT ", $0) },
            references.map { Self.references($0.table, [$0.column]) },
            collation.map { .words(.text("COLLATE"), $0.node) })
    }

    /// `REFERENCES "table" ("column")`: always of the same database, so its name is left out.
    static func references(_ table: any QueryType, _ columns: [SQLNode]) -> SQLNode {
        .words(
            .text("REFERENCES"), .identifier(table.clauses.from.name),
            .wrapped("", .joined(columns, separator: ", ")))
    }
}

/// How the primary key of integers is made.
public enum PrimaryKey: Sendable {
    /// The engine chooses a free number, usually the largest plus one: numbers of deleted rows may come back.
    case `default`
    /// The engine chooses a number that was never used before (https://sqlite.org/autoinc.html).
    case autoincrement

    var sql: String { self == .autoincrement ? "PRIMARY KEY AUTOINCREMENT" : "PRIMARY KEY" }
}
