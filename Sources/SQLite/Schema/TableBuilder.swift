public import LiteVaultQuery
public import LiteVaultSchema

/// Declares the columns and constraints of a table in the closure of `Table.create`.
///
/// A column is NOT NULL unless its expression has an optional type.
public final class TableBuilder {
    private(set) var definitions: [SQLNode] = []

    init() {}

    func add(_ column: ColumnDeclaration) { definitions.append(column.node) }

    func add(_ constraint: SQLNode) { definitions.append(constraint) }

    /// `UNIQUE ("local", "domain")`: forbids two rows with equal values in all of these columns.
    public func unique(_ columns: any Expressible...) { unique(columns) }

    /// `UNIQUE ("local", "domain")`: forbids two rows with equal values in all of these columns.
    public func unique(_ columns: [any Expressible]) {
        add(.wrapped("UNIQUE ", .joined(columns.map(\.node), separator: ", ")))
    }

    /// `CHECK ("balance" >= 0)`: requires a condition to be true for each row.
    public func check(_ condition: SQLExpression<Bool>) { add(.wrapped("CHECK ", condition.root)) }

    /// `CHECK ("balance" >= 0)`: requires a condition to be true or NULL for each row.
    public func check(_ condition: SQLExpression<Bool?>) { add(.wrapped("CHECK ", condition.root)) }

    /// `PRIMARY KEY ("email" ASC, "name")`: one column or several, of any types and in any order.
    public func primaryKey<First: KeyColumn, each More: KeyColumn>(_ column: First, _ more: repeat each More) {
        var nodes = [column.node]
        repeat nodes.append((each more).node)
        add(.wrapped("PRIMARY KEY ", .joined(nodes, separator: ", ")))
    }

    /// `PRIMARY KEY ("email" ASC, "name")`: after a column with an order, any columns. SQLite lets a column of such
    /// a key be NULL unless it is declared NOT NULL.
    @_disfavoredOverload
    public func primaryKey(_ column: OrderedColumn, _ more: any Expressible...) {
        add(.wrapped("PRIMARY KEY ", .joined([column.node] + more.map(\.node), separator: ", ")))
    }

    /// What happens to rows when the row they reference changes or is deleted.
    public typealias Dependency = ForeignKeyAction

    /// `FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE SET NULL`
    ///
    /// - Parameters:
    ///   - column: the referencing column.
    ///   - table: the referenced table.
    ///   - other: the referenced column, a primary key or a unique column.
    ///   - update: what happens to the row when the referenced value changes.
    ///   - delete: what happens to the row when the referenced row is deleted.
    public func foreignKey<T: SQLType>(
        _ column: SQLExpression<T>, references table: any QueryType, _ other: SQLExpression<T.SQLBase>,
        update: Dependency? = nil, delete: Dependency? = nil
    ) {
        foreignKey([column.root], table, [other.root], update, delete)
    }

    /// `FOREIGN KEY ("a", "b") REFERENCES "other" ("a", "b")`: two columns or more. Parameters as of the form with one.
    public func foreignKey<each T: SQLType>(
        _ composite: (repeat SQLExpression<each T>), references table: any QueryType,
        _ other: (repeat SQLExpression<(each T).SQLBase>), update: Dependency? = nil, delete: Dependency? = nil
    ) {
        var columns: [SQLNode] = []
        var others: [SQLNode] = []
        repeat columns.append((each composite).root)
        repeat others.append((each other).root)
        foreignKey(columns, table, others, update, delete)
    }

    private func foreignKey(
        _ columns: [SQLNode], _ table: any QueryType, _ others: [SQLNode], _ update: Dependency?,
        _ delete: Dependency?
    ) {
        add(
            .words(
                .wrapped("FOREIGN KEY ", .joined(columns, separator: ", ")),
                ColumnDeclaration.references(table, others),
                update.map { .text("ON UPDATE \($0.rawValue)") }, delete.map { .text("ON DELETE \($0.rawValue)") }))
    }
}

extension TableBuilder {
    /// A column of a primary key: an expression that cannot be NULL, optionally with an order (`email.asc`).
    public protocol KeyColumn: Expressible {}

    /// A column with an order, which `asc` and `desc` return in `primaryKey`.
    public struct OrderedColumn: KeyColumn {
        /// The column and its order.
        public let expression: SQLExpression<Void>

        fileprivate init(_ column: any Expressible, _ order: String) {
            expression = SQLExpression(root: .words(column.node, .text(order)))
        }
    }
}

extension SQLExpression: TableBuilder.KeyColumn where Datatype: Value {}

// `ExpressionType.asc` returns `any Expressible`; these are chosen only where that does not fit.
extension SQLExpression {
    /// The column in ascending order, for a primary key.
    @_disfavoredOverload
    public var asc: TableBuilder.OrderedColumn { TableBuilder.OrderedColumn(self, "ASC") }

    /// The column in descending order, for a primary key.
    @_disfavoredOverload
    public var desc: TableBuilder.OrderedColumn { TableBuilder.OrderedColumn(self, "DESC") }
}

/// How the engine assigns an integer primary key.
public enum PrimaryKey: Sendable {
    /// Usually the largest number plus one. Numbers of deleted rows may be reused.
    case `default`
    /// A number that was never used before (https://sqlite.org/autoinc.html).
    case autoincrement

    var sql: String { self == .autoincrement ? "PRIMARY KEY AUTOINCREMENT" : "PRIMARY KEY" }
}

/// A column as CREATE TABLE and ADD COLUMN declare it, with its clauses in the order of the SQL text.
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

    /// Creates the declaration of an expression's column, which may be NULL if the type is optional.
    init<T: SQLType>(_ column: SQLExpression<T>) {
        name = column.root
        datatype = T.SQLBase.declaredDatatype
        isNullable = T.self is any _OptionalType.Type
    }

    var node: SQLNode {
        .words(
            name, .text(datatype), primaryKey.map { .text($0.sql) }, isNullable ? nil : .text("NOT NULL"),
            isUnique ? .text("UNIQUE") : nil, check.map { .words(.text("CHECK"), $0.inParentheses) },
            defaultValue.map { .wrapped("DEFAULT ", $0) },
            references.map { Self.references($0.table, [$0.column]) },
            collation.map { .words(.text("COLLATE"), $0.node) })
    }

    /// `REFERENCES "table" ("column")`, without the name of the database, which is always the same.
    static func references(_ table: any QueryType, _ columns: [SQLNode]) -> SQLNode {
        .words(
            .text("REFERENCES"), .identifier(table.clauses.from.name),
            .wrapped("", .joined(columns, separator: ", ")))
    }
}
