public import LiteVaultQuery

/// A column of a table that is being made or changed. Its methods add clauses, in any order, and can be chained.
///
/// ```swift
/// t.column("email", .text).notNull().unique().collate(.nocase)
/// ```
public final class ColumnSpecification {
    enum Index { case plain, unique(OnConflict?) }

    struct Reference {
        let table: String
        let column: String?
        let actions: ForeignKeyActions
    }

    /// The column's name.
    public let name: String
    let type: ColumnType?
    var primaryKey: (conflict: OnConflict?, autoincrement: Bool)?
    /// Whether it is NOT NULL, and what happens then.
    var nullRule: (isForbidden: Bool, conflict: OnConflict?) = (false, nil)
    var index: Index?
    var checks: [SQLNode] = []
    var defaultValue: SQLNode?
    var isDefaultConstant = true
    var collation: Collation?
    var references: [Reference] = []
    var generation: (value: SQLNode, kind: GeneratedColumnKind)?

    init(_ name: String, _ type: ColumnType?) {
        self.name = name
        self.type = type
    }

    /// Makes it the primary key: `PRIMARY KEY`.
    ///
    /// - Parameters:
    ///   - conflict: what happens to a row whose key is there already.
    ///   - autoincrement: whether numbers are never used again; for INTEGER columns only
    ///     (https://sqlite.org/autoinc.html).
    @discardableResult
    public func primaryKey(onConflict conflict: ConflictResolution? = nil, autoincrement: Bool = false) -> Self {
        primaryKey = (conflict, autoincrement)
        return self
    }

    /// Forbids NULL: `NOT NULL`.
    @discardableResult
    public func notNull(onConflict conflict: ConflictResolution? = nil) -> Self {
        nullRule = (true, conflict)
        return self
    }

    /// Forbids equal values: `UNIQUE`. NULL is not equal to NULL.
    @discardableResult
    public func unique(onConflict conflict: ConflictResolution? = nil) -> Self {
        index = .unique(conflict)
        return self
    }

    /// Makes an index on the column, called `table_on_column`. A column that is unique has one already, and gets no
    /// second.
    @discardableResult
    public func indexed() -> Self {
        if index == nil { index = .plain }
        return self
    }

    /// The collation by which its texts are compared: `COLLATE`.
    @discardableResult
    public func collate(_ collation: Collation) -> Self {
        self.collation = collation
        return self
    }
}
