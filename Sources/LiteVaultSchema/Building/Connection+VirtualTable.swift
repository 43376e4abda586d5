public import LiteVaultCore
internal import LiteVaultQuery

extension Connection {
    /// Makes a virtual table: `CREATE VIRTUAL TABLE "area" USING rtree(id, minX, maxX)`.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - options: how it is made.
    ///   - module: the module with its arguments, as SQL text. It is used as it is: never build it from input.
    /// - Throws: `DatabaseError`, `EngineUnsupported` for a module that the engine does not have; nothing was made.
    public func create(virtualTable name: String, options: VirtualTableOptions = [], using module: String) throws {
        try createVirtualTable(name, options, .text(module)) {}
    }

    /// Makes a virtual table whose columns and options are declared in Swift, and what belongs to it: all or nothing.
    ///
    /// ```swift
    /// try db.create(virtualTable: "document", using: FTS4()) { t in
    ///     t.column("title")
    ///     t.column("content")
    ///     t.tokenizer = .unicode61(diacritics: .remove)
    /// }
    /// ```
    ///
    /// - Throws: `DatabaseError`, ``SchemaBuilderError``, `EngineUnsupported` for a module that the engine does not have,
    ///   and what the closure and the module throw. Nothing was made.
    public func create<Module: VirtualTableModule>(
        virtualTable name: String, options: VirtualTableOptions = [], using module: Module,
        _ body: ((Module.TableDefinition) throws -> Void)? = nil
    ) throws {
        let definition = try module.makeTableDefinition(
            configuration: VirtualTableConfiguration(tableName: name, options: options))
        try body?(definition)
        let exists = try schema.hasTable(name, temporary: options.contains(.temporary))
        let arguments = try module.moduleArguments(for: definition, in: self)
        let moduleName = SQLWords.quotedWhereNeeded(module.moduleName)
        let text = arguments.isEmpty ? moduleName : "\(moduleName)(\(arguments.joined(separator: ", ")))"
        try createVirtualTable(name, options, .text(text)) {
            // A table that was there already is left as it is, but for what it has lost.
            if exists {
                try module.database(self, didKeep: name, using: definition)
            } else {
                try module.database(self, didCreate: name, using: definition)
            }
        }
    }

    /// Makes a virtual table.
    public func create(virtualTable name: String, ifNotExists: Bool, using module: String) throws {
        try create(virtualTable: name, options: ifNotExists ? .ifNotExists : [], using: module)
    }

    /// Makes a virtual table whose columns and options are declared in Swift.
    public func create<Module: VirtualTableModule>(
        virtualTable name: String, ifNotExists: Bool, using module: Module,
        _ body: ((Module.TableDefinition) throws -> Void)? = nil
    ) throws {
        try create(virtualTable: name, options: ifNotExists ? .ifNotExists : [], using: module, body)
    }

    private func createVirtualTable(
        _ name: String, _ options: VirtualTableOptions, _ module: SQLNode, then complete: () throws -> Void
    ) throws {
        let table = SQLNode.identifier(name)
        let sql = try SchemaText.text(
            of: .words(
                .text("CREATE VIRTUAL TABLE"), options.contains(.ifNotExists) ? .text("IF NOT EXISTS") : nil,
                options.contains(.temporary) ? .joined([.text("temp"), table], separator: ".") : table,
                .text("USING"), module))
        try changeSchema(isTemporary: options.contains(.temporary)) {
            do { try run(sql) } catch let error as DatabaseError where error.message.hasPrefix("no such module") {
                throw EngineUnsupported(
                    feature: "Module \(error.message.dropFirst("no such module: ".count))", requiredVersion: nil)
            }
            try complete()
        }
    }
}

extension SchemaReader {
    /// Whether there is a table of that name, virtual ones included.
    func hasTable(_ name: String, temporary: Bool) throws -> Bool {
        try !objectDefinitions(name: name, type: .table, temp: temporary).isEmpty
    }
}
