internal import LiteVaultCore
internal import LiteVaultSystem

/// A column as the schema declares it.
///
/// A definition does not contain checks, collations, the expressions of generated columns and constraints on several columns. Altering a
/// table does not lose them: alterations edit the table's own SQL text.
public struct ColumnDefinition: Equatable, Sendable {
    /// The column's name.
    public let name: String
    /// The primary key, if the column is part of it.
    public let primaryKey: PrimaryKey?
    /// How values are converted when they are stored.
    public let type: Affinity
    /// Whether the declaration allows NULL.
    public let nullable: Bool
    /// Whether the column has a UNIQUE constraint of its own. A constraint on several columns makes none of them unique.
    public let unique: Bool
    /// The value of rows that are inserted without one.
    public let defaultValue: LiteralValue
    /// The column of another table that this column references.
    public let references: ForeignKey?
    /// How the engine computes the column; nil if it stores what is written.
    public let generated: Generated?

    /// When a generated column is computed (https://sqlite.org/gencol.html).
    public enum Generated: String, CaseIterable, Sendable {
        /// When it is read.
        case VIRTUAL
        /// When the row is written.
        case STORED
    }

    /// Creates a definition from its parts.
    public init(
        name: String, primaryKey: PrimaryKey? = nil, type: Affinity, nullable: Bool = true, unique: Bool = false,
        defaultValue: LiteralValue = .NULL, references: ForeignKey? = nil, generated: Generated? = nil
    ) {
        self.name = name
        self.primaryKey = primaryKey
        self.type = type
        self.nullable = nullable
        self.unique = unique
        self.defaultValue = defaultValue
        self.references = references.map { $0.of(column: name) }
        self.generated = generated
    }

    /// How SQLite converts values when it stores them (https://sqlite.org/datatype3.html#type_affinity).
    public enum Affinity: String, CaseIterable, CustomStringConvertible, Sendable {
        case INTEGER
        case NUMERIC
        case REAL
        case TEXT
        case BLOB

        /// The affinity of a declared type such as `VARCHAR(20)`, by SQLite's rules.
        public init(_ declaredType: String) {
            self = Affinity(rawValue: SQLAffinity(declaredType).rawValue) ?? .NUMERIC
        }

        /// The affinity's name.
        public var description: String { rawValue }
    }

    /// What the engine does with a row that violates a constraint (https://sqlite.org/lang_conflict.html).
    public enum OnConflict: String, CaseIterable, Sendable {
        case ROLLBACK
        case ABORT
        case FAIL
        case IGNORE
        case REPLACE
    }

    /// A table's primary key, as seen from one of its columns.
    public struct PrimaryKey: Equatable, Sendable {
        /// Whether numbers of deleted rows are never reused.
        public let autoIncrement: Bool
        /// What happens to a row whose key already exists.
        public let onConflict: OnConflict?

        /// Creates a primary key, with AUTOINCREMENT by default.
        public init(autoIncrement: Bool = true, onConflict: OnConflict? = nil) {
            self.autoIncrement = autoIncrement
            self.onConflict = onConflict
        }

        /// Reads the first primary key that an SQL text declares. Returns nil if it declares none.
        public init?(sql: String) {
            let tokens = SQLTokens(sql).filter(\.isSignificant)
            guard var rest = tokens[...].after("PRIMARY", "KEY") else { return nil }
            if let open = rest.indices.first, rest[open].isSymbol("(") {
                rest = tokens.closing(open).map { tokens[($0 + 1)...] } ?? []
            }
            if !rest.skip(["ASC"]) { rest.skip(["DESC"]) }
            let action = rest.skip(["ON", "CONFLICT"]) ? rest.popFirst() : nil
            onConflict = action.flatMap { OnConflict(rawValue: foldedKeyword($0.text)) }
            autoIncrement = rest.skip(["AUTOINCREMENT"])
        }
    }

    /// A reference from a column to a column of another table.
    public struct ForeignKey: Equatable, Sendable {
        /// The referencing column.
        public let fromColumn: String
        /// The referenced table.
        public let toTable: String
        /// The referenced column, or nil for the table's primary key.
        public let toColumn: String?
        /// The action when the referenced value changes, such as `CASCADE`. nil for `NO ACTION`.
        public let onUpdate: String?
        /// The action when the referenced row is deleted. nil for `NO ACTION`.
        public let onDelete: String?

        /// Creates the reference of a column, by default of the one that is being defined with it.
        public init(
            fromColumn: String = "", toTable: String, toColumn: String? = nil, onUpdate: String? = nil,
            onDelete: String? = nil
        ) {
            self.fromColumn = fromColumn
            self.toTable = toTable
            self.toColumn = toColumn
            self.onUpdate = onUpdate
            self.onDelete = onDelete
        }

        /// The same reference, from `column` if it has no column yet.
        fileprivate func of(column: String) -> ForeignKey {
            guard fromColumn.isEmpty else { return self }
            return ForeignKey(
                fromColumn: column, toTable: toTable, toColumn: toColumn, onUpdate: onUpdate, onDelete: onDelete)
        }
    }
}
