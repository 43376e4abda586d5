internal import LiteVaultCore
internal import LiteVaultQuery

extension TableRebuild {
    /// Replaces the table by another definition.
    func recreate(as new: TableSpecification, copying values: [String: any Expressible]) throws {
        let change = "recreating \(quoted(table))"
        let definition = try new.statements(connection)
        guard let newText = CreateTableText(definition.table) else {
            throw SchemaChangeRefused("\(change): its definition is not understood")
        }
        let expressions = try Dictionary(
            values.map { (SchemaName.folded($0.key), try SchemaText.text(of: $0.value.node)) }
        ) { first, _ in first }
        let oldColumns = try columns(of: table, isStored: false)
        let newIndexes = Set(definition.indexes.map { SchemaName.folded($0.name) })
        let kept = attached.filter { !newIndexes.contains(SchemaName.folded($0.name)) }
        let dependents = try DependentObjects(on: table, connection)
        var newColumns: [String] = []
        try replace(with: newText) { targets in
            newColumns = targets
            if let unknown = values.keys.first(where: { key in !targets.contains { SchemaName.isSame($0, key) } }) {
                throw SchemaChangeRefused("\(change): the new table stores no column \(quoted(unknown))")
            }
            return targets.compactMap { target in
                let name = SchemaName.folded(target)
                if let expression = expressions[name] { return (source: expression, target: target) }
                return oldColumns.first { SchemaName.folded($0) == name }.map { (source: quoted($0), target: target) }
            }
        }
        for object in kept {
            guard let sql = object.sql else { continue }
            do { try connection.run(statement(object, sql)) } catch let error as DatabaseError {
                throw SchemaChangeRefused(
                    "\(change): \(object.type.rawValue) \(quoted(object.name)) cannot be kept (\(error.message)); "
                        + "drop it before")
            }
        }
        for index in definition.indexes { try connection.run(index.sql()) }
        try dependents.check(change: change)
        for column in oldColumns where !newColumns.contains(where: { SchemaName.isSame($0, column) }) {
            guard try !columns(of: table, isStored: false).contains(where: { SchemaName.isSame($0, column) }) else {
                continue
            }
            try dependents.check(change: change, column: column)
        }
    }
}
