/// A statement that reads or writes rows.
enum Statement: Sendable {
    case select(Select)
    case insert(Insert)
    case change(Change)
}

/// A SELECT or VALUES with everything that belongs to it (https://sqlite.org/lang_select.html).
struct Select: Sendable {
    let with: [CommonTableExpression]
    /// One, or those that UNION, INTERSECT and EXCEPT compound.
    let cores: [Core]
    let order: [Expression]
    let limit: Expression?
    let offset: Expression?

    /// One part of a compound.
    enum Core: Sendable {
        case values([[Expression]])
        case query(Query)
    }

    /// `SELECT … FROM … WHERE … GROUP BY … HAVING … WINDOW …`
    struct Query: Sendable {
        let results: [Result]
        let from: From?
        let condition: Expression?
        let groups: [Expression]
        let having: Expression?
        let windows: [(name: String, window: Window)]
    }

    /// A term between SELECT and FROM.
    enum Result: Sendable {
        case star
        case tableStar(String, at: Int)
        case expression(Expression, alias: String?)

        var expression: Expression? { if case .expression(let expression, _) = self { expression } else { nil } }
    }

    /// What FROM names.
    indirect enum From: Sendable {
        case table(TableReference)
        case subquery(Select, alias: String?)
        case join(From, Join, From)
    }

    struct Join: Sendable {
        enum Kind: Sendable { case inner, left, right, full }
        let kind: Kind
        let isNatural: Bool
        let using: [String]
        let condition: Expression?
    }
}

/// A table, a view or a table-valued function that FROM names.
struct TableReference: Sendable {
    let schema: String?
    let name: String
    var alias: String?
    /// The arguments of a table-valued function.
    let arguments: [Expression]?
    let range: Range<Int>
}

/// A common table expression (https://sqlite.org/lang_with.html).
struct CommonTableExpression: Sendable {
    let name: String
    let columns: [String]
    let select: Select
}

/// An INSERT or REPLACE (https://sqlite.org/lang_insert.html).
struct Insert: Sendable {
    let with: [CommonTableExpression]
    let table: TableReference
    /// Empty for all columns.
    let columns: [String]
    /// nil for DEFAULT VALUES.
    let source: Select?
    let upserts: [Upsert]
    let returning: [Select.Result]

    struct Upsert: Sendable {
        let target: [Expression]
        let targetCondition: Expression?
        /// nil for DO NOTHING.
        let assignments: [Assignment]?
        let condition: Expression?
    }
}

/// `column = value` or `(column, column) = value`.
struct Assignment: Sendable {
    let columns: [String]
    let value: Expression
}

/// An UPDATE (https://sqlite.org/lang_update.html) or a DELETE (https://sqlite.org/lang_delete.html).
struct Change: Sendable {
    let with: [CommonTableExpression]
    let table: TableReference
    /// Empty for a DELETE.
    let assignments: [Assignment]
    let from: Select.From?
    let condition: Expression?
    let returning: [Select.Result]
    let tail: [Expression]
}
