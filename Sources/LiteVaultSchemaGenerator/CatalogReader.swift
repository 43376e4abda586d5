internal import LiteVaultQuoting

/// Makes the catalog that statements are analyzed with of the schema's tables and their Swift types.
struct CatalogReader {
    let types: ColumnTypes
    let directives: Directives

    func catalog(_ relations: [Relation]) -> Catalog { Catalog(relations.map(table)) }

    private func table(_ relation: Relation) -> Catalog.Table {
        var columns = relation.columns.map { column in
            Catalog.Column(
                name: column.name, typing: typing(column, in: relation), isGenerated: column.isGenerated,
                isAnnotated: directives.type(of: column.name, in: relation.name) != nil)
        }
        if case .virtual(let module) = relation.kind {
            columns += relation.hiddenColumns.map { hidden($0, module) }
        }
        return Catalog.Table(name: relation.name, columns: columns, kind: relation.kind)
    }

    private func hidden(_ name: String, _ module: String) -> Catalog.Column {
        var typing = Typing(.unknown("the schema does not say what it holds"), canBeNull: true)
        if module.hasPrefix("fts") {
            let type: ValueType = name == "rank" ? .real : name == "docid" ? .integer : .text
            typing = Typing(.value(type), canBeNull: name != "docid")
        }
        return Catalog.Column(name: name, typing: typing, isHidden: true)
    }

    private func typing(_ column: Column, in relation: Relation) -> Typing {
        let origin = Typing.Origin(table: relation.name, column: column.name)
        let declared = types.declared(column, in: relation)
        if let asked = directives.type(of: column.name, in: relation.name) {
            let storage = declared.flatMap { Self.standard[$0]?.storage } ?? .any
            let name = asked.hasSuffix("?") ? String(asked.dropLast()) : asked
            return Typing(
                .value(ValueType(storage, name)), canBeNull: asked.hasSuffix("?"), origin: origin)
        }
        // A full-text table only stores the column. What it indexes is text.
        if case .virtual(let module) = relation.kind, module.hasPrefix("fts"),
            VirtualTableText(relation.sql)?.hasArgument(column.name, "UNINDEXED") == true
        {
            return Typing(
                .unknown("\(relation.name).\(column.name) is UNINDEXED, so it holds values of any type"),
                canBeNull: true, origin: origin)
        }
        guard let declared, let type = Self.standard[declared] else {
            let why = column.declaredType.isEmpty ? "has no declared type" : "is declared \(column.declaredType)"
            return Typing(
                .unknown("\(relation.name).\(column.name) \(why)"), canBeNull: column.canBeNull, origin: origin)
        }
        var canBeNull = column.canBeNull
        // The coordinates of an R*Tree are numbers, always.
        if case .virtual(let module) = relation.kind, module.hasPrefix("rtree") {
            canBeNull = ColumnTypes.auxiliary(column.name, relation.sql) != nil
        }
        // What an index of words says of a term; the column is NULL if the index keeps no columns.
        if case .virtual("fts5vocab") = relation.kind { canBeNull = column.name == "col" || column.name == "offset" }
        return Typing(.value(type), canBeNull: canBeNull, origin: origin)
    }

    static let standard: [String: ValueType] = [
        "Int64": .integer, "Double": .real, "String": .text, "Data": .blob, "Bool": .boolean,
        "Date": ValueType(.text, "Date"), "UUID": ValueType(.text, "UUID"), "URL": ValueType(.text, "URL"),
    ]

    /// The typing that an annotation gives: `String`, `Date?`.
    static func annotated(_ type: String) -> Typing {
        let name = type.hasSuffix("?") ? String(type.dropLast()) : type
        return Typing(.value(standard[name] ?? ValueType(.any, name)), canBeNull: type.hasSuffix("?"))
    }
}
