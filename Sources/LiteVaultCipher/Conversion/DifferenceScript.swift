package import LiteVaultCore

/// A difference as SQL text that turns the left database into the right one.
///
/// Rows that differ are removed first and inserted then, with all triggers dropped meanwhile: in that order no UNIQUE constraint is
/// hurt by rows that swapped values.
package struct DifferenceScript {
    private let old: SchemaContent
    private let new: SchemaContent
    private let difference: ContentDifference
    private let write: (borrowing SQLText) throws -> Void
    private let encoding: TextEncoding

    /// Writes the text.
    ///
    /// - Parameters:
    ///   - left: a connection in a read transaction.
    ///   - write: receives the text in order, a statement at a time.
    /// - Throws: `VaultError` `unsupported` where no text can do it: virtual tables whose definitions differ, another encoding;
    ///   `DatabaseError`; what `write` throws.
    package static func write(
        from left: Connection, to right: Connection, _ difference: ContentDifference,
        to write: (borrowing SQLText) throws -> Void
    ) throws {
        if let table = difference.virtualTables.first {
            throw unsupported("The virtual table '\(table.name)' differs in its definition")
        }
        if difference.settings.contains(where: { $0.name == "encoding" }) {
            throw unsupported("The databases have different text encodings")
        }
        guard !difference.isEmpty else { return }
        try withoutActuallyEscaping(write) { write in
            let script = try DifferenceScript(
                old: SchemaContent(left), new: SchemaContent(right), difference: difference, write: write,
                encoding: TextEncoding(of: right))
            for object in script.new.tables.values { try object.requireSingleStatement() }
            for object in script.new.others { try object.requireSingleStatement() }
            try script.writeAll()
        }
    }

    private static func unsupported(_ reason: String) -> VaultError {
        VaultError(.unsupported, "\(reason), which SQL text cannot change", remedy: "Copy the whole database instead.")
    }

    private func writeAll() throws {
        try line("PRAGMA foreign_keys = OFF;")
        try line("BEGIN TRANSACTION;")
        try drop()
        // All removals first: a new table may have the name of an old one in other letters.
        for table in difference.tables { try writeRemovals(table) }
        for table in difference.tables { try writeAdditions(table) }
        try create()
        try writeSequence()
        for setting in difference.settings { try line("PRAGMA \(setting.name) = \(setting.right);") }
        try line("COMMIT;")
    }

    // MARK: Objects

    /// Tables that are dropped, and created again if the right database has them.
    private var replaced: Set<SQLName> {
        Set(difference.tables.filter { $0.definition != nil }.map { SQLName($0.name) })
    }

    private func change(of object: SchemaObject) -> ContentDifference.Change? {
        difference.objects.first { $0.type == object.type && isSameText($0.name, object.name) }?.change
    }

    /// Drops triggers, and the indexes and views that differ.
    private func drop() throws {
        for object in old.others where object.type == "trigger" { try line("DROP TRIGGER \(quoted(object.name));") }
        for object in old.others where object.type != "trigger" && change(of: object) != nil {
            // It goes with its table.
            if object.type == "index", replaced.contains(SQLName(object.tableName)) { continue }
            try line("DROP \(foldedKeyword(object.type)) \(quoted(object.name));")
        }
    }

    /// Creates triggers, which run in the order of their creation, and the indexes and views that differ.
    private func create() throws {
        for type in ["index", "view", "trigger"] {
            for object in new.others where object.type == type {
                let isLost = type == "index" && replaced.contains(SQLName(object.tableName))
                guard type == "trigger" || isLost || change(of: object) != nil else { continue }
                if let sql = object.sql { try line(Quoting.definitionStatement(sql)) }
            }
        }
    }

    /// The engine makes the table with the first one that has AUTOINCREMENT, and changes it with every insertion.
    private func writeSequence() throws {
        guard new.hasSequence || old.hasSequence else { return }
        if old.hasSequence {
            try line("DELETE FROM sqlite_sequence;")
        } else if !new.sequence.isEmpty {
            for statement in SchemaObject.emptySequence(after: Array(new.tables.values)) { try line(statement) }
        }
        guard !new.sequence.isEmpty else { return }
        var text = SQLText(encoding)
        try new.connection.forEach("SELECT name, seq FROM sqlite_sequence ORDER BY rowid") { row in
            try text.set(row, 0..<2, after: "INSERT INTO sqlite_sequence (name, seq) VALUES (")
            try write(text)
        }
    }

    // MARK: Rows

    private func writeRemovals(_ table: ContentDifference.Table) throws {
        guard table.name != "sqlite_sequence" else { return }
        switch table.definition {
        case .added?: return
        case .removed?, .changed?: return try line("DROP TABLE \(quoted(table.name));")
        case nil: break
        }
        guard table.isMatched, let key = try RowKey(table.name, in: old.connection) else {
            return try line("DELETE FROM \(quoted(table.name));")
        }
        guard table.removed + table.changed > 0 else { return }
        var text = SQLText(encoding)
        let start = "DELETE FROM \(quoted(table.name)) WHERE "
        try RowMerge(key, old.connection, new.connection).forEach { change, row, _ in
            guard change != .added else { return }
            try row.withPrepared { prepared in
                let row = RowView(prepared)
                text.removeAll()
                text.append(start)
                for index in 0..<key.width {
                    text.append((index > 0 ? " AND " : "") + key.names[index] + " = ")
                    try text.appendLiteral(row, index)
                }
                text.append(";\n")
                try write(text)
            }
        }
    }

    private func writeAdditions(_ table: ContentDifference.Table) throws {
        guard table.name != "sqlite_sequence", let object = new.tables[ExactText(table.name)] else { return }
        if table.definition != nil, let sql = object.sql { try line(Quoting.definitionStatement(sql)) }
        let isWhole = table.definition != nil || !table.isMatched
        guard isWhole || table.added + table.changed > 0 else { return }
        var text = SQLText(encoding)
        guard let key = try RowKey(table.name, in: new.connection) else {
            let shape = try TableShape(table.name, in: new.connection)
            let start = Self.insertion(table.name, shape.columns.map(quoted))
            return try new.connection.forEach(SQL(sql: shape.selection)) { row in
                try text.set(row, 0..<row.count, after: start)
                try write(text)
            }
        }
        let start = Self.insertion(table.name, key.insertion.names)
        let columns = key.insertion.first..<key.names.count
        guard !isWhole else {
            return try new.connection.forEach(SQL(sql: key.selection)) { row in
                try text.set(row, columns, after: start)
                try write(text)
            }
        }
        try RowMerge(key, old.connection, new.connection).forEach { change, _, row in
            guard change != .removed else { return }
            try row.withPrepared { try text.set(RowView($0), columns, after: start) }
            try write(text)
        }
    }

    private static func insertion(_ table: String, _ names: [String]) -> String {
        "INSERT INTO \(quoted(table)) (\(names.joined(separator: ", "))) VALUES ("
    }

    private func line(_ sql: String) throws { try write(SQLText(line: sql)) }
}
