/// Declares the columns and constraints of a table, in the closure of `Table.create`.
///
/// A column of a type that is not optional is NOT NULL.
public final class TableBuilder {
    private(set) var definitions: [SQLNode] = []

    init() {}

    func add(_ column: ColumnDeclaration) { definitions.append(column.node) }

    func add(_ constraint: SQLNode) { definitions.append(constraint) }

    /// `UNIQUE ("local", "domain")`: no two rows may have the same values in all of these columns.
    public func unique(_ columns: any Expressible...) { unique(columns) }

    /// `UNIQUE ("local", "domain")`: no two rows may have the same values in all of these columns.
    public func unique(_ columns: [any Expressible]) {
        add(.wrapped("UNIQUE ", .joined(columns.map(\.node), separator: ", ")))
    }

    /// `CHECK ("balance" >= 0)`: the condition holds for each row.
    public func check(_ condition: SQLExpression<Bool>) { add(.wrapped("CHECK ", condition.root)) }

    /// `CHECK ("balance" >= 0)`: the condition holds for each row, or is NULL.
    public func check(_ condition: SQLExpression<Bool?>) { add(.wrapped("CHECK ", condition.root)) }
}
