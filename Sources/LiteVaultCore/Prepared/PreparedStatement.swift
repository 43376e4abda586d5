internal import CEngineSupport
internal import LiteVaultEngine
internal import LiteVaultSystem

/// A `sqlite3_stmt` and its cached properties. It belongs to one connection and is used only under its lock.
@usableFromInline
package final class PreparedStatement {
    @usableFromInline package let handle: OpaquePointer
    package let sql: String
    let isCacheable: Bool
    @usableFromInline let parameterCount: Int32
    /// Where records put the texts of their columns; nil for a statement without parameters.
    private let textMemory: UnsafeMutableBufferPointer<CChar>?
    /// Whether the cache retains it.
    var isCached = false
    /// Cached and in use: code that needs the same text meanwhile prepares another statement.
    var isInUse = false
    /// When it was last used, by which the cache chooses the statement to drop.
    var lastUse: UInt64 = 0
    /// Counts its executions: the end of an iteration resets it only if no other execution has begun since.
    var execution: UInt64 = 0
    /// Whether it may have been stepped since its last reset.
    var isRunning = false
    /// Whether the names may have changed: the engine prepares a statement again at the first step of an execution.
    var mayHaveNewNames = true
    /// The number of rows of the last array.
    var lastRowCount = 0
    /// The row that was copied last: its memory is reused unless the row was kept.
    private var cells: RowCells?
    /// The names of the columns of copied rows.
    private var layout: ColumnLayout?
    private var names: [String] = []
    private var nameReprepares: Int32 = -1
    /// The position at which the next column is looked up first.
    private var hint = 0
    /// The names of more than one column.
    private var duplicates: Set<ExactText> = []

    init(handle: OpaquePointer, sql: String, isCacheable: Bool) {
        self.handle = handle
        self.sql = sql
        self.isCacheable = isCacheable
        parameterCount = sqlite3_bind_parameter_count(handle)
        textMemory = parameterCount > 0 ? .allocate(capacity: 512) : nil
    }

    deinit { textMemory?.deallocate() }

    /// Empty memory for the texts of one execution.
    var textSpace: TextSpace { TextSpace(textMemory) }

    /// The names of the columns, read again after the schema changed and the engine prepared the statement again.
    @usableFromInline
    var columnNames: [String] {
        let reprepares = lv_reprepare_count(handle)
        // An engine that does not count preparations (before 3.20) is queried each time.
        if reprepares == nameReprepares, reprepares >= 0 { return names }
        let read = (0..<sqlite3_column_count(handle)).map { index in
            sqlite3_column_name(handle, index).map { String(cString: $0) } ?? ""
        }
        names = read
        duplicates = Set(Dictionary(grouping: read, by: { ExactText($0) }).filter { $0.value.count > 1 }.keys)
        hint = 0
        nameReprepares = reprepares
        return read
    }

    /// The position of a column, by its name.
    ///
    /// Rows are usually read in the same order: the column after the last one found is tried first.
    @usableFromInline
    func index(of name: String) throws -> Int32 {
        if mayHaveNewNames {
            _ = columnNames
            mayHaveNewNames = false
        }
        let position = hint
        if position < names.count, isSameText(names[position], name),
            duplicates.isEmpty || !duplicates.contains(ExactText(name))
        {
            hint = position + 1 == names.count ? 0 : position + 1
            return Int32(position)
        }
        guard let found = names.firstIndex(where: { isSameText($0, name) }) else {
            throw QueryError.noSuchColumn(name: name, columns: names)
        }
        guard !duplicates.contains(ExactText(name)) else {
            throw QueryError.ambiguousColumn(name: name, similar: names.filter { isSameText($0, name) })
        }
        hint = found + 1
        return Int32(found)
    }

    func isOf(_ text: String) -> Bool { isSameText(sql, text) }

    func isOf(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        // All native strings are contiguous; for other ones, the cache is searched by the text.
        sql.utf8.withContiguousStorageIfAvailable { own in
            guard own.count == utf8.count, let left = own.baseAddress, let right = utf8.baseAddress else {
                return false
            }
            return memcmp(left, right, own.count) == 0
        } ?? false
    }

    /// Makes it ready for the next use: without locks, bound values and much memory.
    func reset() {
        if let cells, cells.capacity > 1 << 14 { self.cells = nil }
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }
}

extension PreparedStatement {
    /// A copy of the current row. Called under the connection's lock.
    package func copyRow(_ columns: RowColumns) -> Row {
        if isKnownUniquelyReferenced(&cells), let cells, cells.columns === columns {
            // Nobody kept the previous row. Another thread that read it has done so before it released its reference.
            cells.read(handle)
            return Row(cells)
        }
        let cells = RowCells(columns)
        cells.read(handle)
        self.cells = cells
        return Row(cells)
    }

    /// The names of the columns, and how expressions refer to them. Called under the connection's lock, after the first
    /// step of an execution: that is when the engine prepares a statement again.
    ///
    /// - Parameters:
    ///   - isSame: whether the previous result of `make` is still valid.
    ///   - make: determines the names, and returns the state to be passed to `isSame`.
    package func rowColumns(
        isSame: (AnyObject) -> Bool, make: ([String]) throws -> (RowColumns, AnyObject)
    ) rethrows -> RowColumns {
        let reprepares = lv_reprepare_count(handle)
        let dates = DateStorages.storage(of: sqlite3_db_handle(handle))
        if let layout, reprepares >= 0, reprepares == layout.reprepares, layout.columns.dates == dates,
            isSame(layout.origin)
        {
            return layout.columns
        }
        let (columns, origin) = try make(columnNames)
        columns.dates = dates
        // `make` may have used the connection, so check again.
        layout = ColumnLayout(columns: columns, origin: origin, reprepares: lv_reprepare_count(handle))
        return columns
    }

    /// The same for rows whose columns are named by the statement alone.
    package func rowColumns() -> RowColumns {
        rowColumns(isSame: { $0 is NamedByStatement }, make: { (RowColumns(names: $0), NamedByStatement()) })
    }
}

/// Marks columns that no query describes.
private final class NamedByStatement {}

/// The known properties of the columns of a statement's rows.
private struct ColumnLayout {
    let columns: RowColumns
    let origin: AnyObject
    let reprepares: Int32
}
