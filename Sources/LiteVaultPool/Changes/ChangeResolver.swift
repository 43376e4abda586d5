internal import LiteVaultCore

/// Determines the changes of a transaction that the hooks do not report: the columns that were set, and the tables
/// whose changed rows no hook reports. It uses the authorizer to find out what the statements of the transaction write,
/// once per text.
///
/// If that cannot be determined, it assumes that more was changed, never less.
struct ChangeResolver {
    private unowned let connection: Connection
    private let schemaCache: SchemaCache
    private let statements = Statements()

    private final class Statements {
        /// A nil value: it cannot be determined.
        var known: [ExactText: WrittenColumns?] = [:]
        var versions: [SQLName: Int64] = [:]
    }

    init(_ connection: Connection, _ schemaCache: SchemaCache) {
        self.connection = connection
        self.schemaCache = schemaCache
        statements.versions["main"] = try? connection.integer("schema_version")
    }

    /// Call it when the schema or a setting of the connection may change.
    func forgetStatements() { statements.known = [:] }

    func resolve(_ committed: TransactionChanges) -> ChangeSet {
        var changes = committed.changes
        let isSameSchema = self.isSameSchema("main")
        // Changed by something other than a statement: another process, or a backup into this connection.
        let isReplaced = isSameSchema == false && !committed.changesSchema
        guard !committed.isEmpty else { return isReplaced ? .unknown : changes }
        guard !changes.everything else { return changes }
        let others = Set(changes.tables.keys.map(\.schema)).subtracting(["main", "temp"])
        let isKnown =
            isSameSchema == true && others.allSatisfy { self.isSameSchema($0) == true } && !committed.changesSchema
            && !committed.hasMoreTexts
        let needsColumns = changes.tables.values.contains { $0.columns?.isEmpty == true }
        let clears =
            committed.clears || (try? schemaCache.summary("main", of: connection))?.hasClearingTriggers != false
        guard committed.hasUnreportedRows || needsColumns || clears else {
            return isReplaced ? .unknown : changes
        }
        guard isKnown, let written = written(by: committed.texts) else {
            // The statements can no longer be analyzed: they ran under another schema.
            if committed.hasUnreportedRows || isReplaced || clears { return .unknown }
            for name in changes.tables.keys where changes.tables[name]?.columns?.isEmpty == true {
                changes.tables[name]?.columns = nil
            }
            return changes
        }
        if committed.hasUnreportedRows {
            guard !written.isEmpty else { return .unknown }
            for name in written.tables { changes.tables[name] = .unknown }
            for (name, columns) in written.columns {
                changes.tables[name, default: .init()].merge(.init(rows: nil, columns: columns))
            }
        }
        if clears {
            for name in written.tables where mayBeWithoutRowid(name) { changes.tables[name] = .unknown }
        }
        for (name, table) in changes.tables where table.columns?.isEmpty == true {
            // Rows of a table that no statement names: it is unknown what has changed them.
            changes.tables[name]?.columns = written.columns[name] ?? nil
        }
        return changes
    }

    private func mayBeWithoutRowid(_ name: TableName) -> Bool {
        (try? schemaCache.summary(name.schema, of: connection))?.withoutRowid.contains(SQLName(name.table)) != false
    }

    private struct Written {
        /// Tables in which rows are inserted or deleted.
        var tables: Set<TableName> = []
        /// The columns that are set; nil if possibly others as well.
        var columns: [TableName: Set<SQLName>?] = [:]

        var isEmpty: Bool { tables.isEmpty && columns.isEmpty }
    }

    /// Nil when it cannot be determined.
    private func written(by texts: Set<ExactText>) -> Written? {
        var result = Written()
        var facts: [SQLName: SchemaSummary] = [:]
        for text in texts {
            guard let written = writtenColumns(of: text) else { return nil }
            result.tables.formUnion(written.tables)
            let replaces = !written.columns.isEmpty && StatementText(text.text).replaces
            for (name, columns) in written.columns {
                let key = SQLName(name.schema)
                if facts[key] == nil { facts[key] = try? schemaCache.summary(name.schema, of: connection) }
                guard let schema = facts[key] else { return nil }
                let isPrecise =
                    schema.kinds[SQLName(name.table)] == .table && !replaces && !columns.contains("rowid")
                    && !(schema.hasReplacingTriggers && written.updatedByTriggers.contains(name))
                guard isPrecise, let known = result.columns[name, default: []] else {
                    result.columns.updateValue(nil, forKey: name)
                    continue
                }
                result.columns.updateValue(known.union(columns), forKey: name)
            }
        }
        return result
    }

    private func writtenColumns(of text: ExactText) -> WrittenColumns? {
        if let known = statements.known[text] { return known }
        if statements.known.count > 500 { statements.known = [:] }
        let written = connection.writtenColumns(of: text.text)
        statements.known.updateValue(written, forKey: text)
        return written
    }

    /// Whether a schema is unchanged since the last call; nil when it cannot be read.
    private func isSameSchema(_ schema: String) -> Bool? {
        let now = try? connection.integer(schema == "main" ? "schema_version" : "\(quoted(schema)).schema_version")
        defer { statements.versions[SQLName(schema)] = now }
        if now != statements.versions[SQLName(schema)] { statements.known = [:] }
        guard let now, let before = statements.versions[SQLName(schema)] else { return nil }
        return now == before
    }
}
