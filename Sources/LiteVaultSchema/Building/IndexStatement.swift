internal import LiteVaultQuery

/// `CREATE INDEX`
struct IndexStatement {
    let name: String
    let table: String
    let terms: [SQLNode]
    var options: IndexOptions = []
    var condition: SQLNode?

    /// The name of an index that was given none.
    static func defaultName(_ table: String, _ columns: [String]) -> String {
        "index_" + ([table, "on"] + columns).joined(separator: "_")
    }

    /// The statement.
    ///
    /// - Throws: `SchemaBuilderError`
    func sql() throws -> String {
        let isConstant = terms.contains { if case .value = $0.kind { true } else { false } }
        guard !terms.isEmpty, !isConstant else { throw SchemaBuilderError.invalidIndex(name: name) }
        let list = SQLNode.wrapped("", .joined(terms.map(\.withoutParentheses), separator: ", "))
        return try SchemaText.text(
            of: .words(
                .text("CREATE"), options.contains(.unique) ? .text("UNIQUE") : nil, .text("INDEX"),
                options.contains(.ifNotExists) ? .text("IF NOT EXISTS") : nil, .identifier(name), .text("ON"),
                .joined([.identifier(table), list], separator: ""),
                condition.map { .words(.text("WHERE"), $0.withoutParentheses) }))
    }
}
