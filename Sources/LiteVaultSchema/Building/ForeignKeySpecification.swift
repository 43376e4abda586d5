internal import LiteVaultCore
public import LiteVaultQuery
internal import LiteVaultSystem

/// What happens to rows when the row they reference changes or is deleted
/// (https://sqlite.org/foreignkeys.html#fk_actions).
public enum ForeignKeyAction: String, Sendable {
    /// The change is an error at the end of the statement, or of the transaction for a deferred foreign key.
    case noAction = "NO ACTION"
    /// The change is an error at once.
    case restrict = "RESTRICT"
    /// The referencing columns become NULL.
    case setNull = "SET NULL"
    /// The referencing columns get their default values.
    case setDefault = "SET DEFAULT"
    /// The referencing rows are updated or deleted too.
    case cascade = "CASCADE"
}

/// The clauses that follow the columns of a foreign key.
struct ForeignKeyActions {
    var onDelete: ForeignKeyAction?
    var onUpdate: ForeignKeyAction?
    var isDeferred = false

    /// `ON DELETE CASCADE ON UPDATE SET NULL DEFERRABLE INITIALLY DEFERRED`
    var node: SQLNode? {
        let clauses = [
            onDelete.map { "ON DELETE \($0.rawValue)" }, onUpdate.map { "ON UPDATE \($0.rawValue)" },
            isDeferred ? "DEFERRABLE INITIALLY DEFERRED" : nil,
        ].compactMap { $0 }
        return clauses.isEmpty ? nil : .text(clauses.joined(separator: " "))
    }
}

/// A foreign key that `belongsTo` adds to a table, with its columns.
public final class ForeignKeySpecification {
    /// The name of the relation, from which the names of the columns are derived.
    public let name: String
    let actions: ForeignKeyActions
    private(set) var index: ColumnSpecification.Index?
    private let table: String?
    private var nullRule: (isForbidden: Bool, conflict: OnConflict?) = (false, nil)

    init(_ name: String, _ table: String?, _ actions: ForeignKeyActions, isIndexed: Bool) {
        self.name = name
        self.table = table
        self.actions = actions
        index = isIndexed ? .plain : nil
    }

    /// Forbids NULL in the columns: each row has to reference a row.
    @discardableResult
    public func notNull(onConflict conflict: ConflictResolution? = nil) -> Self {
        nullRule = (true, conflict)
        return self
    }

    /// Forbids two rows that reference the same row: a one-to-one relation.
    @discardableResult
    public func unique() -> Self {
        index = .unique(nil)
        return self
    }

    /// The columns, and the referenced table with its columns.
    func resolve(_ keys: KeyResolver) throws -> (columns: [ColumnSpecification], table: String, others: [String]) {
        let table = try table ?? keys.table(for: name)
        let key = try keys.primaryKey(of: table)
        let columns = key.map { other in
            let column = ColumnSpecification(
                name + other.name.prefix(1).uppercased() + other.name.dropFirst(),
                other.declaredType.isEmpty ? nil : ColumnType(rawValue: other.declaredType))
            if nullRule.isForbidden { column.notNull(onConflict: nullRule.conflict) }
            return column
        }
        if let column = columns.first, columns.count == 1 {
            column.index = index
            column.references(
                table, column: key[0].name, onDelete: actions.onDelete, onUpdate: actions.onUpdate,
                deferred: actions.isDeferred)
        }
        return (columns, table, key.map(\.name))
    }
}

/// Finds the primary keys that foreign keys reference: in the database or, for a table that is being created, in its
/// definition.
struct KeyResolver {
    let schema: SchemaReader
    /// The table that is being created or altered.
    let table: String
    /// Its primary key in the definition; nil if the table is in the database.
    let ownKey: [SchemaReader.KeyColumn]?
    /// Whether the reference is a part of the table's own primary key, which therefore cannot be what it references.
    var isForOwnKey = false

    /// The primary key of a table.
    ///
    /// - Throws: `QueryError.noSuchTable`, `VaultError` `noPrimaryKey`, `DatabaseError`
    func primaryKey(of other: String) throws -> [SchemaReader.KeyColumn] {
        let isOwn = isSameName(other, table)
        guard let key = try (isOwn ? ownKey : nil) ?? schema.primaryKey(of: other) else {
            throw QueryError.noSuchTable(name: other)
        }
        guard !key.isEmpty else {
            throw isForOwnKey && isOwn ? VaultError.ownKeyInPrimaryKey(table: table) : .noPrimaryKey(table: other)
        }
        return key
    }

    /// The columns of a table that `columns` reference by default: its primary key.
    func columns(of other: String, for columns: [String]) throws -> [String] {
        let key = try primaryKey(of: other).map(\.name)
        guard key.count == columns.count else {
            throw VaultError.foreignKeyMismatch(table: other, columns: columns, primaryKey: key)
        }
        return key
    }

    /// The table that `belongsTo` derives from a name: the one of that name, or of a plural of it. A number at the end, as
    /// in `player1` and `player2`, distinguishes several relations to the same table.
    func table(for name: String) throws -> String {
        let candidates = Self.candidates(for: name)
        if ownKey != nil {
            // Digits at the end of the table's own name stay: `address2` may reference `address`.
            let isOwn =
                candidates.contains { isSameName($0, table) }
                || EnglishNoun.plurals(table).contains { isSameName($0, name) }
            if isOwn { return isSameName(table, name) ? name : table }
        }
        for candidate in candidates where try schema.primaryKey(of: candidate) != nil { return candidate }
        throw QueryError.noSuchTable(name: name)
    }

    private static func candidates(for name: String) -> [String] {
        var names = [name] + EnglishNoun.plurals(name)
        let digits = name.reversed().prefix { $0.isASCII && $0.isNumber }.count
        let stem = String(name.dropLast(digits))
        if digits > 0, !stem.isEmpty {
            let plurals = EnglishNoun.plurals(stem)
            names += plurals.map { $0 + name.suffix(digits) } + [stem] + plurals
        }
        return names
    }
}
