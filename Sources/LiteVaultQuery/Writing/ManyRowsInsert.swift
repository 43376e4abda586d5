internal import LiteVaultCore

/// An INSERT of several rows that set different columns, or have more values than every engine takes in one statement.
@usableFromInline
struct InsertedRows: Sendable {
    /// The insert as one statement, with NULL where a row does not set a column: SQL cannot name a default value there.
    private(set) var statement: SQLNode
    let onConflict: OnConflict?
    /// The table, with the query's other clauses.
    private let table: Table
    /// Every column that some row sets.
    private let columns: [SQLNode]
    private let rows: [[Setter]]
    /// Appended to each statement.
    private var clause: SQLNode?

    /// - Parameter printed: the rows of the single statement, with the columns of all rows.
    init(_ clauses: QueryClauses, _ onConflict: OnConflict?, _ rows: [[Setter]], printed: [[Setter]]) {
        var table = Table(clauses.from.name)
        table.clauses = clauses
        columns = Self.columns(of: printed)
        statement =
            columns.isEmpty
            ? table.insertingDefaults(onConflict).root : table.insertStatement(onConflict, columns, printed)
        self.onConflict = onConflict
        self.table = table
        self.rows = rows
    }

    func adding(_ clause: SQLNode) -> InsertedRows {
        var rows = self
        rows.statement = .words(statement, clause)
        rows.clause = clause
        return rows
    }

    /// Every column that some row sets, in order of first appearance.
    static func columns(of rows: [[Setter]]) -> [SQLNode] {
        var known: Set<SQLName> = []
        return rows.joined().filter { known.insert($0.column.columnName).inserted }.map(\.column)
    }

    /// The statements to run: one for each sequence of rows that omit the same NOT NULL columns, which then get their
    /// default values, and that have no more values than the engine takes.
    fileprivate func parts(_ connection: Connection) throws -> [SQLNode] {
        let sequences = try sequences(connection)
        let limit = connection.parameterLimit - (clause?.parameterCount ?? 0)
        let parts = sequences.flatMap { sequence -> [(columns: [SQLNode], rows: ArraySlice<[Setter]>)] in
            let columns = columns.filter { !sequence.omitted.contains($0.columnName) }
            return Self.chunks(sequence.rows, of: columns.count, limit: limit).map { (columns, $0) }
        }
        guard parts.count > 1 || columns.isEmpty || sequences.contains(where: { !$0.omitted.isEmpty }) else {
            return [statement]
        }
        return parts.flatMap { part -> [SQLNode] in
            // Without columns there is no VALUES list: each row is a statement of its own.
            guard !part.columns.isEmpty else {
                return part.rows.map { _ in .words(table.insertingDefaults(onConflict).root, clause) }
            }
            return [.words(table.insertStatement(onConflict, part.columns, part.rows), clause)]
        }
    }

    /// The rows, in sequences of those that omit the same NOT NULL columns.
    private func sequences(_ connection: Connection) throws -> [(omitted: Set<SQLName>, rows: [[Setter]])] {
        let names = columns.map(\.columnName)
        guard rows.contains(where: { Set($0.map(\.column.columnName)) != Set(names) }) else { return [([], rows)] }
        let required = try connection.requiredColumns(of: table.clauses.from)
        var sequences: [(omitted: Set<SQLName>, rows: [[Setter]])] = []
        for row in rows {
            let own = Set(row.map(\.column.columnName))
            let omitted = Set(names.filter { required.contains($0) && !own.contains($0) })
            if omitted == sequences.last?.omitted {
                sequences[sequences.count - 1].rows.append(row)
            } else {
                sequences.append((omitted, [row]))
            }
        }
        return sequences
    }

    /// Rows in pieces that have at most `limit` parameters each, or are a single row.
    private static func chunks(_ rows: [[Setter]], of columns: Int, limit: Int) -> [ArraySlice<[Setter]>] {
        var chunks: [ArraySlice<[Setter]>] = []
        var (start, count) = (0, 0)
        for (index, row) in rows.enumerated() {
            // A column that the row does not set is a parameter, too: NULL.
            let size = row.reduce(max(0, columns - row.count)) { $0 + $1.value.parameterCount }
            if count + size > limit, index > start {
                chunks.append(rows[start..<index])
                (start, count) = (index, 0)
            }
            count += size
        }
        return chunks + [rows[start...]]
    }

    /// The number of parameters that a statement may have on every engine.
    fileprivate static let leastLimit = 999
}

extension QueryType {
    func insertingMany(_ onConflict: OnConflict?, _ rows: [[Setter]]) -> Insert {
        insertingMany(onConflict, rows, printed: rows)
    }

    /// - Parameter printed: the rows of the single statement.
    func insertingMany(_ onConflict: OnConflict?, _ rows: [[Setter]], printed: [[Setter]]) -> Insert {
        guard !printed.allSatisfy(\.isEmpty) else {
            guard rows.count > 1 else { return insertingDefaults(onConflict) }
            return Insert(.rows(InsertedRows(clauses, onConflict, rows, printed: printed)))
        }
        var hasTooMany: Bool {
            rows.lazy.joined().reduce(0) { $0 + $1.value.parameterCount } > InsertedRows.leastLimit
        }
        guard Set(rows.map { Set($0.map(\.column.columnName)) }).count > 1 || hasTooMany else {
            return Insert(root: insertStatement(onConflict, InsertedRows.columns(of: printed), printed))
        }
        return Insert(.rows(InsertedRows(clauses, onConflict, rows, printed: printed)))
    }

    /// One statement for all rows, with NULL where a row does not set a column.
    fileprivate func insertStatement(_ onConflict: OnConflict?, _ columns: [SQLNode], _ rows: some Sequence<[Setter]>)
        -> SQLNode
    {
        let positions = Dictionary(
            columns.enumerated().map { ($1.columnName, $0) }, uniquingKeysWith: { first, _ in first })
        let values = rows.map { setters -> SQLNode in
            var values = [SQLNode?](repeating: nil, count: columns.count)
            for setter in setters {
                // Of several values for one column SQLite takes the first.
                if let position = positions[setter.column.columnName] {
                    values[position] = values[position] ?? setter.value
                }
            }
            return row(values.map { $0 ?? .value(nil) })
        }
        return .words(
            insertHead(onConflict, columns), .text("VALUES"), .joined(values, separator: ", "), whereClause)
    }
}

extension Connection {
    /// Inserts rows by several statements if necessary, all or none.
    func insert(_ rows: InsertedRows) throws -> RunResult {
        var (changes, rowid) = (0, Int64(0))
        try forEachPart(of: rows) {
            let result = try run(rendering: $0)
            (changes, rowid) = (changes + result.changes, result.insertedRowID)
        }
        return RunResult(changes: changes, insertedRowID: rowid)
    }

    /// Passes each statement to a closure, inside a savepoint: changes of one are kept only if all succeed, unless the
    /// conflict clause specifies otherwise.
    func forEachPart(of rows: InsertedRows, _ body: (SQLNode) throws -> Void) throws {
        try withLock {
            let parts = try rows.parts(self)
            guard parts.count > 1 else { return try parts.forEach(body) }
            var failure: (any Error)?
            try withSavepoint {
                do { for part in parts { try body(part) } } catch  where rows.onConflict == .fail {
                    // A single statement would keep the rows before the one that failed, too.
                    failure = error
                }
            }
            if let failure { throw failure }
        }
    }

    /// The NOT NULL columns of a table (`PRAGMA table_info`).
    fileprivate func requiredColumns(of table: QueryClauses.From) throws -> Set<SQLName> {
        let schema = table.database.map { quoted($0) + "." } ?? ""
        let columns = try all("PRAGMA \(sql: schema)table_info(\(identifier: table.name))") { row in
            (name: try row.get(1, as: String.self), isRequired: try row.get(3, as: Int.self) != 0)
        }
        return Set(columns.filter(\.isRequired).map { SQLName($0.name) })
    }
}
