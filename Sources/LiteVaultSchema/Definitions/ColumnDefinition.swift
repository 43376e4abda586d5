internal import LiteVaultCore

/// A column, as far as it can be told from the schema or is needed to add one.
///
/// What it has no place for (checks, collations, generated values, constraints of several columns) is not lost when a
/// table is altered: ``SchemaChanger`` works on the table's own SQL text.
public struct ColumnDefinition: Equatable, Sendable {
    /// The column's name.
    public let name: String
    /// The primary key, where the column is a part of it.
    public let primaryKey: PrimaryKey?
    /// How values are converted when they are stored.
    public let type: Affinity
    /// Whether it may be NULL, as declared.
    public let nullable: Bool
    /// Whether it has a UNIQUE constraint of its own. A constraint of several columns makes none of them unique.
    public let unique: Bool
    /// What rows get that are inserted without a value.
    public let defaultValue: LiteralValue
    /// The column of another table that it refers to.
    public let references: ForeignKey?

    /// A column by its parts.
    public init(
        name: String, primaryKey: PrimaryKey? = nil, type: Affinity, nullable: Bool = true, unique: Bool = false,
        defaultValue: LiteralValue = .NULL, references: ForeignKey? = nil
    ) {
        self.name = name
        self.primaryKey = primaryKey
        self.type = type
        self.nullable = nullable
        self.unique = unique
        self.defaultValue = defaultValue
        self.references = references.map { $0.of(column: name) }
    }

    /// The column in CREATE TABLE and ADD COLUMN.
    public func toSQL() -> String { toSQL(withPrimaryKey: true) }

    func toSQL(withPrimaryKey: Bool) -> String {
        let clauses: [String?] = [
            quoted(name), type.rawValue, withPrimaryKey ? primaryKey?.toSQL() : nil, nullable ? nil : "NOT NULL",
            unique ? "UNIQUE" : nil, defaultValue == .NULL ? nil : "DEFAULT \(defaultValue.defaultClause)",
            references?.toSQL(),
        ]
        return clauses.compactMap { $0 }.joined(separator: " ")
    }
}
