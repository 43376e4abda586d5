internal import LiteVaultCore
public import LiteVaultQuery

/// A column of a table that is being created or altered.
///
/// Its methods add clauses, in any order, and can be chained:
///
/// ```swift
/// t.column("email", .text).notNull().unique().collate(.nocase)
/// ```
public final class ColumnSpecification {
    enum Index { case plain, unique(OnConflict?) }

    /// The column's name.
    public let name: String
    let type: ColumnType?
    private(set) var isPrimaryKey = false
    private var keyConflict: OnConflict?
    private var isAutoincrement = false
    /// Whether the column is NOT NULL, and the conflict clause of the constraint.
    private var nullRule: (isForbidden: Bool, conflict: OnConflict?) = (false, nil)
    var index: Index?
    private var checks: [SQLNode] = []
    private var defaultValue: SQLNode?
    private var isDefaultConstant = true
    private var collation: Collation?
    private var references: [(table: String, column: String?, actions: ForeignKeyActions)] = []
    private var generation: (value: SQLNode, kind: GeneratedKind)?

    init(_ name: String, _ type: ColumnType?) {
        self.name = name
        self.type = type
    }

    /// Makes the column the primary key: `PRIMARY KEY`.
    ///
    /// - Parameters:
    ///   - conflict: what happens to a row whose key already exists; the engine's default is to fail.
    ///   - autoincrement: if true, numbers of deleted rows are never reused. Only for INTEGER columns
    ///     (https://sqlite.org/autoinc.html).
    @discardableResult
    public func primaryKey(onConflict conflict: ConflictResolution? = nil, autoincrement: Bool = false) -> Self {
        isPrimaryKey = true
        keyConflict = conflict
        isAutoincrement = autoincrement
        return self
    }

    /// Forbids NULL: `NOT NULL`.
    @discardableResult
    public func notNull(onConflict conflict: ConflictResolution? = nil) -> Self {
        nullRule = (true, conflict)
        return self
    }

    /// Forbids equal values: `UNIQUE`. Any number of rows may be NULL.
    @discardableResult
    public func unique(onConflict conflict: ConflictResolution? = nil) -> Self {
        index = .unique(conflict)
        return self
    }

    /// Creates an index on the column, named `table_on_column`. A unique column already has an index and gets no second.
    @discardableResult
    public func indexed() -> Self {
        if index == nil { index = .plain }
        return self
    }

    /// Sets the collation that compares the column's strings: `COLLATE`.
    @discardableResult
    public func collate(_ collation: Collation) -> Self {
        self.collation = collation
        return self
    }

    /// Requires a condition to be true or NULL in each row: `CHECK (LENGTH("name") > 0)`.
    ///
    /// - Parameter condition: creates the condition from the column.
    @discardableResult
    public func check(_ condition: (Column) -> any ExpressionType) -> Self {
        checks.append(condition(Column(name)).node)
        return self
    }

    /// Requires a condition to be true or NULL in each row.
    ///
    /// - Parameter sql: the condition as SQL text. It is used verbatim: never build it from untrusted input.
    @discardableResult
    public func check(sql: String) -> Self {
        checks.append(.text(sql))
        return self
    }

    /// Sets the value of rows that are inserted without one: `DEFAULT 'Anonymous'`. nil is NULL.
    @discardableResult
    public func defaults(to value: (any Value)?) -> Self {
        let node = value?.node ?? .value(nil)
        defaultValue = node
        // The one literal that is an expression, in parentheses: a string that contains NUL.
        isDefaultConstant = node.sql.utf8.first != UInt8(ascii: "(")
        return self
    }

    /// Sets the value of rows that are inserted without one.
    ///
    /// - Parameter sql: SQL text such as `CURRENT_TIMESTAMP` or `abs(-1)`. It is used verbatim: never build it from
    ///   untrusted input.
    @discardableResult
    public func defaults(sql: String) -> Self {
        let value = LiteralValue(sql)
        let isWrapped = sql.first == "("
        defaultValue = .text(isWrapped ? sql : value.defaultClause)
        isDefaultConstant = !isWrapped && value.isConstantDefault
        return self
    }

    /// Makes the column a generated one: `GENERATED ALWAYS AS ("score" + "bonus") VIRTUAL`.
    ///
    /// This needs SQLite 3.31 or later; with an earlier one, creating the table throws `VaultError` `unsupported`.
    @discardableResult
    public func generatedAs(_ expression: any ExpressionType, _ kind: GeneratedKind = .virtual) -> Self {
        generation = (expression.node, kind)
        return self
    }

    /// Makes the column a generated one, from SQL text. The text is used verbatim: never build it from untrusted input.
    @discardableResult
    public func generatedAs(sql: String, _ kind: GeneratedKind = .virtual) -> Self {
        generation = (.text(sql), kind)
        return self
    }

    /// Makes the column a foreign key: `REFERENCES "team"("id")`.
    ///
    /// - Parameters:
    ///   - table: the referenced table, which may be the column's own.
    ///   - column: the referenced column; by default the primary key, which is looked up when the table is created.
    ///   - onDelete: what happens to the row when the referenced row is deleted.
    ///   - onUpdate: what happens to the row when the referenced key changes.
    ///   - deferred: if true, the foreign key is checked when the transaction commits.
    @discardableResult
    public func references(
        _ table: String, column: String? = nil, onDelete: ForeignKeyAction? = nil, onUpdate: ForeignKeyAction? = nil,
        deferred: Bool = false
    ) -> Self {
        references.append(
            (table, column, ForeignKeyActions(onDelete: onDelete, onUpdate: onUpdate, isDeferred: deferred)))
        return self
    }
}

// MARK: - As SQL

extension ColumnSpecification {
    /// The column's declaration, with its clauses in a fixed order.
    ///
    /// - Throws: `VaultError`, `QueryError.noSuchTable`.
    func declaration(_ keys: KeyResolver) throws -> SQLNode {
        if generation != nil { try EngineInfo.require(3, 31, for: "A generated column") }
        var clauses: [SQLNode?] = [.identifier(name), type.map { .text($0.rawValue) }]
        if isPrimaryKey {
            clauses.append(.text("PRIMARY KEY"))
            clauses.append(.keyConflict(keyConflict))
            clauses.append(isAutoincrement ? .text("AUTOINCREMENT") : nil)
        }
        if nullRule.isForbidden { clauses += [.text("NOT NULL"), .conflict(nullRule.conflict)] }
        if case .unique(let conflict) = index { clauses += [.text("UNIQUE"), .conflict(conflict)] }
        clauses += checks.map { .words(.text("CHECK"), $0.inParentheses) }
        clauses.append(defaultValue.map { .words(.text("DEFAULT"), $0) })
        clauses.append(collation.map { .words(.text("COLLATE"), $0.node) })
        clauses += try references.map { reference in
            let columns = try reference.column.map { [$0] } ?? keys.columns(of: reference.table, for: [name])
            return .words(.text("REFERENCES"), .names(columns, of: reference.table), reference.actions.node)
        }
        if let generation {
            clauses += [
                .text("GENERATED ALWAYS AS"), generation.value.inParentheses, .text(generation.kind.rawValue),
            ]
        }
        return .joined(clauses.compactMap { $0 }, separator: " ")
    }

    /// The index requested by `indexed()`.
    func plainIndex(of table: String) -> (name: String, columns: [String])? {
        guard case .plain = index else { return nil }
        return ("\(table)_on_\(name)", [name])
    }

    var asKeyColumn: SchemaReader.KeyColumn { .init(name: name, declaredType: type?.rawValue ?? "") }

    /// Whether ALTER TABLE ADD COLUMN accepts the column (https://sqlite.org/lang_altertable.html#altertabaddcol).
    var canBeAdded: Bool {
        if case .unique = index { return false }
        return generation?.kind != .stored && (defaultValue == nil || isDefaultConstant)
    }
}

extension LiteralValue {
    /// Whether ALTER TABLE ADD COLUMN accepts it as a default value.
    fileprivate var isConstantDefault: Bool {
        switch self {
        case .CURRENT_TIME, .CURRENT_DATE, .CURRENT_TIMESTAMP: false
        case .numericLiteral: !defaultClause.hasPrefix("(")
        default: true
        }
    }
}

// MARK: - Parts of clauses

/// The declared type of a column. SQLite derives from it how values are converted when they are stored
/// (https://sqlite.org/datatype3.html#type_affinity).
public struct ColumnType: RawRepresentable, Hashable, Sendable {
    /// The type's text in CREATE TABLE.
    public let rawValue: String

    /// Creates a type from its text, such as `VARCHAR(20)`. It is used verbatim: never build it from untrusted input.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `TEXT`
    public static let text = ColumnType(rawValue: "TEXT")
    /// `INTEGER`
    public static let integer = ColumnType(rawValue: "INTEGER")
    /// `DOUBLE`
    public static let double = ColumnType(rawValue: "DOUBLE")
    /// `REAL`
    public static let real = ColumnType(rawValue: "REAL")
    /// `NUMERIC`
    public static let numeric = ColumnType(rawValue: "NUMERIC")
    /// `BOOLEAN`
    public static let boolean = ColumnType(rawValue: "BOOLEAN")
    /// `BLOB`
    public static let blob = ColumnType(rawValue: "BLOB")
    /// `DATE`
    public static let date = ColumnType(rawValue: "DATE")
    /// `DATETIME`
    public static let datetime = ColumnType(rawValue: "DATETIME")
    /// `ANY`: a strict table stores values of such a column unconverted.
    public static let any = ColumnType(rawValue: "ANY")
    /// JSON as text: `TEXT`
    public static let json = ColumnType(rawValue: "TEXT")
    /// JSON as text: `TEXT`
    public static let jsonText = ColumnType(rawValue: "TEXT")
    /// JSON in the binary form of SQLite 3.45 and later: `BLOB`
    public static let jsonb = ColumnType(rawValue: "BLOB")
}

extension ColumnSpecification {
    /// How a generated column gets its value (https://sqlite.org/gencol.html).
    public enum GeneratedKind: String, Sendable {
        /// The value is computed when the column is read.
        case virtual = "VIRTUAL"
        /// The value is computed when the row is written, and stored.
        case stored = "STORED"
    }
}

/// What the engine does with a row that violates a constraint (https://sqlite.org/lang_conflict.html).
public typealias ConflictResolution = OnConflict
