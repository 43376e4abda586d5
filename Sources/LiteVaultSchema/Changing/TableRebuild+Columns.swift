internal import LiteVaultCore

extension TableRebuild {
    /// Adds a column after the others, with its default value in each row.
    func add(column: String, _ declaration: String) throws {
        let change = "adding column \(quoted(column)) to \(quoted(table))"
        guard try !columns(of: table, isStored: false).contains(where: { isSame($0, column) }) else {
            throw SchemaChangeRefused("\(change): there is one of that name already")
        }
        guard let newText = text.adding(column: declaration) else {
            throw SchemaChangeRefused("\(change): not understood")
        }
        try replace(with: newText, columns: try storedColumns().map { (old: $0, new: $0) }, statements)
    }

    /// Removes a column. What means the column is a reason to refuse.
    func drop(column: String) throws {
        let change = "dropping column \(quoted(column)) of \(quoted(table))"
        let element = try declaration(of: column, change)
        let reader = SchemaReader(connection: connection)
        let keys = try reader.columnDefinitions(table: table).filter { $0.primaryKey != nil }
        guard !keys.contains(where: { isSame($0.name, column) }) else {
            throw SchemaChangeRefused("\(change): it is the primary key or a part of it")
        }
        guard text.elements.filter({ $0.column != nil }).count > 1 else {
            throw SchemaChangeRefused("\(change): it is the only column")
        }
        let own = text.elements[element].range
        guard text.references(to: column, of: table).allSatisfy({ own.contains($0) }) else {
            throw SchemaChangeRefused("\(change): a constraint or another column uses it")
        }
        for object in attached where object.type == .index {
            guard let sql = object.sql, CreateIndexText(sql)?.mentions(column: column) == false else {
                throw SchemaChangeRefused("\(change): index \(quoted(object.name)) uses it")
            }
        }
        if let child = try children(of: column).first {
            throw SchemaChangeRefused("\(change): table \(quoted(child)) refers to it")
        }
        guard let newText = text.removing(element) else { throw SchemaChangeRefused("\(change): not understood") }
        let kept = try storedColumns().filter { !isSame($0, column) }
        let dependents = try DependentObjects(on: table, connection)
        try replace(with: newText, columns: kept.map { (old: $0, new: $0) }, statements)
        try dependents.check(change: change, column: column)
    }

    /// Renames a column, in the table, its indexes and triggers, and in the tables that refer to it.
    func rename(column: String, to newName: String) throws {
        let change = "renaming column \(quoted(column)) of \(quoted(table))"
        let element = try declaration(of: column, change)
        guard try isSame(column, newName) || !storedColumns().contains(where: { isSame($0, newName) }) else {
            throw SchemaChangeRefused("\(change): there is a column \(quoted(newName)) already")
        }
        let range = text.elements[element].range
        let name = range.first { text.tokens[$0].isSignificant }.map { [$0] } ?? []
        guard let newText = text.replacing(name + text.references(to: column, of: table), with: newName) else {
            throw SchemaChangeRefused("\(change): not understood")
        }
        let dependents = try DependentObjects(on: table, connection)
        let columns = try storedColumns().map { (old: $0, new: isSame($0, column) ? newName : $0) }
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
        let hint = " (views and triggers follow with SQLite 3.25 and later)"
        try dependents.check(change: change + hint, column: column)
    }

    /// Renames a column of another table in the foreign keys of this one.
    private func follow(column: String, of parent: String, to newName: String) throws {
        let indices = text.foreignReferences(to: column, of: parent)
        guard !indices.isEmpty, let newText = text.replacing(indices, with: newName) else { return }
        try replace(with: newText, columns: try storedColumns().map { (old: $0, new: $0) }, statements)
    }

    /// Renames a table in the foreign keys of this one. Only where foreign keys are not enforced.
    func follow(table parent: String, to newName: String) throws {
        guard try connection.integer("foreign_keys") == 0 else {
            throw SchemaChangeRefused(
                "renaming \(quoted(parent)): table \(quoted(table)) refers to it, and cannot follow in a transaction "
                    + "while foreign keys are enforced")
        }
        guard let newText = text.replacing(text.references(toTable: parent), with: newName) else {
            throw SchemaChangeRefused("renaming \(quoted(parent)): table \(quoted(table)) is not understood")
        }
        try replace(with: newText, columns: try storedColumns().map { (old: $0, new: $0) }, statements)
    }

    private func declaration(of column: String, _ change: String) throws -> Int {
        guard let element = text.element(of: column) else {
            throw SchemaChangeRefused("\(change): there is no such column")
        }
        return element
    }

    /// The other tables with a foreign key to a column.
    private func children(of column: String) throws -> [String] {
        let reader = SchemaReader(connection: connection)
        return try reader.objectDefinitions(type: .table, temp: schema == "temp").map(\.name).filter { other in
            guard !isSame(other, table) else { return false }
            return try reader.foreignKeys(table: other).contains {
                isSame($0.toTable, table) && $0.toColumn.map { isSame($0, column) } == true
            }
        }
    }

    private func isSame(_ name: String, _ other: String) -> Bool { name.lowercased() == other.lowercased() }
}
