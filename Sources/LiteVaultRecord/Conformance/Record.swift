public import LiteVaultCore

/// A type whose values are rows of one table.
///
/// ```swift
/// struct Note {
///     var id: Int64?
///     var title: String
///     var body: String?
/// }
///
/// extension Note: Record {
///     static let table = RecordTable<Note>("note", [.rowID("id", \.id), "title", "body"])
///     var primaryKey: Int64? { id }
///
///     init(row: inout RecordReader) throws {
///         id = try row.next()
///         title = try row.next()
///         body = try row.next()
///     }
///
///     func write(to row: inout RecordWriter) {
///         row.bind(id)
///         row.bind(title)
///         row.bind(body)
///     }
/// }
///
/// var note = Note(title: "Shopping")
/// try note.insert(db)                                     // note.id is set
/// try note.updateChanges(db) { $0.body = "milk" }         // writes one column
/// let same = try Note.find(db, 1)
/// ```
///
/// Reading and writing go by the position of the columns in ``table``: no names are looked up, and nothing is allocated for a row
/// but its values. The schema plugin writes all of this from the SQL of a table, see <doc:SchemaPlugin>.
///
/// A record is a struct, which the functions that write bring up to date (they are mutating), or a final class, which conforms
/// to ``RecordObject``. A type cannot be a record and the value of a column at once. It need not be `Sendable`; the asynchronous functions and those that return records from a pool need it.
public protocol Record: RelatedToOne, _RowValue where RelatedRecord == Self {
    /// The type of the primary key: that of its column, a ``CompositeKey`` for several, `Never` for a table without one.
    ///
    /// Without a key there is neither `find` nor `update`: they do not compile.
    associatedtype PrimaryKey: Hashable & Sendable = Never

    /// The table, with its columns in the order in which ``init(row:)`` reads and ``write(to:)`` writes them.
    static var table: RecordTable<Self> { get }

    /// The primary key; nil for a record that has not got one yet.
    var primaryKey: PrimaryKey? { get }

    /// Reads a row: one `next` for each column of the table, in order.
    ///
    /// - Throws: `QueryError` when a value is NULL or of another type.
    init(row: inout RecordReader) throws

    /// Binds a row: one `bind` for each column of the table, in order, those that the engine computes included.
    ///
    /// - Throws: only what converting a value throws.
    func write(to row: inout RecordWriter) throws

    /// Reads a row into this record, after it was written or to refresh it. By default the record is replaced.
    ///
    /// - Throws: as ``init(row:)``.
    mutating func reload(row: inout RecordReader) throws

    /// Takes the number that the engine gave to an inserted row, where the record has no key yet.
    ///
    /// By default the property that the table names with ``RecordTable/Column/rowID(_:_:)`` is set through its key path. An assignment
    /// (`id = rowID`), as generated records have it, is faster.
    ///
    /// - Throws: only what converting the number throws.
    mutating func setRowID(_ rowID: Int64) throws

    /// Reads the rows of a statement into the arrays of the keys that they belong to. It is a requirement so that each record has its
    /// own compiled code for it.
    @_documentation(visibility: internal)
    static func read(_ rows: _GroupedRows, into groups: inout [[Self]]) throws

    /// Called before the record is written, in the same transaction on a pool or queue: to validate it, or to set a date.
    ///
    /// - Parameters:
    ///   - operation: what is about to be done. `save` is an insert or an update.
    ///   - db: the connection. Other rows can be read and written.
    /// - Throws: to refuse. Nothing is written then.
    mutating func willWrite(_ operation: RecordOperation, _ db: Connection) throws

    /// Called after the record was written, before the transaction ends.
    ///
    /// - Parameters:
    ///   - operation: what was done.
    ///   - db: the connection. Other rows can be read and written.
    /// - Throws: the error of the function that wrote. The row stays as it was written, unless a transaction is around it: a write of
    ///   a pool or queue, or ``Connection/transaction(_:block:)``.
    func didWrite(_ operation: RecordOperation, _ db: Connection) throws
}

/// What is done with a record, for its callbacks.
public enum RecordOperation: String, Sendable {
    /// An INSERT.
    case insert
    /// An UPDATE of all columns, or of those that changed.
    case update
    /// An INSERT that becomes an UPDATE where there is such a row.
    case upsert
    /// A DELETE.
    case delete
}

extension Record {
    /// Replaces the record.
    @inlinable
    public mutating func reload(row: inout RecordReader) throws { self = try Self(row: &row) }

    /// Sets the property of the column that is the rowid.
    public mutating func setRowID(_ rowID: Int64) throws { try Self.table.setRowID?(&self, rowID) }

    /// Reads the rows of a statement into the arrays of the keys that they belong to.
    @_documentation(visibility: internal)
    @inlinable
    public static func read(_ rows: _GroupedRows, into groups: inout [[Self]]) throws {
        guard !groups.isEmpty else { return }
        let columnCount = table.columnCount
        // Rows of one key mostly follow each other: its array is taken out of the others meanwhile.
        var group = 0
        var records: [Self] = []
        swap(&records, &groups[group])
        while let next = try rows.next() {
            if next != group {
                // As many rows as the last key had: mostly they are about as many.
                let expected = min(records.count, 64)
                swap(&records, &groups[group])
                group = next
                swap(&records, &groups[group])
                if records.isEmpty { records.reserveCapacity(expected) }
            }
            var reader = RecordReader(rows.execution)
            records.append(try Self(row: &reader))
            if Int(reader.index) &+ 1 != columnCount { try requireAll(reader) }
        }
        swap(&records, &groups[group])
    }

    /// Does nothing.
    @inlinable
    public mutating func willWrite(_ operation: RecordOperation, _ db: Connection) throws {}

    /// Does nothing.
    @inlinable
    public func didWrite(_ operation: RecordOperation, _ db: Connection) throws {}

    /// The columns for the SELECT of statements that are written by hand: `"id", "title", "body"`.
    public static var columnList: SQL { SQL(sql: table.columnList) }
}

extension Record where PrimaryKey == Never {
    /// The table has no primary key.
    public var primaryKey: Never? { nil }
}

/// A record that is a final class: what the engine computes is put into the object itself.
///
/// ```swift
/// final class Account: RecordObject {
///     var id: Int64?
///     var name: String
///     …
///     func reload(row: inout RecordReader) throws {
///         id = try row.next()
///         name = try row.next()
///     }
/// }
/// ```
///
/// The functions that write can be called on a constant, and on a shared object: two threads must not do it at the same time.
/// A write that fails, or whose transaction is rolled back, may leave the object with the new values: ``Record/refresh(_:)`` reads the
/// row again.
public protocol RecordObject: Record, AnyObject {
    /// Reads a row into the object: one `next` for each column of the table, in order.
    ///
    /// - Throws: as `init(row:)`. The object may be changed in part then.
    func reload(row: inout RecordReader) throws
}

/// A primary key of several columns.
///
/// ```swift
/// struct Membership: Record {
///     struct PrimaryKey: CompositeKey {
///         var team: Int64
///         var player: Int64
///         func write(to row: inout RecordWriter) {
///             row.bind(team)
///             row.bind(player)
///         }
///     }
///     var primaryKey: PrimaryKey? { PrimaryKey(team: team, player: player) }
///     …
/// }
/// ```
public protocol CompositeKey: StatementArgument, Hashable {
    /// Binds the key: one `bind` for each of its columns, in the order of the table's columns.
    func write(to row: inout RecordWriter)
}

extension CompositeKey {
    /// Binds the key to the next parameters. Returns the engine's result code.
    @inlinable
    public func bind(to statement: OpaquePointer, after index: inout Int32) -> Int32 {
        var writer = RecordWriter(statement, after: index, limit: .max)
        write(to: &writer)
        index = writer.index
        return writer.code
    }
}

/// What a relation leads to: a record, an optional record or an array of records. No other types conform.
///
/// The conformance belongs to no actor, because rows are read on the thread of a connection.
public protocol RelatedValue: SendableMetatype {
    /// The record.
    associatedtype RelatedRecord: Record

    /// The value of each key, for the rows that were found.
    @_documentation(visibility: internal)
    static func related(_ groups: [[RelatedRecord]]) throws -> [Self]
}

/// What a relation to one row leads to: a record or an optional record. No other types conform.
public protocol RelatedToOne: RelatedValue {
    /// Whether there always is a row.
    @_documentation(visibility: internal)
    static var alwaysHasRow: Bool { get }

    /// Reads the columns of an outer join.
    @_documentation(visibility: internal)
    static func related(row: inout RecordReader) throws -> Self
}

extension Record {
    /// The record that has to be there.
    @_documentation(visibility: internal)
    public static func related(_ groups: [[Self]]) throws -> [Self] {
        try groups.map { records in
            guard let record = records.first else { throw VaultError.notFound(table.name) }
            return record
        }
    }

    /// A record always is there.
    @_documentation(visibility: internal)
    public static var alwaysHasRow: Bool { true }

    /// Reads the record.
    @_documentation(visibility: internal)
    public static func related(row: inout RecordReader) throws -> Self { try Self(row: &row) }
}

extension Optional: RelatedValue, RelatedToOne where Wrapped: Record {
    /// The record, if there is one.
    @_documentation(visibility: internal)
    public static func related(_ groups: [[Wrapped]]) throws -> [Wrapped?] { groups.map(\.first) }

    /// An optional record may not be there.
    @_documentation(visibility: internal)
    public static var alwaysHasRow: Bool { false }

    /// Reads the record; nil when all of its columns are NULL.
    @_documentation(visibility: internal)
    public static func related(row: inout RecordReader) throws -> Wrapped? {
        row.areNull(Wrapped.table.columnCount) ? nil : try Wrapped(row: &row)
    }
}

extension Array: RelatedValue where Element: Record {
    /// All rows.
    @_documentation(visibility: internal)
    public static func related(_ groups: [[Element]]) throws -> [[Element]] { groups }
}
