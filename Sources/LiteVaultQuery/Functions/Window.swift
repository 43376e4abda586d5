/// A window: which rows a function sees beside the row it is computed for (https://sqlite.org/windowfunctions.html).
/// SQLite 3.25 and later.
///
/// ```swift
/// let running = balance.sum.over(.partition(by: region).order(day).rows(from: .unboundedPreceding, to: .currentRow))
/// // sum("balance") OVER (PARTITION BY "region" ORDER BY "day" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
/// ```
///
/// Without an order all rows of the partition are seen; with one and without a frame, those up to the current row and
/// its equals.
///
/// A window that several functions use is named once, by `window(_:as:)` of the query, and used by its name:
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

    /// A window of all rows.
    public init() {}

    /// A window of the rows with equal values.
    public static func partition(by expressions: any Expressible...) -> Window {
        var window = Window()
        window.partition = expressions.map(\.node)
        return window
    }

    /// A window of all rows in an order.
    public static func order(_ by: any Expressible...) -> Window {
        var window = Window()
        window.order = by.map(\.node)
        return window
    }

    /// A window that begins with what another one says, which the query names: an order is added where that one has none,
    /// and a frame. SQLite 3.28 and later.
    ///
    /// ```swift
    /// balance.sum.over(.extending("w").rows(from: .preceding(2)))  // OVER ("w" ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)
    /// ```
    ///
    /// A window with a frame cannot be extended; to run one that does anyway throws `DatabaseError`.
    public static func extending(_ name: String) -> Window {
        var window = Window()
        window.base = name
        return window
    }

    /// The window with its rows in an order.
    public func order(_ by: any Expressible...) -> Window {
        var window = self
        window.order = by.map(\.node)
        return window
    }

    /// The window with a frame counted in rows: `ROWS BETWEEN … AND …`.
    public func rows(
        from start: FrameBound, to end: FrameBound = .currentRow, exclude: FrameExclusion? = nil
    ) -> Window { framed("ROWS", start, end, exclude) }

    /// The window with a frame by the values of its order, which is then one number: `RANGE BETWEEN … AND …`. Bounds
    /// with a distance need SQLite 3.28.
    public func range(
        from start: FrameBound, to end: FrameBound = .currentRow, exclude: FrameExclusion? = nil
    ) -> Window { framed("RANGE", start, end, exclude) }

    /// The window with a frame counted in groups of rows of equal order: `GROUPS BETWEEN … AND …`. SQLite 3.28 and later.
    public func groups(
        from start: FrameBound, to end: FrameBound = .currentRow, exclude: FrameExclusion? = nil
    ) -> Window { framed("GROUPS", start, end, exclude) }

    private func framed(
        _ unit: String, _ start: FrameBound, _ end: FrameBound, _ exclude: FrameExclusion?
    ) -> Window {
        var window = self
        window.frame = .words(
            .text("\(unit) BETWEEN"), start.node, .text("AND"), end.node,
            exclude.map { .text("EXCLUDE \($0.rawValue)") })
        return window
    }

    /// What stands in the parentheses of OVER.
    public var expression: SQLExpression<Void> {
        SQLExpression(
            root: .words(
                base.map { .identifier($0) },
                partition.isEmpty ? nil : .words(.text("PARTITION BY"), .joined(partition, separator: ", ")),
                order.isEmpty ? nil : .words(.text("ORDER BY"), .joined(order, separator: ", ")), frame))
    }
}

/// Where a frame begins or ends.
public struct FrameBound: Sendable {
    let node: SQLNode

    /// At the first row of the partition.
    public static var unboundedPreceding: FrameBound { FrameBound(node: .text("UNBOUNDED PRECEDING")) }
    /// So many rows, groups or units of the order before the current row.
    public static func preceding(_ distance: some Value) -> FrameBound {
        FrameBound(node: .words(distance.node, .text("PRECEDING")))
    }
    /// At the current row; with `range` and `groups`, with its equals.
    public static var currentRow: FrameBound { FrameBound(node: .text("CURRENT ROW")) }
    /// So many rows, groups or units of the order after the current row.
    public static func following(_ distance: some Value) -> FrameBound {
        FrameBound(node: .words(distance.node, .text("FOLLOWING")))
    }
    /// At the last row of the partition.
    public static var unboundedFollowing: FrameBound { FrameBound(node: .text("UNBOUNDED FOLLOWING")) }
}

/// What a frame leaves out. SQLite 3.28 and later.
public enum FrameExclusion: String, Sendable {
    /// The current row.
    case currentRow = "CURRENT ROW"
    /// The current row and its equals.
    case group = "GROUP"
    /// The equals of the current row, but not the row itself.
    case ties = "TIES"
}

extension SQLExpression {
    /// An aggregate or window function over a window: `sum(x) OVER (…)`. SQLite 3.25 and later.
    public func over(_ window: Window = Window()) -> SQLExpression {
        SQLExpression(root: .words(root, .wrapped("OVER ", window.node)))
    }

    /// An aggregate or window function over a window that the query names: `sum(x) OVER "w"`. SQLite 3.25 and later.
    ///
    /// - Parameter window: the name that `window(_:as:)` gave. One that the query does not have is a `DatabaseError` of
    ///   the run.
    public func over(_ window: String) -> SQLExpression {
        SQLExpression(root: .words(root, .text("OVER"), .identifier(window)))
    }

    /// An aggregate of the rows that meet a condition: `count(*) FILTER (WHERE …)`. SQLite 3.30 and later.
    public func filter(_ condition: SQLExpression<Bool>) -> SQLExpression { filtered(condition.root) }

    /// An aggregate of the rows that meet a condition: `count(*) FILTER (WHERE …)`. SQLite 3.30 and later.
    public func filter(_ condition: SQLExpression<Bool?>) -> SQLExpression { filtered(condition.root) }

    private func filtered(_ condition: SQLNode) -> SQLExpression {
        SQLExpression(root: .words(root, .wrapped("FILTER ", .words(.text("WHERE"), condition))))
    }
}
