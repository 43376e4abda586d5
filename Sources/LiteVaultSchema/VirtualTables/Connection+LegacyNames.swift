public import LiteVaultCore
public import LiteVaultQuery

// Spellings of other schema builders, for code written for them. They forward to the functions that they name, and are
// left out of the documentation.

extension Connection {
    /// Creates a table.
    @available(*, deprecated, renamed: "create(table:in:options:body:)")
    @_disfavoredOverload
    @_documentation(visibility: internal)
    public func create(
        table name: String, temporary: Bool = false, ifNotExists: Bool = false, withoutRowID: Bool = false,
        body: (TableSpecification) throws -> Void
    ) throws {
        var options: TableOptions = []
        if temporary { options.insert(.temporary) }
        if ifNotExists { options.insert(.ifNotExists) }
        if withoutRowID { options.insert(.withoutRowID) }
        try create(table: name, options: options, body: body)
    }

    /// Creates an index on columns.
    @available(*, deprecated, renamed: "create(index:on:columns:options:condition:)")
    @_disfavoredOverload
    @_documentation(visibility: internal)
    public func create(
        index name: String, on table: String, columns: [String], unique: Bool = false, ifNotExists: Bool = false,
        condition: (any ExpressionType)? = nil
    ) throws {
        var options: IndexOptions = []
        if unique { options.insert(.unique) }
        if ifNotExists { options.insert(.ifNotExists) }
        try create(index: name, on: table, columns: columns, options: options, condition: condition)
    }

    /// Drops the triggers of an FTS4 index. See ``FTS4/dropSynchronizationTriggers(of:in:)``.
    @_documentation(visibility: internal)
    public func dropFTS4SynchronizationTriggers(forTable table: String) throws {
        try FTS4.dropSynchronizationTriggers(of: table, in: self)
    }

    /// Drops the triggers of an FTS5 index. See ``FTS5/dropSynchronizationTriggers(of:in:)``.
    @_documentation(visibility: internal)
    public func dropFTS5SynchronizationTriggers(forTable table: String) throws {
        try FTS5.dropSynchronizationTriggers(of: table, in: self)
    }
}
