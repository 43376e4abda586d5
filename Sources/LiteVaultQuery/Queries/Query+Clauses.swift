internal import LiteVaultQuoting

extension QueryType {
    // MARK: Joins

    /// Joins a table (`JOIN … ON …`), with its filter added to the condition.
    public func join(_ table: any QueryType, on condition: SQLExpression<Bool>) -> Self {
        join(.inner, table, on: condition)
    }

    /// Joins a table (`JOIN … ON …`), with its filter added to the condition.
    public func join(_ table: any QueryType, on condition: SQLExpression<Bool?>) -> Self {
        join(.inner, table, on: condition)
    }

    /// Joins a table in the given way (`LEFT OUTER JOIN … ON …`), with its filter added to the condition.
    public func join(_ type: JoinType, _ table: any QueryType, on condition: SQLExpression<Bool>) -> Self {
        joining(type, table, on: condition.root)
    }

    /// Joins a table in the given way (`LEFT OUTER JOIN … ON …`), with its filter added to the condition.
    public func join(_ type: JoinType, _ table: any QueryType, on condition: SQLExpression<Bool?>) -> Self {
        joining(type, table, on: condition.root)
    }

    private func joining(_ type: JoinType, _ table: any QueryType, on condition: SQLNode) -> Self {
        let whole = table.clauses.condition.map { SQLNode.infix(condition, "AND", $0) } ?? condition
        return changed { $0.others.joins.append(.init(type: type, table: table, condition: whole)) }
    }

    // MARK: Conditions

    /// Adds a condition that rows have to meet, besides the earlier ones (`WHERE … AND …`).
    public func filter(_ predicate: SQLExpression<Bool>) -> Self { filtering(predicate.root) }

    /// Adds a condition that rows have to meet, besides the earlier ones. NULL does not meet it.
    public func filter(_ predicate: SQLExpression<Bool?>) -> Self { filtering(predicate.root) }

    /// Adds a condition: another name of `filter`.
    public func `where`(_ predicate: SQLExpression<Bool>) -> Self { filtering(predicate.root) }

    /// Adds a condition: another name of `filter`.
    public func `where`(_ predicate: SQLExpression<Bool?>) -> Self { filtering(predicate.root) }

    private func filtering(_ predicate: SQLNode) -> Self {
        changed { clauses in
            clauses.condition = clauses.condition.map { .infix($0, "AND", predicate) } ?? predicate
        }
    }

    // MARK: Groups

    /// Groups rows with equal values into one (`GROUP BY …`).
    public func group(_ by: any Expressible...) -> Self { grouping(by, nil) }

    /// Groups rows with equal values into one (`GROUP BY …`).
    public func group(_ by: [any Expressible]) -> Self { grouping(by, nil) }

    /// Groups rows with equal values into one and keeps the groups that meet a condition (`HAVING …`).
    public func group(_ by: any Expressible, having: SQLExpression<Bool>) -> Self { grouping([by], having.root) }

    /// Groups rows with equal values into one and keeps the groups that meet a condition (`HAVING …`).
    public func group(_ by: any Expressible, having: SQLExpression<Bool?>) -> Self { grouping([by], having.root) }

    /// Groups rows with equal values into one and keeps the groups that meet a condition (`HAVING …`).
    public func group(_ by: [any Expressible], having: SQLExpression<Bool>) -> Self { grouping(by, having.root) }

    /// Groups rows with equal values into one and keeps the groups that meet a condition (`HAVING …`).
    public func group(_ by: [any Expressible], having: SQLExpression<Bool?>) -> Self { grouping(by, having.root) }

    private func grouping(_ by: [any Expressible], _ having: SQLNode?) -> Self {
        changed {
            $0.others.grouping = by.map(\.node)
            $0.others.having = having
        }
    }

    // MARK: Windows

    /// Names a window for the functions of the query: `WINDOW "w" AS (…)`. SQLite 3.25 and later.
    ///
    /// - Parameters:
    ///   - name: the name for `over(_:)` and ``Window/extending(_:)``. A window already named so is replaced.
    ///   - window: the window. It may extend a window named before it.
    public func window(_ name: String, as window: Window) -> Self {
        changed { clauses in
            var windows = clauses.others.windows
            if let index = windows.firstIndex(where: { isSameName($0.name, name) }) {
                windows[index].window = window.node
            } else {
                windows.append((name: name, window: window.node))
            }
            clauses.others.windows = windows
        }
    }

    // MARK: Order and number

    /// Sorts by expressions, replacing an earlier order. Without expressions, the order is undefined.
    public func order(_ by: any Expressible...) -> Self { order(by) }

    /// Sorts by expressions, replacing an earlier order. Without expressions, the order is undefined.
    public func order(_ by: [any Expressible]) -> Self { changed { $0.order = by.map(\.node) } }

    /// Limits the number of rows; nil for all.
    public func limit(_ length: Int?) -> Self { changed { $0.limit = length.map { (length: $0, offset: nil) } } }

    /// Limits the number of rows, after skipping `offset` rows.
    public func limit(_ length: Int, offset: Int) -> Self { changed { $0.limit = (length: length, offset: offset) } }

    // MARK: Compounds

    /// Adds the rows of another query (`UNION`). Equal rows appear once, unless `all` is true.
    public func union(all: Bool = false, _ table: any QueryType) -> Self {
        compound(all ? "UNION ALL" : "UNION", table)
    }

    /// Adds the rows of another query, duplicates included (`UNION ALL`).
    public func unionAll(_ table: any QueryType) -> Self { compound("UNION ALL", table) }

    /// Keeps the rows that another query has as well (`INTERSECT`).
    public func intersect(_ table: any QueryType) -> Self { compound("INTERSECT", table) }

    /// Removes the rows that another query has (`EXCEPT`).
    public func except(_ table: any QueryType) -> Self { compound("EXCEPT", table) }

    private func compound(_ operation: String, _ table: any QueryType) -> Self {
        let added = table.clauses
        // SQL has no parentheses around an operand.
        let isSimple = added.others.compounds.isEmpty && added.limit == nil && added.others.with.isEmpty
        func operand(_ query: SQLNode) -> SQLNode {
            isSimple ? query : .words(.text("SELECT * FROM"), .wrapped("", query))
        }
        let records = (table as? any RecordReadingQuery).map { operand(.fragment($0.operandClauses)) }
        return changed {
            $0.others.compounds.append(
                .init(operation: operation, query: operand(table.selectNode), records: records))
        }
    }
}

/// A query that can read a record's columns, whichever are selected.
package protocol RecordReadingQuery: QueryType {
    /// The clauses, with the record's columns as the selection.
    var operandClauses: QueryClauses { get }
}
