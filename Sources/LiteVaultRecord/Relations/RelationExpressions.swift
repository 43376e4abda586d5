public import LiteVaultCore
public import LiteVaultQuery

// Related rows inside a query of the origin's table. Each expression is a subquery that refers to the row of the enclosing query by
// the table's name, so it holds where that table is not given an alias.

extension Relation {
    /// Whether there is any related row: `EXISTS (SELECT …)`.
    public var exists: SQLExpression<Bool> { SQLExpression(root: .wrapped("EXISTS ", subquery(.text("1")))) }

    /// Whether there is any related row that meets a condition on its columns.
    public func exists(where condition: SQLExpression<Bool>) -> SQLExpression<Bool> { filter(condition).exists }

    /// Whether there is any related row that meets a condition on its columns. NULL does not meet it.
    public func exists(where condition: SQLExpression<Bool?>) -> SQLExpression<Bool> { filter(condition).exists }

    /// The number of related rows; 0 without any.
    public var count: SQLExpression<Int> {
        SQLExpression(root: .wrapped("", subquery(.text("count(*)"))))
    }

    /// The sum of a column of the related rows; NULL without any.
    public func sum<T: SQLType>(_ column: SQLExpression<T>) -> SQLExpression<T.SQLBase?>
    where T.SQLBase.Datatype: Number {
        aggregate(column.sum)
    }

    /// The mean of a column of the related rows; NULL without any.
    public func average<T: SQLType>(_ column: SQLExpression<T>) -> SQLExpression<Double?>
    where T.SQLBase.Datatype: Number { aggregate(column.average) }

    /// The greatest value of a column of the related rows; NULL without any.
    public func max<T: SQLType>(_ column: SQLExpression<T>) -> SQLExpression<T.SQLBase?>
    where T.SQLBase.Datatype: Comparable { aggregate(column.max) }

    /// The smallest value of a column of the related rows; NULL without any.
    public func min<T: SQLType>(_ column: SQLExpression<T>) -> SQLExpression<T.SQLBase?>
    where T.SQLBase.Datatype: Comparable { aggregate(column.min) }

    /// A column of the related row, or of the first in the relation's order; NULL without one.
    ///
    /// ```swift
    /// let books = try Book.order(Book.author.value(of: Author.name)).all(db)
    /// ```
    public func value<T: SQLType>(of column: SQLExpression<T>) -> SQLExpression<T.SQLBase?> {
        SQLExpression(root: .wrapped("", .words(subquery(column.root), scope.orderClause, .text("LIMIT 1"))))
    }

    /// A column of the related row, in a query that the relation is joined to: `Book.author[Author.name]`.
    public subscript<T>(column: SQLExpression<T>) -> SQLExpression<T?> where T: LiteVaultQuery.Value {
        SQLExpression(root: joinedColumn(column.root))
    }

    /// A column of the related row that may be NULL, in a query that the relation is joined to.
    public subscript<T>(column: SQLExpression<T?>) -> SQLExpression<T?> where T: LiteVaultQuery.Value {
        SQLExpression(root: joinedColumn(column.root))
    }

    private func aggregate<T>(_ call: SQLExpression<T>) -> SQLExpression<T> {
        SQLExpression(root: .wrapped("", subquery(call.root)))
    }

    /// A SELECT of related rows for the row of the enclosing query. The destination's columns need no name of its table: it is the
    /// innermost.
    private func subquery(_ selection: SQLNode) -> SQLNode {
        let origin = Origin.table.quotedName
        let destination = Value.RelatedRecord.table
        // Where the names of tables would be ambiguous, the destination gets another one: around its condition, which may refer to
        // it by its own.
        let isNamed = steps.count == 1 && !isSameName(destination.quotedName, origin)
        let name = isNamed ? destination.quotedName : "lv_related"
        var from = "", conditions: [String] = []
        var before = origin
        for (index, step) in steps.dropLast().enumerated() {
            // Tables in between get names for their columns that nothing else has.
            let names = Set(step.to + steps[index + 1].from).sorted()
            let table = (step.database.map { quoted($0) + "." } ?? "") + quoted(step.table)
            let columns = names.map { "\(quoted($0)) AS \(quoted("lv_step\(index).\($0)"))" }.joined(separator: ", ")
            from += ", (SELECT \(columns) FROM \(table)) AS lv_step\(index)"
            conditions += zip(step.from, step.to).map { pair in
                "lv_step\(index).\(quoted("lv_step\(index).\(pair.1)")) = \(column(pair.0, of: before, after: index))"
            }
            before = "lv_step\(index)"
        }
        if let last = steps.last {
            conditions += zip(last.from, last.to).map { pair in
                "\(name).\(quoted(pair.1)) = \(column(pair.0, of: before, after: steps.count - 1))"
            }
        }
        if let problem { conditions = [problem.asColumn] }
        let condition = SQLNode.text(conditions.joined(separator: " AND "))
        guard isNamed else {
            return .words(
                .text("SELECT"), selection, .text("FROM"), .wrapped("", rows), .text("AS lv_related\(from) WHERE"),
                condition)
        }
        return .words(
            .text("SELECT"), selection, .text("FROM \(name) WHERE"), condition,
            scope.clauses.condition.map { .words(.text("AND"), .wrapped("", $0)) })
    }

    private func column(_ name: String, of table: String, after index: Int) -> String {
        index == 0 ? "\(table).\(quoted(name))" : "\(table).\(quoted("\(table).\(name)"))"
    }
}

// MARK: Joining

extension Relation {
    /// The name of the joined table: another one for each relation.
    var alias: String {
        let names: [String] = steps.flatMap { step in [step.table] + step.from + step.to }
        return ([Origin.table.name] + names).joined(separator: ".")
    }

    private func joinedColumn(_ column: SQLNode) -> SQLNode {
        guard case .identifier(let name) = column.kind else { return column }
        return .qualified(.identifier(alias), .identifier("\(alias).\(name)"))
    }

    /// The related rows as a table whose columns have names of their own: those of the enclosing query stay unambiguous.
    var joinSource: SQLNode {
        let destination = Value.RelatedRecord.table
        let columns = destination.columns.map { "lv_related.\(quoted($0)) AS \(quoted("\(alias).\($0)"))" }
        guard steps.count > 1 else {
            let renamed = destination.columns.map { "\(quoted($0)) AS \(quoted("\(alias).\($0)"))" }
            return .words(
                .text("SELECT \(renamed.joined(separator: ", ")) FROM \(destination.quotedName)"), scope.whereClause)
        }
        let keys = steps[0].to.enumerated().map { "lv_step0.\(quoted($1)) AS \(quoted("\(alias)#\($0)"))" }
        let last = steps[steps.count - 1]
        let equal = zip(last.from, last.to).map {
            "lv_related.\(quoted($1)) = lv_step\(steps.count - 2).\(quoted($0))"
        }
        return .words(
            .text("SELECT \((columns + keys).joined(separator: ", ")) FROM \(joinedSteps) JOIN"), .wrapped("", rows),
            .text("AS lv_related ON \(equal.joined(separator: " AND "))"))
    }

    private var rows: SQLNode {
        let destination = Value.RelatedRecord.table
        return .words(
            .text("SELECT \(destination.columnList) FROM \(destination.quotedName)"), scope.whereClause)
    }

    /// The tables between the origin and the destination, joined with each other.
    var joinedSteps: String {
        var text = ""
        for (index, step) in steps.dropLast().enumerated() {
            text += index == 0 ? "" : " JOIN "
            text += (step.database.map { quoted($0) + "." } ?? "") + "\(quoted(step.table)) AS lv_step\(index)"
            guard index > 0 else { continue }
            let equal = zip(step.from, step.to).map {
                "lv_step\(index).\(quoted($1)) = lv_step\(index - 1).\(quoted($0))"
            }
            text += " ON " + equal.joined(separator: " AND ")
        }
        return text
    }

    /// What connects the joined rows with those of the enclosing query.
    func joinCondition(of origin: SQLNode) -> SQLNode {
        let equal = steps[0].from.enumerated().map { index, name -> SQLNode in
            let joined = steps.count > 1 ? "\(alias)#\(index)" : "\(alias).\(steps[0].to[index])"
            return .infix(
                .qualified(.identifier(alias), .identifier(joined)), "=", .qualified(origin, .identifier(name)))
        }
        return problem.map { .text($0.asColumn) } ?? .joined(equal, separator: " AND ")
    }

    /// The related record's columns in the enclosing query.
    var joinSelection: SQLNode {
        .joined(
            Value.RelatedRecord.table.columns.map {
                .qualified(.identifier(alias), .identifier("\(alias).\($0)"))
            }, separator: ", ")
    }
}

extension Relation where Value: RelatedToOne {
    var alwaysHasRow: Bool { Value.alwaysHasRow }
}

extension VaultError {
    /// A column that is not there: expressions cannot throw, so that the engine's error has to say what is wrong.
    fileprivate var asColumn: String { "[\(message.filter { $0 != "[" && $0 != "]" })]" }
}
