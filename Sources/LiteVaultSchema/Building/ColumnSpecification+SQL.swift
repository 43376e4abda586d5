internal import LiteVaultCore
internal import LiteVaultQuery

extension ColumnSpecification {
    /// The column's declaration, its clauses in a fixed order.
    ///
    /// - Throws: `EngineUnsupported`, `SchemaBuilderError`, `QueryError.noSuchTable`.
    func declaration(_ keys: KeyResolver) throws -> SQLNode {
        if generation != nil { try EngineUnsupported.require(3, 31, for: "A generated column") }
        var clauses: [SQLNode?] = [.identifier(name), type.map { .text($0.rawValue) }]
        if let primaryKey {
            clauses.append(.text("PRIMARY KEY"))
            clauses.append(primaryKey.conflict.map { .text("ON CONFLICT \($0.rawValue)") })
            clauses.append(primaryKey.autoincrement ? .text("AUTOINCREMENT") : nil)
        }
        if nullRule.isForbidden { clauses += [.text("NOT NULL"), .conflict(nullRule.conflict)] }
        if case .unique(let conflict) = index { clauses += [.text("UNIQUE"), .conflict(conflict)] }
        clauses += checks.map { .words(.text("CHECK"), $0.inParentheses) }
        clauses.append(defaultValue.map { .words(.text("DEFAULT"), $0) })
        clauses.append(collation.map { .words(.text("COLLATE"), $0.node) })
        clauses += try references.map { reference in
            let columns = try reference.column.map { [$0] } ?? keys.columns(of: reference.table, for: [name])
            return .words(.text("REFERENCES"), .names(columns, of: reference.table), reference.actions.node)
        }
        if let generation {
            clauses += [
                .text("GENERATED ALWAYS AS"), generation.value.inParentheses, .text(generation.kind.rawValue),
            ]
        }
        return .joined(clauses.compactMap { $0 }, separator: " ")
    }

    /// The index that `indexed()` asks for.
    func index(of table: String, ifNotExists: Bool) -> IndexStatement? {
        guard case .plain = index else { return nil }
        return IndexStatement(
            name: "\(table)_on_\(name)", table: table, terms: [.identifier(name)],
            options: ifNotExists ? .ifNotExists : [])
    }
}
