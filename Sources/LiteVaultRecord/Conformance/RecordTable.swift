public import LiteVaultCore
public import LiteVaultQuery
internal import LiteVaultSystem

/// A table as a record sees it: its name, and its columns in the order in which the record reads and writes them.
///
/// The SQL text of each statement is made once, so that the connection's cache finds the prepared statement by it. Parameters are
/// numbered like the columns: all statements take a record's values in the same order, and use those that they need.
public final class RecordTable<R: Record>: Sendable {
    /// The table's name.
    public let name: String
    /// The names of the columns.
    public let columns: [String]
    /// The names of the primary key's columns; empty without one.
    public let primaryKey: [String]

    let database: String?
    let list: [Column]
    /// The positions, from 1, of the key's columns.
    let keyPositions: [Int]
    private let versionPosition: Int?
    @usableFromInline let defaulted: ColumnSet
    @usableFromInline let hasDefaults: Bool
    @usableFromInline let hasGenerated: Bool
    let setRowID: (@Sendable (inout R, Int64) throws -> Void)?
    @usableFromInline let hasRowID: Bool
    @usableFromInline let increment: (@Sendable (inout R) -> Void)?
    @usableFromInline let columnCount: Int
    @usableFromInline let columnList: String
    @usableFromInline let quotedName: String
    fileprivate let variants = Locked([Variant: String]())
    /// Whether the column that is to be the rowid was found to be it.
    private let isRowIDChecked: Locked<Bool>

    /// INSERT of every column.
    @usableFromInline let insertSQL: String
    @usableFromInline let updateSQL: String
    @usableFromInline let deleteSQL: String
    /// The row with the key of a record: its parameters are those of the record.
    @usableFromInline let refreshSQL: String
    @usableFromInline let selectSQL: String
    /// The row of a key: its parameters are the key's columns.
    @usableFromInline let findSQL: String
    @usableFromInline let existsSQL: String
    @usableFromInline let deleteKeySQL: String
    @usableFromInline let countSQL: String
    let selection: SQLNode

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - name: the table.
    ///   - database: its database: `main`, `temp` or an attached one. By default SQLite searches all of them.
    ///   - columns: all columns that the record has, in the order in which it reads and writes them.
    public init(_ name: String, database: String? = nil, _ columns: [Column]) {
        self.name = name
        self.database = database
        list = columns
        self.columns = columns.map(\.name)
        let keys = columns.indices.filter { columns[$0].role == .key || columns[$0].role == .rowID }
        primaryKey = keys.map { columns[$0].name }
        keyPositions = keys.map { $0 + 1 }
        let version = columns.firstIndex { $0.role == .version }.map { $0 + 1 }
        versionPosition = version
        defaulted = ColumnSet(columns.indices.filter { columns[$0].isDefaulted }.map { $0 + 1 })
        hasDefaults = columns.contains { $0.isDefaulted }
        hasGenerated = columns.contains { $0.role == .generated }
        setRowID = columns.lazy.compactMap(\.setRowID).first
        hasRowID = columns.contains { $0.role == .rowID }
        isRowIDChecked = Locked(!hasRowID)
        increment = columns.lazy.compactMap(\.increment).first

        let table = (database.map { quoted($0) + "." } ?? "") + quoted(name)
        let list = columns.map { quoted($0.name) }.joined(separator: ", ")
        // Keys are never NULL where they identify a row: `=` is what indexes are used for on all engines.
        let key = keys.map { "\(quoted(columns[$0].name)) = ?\($0 + 1)" }.joined(separator: " AND ")
        let versioned = key + (version.map { " AND \(quoted(columns[$0 - 1].name)) IS ?\($0)" } ?? "")
        let ownKey = keys.enumerated().map { "\(quoted(columns[$1].name)) = ?\($0 + 1)" }.joined(separator: " AND ")
        quotedName = table
        columnList = list
        columnCount = columns.count
        insertSQL = Self.insertSQL(into: table, columns, omitting: ColumnSet())
        let updated = columns.indices.filter { columns[$0].role == .plain }.map { $0 + 1 }
        updateSQL = Self.updateSQL(of: table, columns, positions: updated, version, where: versioned)
        deleteSQL = "DELETE FROM \(table) WHERE \(versioned)"
        refreshSQL = "SELECT \(list) FROM \(table) WHERE \(key)"
        selectSQL = "SELECT \(list) FROM \(table)"
        findSQL = "SELECT \(list) FROM \(table) WHERE \(ownKey)"
        existsSQL = "SELECT 1 FROM \(table) WHERE \(ownKey)"
        deleteKeySQL = "DELETE FROM \(table) WHERE \(ownKey)"
        countSQL = "SELECT count(*) FROM \(table)"
        selection = .text(columns.map { "\(table).\(quoted($0.name))" }.joined(separator: ", "))
    }
}

extension RecordTable {
    /// A column of a record's table, and what the engine does with it. A string literal is a plain column.
    public struct Column: Sendable {
        enum Role: Sendable { case plain, rowID, key, generated, version }

        let name: String
        let role: Role
        /// Left out of an INSERT when the value is nil.
        var isDefaulted = false
        /// Puts the rowid of an inserted row into the record.
        fileprivate var setRowID: (@Sendable (inout R, Int64) throws -> Void)?
        /// Counts the record's version up.
        fileprivate var increment: (@Sendable (inout R) -> Void)?

        /// A column that is read and written.
        public static func column(_ name: String) -> Column { Column(name: name, role: .plain) }

        /// The column of an INTEGER PRIMARY KEY: where the property is nil, inserting gets a number from the engine and sets the
        /// property.
        ///
        /// Only a column of exactly that type is the rowid (https://sqlite.org/lang_createtable.html#rowid). With others, such as `INT
        /// PRIMARY KEY`, `INTEGER PRIMARY KEY DESC` or a key of a table WITHOUT ROWID, a row without a number would get NULL, or
        /// none: the first insert that a process makes through the table throws `VaultError` `conformance` then.
        public static func rowID<V: Value>(
            _ name: String, _ property: any WritableKeyPath<R, V?> & Sendable
        ) -> Column where V.Datatype == Int64, V.ValueType == V {
            Column(name: name, role: .rowID, setRowID: { $0[keyPath: property] = try V.fromDatatypeValue($1) })
        }

        /// A column of any other primary key. Several make a composite key, in the order of the list.
        ///
        /// - Parameters:
        ///   - name: the column.
        ///   - defaulted: whether the column has a DEFAULT that applies where the property is nil, as ``defaulted(_:)``.
        public static func key(_ name: String, defaulted: Bool = false) -> Column {
            Column(name: name, role: .key, isDefaulted: defaulted)
        }

        /// A column with a DEFAULT, and a property that is optional: where it is nil, inserting leaves the column out, and reads what
        /// the engine has put there.
        public static func defaulted(_ name: String) -> Column { Column(name: name, role: .plain, isDefaulted: true) }

        /// A column that the engine computes (`GENERATED ALWAYS AS`): it is never written, and read again after each write.
        public static func generated(_ name: String) -> Column { Column(name: name, role: .generated) }

        /// A column that counts the writes of the row, for optimistic locking: an update or delete of a record whose version is not
        /// that of the row throws `VaultError` `staleVersion` and changes nothing.
        ///
        /// ``Record/updateAll(_:_:)`` and SQL leave the number as it is: set it there as well.
        public static func version<V: FixedWidthInteger & Sendable>(
            _ name: String, _ property: any WritableKeyPath<R, V> & Sendable
        ) -> Column { Column(name: name, role: .version, increment: { $0[keyPath: property] &+= 1 }) }
    }
}

extension RecordTable.Column: ExpressibleByStringLiteral {
    /// A plain column.
    public init(stringLiteral name: String) { self.init(name: name, role: .plain) }
}

// MARK: SQL

extension RecordTable {
    /// A statement that depends on the columns that a record sets.
    fileprivate enum Variant: Hashable, Sendable {
        case insert(omitting: ColumnSet)
        case insertReturning(omitting: ColumnSet)
        case update(ColumnSet)
        case updateReturning(ColumnSet)
        case upsert(on: [ExactText], omitting: ColumnSet)
        case upsertUpdate(on: [ExactText], omitting: ColumnSet)
    }

    private static func insertSQL(
        into table: String, _ columns: [Column], omitting omitted: ColumnSet
    ) -> String {
        let written = columns.indices.filter { columns[$0].role != .generated && !omitted.contains($0 + 1) }
        guard !written.isEmpty else { return "INSERT INTO \(table) DEFAULT VALUES" }
        let names = written.map { quoted(columns[$0].name) }.joined(separator: ", ")
        let values = written.map { "?\($0 + 1)" }.joined(separator: ", ")
        return "INSERT INTO \(table) (\(names)) VALUES (\(values))"
    }

    private static func updateSQL(
        of table: String, _ columns: [Column], positions: [Int], _ version: Int?, where condition: String
    ) -> String {
        var assignments = positions.map { "\(quoted(columns[$0 - 1].name)) = ?\($0)" }
        if let version { assignments.append("\(quoted(columns[version - 1].name)) = ?\(version) + 1") }
        if assignments.isEmpty {
            // Nothing but the key: whether the row is there, and locked for the transaction.
            assignments = columns.prefix(1).map { "\(quoted($0.name)) = \(quoted($0.name))" }
        }
        return "UPDATE \(table) SET \(assignments.joined(separator: ", ")) WHERE \(condition)"
    }

    @usableFromInline
    func insertSQL(omitting omitted: ColumnSet) -> String {
        if omitted.isEmpty { return insertSQL }
        return text(.insert(omitting: omitted)) { Self.insertSQL(into: quotedName, list, omitting: omitted) }
    }

    /// INSERT without some columns, and with the whole row as its result.
    func insertReturningSQL(omitting omitted: ColumnSet) -> String {
        text(.insertReturning(omitting: omitted)) { insertSQL(omitting: omitted) + returning }
    }

    private var returning: String { " RETURNING \(columnList)" }

    /// UPDATE of all columns, with the whole row as its result.
    var updateReturningSQL: String { text(.updateReturning(ColumnSet())) { updateSQL + returning } }

    /// UPDATE of some columns, with the whole row as its result.
    func updateReturningSQL(setting changed: [Int]) -> String {
        text(.updateReturning(ColumnSet(changed))) { updateSQL(setting: changed) + returning }
    }

    /// UPDATE of some columns. The parameters after those of the columns are the old key and version.
    func updateSQL(setting changed: [Int]) -> String {
        text(.update(ColumnSet(changed))) {
            let identity = identityPositions.enumerated().map { index, position in
                "\(quoted(list[position - 1].name)) \(position == versionPosition ? "IS" : "=") ?\(list.count + index + 1)"
            }
            return Self.updateSQL(
                of: quotedName, list, positions: changed, versionPosition, where: identity.joined(separator: " AND "))
        }
    }

    /// The positions of what identifies a row for an update: the key, and the version.
    var identityPositions: [Int] { keyPositions + (versionPosition.map { [$0] } ?? []) }

    /// The positions of the columns that a record may change: not the generated ones, nor the version.
    var changeablePositions: [Int] {
        list.indices.filter { list[$0].role != .generated && list[$0].role != .version }.map { $0 + 1 }
    }

    /// INSERT … ON CONFLICT … DO UPDATE.
    func upsertSQL(on target: [String], omitting omitted: ColumnSet) -> String {
        text(.upsert(on: target.map { ExactText($0) }, omitting: omitted)) {
            let assignments = assignments(on: target, omitting: omitted) { "excluded.\(quoted($0.name))" }
            return """
                \(insertSQL(omitting: omitted)) ON CONFLICT (\(target.map { quoted($0) }.joined(separator: ", "))) \
                DO UPDATE SET \(assignments)\(EngineFeatures.hasReturning ? returning : "")
                """
        }
    }

    /// The UPDATE of an upsert on engines that have none.
    func upsertUpdateSQL(on target: [String], omitting omitted: ColumnSet) -> String {
        text(.upsertUpdate(on: target.map { ExactText($0) }, omitting: omitted)) {
            let assignments = assignments(on: target, omitting: omitted) { "?\(position(of: $0.name))" }
            return "UPDATE \(quotedName) SET \(assignments) WHERE \(condition(on: target))"
        }
    }

    /// The row that an upsert wrote.
    func selectSQL(on target: [String]) -> String { "\(selectSQL) WHERE \(condition(on: target))" }

    /// The row of the rowid that is the only parameter. Another column may be called "rowid" where the key has a name of its own.
    var selectByRowIDSQL: String {
        let key = list.first { $0.role == .rowID }.map { quoted($0.name) } ?? "rowid"
        return "\(selectSQL) WHERE \(key) = ?1"
    }

    /// The values of a record: a statement that gives its parameters back.
    var valuesSQL: String { "SELECT " + list.indices.map { "?\($0 + 1)" }.joined(separator: ", ") }

    private func condition(on target: [String]) -> String {
        target.map { "\(quoted($0)) = ?\(position(of: $0))" }.joined(separator: " AND ")
    }

    private func assignments(
        on target: [String], omitting omitted: ColumnSet, _ value: (Column) -> String
    ) -> String {
        let names = Set(target.map { SQLName($0) })
        var assignments = list.indices.filter {
            list[$0].role == .plain && !names.contains(SQLName(list[$0].name)) && !omitted.contains($0 + 1)
        }.map { "\(quoted(list[$0].name)) = \(value(list[$0]))" }
        if let versionPosition {
            let version = quoted(list[versionPosition - 1].name)
            assignments.append("\(version) = \(quotedName).\(version) + 1")
        }
        // There is nothing to change, but the row has to be found.
        if assignments.isEmpty { assignments = target.prefix(1).map { "\(quoted($0)) = \(quoted($0))" } }
        return assignments.joined(separator: ", ")
    }

    /// The position of a column, from 1; 0 for one that is not there, which the engine refuses as a parameter.
    func position(of name: String) -> Int { (columns.firstIndex { isSameName($0, name) } ?? -1) + 1 }

    private func text(_ variant: Variant, _ make: () -> String) -> String {
        if let text = variants.withLock({ $0[variant] }) { return text }
        let text = make()
        variants.withLock { variants in
            // One for each set of columns. A program with hundreds of sets renders the rest each time.
            if variants.count < 512 { variants[variant] = text }
        }
        return text
    }
}

enum EngineFeatures {
    static let hasReturning = EngineInfo.linked.sqliteVersion >= SQLiteVersion(.returning)
    static let hasUpsert = EngineInfo.linked.sqliteVersion >= SQLiteVersion(.upsert)
}

extension RecordTable {
    /// Requires that the column that is to be the rowid is it, if it is in the table's primary key: views and virtual tables
    /// have none.
    ///
    /// - Throws: `VaultError` `conformance`
    @usableFromInline
    func requireRowID(_ db: Connection) throws {
        guard !isRowIDChecked.withLock({ $0 }), let column = list.first(where: { $0.role == .rowID })?.name else {
            return
        }
        guard let type = PrimaryKeyColumn(column, of: name, in: database, db)?.declaredType else { return }
        guard isSameName(type, "INTEGER") else {
            throw VaultError.notRowID(name, column, "it is in a primary key of type '\(type)'")
        }
        // The rowid needs no index. A key with DESC, of several columns or WITHOUT ROWID has one.
        let prefix = database.map { quoted($0) + "." } ?? ""
        let origins = try db.all("PRAGMA \(sql: prefix)index_list(\(table: name))") { try $0.get(3, as: String.self) }
        guard !origins.contains("pk") else {
            throw VaultError.notRowID(name, column, "its primary key has DESC, several columns or WITHOUT ROWID")
        }
        isRowIDChecked.withLock { $0 = true }
    }

    /// Whether the name is that of a view, in the first database that has it: the engine looks in `temp`, `main` and the attached
    /// ones.
    func isView(_ db: Connection) throws -> Bool {
        let attached = try db.all("PRAGMA database_list") { try $0.get(1, as: String.self) }
        let schemas = database.map { [$0] } ?? ["temp"] + attached.filter { !isSameName($0, "temp") }
        for schema in schemas {
            let master = isSameName(schema, "temp") ? "sqlite_temp_master" : quoted(schema) + ".sqlite_master"
            let sql: SQL = """
                SELECT type = 'view' FROM \(sql: master) WHERE name = \(name) COLLATE NOCASE AND type IN ('table', 'view')
                """
            if let isView = try db.first(sql, transform: { try $0.get(0, as: Bool.self) }) { return isView }
        }
        return false
    }
}
