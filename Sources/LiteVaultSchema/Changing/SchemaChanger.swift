public import LiteVaultCore

/// Changes tables, also in ways that the linked engine has no statement for.
///
/// ```swift
/// let changer = SchemaChanger(connection: db)
/// try changer.alter(table: "users") { table in
///     table.add(column: ColumnDefinition(name: "city", type: .TEXT))
///     table.rename(column: "mail", to: "email")
///     table.drop(column: "age")
/// }
/// ```
///
/// Each call is one transaction: it is done completely or not at all. Before SQLite 3.25 (columns renamed) and 3.35
/// (columns dropped) the table is made anew and its rows are copied, with their numbers; its indexes, triggers,
/// constraints and the tables that refer to it stay what they are. What cannot be kept is refused with
/// ``SchemaChangeRefused``.
public final class SchemaChanger: CustomStringConvertible {
    let connection: Connection
    let version: SQLiteVersion

    /// A changer of a connection's main and temporary tables.
    public convenience init(connection: Connection) {
        self.init(connection: connection, version: connection.sqliteVersion)
    }

    /// A changer that uses only what a version of SQLite has.
    public init(connection: Connection, version: SQLiteVersion) {
        self.connection = connection
        self.version = version
    }

    /// Changes a table, in the order of the calls in the block.
    ///
    /// - Throws: `DatabaseError`, ``Error`` or ``SchemaChangeRefused``; the table is as it was.
    public func alter(table: String, block: AlterTableDefinitionBlock) throws {
        let definition = AlterTableDefinition(name: table)
        block(definition)
        try run(definition.operations, table: table)
    }

    /// Makes a table, with its indexes.
    ///
    /// - Parameters:
    ///   - table: its name.
    ///   - ifNotExists: whether it is no error when the table or an index is there; it is left as it is then.
    ///   - block: adds columns and indexes.
    /// - Throws: `DatabaseError`; nothing was made.
    public func create(table: String, ifNotExists: Bool = false, block: CreateTableDefinitionBlock) throws {
        let definition = CreateTableDefinition(name: table, ifNotExists: ifNotExists)
        block(definition)
        try run(definition.operations, table: table)
    }

    /// Removes a table with its indexes and triggers. While foreign keys are enforced its rows are deleted first, with
    /// all that this means for rows that refer to them.
    ///
    /// - Throws: `DatabaseError`; nothing was removed.
    public func drop(table: String, ifExists: Bool = true) throws {
        try run("DROP TABLE \(ifExists ? " IF EXISTS " : "") \(quoted(table))")
    }

    /// Renames a table. Tables that refer to it follow, and so do triggers and views where the engine takes them along
    /// (SQLite 3.26 and later); one that would be left broken is a reason to refuse.
    ///
    /// - Throws: `DatabaseError` or ``SchemaChangeRefused``; the table has its old name.
    public func rename(table: String, to: String) throws {
        try run([.renameTable(to)], table: table)
    }

    /// Runs a statement of one's own.
    ///
    /// - Throws: `DatabaseError`
    @discardableResult
    public func run(_ sql: String, _ bindings: (any Binding)?...) throws -> Statement {
        try connection.run(sql, bindings)
    }

    /// What it changes.
    public var description: String { "SQLiteSchemaChanger: \(connection.description)" }
}
