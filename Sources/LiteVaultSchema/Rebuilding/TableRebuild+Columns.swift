internal import LiteVaultCore

extension TableRebuild {
    /// Adds a column after the last one, with its default value in each row.
    func add(column: String, _ declaration: String) throws {
        let change = "adding column \(quoted(column)) to \(quoted(table))"
        guard try !columns(of: table, isStored: false).contains(where: { isSameName($0, column) }) else {
            throw VaultError(.schemaChangeRefused, "\(change): the table already has a column of that name")
        }
        guard let newText = text.adding(column: declaration) else {
            throw VaultError(.schemaChangeRefused, "\(change): its CREATE TABLE cannot be parsed")
        }
        try replace(with: newText, columns: try storedColumns().map { (old: $0, new: $0) }, statements)
    }

    /// Drops a column, unless something uses it.
    func drop(column: String) throws {
        let change = "dropping column \(quoted(column)) of \(quoted(table))"
        let element = try declaration(of: column, change)
        guard try !(reader.primaryKey(of: table) ?? []).contains(where: { isSameName($0.name, column) }) else {
            throw VaultError(.schemaChangeRefused, "\(change): it is part of the primary key")
        }
        guard text.elements.filter({ $0.column != nil }).count > 1 else {
            throw VaultError(.schemaChangeRefused, "\(change): it is the only column")
        }
        let own = text.elements[element].range
        guard text.references(to: column, of: table).allSatisfy({ own.contains($0) }) else {
            throw VaultError(.schemaChangeRefused, "\(change): a constraint or another column uses it")
        }
        for object in attached where object.type == .index {
            guard let sql = object.sql, CreateIndexText(sql)?.mentions(column: column) == false else {
                throw VaultError(.schemaChangeRefused, "\(change): index \(quoted(object.name)) uses it")
            }
        }
        if let child = try children(of: column).first {
            throw VaultError(.schemaChangeRefused, "\(change): table \(quoted(child)) references it")
        }
        guard let newText = text.removing(element) else {
            throw VaultError(.schemaChangeRefused, "\(change): its CREATE TABLE cannot be parsed")
        }
        let kept = try storedColumns().filter { !isSameName($0, column) }
        let dependents = try DependentObjects(on: table, connection)
        try replace(with: newText, columns: kept.map { (old: $0, new: $0) }, statements)
        try dependents.check(change: change, column: column)
    }

    /// Renames a column in the table, its indexes and triggers, and in the tables that reference it.
    func rename(column: String, to newName: String) throws {
        let change = "renaming column \(quoted(column)) of \(quoted(table))"
        let element = try declaration(of: column, change)
        guard try isSameName(column, newName) || !storedColumns().contains(where: { isSameName($0, newName) }) else {
            throw VaultError(.schemaChangeRefused, "\(change): the table already has a column \(quoted(newName))")
        }
        let range = text.elements[element].range
        let name = range.first { text.tokens[$0].isSignificant }.map { [$0] } ?? []
        guard let newText = text.replacing(name + text.references(to: column, of: table), with: newName) else {
            throw VaultError(.schemaChangeRefused, "\(change): its CREATE TABLE cannot be parsed")
        }
        let dependents = try DependentObjects(on: table, connection)
        let columns = try storedColumns().map { (old: $0, new: isSameName($0, column) ? newName : $0) }
        let statements = attached.compactMap { object -> String? in
            guard let sql = object.sql else { return nil }
            let renamed =
                object.type == .trigger
                ? TriggerText(sql).renaming(column: column, to: newName)
                : CreateIndexText(sql)?.renaming(column: column, to: newName) ?? sql
            return statement(object, renamed)
        }
        let children = try children(of: column)
        try replace(with: newText, columns: columns, statements)
        for child in children { try TableRebuild(child, connection).follow(column: column, of: table, to: newName) }
        let hint = " (SQLite 3.25 and later renames it in views and triggers)"
        try dependents.check(change: change + hint, column: column)
    }

    /// Renames a column of a referenced table in the foreign keys of this table.
    private func follow(column: String, of parent: String, to newName: String) throws {
        let indices = text.foreignReferences(to: column, of: parent)
        guard !indices.isEmpty, let newText = text.replacing(indices, with: newName) else { return }
        try replace(with: newText, columns: try storedColumns().map { (old: $0, new: $0) }, statements)
    }

    /// Renames a referenced table in the foreign keys of this table, while foreign keys are not enforced.
    func follow(table parent: String, to newName: String) throws {
        guard try connection.integer("foreign_keys") == 0 else {
            throw VaultError(
                .schemaChangeRefused,
                "renaming \(quoted(parent)): table \(quoted(table)) references it, which this engine cannot change in a "
                    + "transaction while foreign keys are enforced")
        }
        guard let newText = text.replacing(text.references(toTable: parent), with: newName) else {
            throw VaultError(
                .schemaChangeRefused, "renaming \(quoted(parent)): CREATE TABLE of \(quoted(table)) cannot be parsed")
        }
        try replace(with: newText, columns: try storedColumns().map { (old: $0, new: $0) }, statements)
    }

    private func declaration(of column: String, _ change: String) throws -> Int {
        guard let element = text.element(of: column) else {
            throw VaultError(.schemaChangeRefused, "\(change): the table has no such column")
        }
        return element
    }

    /// The other tables with a foreign key that names the column.
    private func children(of column: String) throws -> [String] {
        return try reader.objectDefinitions(type: .table).map(\.name).filter { other in
            guard !isSameName(other, table) else { return false }
            return try reader.foreignKeys(table: other).contains {
                isSameName($0.toTable, table) && $0.toColumn.map { isSameName($0, column) } == true
            }
        }
    }
}

private struct TriggerText {
    private let tokens: [SQLTokens.Token]

    init(_ sql: String) { tokens = Array(SQLTokens(sql)) }

    /// The statement with a column of its table renamed in `NEW.column`, `OLD.column` and `UPDATE OF column`. The engine
    /// rejects the statement if it uses the old name elsewhere.
    func renaming(column: String, to newName: String) -> String {
        var texts = tokens.map(\.text)
        let list = updatedColumns
        for index in tokens.indices where tokens[index].isName(column) {
            if list.contains(index) || follows(index, ["NEW", "OLD"]) { texts[index] = quoted(newName) }
        }
        return texts.joined()
    }

    /// The columns after `UPDATE OF`, up to `ON`.
    private var updatedColumns: Range<Int> {
        guard let update = tokens.firstIndex(where: { $0.isKeyword("UPDATE") }), let of = tokens.next(after: update),
            tokens[of].isKeyword("OF"), let on = tokens[of...].firstIndex(where: { $0.isKeyword("ON") })
        else { return 0..<0 }
        return of..<on
    }

    /// Whether the token at `index` follows one of these names and a dot.
    private func follows(_ index: Int, _ qualifiers: Set<SQLName>) -> Bool {
        guard let dot = tokens.previous(before: index), tokens[dot].isSymbol("."),
            let qualifier = tokens.previous(before: dot), let name = tokens[qualifier].name
        else { return false }
        return qualifiers.contains(SQLName(name))
    }
}
