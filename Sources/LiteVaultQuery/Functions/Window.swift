/// A window: the rows a function is computed over, relative to the current row (https://sqlite.org/windowfunctions.html).
/// SQLite 3.25 and later.
///
/// ```swift
/// let running = balance.sum.over(.partition(by: region).order(day).rows(from: .unboundedPreceding, to: .currentRow))
/// // sum("balance") OVER (PARTITION BY "region" ORDER BY "day" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
/// ```
///
/// Without an order, a window has all rows of its partition. With an order and no frame, it has the rows up to the current
/// row and its peers.
///
/// To share a window between functions, name it by `window(_:as:)` of the query:
///
/// ```swift
/// sales.select(id, balance.sum.over("w"), rank().over("w")).window("w", as: .partition(by: region).order(day))
/// // SELECT "id", sum("balance") OVER "w", rank() OVER "w" FROM "sales"
/// // WINDOW "w" AS (PARTITION BY "region" ORDER BY "day")
/// ```
public struct Window: Expressible {
    private var base: String?
    private var partition: [SQLNode] = []
    private var order: [SQLNode] = []
    private var frame: SQLNode?

    /// Creates a window of all rows.
    public init() {}

    /// Returns a window of the rows with equal values.
    public static func partition(by expressions: any Expressible...) -> Window {
        var window = Window()
        window.partition = expressions.map(\.node)
        return window
    }

    /// Returns a window of all rows in an order.
    public static func order(_ by: any Expressible...) -> Window {
        var window = Window()
        window.order = by.map(\.node)
        return window
    }

    /// Returns a window that extends a named window of the query by an order, if that has none, and a frame. SQLite 3.28 and
    /// later.
    ///
    /// ```swift
    /// balance.sum.over(.extending("w").rows(from: .preceding(2)))  // OVER ("w" ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)
    /// ```
    ///
    /// A window that has a frame cannot be extended; running such a query throws `DatabaseError`.
    public static func extending(_ name: String) -> Window {
        var window = Window()
        window.base = name
        return window
    }

    /// Returns the window with an order.
    public func order(_ by: any Expressible...) -> Window {
        var window = self
        window.order = by.map(\.node)
        return window
    }

    /// Returns the window with a frame counted in rows: `ROWS BETWEEN … AND …`.
    public func rows(
        from start: Bound, to end: Bound = .currentRow, exclude: Exclusion? = nil
    ) -> Window { framed("ROWS", start, end, exclude) }

    /// Returns the window with a frame of values around that of the current row: `RANGE BETWEEN … AND …`. The order has to be
    /// one number. Bounds with a distance require SQLite 3.28.
    public func range(
        from start: Bound, to end: Bound = .currentRow, exclude: Exclusion? = nil
    ) -> Window { framed("RANGE", start, end, exclude) }

    /// Returns the window with a frame counted in groups of peers: `GROUPS BETWEEN … AND …`. SQLite 3.28 and later.
    public func groups(
        from start: Bound, to end: Bound = .currentRow, exclude: Exclusion? = nil
    ) -> Window { framed("GROUPS", start, end, exclude) }

    private func framed(
        _ unit: String, _ start: Bound, _ end: Bound, _ exclude: Exclusion?
    ) -> Window {
        var window = self
        window.frame = .words(
            .text("\(unit) BETWEEN"), start.node, .text("AND"), end.node,
            exclude.map { .text("EXCLUDE \($0.rawValue)") })
        return window
    }

    /// The content of the parentheses after OVER.
    public var expression: SQLExpression<Void> {
        SQLExpression(
            root: .words(
                base.map { .identifier($0) },
                partition.isEmpty ? nil : .words(.text("PARTITION BY"), .joined(partition, separator: ", ")),
                order.isEmpty ? nil : .words(.text("ORDER BY"), .joined(order, separator: ", ")), frame))
    }
}

extension Window {
    /// The beginning or end of a frame.
    public struct Bound: Sendable {
        let node: SQLNode

        /// The first row of the partition.
        public static var unboundedPreceding: Bound { Bound(node: .text("UNBOUNDED PRECEDING")) }
        /// A number of rows, groups of peers or units of the order before the current row.
        public static func preceding(_ distance: some Value) -> Bound {
            Bound(node: .words(distance.node, .text("PRECEDING")))
        }
        /// The current row; with `range` and `groups`, including its peers.
        public static var currentRow: Bound { Bound(node: .text("CURRENT ROW")) }
        /// A number of rows, groups of peers or units of the order after the current row.
        public static func following(_ distance: some Value) -> Bound {
            Bound(node: .words(distance.node, .text("FOLLOWING")))
        }
        /// The last row of the partition.
        public static var unboundedFollowing: Bound { Bound(node: .text("UNBOUNDED FOLLOWING")) }
    }

    /// The rows that a frame excludes. SQLite 3.28 and later.
    public enum Exclusion: String, Sendable {
        /// The current row.
        case currentRow = "CURRENT ROW"
        /// The current row and its peers.
        case group = "GROUP"
        /// The peers of the current row, but not the row itself.
        case ties = "TIES"
    }
}

extension SQLExpression {
    /// Applies an aggregate or window function to a window: `sum(x) OVER (…)`. SQLite 3.25 and later.
    public func over(_ window: Window = Window()) -> SQLExpression {
        SQLExpression(root: .words(root, .wrapped("OVER ", window.node)))
    }

    /// Applies an aggregate or window function to a named window: `sum(x) OVER "w"`. SQLite 3.25 and later.
    ///
    /// - Parameter window: the name given by `window(_:as:)`. Running a query without that window throws `DatabaseError`.
    public func over(_ window: String) -> SQLExpression {
        SQLExpression(root: .words(root, .text("OVER"), .identifier(window)))
    }

    /// Restricts an aggregate to the rows that meet a condition: `count(*) FILTER (WHERE …)`. SQLite 3.30 and later.
    public func filter(_ condition: SQLExpression<Bool>) -> SQLExpression { filtered(condition.root) }

    /// Restricts an aggregate to the rows that meet a condition: `count(*) FILTER (WHERE …)`. SQLite 3.30 and later.
    public func filter(_ condition: SQLExpression<Bool?>) -> SQLExpression { filtered(condition.root) }

    private func filtered(_ condition: SQLNode) -> SQLExpression {
        SQLExpression(root: .words(root, .wrapped("FILTER ", .words(.text("WHERE"), condition))))
    }
}
