internal import LiteVaultCore

/// An INSERT of one row. An object, so that passing it on copies one word.
@usableFromInline
package final class InsertedRow: SQLFragment {
    let table: QueryClauses.From
    let onConflict: OnConflict?
    let condition: SQLNode?
    private let first: Setter
    /// The other assignments, from `start` on. A variadic call gives an array without the first one, which is used as it
    /// is: one array of all would cost more than binding the values.
    private let others: [Setter]
    private let start: Int
    /// The number of columns.
    let count: Int

    /// Creates a row from one assignment and any others.
    @usableFromInline
    init(_ table: QueryClauses.From, _ condition: SQLNode?, first: Setter, others: [Setter]) {
        self.table = table
        onConflict = nil
        self.condition = condition
        self.first = first
        self.others = others
        start = 0
        count = 1 + others.count
    }

    /// Creates a row from a list of assignments; nil for an empty list.
    init?(_ table: QueryClauses.From, _ onConflict: OnConflict?, _ condition: SQLNode?, _ setters: [Setter]) {
        guard let first = setters.first else { return nil }
        self.table = table
        self.onConflict = onConflict
        self.condition = condition
        self.first = first
        others = setters
        start = 1
        count = setters.count
    }

    /// The assignment at a position, from 0.
    @inline(__always)
    func setter(at index: Int) -> Setter { index == 0 ? first : others[start &+ index &- 1] }

    var columns: [SQLNode] { (0..<count).map { setter(at: $0).column } }

    /// Whether every column is set to a value, none to an expression.
    var hasOnlyValues: Bool { first.isValue && others.allSatisfy(\.isValue) }

    /// Whether the row sets exactly these columns, in this order, to values.
    func setsValues(of columns: [SQLNode]) -> Bool {
        guard count == columns.count else { return false }
        for index in 0..<count {
            guard setter(at: index).kind != .expression else { return false }
            // Different objects may still name the same column.
            guard
                setter(at: index).column === columns[index] || SQLNode.isSame(setter(at: index).column, columns[index])
            else { return false }
        }
        return true
    }

    /// Appends the INSERT.
    @usableFromInline
    package func render(into builder: inout SQLBuilder) {
        if let onConflict {
            builder.append("INSERT OR ")
            builder.append(onConflict.rawValue)
            builder.append(" INTO ")
        } else {
            builder.append("INSERT INTO ")
        }
        builder.append(tableOf: table)
        builder.append(" (")
        for index in 0..<count {
            if index > 0 { builder.append(", ") }
            builder.append(setter(at: index).column)
        }
        builder.append(") VALUES (")
        for index in 0..<count {
            if index > 0 { builder.append(", ") }
            builder.append(setter(at: index).value)
        }
        builder.append(")")
        builder.appendCondition(condition)
    }
}

extension Connection {
    /// Inserts a row.
    ///
    /// Applications insert into the same columns repeatedly. The statement of an earlier insert is found by comparing
    /// table and columns, without rendering the SQL.
    func insert(_ row: InsertedRow) throws -> RunResult {
        guard let execution = try begin(row) else { return try run(rendering: .fragment(row)) }
        return try bindAndRun(row, execution, from: 0, code: 0, texts: 0)
    }

    /// Takes the lock and the statement for an INSERT of values, without binding them. Balance with `end(_:)`, unless this
    /// throws or returns nil. It returns nil when a column is set to an expression.
    private func begin(_ row: InsertedRow) throws -> Execution? {
        _ = try enter()
        let shapes = lastInserts as? InsertShapes
        if let statement = shapes?.statement(for: row), let execution = reuse(statement) { return execution }
        // `begin` below takes the lock a second time.
        defer { leave() }
        guard row.hasOnlyValues else { return nil }
        var builder = SQLBuilder()
        row.render(into: &builder)
        let execution = try begin(builder.utf8)
        if let shapes {
            shapes.remember(row, execution.statement)
        } else {
            lastInserts = InsertShapes(row, execution.statement)
        }
        return execution
    }

    /// Binds the values from a position on, runs the statement and ends its execution.
    /// It calls itself for each text. The bytes of a text are guaranteed to stay in place only within a closure, and
    /// there the engine does not have to copy them. The depth is limited, because a row may have thousands of texts.
    ///
    /// - Parameter code: the first result of binding other than `SQLITE_OK` (0).
    private func bindAndRun(
        _ row: InsertedRow, _ execution: Execution, from start: Int, code: Int32, texts: Int
    ) throws -> RunResult {
        var code = code
        for index in start..<row.count {
            let bound: Int32
            switch row.setter(at: index).kind {
            case .null: bound = execution.bindNull(at: index)
            case .integer: bound = execution.bind(integer: row.setter(at: index).bits, at: index)
            case .real: bound = execution.bind(real: row.setter(at: index).real, at: index)
            case .text:
                let text = row.setter(at: index).text
                let result =
                    texts < 16
                    ? try text.utf8.withContiguousStorageIfAvailable { utf8 in
                        let bound = execution.bind(staying: utf8, at: index)
                        return try bindAndRun(
                            row, execution, from: index + 1, code: code == 0 ? bound : code, texts: texts + 1)
                    } : nil
                if let result { return result }
                bound = execution.bind(text, at: index)
            case .other, .expression:
                guard case .value(let value)? = row.setter(at: index).node?.kind else { continue }
                bound = execution.bind(value, at: index)
            }
            if code == 0 { code = bound }
        }
        // Ends here, while the texts are still in place: ending clears the statement's bindings.
        defer { end(execution) }
        try execution.run(afterBinding: code, count: row.count)
        return execution.result
    }
}

/// The shapes of the most recent INSERTs. Rows with nil in different columns have a few shapes between them.
private final class InsertShapes {
    private var shapes: [InsertShape]
    private var oldest = 0

    init(_ row: InsertedRow, _ statement: PreparedStatement) { shapes = [InsertShape(row, statement)] }

    func statement(for row: InsertedRow) -> PreparedStatement? {
        for index in shapes.indices where shapes[index].matches(row) { return shapes[index].statement }
        return nil
    }

    func remember(_ row: InsertedRow, _ statement: PreparedStatement) {
        let shape = InsertShape(row, statement)
        // A shape that matches has a statement that could not be reused.
        if let index = shapes.firstIndex(where: { $0.matches(row) }) {
            shapes[index] = shape
        } else if shapes.count < 4 {
            shapes.append(shape)
        } else {
            shapes[oldest] = shape
            oldest = (oldest + 1) % shapes.count
        }
    }
}

/// The table and columns of an INSERT, and its statement.
private final class InsertShape {
    private let table: QueryClauses.From
    private let onConflict: OnConflict?
    private let columns: [SQLNode]
    let statement: PreparedStatement

    init(_ row: InsertedRow, _ statement: PreparedStatement) {
        table = row.table
        onConflict = row.onConflict
        columns = row.columns
        self.statement = statement
    }

    func matches(_ row: InsertedRow) -> Bool {
        row.count == columns.count && row.onConflict == onConflict && row.condition == nil && row.table == table
            && row.setsValues(of: columns)
    }
}
