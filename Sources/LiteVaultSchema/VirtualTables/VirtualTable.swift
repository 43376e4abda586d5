public import LiteVaultCore
public import LiteVaultQuery

extension VirtualTable {
    /// Options of a virtual table that is being created.
    public typealias Options = ViewOptions

    /// A virtual table that is being created, as its module sees it.
    public struct Configuration: Sendable {
        /// The table's name.
        public let tableName: String
        /// The options of the table.
        public let options: Options
    }
}

/// A module for virtual tables whose columns and options are declared in Swift: ``FTS3``, ``FTS4``, ``FTS5``, or one of
/// the application's own.
public protocol VirtualTableModule {
    /// The type that the closure of `create(virtualTable:options:ifNotExists:using:_:)` works on.
    associatedtype TableDefinition

    /// The name after USING. It is quoted where that is needed.
    var moduleName: String { get }

    /// Creates an empty definition.
    func makeTableDefinition(configuration: VirtualTable.Configuration) throws -> TableDefinition

    /// The arguments of the module, each as SQL text.
    func moduleArguments(for definition: TableDefinition, in connection: Connection) throws -> [String]

    /// Called after the table was created, in the same transaction.
    func database(_ connection: Connection, didCreate tableName: String, using definition: TableDefinition) throws

    /// Called in a transaction in which `.ifNotExists` kept an existing table: the place to restore objects that belong to
    /// the table and were lost. Does nothing by default.
    func database(_ connection: Connection, didKeep tableName: String, using definition: TableDefinition) throws
}

extension VirtualTableModule {
    /// Restores nothing.
    public func database(_ connection: Connection, didKeep tableName: String, using definition: TableDefinition) {}
}

extension Connection {
    /// Creates a virtual table: `CREATE VIRTUAL TABLE "area" USING rtree(id, minX, maxX)`.
    ///
    /// - Parameters:
    ///   - name: the table's name.
    ///   - options: options of the table.
    ///   - ifNotExists: the same as the option `ifNotExists`.
    ///   - module: the module with its arguments, as SQL text. It is used verbatim: never build it from untrusted
    ///     input.
    /// - Throws: `DatabaseError`, `VaultError` `unsupported` if the engine lacks the module; nothing is created then.
    public func create(
        virtualTable name: String, options: VirtualTable.Options = [], ifNotExists: Bool = false, using module: String
    ) throws {
        try createVirtualTable(name, ifNotExists ? options.union(.ifNotExists) : options, .text(module)) {}
    }

    /// Creates a virtual table whose columns and options are declared in Swift, with all objects that belong to it, or
    /// nothing.
    ///
    /// ```swift
    /// try db.create(virtualTable: "document", using: FTS4()) { t in
    ///     t.column("title")
    ///     t.column("content")
    ///     t.tokenizer = .unicode61(diacritics: .remove)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: the table's name.
    ///   - options: options of the table.
    ///   - ifNotExists: the same as the option `ifNotExists`.
    ///   - module: the module.
    ///   - body: adds columns and options.
    /// - Throws: `DatabaseError`, `VaultError`, also `unsupported` if the engine lacks the module, and what
    ///   the closure and the module throw. Nothing is created then.
    public func create<Module: VirtualTableModule>(
        virtualTable name: String, options: VirtualTable.Options = [], ifNotExists: Bool = false, using module: Module,
        _ body: ((Module.TableDefinition) throws -> Void)? = nil
    ) throws {
        let options = ifNotExists ? options.union(.ifNotExists) : options
        let definition = try module.makeTableDefinition(
            configuration: VirtualTable.Configuration(tableName: name, options: options))
        try body?(definition)
        let exists = try schema.hasTable(name, temporary: options.contains(.temporary))
        let arguments = try module.moduleArguments(for: definition, in: self)
        let moduleName = SchemaName.quotedWhereNeeded(module.moduleName)
        let text = arguments.isEmpty ? moduleName : "\(moduleName)(\(arguments.joined(separator: ", ")))"
        try createVirtualTable(name, options, .text(text)) {
            // An existing table is kept as it is, except for what it has lost.
            if exists {
                try module.database(self, didKeep: name, using: definition)
            } else {
                try module.database(self, didCreate: name, using: definition)
            }
        }
    }

    private func createVirtualTable(
        _ name: String, _ options: VirtualTable.Options, _ module: SQLNode, then complete: () throws -> Void
    ) throws {
        let isTemporary = options.contains(.temporary)
        let sql = try SchemaText.text(
            of: .words(
                .text("CREATE VIRTUAL TABLE"), options.contains(.ifNotExists) ? .text("IF NOT EXISTS") : nil,
                isTemporary ? .joined([.text("temp"), .identifier(name)], separator: ".") : .identifier(name),
                .text("USING"), module), dates: dateStorage)
        try changeSchema(isTemporary: isTemporary) {
            do { try run(SQL(sql: sql)) } catch let error as DatabaseError
                where error.message.hasPrefix("no such module")
            {
                throw VaultError.unsupported(
                    "Module \(error.message.dropFirst("no such module: ".count))", requiredVersion: nil)
            }
            try complete()
        }
    }
}
