internal import LiteVaultQuoting

/// A relation of a record, from a foreign key.
struct RecordRelation {
    /// The record that has it.
    let origin: String
    let name: String
    /// What it leads to: `Folder`, `Folder?` or `[Note]`.
    let destination: String
    /// How it is made, as Swift, with a name for each record that it refers to.
    let value: ((String) -> String) -> String
}

/// Makes relations of the foreign keys between tables that are records.
struct RelationReader {
    let database: MemoryDatabase
    let records: [RecordModel]
    let names: GivenNames

    /// A foreign key of a record that refers to a record.
    private struct ForeignKey {
        let child: RecordModel
        let parent: RecordModel
        let columns: [RecordModel.Property]
        /// The columns that it refers to, if they are not the primary key.
        let references: [RecordModel.Property]
        /// At most one row refers to each parent.
        let isUnique: Bool

        /// How directives name it: by its first column.
        var directive: (table: String, column: String) { (child.table.name, columns[0].column.name) }

        var isRequired: Bool { columns.allSatisfy { !$0.columnType.hasSuffix("?") } }

        /// What it is called: the column without its ending, or else what it refers to, unless others refer to that as well.
        func name(isOnly: Bool) -> String {
            let parent = RelationNames.singular(RelationReader.member(parent))
            guard columns.count == 1, let column = columns.first else {
                let first = columns.first.map { RelationReader.capitalized($0.name) } ?? ""
                return isOnly ? parent : parent + "By" + first
            }
            let plain = SwiftNames.bare(column.name)
            for ending in ["Id", "ID"] where plain.hasSuffix(ending) && plain.count > ending.count {
                return String(plain.dropLast(ending.count))
            }
            return isOnly ? parent : plain
        }
    }

    /// - Returns: the relations, and a warning for each that is left out because its names are taken.
    /// - Throws: ``Diagnostics`` for a name of a directive that is taken.
    func relations() throws -> (relations: [RecordRelation], warnings: [Diagnostic]) {
        let keys = try records.flatMap(foreignKeys)
        try names.requireRelations(of: Set(keys.map { SQLName("\($0.directive.table).\($0.directive.column)") }))
        var relations: [RecordRelation] = []
        var warnings: [Diagnostic] = []
        var taken: [String: Set<String>] = [:]
        for record in records {
            taken[record.directive.name] = Set(record.properties.map(\.name)).union(["table", "id"])
        }
        // A name that the record has already is left to what has it.
        func add(
            _ origin: RecordModel, _ name: String, _ destination: String,
            _ value: @escaping ((String) -> String) -> String
        ) -> Bool {
            guard taken[origin.directive.name]?.insert(name).inserted == true else { return false }
            relations.append(
                .init(origin: origin.directive.name, name: name, destination: destination, value: value))
            return true
        }
        let own = keys.map { key in
            let others = keys.filter {
                isSameName($0.child.table.name, key.child.table.name)
                    && isSameName($0.parent.table.name, key.parent.table.name)
            }
            let isOnly = others.count == 1 && !isSameName(key.child.table.name, key.parent.table.name)
            let given = names.relation(of: key.directive.column, in: key.directive.table)
            return (key: key, name: given?.own ?? key.name(isOnly: isOnly), isOnly: isOnly, given: given)
        }
        // The first of the names that is free.
        func add(
            _ key: ForeignKey, to origin: RecordModel, _ candidates: [String], given: Bool, _ destination: String,
            _ value: @escaping ((String) -> String) -> String
        ) throws -> String? {
            if let added = candidates.first(where: { add(origin, $0, destination, value) }) { return added }
            let column = Directives.name(key.directive.table, key.directive.column)
            let names = isSameName(origin.table.name, key.child.table.name) ? "name" : "name nameInTheOtherDirection"
            let taken = candidates.map(SwiftNames.bare).joined(separator: " and ")
            let diagnostic = Diagnostic(
                location: origin.directive.location, severity: given ? .error : .warning,
                message: "\(origin.directive.name) has another \(taken), so the relation of \(column) "
                    + "has no name there; write '-- litevault: relation \(column) \(names)'")
            if given { throw Diagnostics([diagnostic]) }
            warnings.append(diagnostic)
            return nil
        }
        // What each foreign key is called in both directions, where a name was free.
        var named: [NamedKey] = []
        for (key, name, _, given) in own {
            let destination = key.parent.directive.name + (key.isRequired ? "" : "?")
            let value = { (named: (String) -> String) in
                ".belongsTo(\(columns(key.columns, of: key.child, named))"
                    + (key.references.isEmpty ? "" : ", references: \(columns(key.references, of: key.parent, named))")
                    + ")"
            }
            let candidates = given == nil ? [name, name + "Record"].map(SwiftNames.member) : [name]
            let added = try add(key, to: key.child, candidates, given: given != nil, destination, value)
            named.append((key, added, nil))
        }
        for (index, (key, name, isOnly, given)) in own.enumerated() where key.references.isEmpty {
            let member = Self.member(key.child)
            let plain = key.isUnique ? RelationNames.singular(member) : RelationNames.plural(member)
            let suffixed = plain + "By" + Self.capitalized(name)
            let destination = key.isUnique ? key.child.directive.name + "?" : "[\(key.child.directive.name)]"
            let value = { (named: (String) -> String) in
                ".\(key.isUnique ? "hasOne" : "hasMany")(\(columns(key.columns, of: key.child, named)))"
            }
            named[index].reverse = try add(
                key, to: key.parent,
                given?.reverse.map { [$0] } ?? (isOnly ? [plain, suffixed] : [suffixed]).map(SwiftNames.member),
                given: given?.reverse != nil, destination, value)
        }
        for record in records { addThrough(record, named, add) }
        return (relations, warnings)
    }

    /// A foreign key, and what it is called by its table and by the one that it refers to.
    private typealias NamedKey = (key: ForeignKey, name: String?, reverse: String?)

    /// A table whose primary key is two foreign keys joins the tables that they refer to.
    private func addThrough(
        _ record: RecordModel, _ keys: [NamedKey],
        _ add: (RecordModel, String, String, @escaping ((String) -> String) -> String) -> Bool
    ) {
        let key = Set(record.key.map(\.name))
        // It may refer to other tables besides.
        let own = keys.filter {
            isSameName($0.key.child.table.name, record.table.name) && $0.key.references.isEmpty
                && key.isSuperset(of: $0.key.columns.map(\.name))
        }
        guard own.count == 2, !isSameName(own[0].key.parent.table.name, own[1].key.parent.table.name), key.count > 1,
            Set(own.flatMap { $0.key.columns.map(\.name) }) == key
        else { return }
        for (one, other) in [(own[0], own[1]), (own[1], own[0])] {
            guard let name = other.name, let children = one.reverse, !one.key.isUnique else { continue }
            let member = RelationNames.plural(Self.member(other.key.parent))
            let value = { (named: (String) -> String) in
                ".hasMany(through: \(named(one.key.parent.directive.name)).\(children), "
                    + "\(named(record.directive.name)).\(name))"
            }
            let through = member + "Through" + Self.capitalized(RelationNames.plural(Self.member(record)))
            _ = [member, through].map(SwiftNames.member).first {
                add(one.key.parent, $0, "[\(other.key.parent.directive.name)]", value)
            }
        }
    }

    private func foreignKeys(_ child: RecordModel) throws -> [ForeignKey] {
        let rows = try database.rows("PRAGMA foreign_key_list(\(quoted(child.table.name)))")
        let unique = try uniqueColumns(of: child.table.name)
        return Dictionary(grouping: rows, by: { $0[0] ?? "" }).sorted { $0.key < $1.key }.compactMap { _, rows in
            let rows = rows.sorted { (Int($0[1] ?? "") ?? 0) < (Int($1[1] ?? "") ?? 0) }
            guard let parent = records.first(where: { isSameName($0.table.name, rows[0][2] ?? "") }) else {
                return nil
            }
            func properties(_ names: [String], _ record: RecordModel) -> [RecordModel.Property] {
                names.compactMap { name in
                    record.properties.first { isSameName($0.column.name, name) }
                }
            }
            let from = properties(rows.compactMap { $0[3] }, child)
            let to = properties(rows.compactMap { $0[4] }, parent)
            guard from.count == rows.count else { return nil }
            let isPrimary = to.isEmpty || to.map(\.name) == parent.key.map(\.name)
            return ForeignKey(
                child: child, parent: parent, columns: from, references: isPrimary ? [] : to,
                isUnique: unique.contains(Set(from.map { SQLName($0.column.name) }))
                    || child.key.count == from.count && Set(child.key.map(\.name)) == Set(from.map(\.name)))
        }
    }

    private func uniqueColumns(of table: String) throws -> Set<Set<SQLName>> {
        var result: Set<Set<SQLName>> = []
        for index in try database.rows("PRAGMA index_list(\(quoted(table)))") where index[2] == "1" {
            // A partial index is unique among some rows only.
            guard index.count < 5 || index[4] == "0", let name = index[1] else { continue }
            result.insert(
                Set(try database.rows("PRAGMA index_info(\(quoted(name)))").compactMap { $0[2].map { SQLName($0) } }))
        }
        return result
    }

    private func columns(
        _ properties: [RecordModel.Property], of record: RecordModel, _ named: (String) -> String
    ) -> String {
        let names = properties.map { "\(named(record.directive.name)).\($0.name)" }
        return names.count == 1 ? names[0] : "[\(names.joined(separator: ", "))]"
    }

    /// `Models.NoteTag` becomes `noteTag`.
    fileprivate static func member(_ record: RecordModel) -> String {
        let name = record.directive.name.split(separator: ".").last.map(String.init) ?? record.directive.name
        // Data_ is called so because Swift has a Data.
        let plain = name.hasSuffix("_") ? name.dropLast() : name[...]
        return plain.prefix(1).lowercased() + plain.dropFirst()
    }

    fileprivate static func capitalized(_ name: String) -> String {
        let plain = SwiftNames.bare(name)
        return plain.prefix(1).uppercased() + plain.dropFirst()
    }
}
