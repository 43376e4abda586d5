internal import LiteVaultCore

extension Connection {
    /// Takes the lock and the statement of an INSERT of one row, and binds its values. Balanced by `end(_:)`, unless it
    /// throws.
    ///
    /// An application inserts into the same columns again and again: the statement of the last time is found by comparing
    /// table and columns, without making the text. Under the lock.
    func begin(_ row: InsertedRow) throws -> Execution {
        if let shape = lastInsert as? InsertShape, shape.matches(row), let execution = try begin(shape.statement) {
            return try binding(row, execution)
        }
        var builder = SQLBuilder()
        builder.append(row)
        guard row.hasOnlyValues else { return try begin(builder) }
        let execution = try begin(builder.utf8)
        lastInsert = InsertShape(row, execution.statement)
        return try binding(row, execution)
    }

    private func binding(_ row: InsertedRow, _ execution: Execution) throws -> Execution {
        do {
            try execution.bind(count: row.count) { index in row.value(at: index) }
        } catch {
            end(execution)
            throw error
        }
        return execution
    }
}

/// Table and columns of an INSERT, and its statement.
private final class InsertShape {
    let table: QueryClauses.From
    let onConflict: OnConflict?
    let columns: [SQLNode]
    let statement: PreparedStatement

    init(_ row: InsertedRow, _ statement: PreparedStatement) {
        table = row.table
        onConflict = row.onConflict
        columns = row.columns
        self.statement = statement
    }

    func matches(_ row: InsertedRow) -> Bool {
        guard row.count == columns.count, row.onConflict == onConflict, row.condition == nil, row.table == table,
            row.hasOnlyValues
        else { return false }
        for index in columns.indices where !SQLNode.isSame(columns[index], row.column(at: index)) { return false }
        return true
    }
}
