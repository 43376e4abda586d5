internal import CEngineSupport

extension PreparedStatement {
    /// A copy of the current row. Under the connection's lock.
    package func copyRow(_ columns: RowColumns) -> Row {
        if isKnownUniquelyReferenced(&cells), let cells, cells.columns === columns {
            // Nobody kept the row before. What another thread read of it, it read before it gave its reference away.
            cells.read(handle)
            return Row(cells)
        }
        let cells = RowCells(columns)
        cells.read(handle)
        self.cells = cells
        return Row(cells)
    }

    /// What the columns are called, and how expressions name them. Under the connection's lock, after the first step of
    /// an execution: that is when the engine prepares a statement anew.
    ///
    /// - Parameters:
    ///   - isSame: whether what was made before by `make` still holds.
    ///   - make: finds out, and returns what `isSame` is asked about as well.
    package func rowColumns(
        isSame: (AnyObject) -> Bool, make: ([String]) throws -> (RowColumns, AnyObject)
    ) rethrows -> RowColumns {
        let reprepares = lv_reprepare_count(handle)
        if let described, reprepares >= 0, reprepares == described.reprepares, isSame(described.origin) {
            return described.columns
        }
        let (columns, origin) = try make(columnNames)
        // The connection may have been used by `make`, so ask again.
        described = Described(columns: columns, origin: origin, reprepares: lv_reprepare_count(handle))
        return columns
    }

    /// The same for rows whose columns are named by the statement alone.
    package func rowColumns() -> RowColumns {
        rowColumns(isSame: { $0 is NamedByStatement }, make: { (RowColumns(names: $0), NamedByStatement()) })
    }
}

extension Execution {
    /// Asks something about the statement.
    package func withPrepared<T>(_ body: (PreparedStatement) throws -> T) rethrows -> T {
        try body(prepared.takeUnretainedValue())
    }

    /// A copy of the current row.
    ///
    /// - Parameter columns: finds out what the columns are called.
    package func copyRow(_ columns: (PreparedStatement) throws -> RowColumns) rethrows -> Row {
        let prepared = prepared.takeUnretainedValue()
        return prepared.copyRow(try columns(prepared))
    }
}

/// Marks columns that no query describes.
final class NamedByStatement {}

/// What is known about the columns of a statement's rows.
struct Described {
    let columns: RowColumns
    let origin: AnyObject
    let reprepares: Int32
}
