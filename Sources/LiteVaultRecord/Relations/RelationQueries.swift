internal import LiteVaultCore
public import LiteVaultPool
public import LiteVaultQuery

extension RecordQuery {
    /// The records, each with what belongs to it: one statement for the records, and one for each relation.
    ///
    /// ```swift
    /// for (author, books) in try Author.order(Author.name).including(Author.books).all(db) { … }
    /// ```
    ///
    /// - Parameter relations: relations of any kind.
    public func including<each V: RelatedValue>(
        _ relations: repeat Relation<R, each V>
    ) -> RecordRows<(R, repeat each V)> {
        RecordRows(NestedSource(query: self, levels: NestedLevels(relations: repeat each relations)))
    }

    /// The records, each with the one that it belongs to or has, by one statement that joins the tables.
    ///
    /// A row without a related one has nil for it; where the relation requires one, the row is left out.
    ///
    /// - Parameter relations: relations to one row. A condition on their columns names them by the relation:
    ///   `Book.author[Author.name] == "Ada"`.
    public func joining<each V: RelatedToOne>(
        _ relations: repeat Relation<R, each V>
    ) -> RecordRows<(R, repeat each V)> {
        RecordRows(JoinSource(query: self, relations: (repeat each relations)))
    }

    /// The query with the table of a relation joined to it, for conditions, orders and selections that name its columns:
    /// `Book.author[Author.name]`. The columns of the query's own table are named as before.
    ///
    /// - Parameters:
    ///   - relation: a relation of any kind. With several related rows, a row comes as often as there are such.
    ///   - type: by default rows without a related one stay, with NULL in its columns.
    public func joined<V: RelatedValue>(to relation: Relation<R, V>, _ type: JoinType = .leftOuter) -> RecordQuery {
        var query = self
        query.clauses.addJoin(
            type, subquery: relation.joinSource, alias: relation.alias, on: relation.joinCondition(of: tableName))
        return query
    }

    /// The records, each with values that are computed for its row, such as the number of related rows.
    ///
    /// ```swift
    /// for (author, count, pages) in try Author.query.annotated(with: Author.books.count, Author.books.sum(Book.pages)).all(db) { … }
    /// ```
    public func annotated<each C: SQLType>(
        with columns: repeat SQLExpression<each C>
    ) -> RecordRows<(R, repeat each C)> {
        RecordRows(AnnotationSource(query: self, columns: (repeat each columns)))
    }
}

extension Record {
    /// All records, each with what belongs to it: see ``RecordQuery/including(_:)``.
    public static func including<each V: RelatedValue>(
        _ relations: repeat Relation<Self, each V>
    ) -> RecordRows<(Self, repeat each V)> { query.including(repeat each relations) }

    /// All records, each with the one that it belongs to or has, by a join: see ``RecordQuery/joining(_:)``.
    public static func joining<each V: RelatedToOne>(
        _ relations: repeat Relation<Self, each V>
    ) -> RecordRows<(Self, repeat each V)> { query.joining(repeat each relations) }

    /// All records, each with values that are computed for its row: see ``RecordQuery/annotated(with:)``.
    public static func annotated<each C: SQLType>(
        with columns: repeat SQLExpression<each C>
    ) -> RecordRows<(Self, repeat each C)> { query.annotated(with: repeat each columns) }
}

/// Records with what belongs to each of them, as tuples.
public struct RecordRows<Row>: Sendable {
    private let source: any RowSource<Row>

    init(_ source: some RowSource<Row>) { self.source = source }

    /// Returns the records, each with what belongs to it.
    ///
    /// Where several statements are needed, they read the same state: outside of a transaction, one is made.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: `VaultError` `notFound` when a row that has to be there is not; `QueryError`; `DatabaseError`.
    public func all(_ db: some RecordDatabase) throws -> [Row] { try db._withReader { try rows($0, limit: nil) } }

    /// Returns the first record, with what belongs to it; nil when there is none.
    ///
    /// - Parameter db: a connection, pool or queue.
    /// - Throws: as ``all(_:)``.
    public func first(_ db: some RecordDatabase) throws -> Row? { try db._withReader { try rows($0, limit: 1).first } }

    private func rows(_ db: Connection, limit: Int?) throws -> [Row] {
        guard source.isSnapshot, !db.isInTransaction else { return try source.readAll(db, limit: limit) }
        return try db.transaction(.deferred) { try source.readAll(db, limit: limit) }
    }
}

/// Reads rows that consist of a record and something else.
protocol RowSource<Row>: Sendable {
    associatedtype Row

    /// Whether several statements have to read the same state.
    var isSnapshot: Bool { get }

    /// - Parameter limit: the number of rows; nil for all.
    func readAll(_ db: Connection, limit: Int?) throws -> [Row]
}

extension RowSource {
    var isSnapshot: Bool { false }
}

extension RecordRows where Row: Sendable {
    /// Returns the records, each with what belongs to it, without blocking a thread.
    public func all(_ db: DatabaseAccess) async throws -> [Row] { try await db.read { try all($0) } }

    /// Returns the first record, with what belongs to it, without blocking a thread; nil when there is none.
    public func first(_ db: DatabaseAccess) async throws -> Row? { try await db.read { try first($0) } }
}

/// Reads related rows by joins.
struct JoinSource<R: Record, each V: RelatedToOne>: RowSource {
    let query: RecordQuery<R>
    let relations: (repeat Relation<R, each V>)

    func readAll(_ db: Connection, limit: Int?) throws -> [(R, repeat each V)] {
        var joined = query
        var columns: [SQLNode] = []
        for relation in repeat each relations {
            if let problem = relation.problem { throw problem }
            joined = joined.joined(to: relation, relation.alwaysHasRow ? .inner : .leftOuter)
            columns.append(relation.joinSelection)
        }
        var rows: [(R, repeat each V)] = []
        try joined.read(db, adding: columns, limit: limit) { execution in
            var start = R.table.columnCount
            func next<Value: RelatedToOne>(_ type: Value.Type) throws -> Value {
                defer { start += Value.RelatedRecord.table.columnCount }
                var reader = RecordReader(execution, from: start)
                return try Value.related(row: &reader)
            }
            rows.append((try R.read(execution), repeat try next((each V).self)))
        }
        return rows
    }
}

/// Reads values that are computed for the row of each record.
struct AnnotationSource<R: Record, each C: SQLType>: RowSource {
    let query: RecordQuery<R>
    let columns: (repeat SQLExpression<each C>)

    func readAll(_ db: Connection, limit: Int?) throws -> [(R, repeat each C)] {
        var nodes: [SQLNode] = []
        for column in repeat each columns { nodes.append(column.root) }
        var rows: [(R, repeat each C)] = []
        try query.read(db, adding: nodes, limit: limit) { execution in
            var reader = RecordReader(execution, from: R.table.columnCount)
            rows.append((try R.read(execution), repeat try reader.next((each C).self)))
        }
        return rows
    }
}

extension RecordQuery {
    /// Returns the records, and for each list of columns the key that these columns of each record are.
    ///
    /// - Parameter positions: the columns, from 0.
    func records(
        _ db: Connection, limit: Int?, capturing positions: [[Int]]
    ) throws -> (records: [R], keys: [[RelationKey]]) {
        let execution = try db.begin(recordClauses, limit: limit.map { min($0, clauses.limit?.length ?? $0) })
        defer { db.end(execution) }
        let rows = _GroupedRows(execution, capturing: positions, positions.map { _ in [[]] })
        var groups: [[R]] = [[]]
        groups[0].reserveCapacity(execution.expectedRowCount)
        try R.read(rows, into: &groups)
        execution.noteRowCount(groups[0].count)
        return (groups[0], rows.captured.map { $0[0] })
    }

    /// Calls a closure with each row: the record's columns, and some more.
    func read(
        _ db: Connection, adding columns: [SQLNode] = [], limit: Int?, _ body: (Execution) throws -> Void
    ) throws {
        var clauses = recordClauses
        clauses.columns += columns
        let execution = try db.begin(clauses, limit: limit.map { min($0, clauses.limit?.length ?? $0) })
        defer { db.end(execution) }
        while try execution.step() { try body(execution) }
    }
}

// MARK: Without blocking a thread

extension Relation where Origin: Sendable, Value: Sendable {
    /// Reads what belongs to a record, without blocking a thread: see ``load(_:for:)``.
    public func load(_ db: DatabaseAccess, for origin: Origin) async throws -> Value {
        try await db.read { try load($0, for: origin) }
    }

    /// Reads what belongs to each of some records, without blocking a thread.
    public func load(_ db: DatabaseAccess, for origins: [Origin]) async throws -> [Value] {
        try await db.read { try load($0, for: origins) }
    }
}

extension RecordRows where Row: Sendable {
    /// Returns the records with their relations now, and again whenever a commit changed one of the tables that they are read
    /// from, as an object for a screen: see ``Observed``. Tuples cannot be compared: every such commit counts as a change.
    ///
    /// - Parameters:
    ///   - access: a pool or queue.
    ///   - isolation: the actor on which the value changes; by default the one that calls this.
    /// - Throws: as reading.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    public func observed(in access: DatabaseAccess, isolation: (any Actor)? = #isolation) throws -> Observed<[Row]> {
        try Observed(access, isolation: isolation) { try all($0) }
    }
}
