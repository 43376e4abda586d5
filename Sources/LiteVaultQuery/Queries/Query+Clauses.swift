extension QueryType {
    // MARK: Joins

    /// Joins a table: the rows that meet the condition.
    public func join(_ table: any QueryType, on condition: SQLExpression<Bool>) -> Self {
        join(.inner, table, on: condition)
    }

    /// Joins a table: the rows that meet the condition.
    public func join(_ table: any QueryType, on condition: SQLExpression<Bool?>) -> Self {
        join(.inner, table, on: condition)
    }

    /// Joins a table. The filter of the table becomes a part of the condition.
    public func join(_ type: JoinType, _ table: any QueryType, on condition: SQLExpression<Bool>) -> Self {
        joining(type, table, on: condition.root)
    }

    /// Joins a table. The filter of the table becomes a part of the condition.
    public func join(_ type: JoinType, _ table: any QueryType, on condition: SQLExpression<Bool?>) -> Self {
        joining(type, table, on: condition.root)
    }

    private func joining(_ type: JoinType, _ table: any QueryType, on condition: SQLNode) -> Self {
        let whole = table.clauses.condition.map { SQLNode.infix(condition, "AND", $0) } ?? condition
        return changed { $0.joins.append(.init(type: type, table: table, condition: whole)) }
    }

    // MARK: Conditions

    /// Keeps the rows that meet a condition, besides those set before.
    public func filter(_ predicate: SQLExpression<Bool>) -> Self { filtering(predicate.root) }

    /// Keeps the rows that meet a condition, besides those set before. NULL does not meet it.
    public func filter(_ predicate: SQLExpression<Bool?>) -> Self { filtering(predicate.root) }

    /// Another name of `filter`.
    public func `where`(_ predicate: SQLExpression<Bool>) -> Self { filtering(predicate.root) }

    /// Another name of `filter`.
    public func `where`(_ predicate: SQLExpression<Bool?>) -> Self { filtering(predicate.root) }

    private func filtering(_ predicate: SQLNode) -> Self {
        changed { clauses in
            clauses.condition = clauses.condition.map { .infix($0, "AND", predicate) } ?? predicate
        }
    }

    // MARK: Groups

    /// One row for each combination of values.
    public func group(_ by: any Expressible...) -> Self { grouping(by, nil) }

    /// One row for each combination of values.
    public func group(_ by: [any Expressible]) -> Self { grouping(by, nil) }

    /// One row for each value, of the groups that meet a condition.
    public func group(_ by: any Expressible, having: SQLExpression<Bool>) -> Self { grouping([by], having.root) }

    /// One row for each value, of the groups that meet a condition.
    public func group(_ by: any Expressible, having: SQLExpression<Bool?>) -> Self { grouping([by], having.root) }

    /// One row for each combination of values, of the groups that meet a condition.
    public func group(_ by: [any Expressible], having: SQLExpression<Bool>) -> Self { grouping(by, having.root) }

    /// One row for each combination of values, of the groups that meet a condition.
    public func group(_ by: [any Expressible], having: SQLExpression<Bool?>) -> Self { grouping(by, having.root) }

    private func grouping(_ by: [any Expressible], _ having: SQLNode?) -> Self {
        changed {
            $0.grouping = by.map(\.node)
            $0.having = having
        }
    }

    // MARK: Windows

    /// Names a window, for functions of the query to use: `WINDOW "w" AS (…)`. SQLite 3.25 and later.
    ///
    /// - Parameters:
    ///   - name: the name for `over(_:)` and ``Window/extending(_:)``. One that was given before is replaced.
    ///   - window: the window; it may extend one that was named before it.
    public func window(_ name: String, as window: Window) -> Self {
        changed { clauses in
            var windows = clauses.windows
            if let index = windows.firstIndex(where: { $0.name == name }) {
                windows[index].window = window.node
            } else {
                windows.append((name: name, window: window.node))
            }
            clauses.windows = windows
        }
    }

    // MARK: Order and number

    /// Sorts by expressions, in place of an order set before; without any, leaves the order open.
    public func order(_ by: any Expressible...) -> Self { order(by) }

    /// Sorts by expressions, in place of an order set before; without any, leaves the order open.
    public func order(_ by: [any Expressible]) -> Self { changed { $0.order = by.map(\.node) } }

    /// At most so many rows; nil for all.
    public func limit(_ length: Int?) -> Self { changed { $0.limit = length.map { (length: $0, offset: nil) } } }

    /// At most so many rows, after leaving some out.
    public func limit(_ length: Int, offset: Int) -> Self { changed { $0.limit = (length: length, offset: offset) } }

    // MARK: Compounds

    /// The rows of both queries, equal rows once unless all are asked for.
    public func union(all: Bool = false, _ table: any QueryType) -> Self {
        compound(all ? "UNION ALL" : "UNION", table)
    }

    /// The rows of both queries, all of them.
    public func unionAll(_ table: any QueryType) -> Self { compound("UNION ALL", table) }

    /// The rows that are in both queries.
    public func intersect(_ table: any QueryType) -> Self { compound("INTERSECT", table) }

    /// The rows that the other query does not have.
    public func except(_ table: any QueryType) -> Self { compound("EXCEPT", table) }

    private func compound(_ operation: String, _ table: any QueryType) -> Self {
        changed { $0.compounds.append((operation: operation, query: table.selectNode)) }
    }
}
