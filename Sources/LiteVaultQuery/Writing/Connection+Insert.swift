internal import LiteVaultCore

extension Connection {
    /// Inserts a row.
    ///
    /// An application inserts into the same columns again and again: the statement of an earlier time is found by comparing
    /// table and columns, without making the text.
    ///
    /// - Returns: the rowid of the last row inserted.
    func insert(_ row: InsertedRow) throws -> Int64 {
        let execution = try begin(row)
        guard let execution else { return try insertRendered(.insert(row)) }
        return try bindAndRun(row, execution, from: 0, code: 0, texts: 0)
    }

    /// Runs an INSERT by its text.
    func insertRendered(_ node: SQLNode) throws -> Int64 {
        var builder = SQLBuilder()
        builder.append(node)
        let execution = try begin(builder)
        defer { end(execution) }
        while try execution.step() {}
        return execution.lastInsertRowid
    }

    /// Takes the lock and the statement of an INSERT of values, without binding them. Balanced by `end(_:)`, unless it
    /// throws or is nil: a column is set to an expression then.
    private func begin(_ row: InsertedRow) throws -> Execution? {
        _ = try enter()
        let shapes = lastInserts as? InsertShapes
        if let statement = shapes?.statement(for: row), let execution = reuse(statement) { return execution }
        // What follows takes the lock once more.
        defer { leave() }
        guard row.hasOnlyValues else { return nil }
        var builder = SQLBuilder()
        builder.append(row)
        let execution = try begin(builder.utf8)
        if let shapes {
            shapes.remember(row, execution.statement)
        } else {
            lastInserts = InsertShapes(row, execution.statement)
        }
        return execution
    }

    /// Binds the values from a position on, runs the statement and ends its execution.
    ///
    /// It calls itself for each text: the bytes of a text are certain to stay only for the length of a closure, and there
    /// the engine need not copy them. Not without bounds, as a row may have thousands.
    ///
    /// - Parameter code: the first result of binding that was not 0, `SQLITE_OK`.
    private func bindAndRun(
        _ row: InsertedRow, _ execution: Execution, from start: Int, code: Int32, texts: Int
    ) throws -> Int64 {
        var code = code
        for index in start..<row.count {
            let bound: Int32
            switch row.setter(at: index).kind {
            case .null: bound = execution.bindNull(at: index)
            case .integer: bound = execution.bind(integer: row.setter(at: index).bits, at: index)
            case .real: bound = execution.bind(real: row.setter(at: index).real, at: index)
            case .text:
                let text = row.setter(at: index).text
                let rowid =
                    texts < 16
                    ? try text.utf8.withContiguousStorageIfAvailable { utf8 in
                        let bound = execution.bind(staying: utf8, at: index)
                        return try bindAndRun(
                            row, execution, from: index + 1, code: code == 0 ? bound : code, texts: texts + 1)
                    } : nil
                if let rowid { return rowid }
                bound = execution.bind(text, at: index)
            case .other, .expression:
                guard case .value(let value)? = row.setter(at: index).node?.kind else { continue }
                bound = execution.bind(value, at: index)
            }
            if code == 0 { code = bound }
        }
        // Here, before the texts go: ending an execution takes the values away from the statement.
        defer { end(execution) }
        try execution.run(afterBinding: code, count: row.count)
        return execution.lastInsertRowid
    }
}

/// The INSERTs that were run last: values whose nils differ have a few between them.
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
        // One that matches has a statement that cannot be used again.
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

/// Table and columns of an INSERT, and its statement.
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
