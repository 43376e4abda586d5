public import LiteVaultCore
public import LiteVaultQuery

extension Connection {
    /// Renames a table: `ALTER TABLE "referer" RENAME TO "referrer"`. Tables that refer to it follow, and so do triggers
    /// and views where the engine takes them along (SQLite 3.26 and later); one that would be left broken is a reason to
    /// refuse.
    ///
    /// - Throws: `DatabaseError` or ``SchemaChangeRefused``; the table has its old name.
    public func rename(table: String, to newName: String) throws {
        try SchemaChanger(connection: self).rename(table: table, to: newName)
    }

    /// Removes a table with its indexes and triggers: `DROP TABLE "obsolete"`. While foreign keys are enforced its rows are
    /// deleted first, with all that this means for rows that refer to them.
    ///
    /// - Parameters:
    ///   - table: its name. A full-text index that follows the table is not removed.
    ///   - ifExists: whether it is no error when there is none.
    /// - Throws: `DatabaseError`; nothing was removed.
    public func drop(table: String, ifExists: Bool = false) throws {
        try run("DROP TABLE \(ifExists ? "IF EXISTS " : "")\(quoted(table))")
    }

    /// Changes a table, in the order of the calls in the closure: all or nothing.
    ///
    /// ```swift
    /// try db.alter(table: "player") { t in
    ///     t.add(column: "hasBonus", .boolean)
    ///     t.rename(column: "url", to: "homeURL")
    ///     t.drop(column: "score")
    /// }
    /// ```
    ///
    /// What the engine has no statement for is done by making the table anew, with its rows and everything that belongs
    /// to it. Inside a transaction that is possible only while foreign keys are not enforced.
    ///
    /// - Throws: `DatabaseError`, ``SchemaBuilderError``, ``SchemaChangeRefused``, `EngineUnsupported`, and what the
    ///   closure throws. The table is as it was.
    public func alter(table: String, body: (TableAlteration) throws -> Void) throws {
        let alteration = TableAlteration(table)
        try body(alteration)
        try SchemaChanger(connection: self).alter(alteration)
    }

    /// Computes a collation's indexes anew, after its definition changed: `REINDEX NOCASE`.
    ///
    /// - Throws: `DatabaseError`
    public func reindex(collation: Collation) throws { try run("REINDEX \(collation)") }
}
