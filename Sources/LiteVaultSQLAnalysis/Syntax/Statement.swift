/// A statement that reads or writes rows.
package enum Statement: Sendable {
    case select(Select)
    case insert(Insert)
    case update(Update)
    case delete(Delete)
}

/// A SELECT or VALUES with everything that belongs to it (https://sqlite.org/lang_select.html).
package struct Select: Sendable {
    package let with: [CommonTableExpression]
    /// One, or those that UNION, INTERSECT and EXCEPT compound.
    package let cores: [Core]
    package let order: [Expression]
    package let limit: Expression?
    package let offset: Expression?

    /// One part of a compound.
    package enum Core: Sendable {
        case values([[Expression]])
        case query(Query)
    }

    /// `SELECT … FROM … WHERE … GROUP BY … HAVING … WINDOW …`
    package struct Query: Sendable {
        package let results: [Result]
        package let from: From?
        package let condition: Expression?
        package let groups: [Expression]
        package let having: Expression?
        package let windows: [(name: String, window: Window)]
    }

    /// A term between SELECT and FROM.
    package enum Result: Sendable {
        case star
        case tableStar(String, at: Int)
        case expression(Expression, alias: String?)

        var expression: Expression? { if case .expression(let expression, _) = self { expression } else { nil } }
    }

    /// What FROM names.
    package indirect enum From: Sendable {
        case table(TableReference)
        case subquery(Select, alias: String?)
        case join(From, Join, From)
    }

    /// How two sources are joined.
    package struct Join: Sendable {
        package enum Kind: Sendable { case inner, left, right, full }
        package let kind: Kind
        package let isNatural: Bool
        package let using: [String]
        package let condition: Expression?
    }
}

/// A table, a view or a table-valued function that FROM names.
package struct TableReference: Sendable {
    package let schema: String?
    package let name: String
    package var alias: String?
    /// The arguments of a table-valued function.
    package let arguments: [Expression]?
    package let range: Range<Int>
}

/// A common table expression (https://sqlite.org/lang_with.html).
package struct CommonTableExpression: Sendable {
    package let name: String
    package let columns: [String]
    package let select: Select
}

/// An INSERT or REPLACE (https://sqlite.org/lang_insert.html).
package struct Insert: Sendable {
    package let with: [CommonTableExpression]
    package let table: TableReference
    /// Empty for all columns.
    package let columns: [String]
    /// nil for DEFAULT VALUES.
    package let source: Select?
    package let upserts: [Upsert]
    package let returning: [Select.Result]

    package struct Upsert: Sendable {
        package let target: [Expression]
        package let targetCondition: Expression?
        /// nil for DO NOTHING.
        package let assignments: [Assignment]?
        package let condition: Expression?
    }
}

/// `column = value` or `(column, column) = value`.
package struct Assignment: Sendable {
    package let columns: [String]
    package let value: Expression
}

/// An UPDATE (https://sqlite.org/lang_update.html).
package struct Update: Sendable {
    package let with: [CommonTableExpression]
    package let table: TableReference
    package let assignments: [Assignment]
    package let from: Select.From?
    package let condition: Expression?
    package let returning: [Select.Result]
    package let tail: [Expression]
}

/// A DELETE (https://sqlite.org/lang_delete.html).
package struct Delete: Sendable {
    package let with: [CommonTableExpression]
    package let table: TableReference
    package let condition: Expression?
    package let returning: [Select.Result]
    package let tail: [Expression]
}
