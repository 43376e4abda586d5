internal import LiteVaultCore

/// The full-text indexes that triggers synchronize with a table, while the table changes.
///
/// The triggers name the columns of the table's unique indexes (``FullTextConflicts``), so that a change of these makes them
/// again. Triggers of other libraries, or of earlier versions, are left as they are.
struct SynchronizedIndexes {
    private let table: String
    private let connection: Connection
    private let indexes: [(triggers: FullTextTriggers, columns: [String])]

    init(of table: String, _ connection: Connection) throws {
        self.table = table
        self.connection = connection
        let reader = connection.schema.attached("main")
        let names = try reader.objectDefinitions(type: .trigger).filter { isSameName($0.tableName, table) }.map(\.name)
        indexes = try names.compactMap { name in
            let bytes = name.utf8
            guard bytes.starts(with: "__".utf8), bytes.suffix(3).elementsEqual("_bi".utf8) else { return nil }
            let index = String(Substring(bytes.dropFirst(2).dropLast(3)))
            guard try reader.hasTable("__\(index)_replaced"), try reader.hasTable(index) else { return nil }
            let columns = try reader.columnDefinitions(table: index).map(\.name)
            let isFTS5 = names.contains { isSameName($0, "__\(index)_ad") }
            return (FullTextTriggers(index: index, module: isFTS5 ? .fts5 : .fts4), columns)
        }
    }

    var isEmpty: Bool { indexes.isEmpty }

    /// Makes a change of the table without the triggers, and makes those that fit the table afterwards.
    ///
    /// - Parameter changesTexts: whether the change may give a row other texts. The indexes are rebuilt then.
    /// - Throws: `VaultError` `schemaChangeRefused` if the table no longer has a column of an index; what the change throws.
    func setAside(changesTexts: Bool = false, during change: () throws -> Void) throws {
        guard !indexes.isEmpty else { return try change() }
        let rowid = try FullTextTriggers.rowid(of: table, connection)
        let hadKey = try connection.schema.attached("main").integerKey(of: table) != nil
        for index in indexes { try index.triggers.drop(connection) }
        try change()
        // FTS5 reads the table by the name that its rowid had.
        let keepsRowid = try isSameName(FullTextTriggers.rowid(of: table, connection), rowid)
        let columns = try connection.schema.attached("main").columnDefinitions(table: table).map { SQLName($0.name) }
        for (triggers, texts) in indexes {
            let isRead = keepsRowid || triggers.module == .fts4
            if let missing = texts.first(where: { !columns.contains(SQLName($0)) }) ?? (isRead ? nil : rowid) {
                throw Self.refusal(triggers.index, "changing \(quoted(table))", "column \(quoted(missing))")
            }
            if try hadKey && connection.schema.attached("main").integerKey(of: table) == nil {
                throw Self.refusal(triggers.index, "changing \(quoted(table))", "INTEGER PRIMARY KEY")
            }
            try triggers.createAlone(on: table, columns: texts, connection)
            if changesTexts { try triggers.rebuild(connection) }
        }
    }

    /// Requires that no index reads the table by its name.
    ///
    /// - Throws: `VaultError` `schemaChangeRefused`
    func requireNoneForRename() throws {
        guard let index = indexes.first else { return }
        throw Self.refusal(index.triggers.index, "renaming \(quoted(table))", "rows by that name")
    }

    private static func refusal(_ index: String, _ change: String, _ read: String) -> VaultError {
        VaultError(
            .schemaChangeRefused, "\(change) would break full-text index \(quoted(index)), which reads its \(read)",
            remedy: "Drop the index and its triggers first.")
    }
}
