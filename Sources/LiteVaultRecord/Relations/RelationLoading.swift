internal import LiteVaultCore
internal import LiteVaultQuery

extension Relation {
    /// Reads what belongs to a record.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - origin: the record.
    /// - Returns: the related records, or the one, or nil.
    /// - Throws: `VaultError` `notFound` when a row that has to be there is not; `QueryError`; `DatabaseError`.
    public func load(_ db: some RecordDatabase, for origin: Origin) throws -> Value {
        guard let value = try load(db, for: [origin]).first else { throw VaultError.notFound(Origin.table.name) }
        return value
    }

    /// Reads what belongs to each of some records, by one statement for all of them.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - origins: the records. More than a statement may have parameters take several statements.
    /// - Returns: what belongs to each, in the order of the records.
    /// - Throws: as the form for one record.
    public func load(_ db: some RecordDatabase, for origins: [Origin]) throws -> [Value] {
        try db._withReader { db in
            let positions = try originPositions()
            return try load(db, keys: try origins.map { RelationKey(try $0.values(db), positions) })
        }
    }

    /// The positions, from 0, of the columns of the origin that the relation starts from.
    func originPositions() throws -> [Int] {
        if let problem { throw problem }
        return steps[0].from.map { Origin.table.position(of: $0) - 1 }
    }

    /// Reads what belongs to each of some keys, by one statement for all of them.
    func load(_ db: Connection, keys: [RelationKey]) throws -> [Value] {
        var captured: [[[RelationKey]]] = []
        return try Value.related(try groups(db, keys: keys, capturing: [], in: &captured))
    }

    /// Reads the rows of each of some keys, by one statement for all of them.
    ///
    /// - Parameters:
    ///   - positions: the columns, from 0, of keys that other relations of the rows start from.
    ///   - captured: for each of these relations, those keys of each row, for each of the keys.
    func groups(
        _ db: Connection, keys: [RelationKey], capturing positions: [[Int]], in captured: inout [[[RelationKey]]]
    ) throws -> [[Value.RelatedRecord]] {
        let distinct = KeyGroups(keys)
        var rows = [[Value.RelatedRecord]](repeating: [], count: distinct.keys.count)
        captured = positions.map { _ in [[RelationKey]](repeating: [], count: distinct.keys.count) }
        let source = RelationSource(self)
        try distinct.forEachRound { keys in
            try source.keyList.forEachPart(of: keys, on: db, besides: source.parameterCount) { condition, keys in
                let execution = try db.begin(source.select(where: condition, keys))
                defer { db.end(execution) }
                let found = _GroupedRows(
                    execution, of: distinct, at: source.keyPositions, capturing: positions, captured)
                try Value.RelatedRecord.read(found, into: &rows)
                captured = found.captured
            }
        }
        // Mostly each key is there once.
        guard distinct.keys.count < keys.count else { return rows }
        captured = captured.map { groups in distinct.groups.map { $0.map { groups[$0] } ?? [] } }
        return distinct.groups.map { $0.map { rows[$0] } ?? [] }
    }
}

/// The SELECT that finds the rows at the end of a relation.
struct RelationSource<Related: Record> {
    /// The columns that the keys are compared with.
    let keyList: KeyList
    /// The positions, from 0, of the key in each row.
    let keyPositions: [Int]
    private let head: String
    private let tail: SQLNode

    init<Origin, Value>(_ relation: Relation<Origin, Value>) where Value.RelatedRecord == Related {
        let table = Related.table
        let first = relation.steps[0], last = relation.steps[relation.steps.count - 1]
        if relation.steps.count == 1 {
            keyList = KeyList(columns: first.to)
            keyPositions = first.to.map { table.position(of: $0) - 1 }
            head = "\(table.selectSQL) WHERE "
        } else {
            // The tables in between are in a subquery: columns without a table's name are the destination's.
            let links = first.to.indices.map { "lv_key\($0)" }, ends = last.from.indices.map { "lv_end\($0)" }
            let pivot = "lv_step\(relation.steps.count - 2)"
            var inner = "SELECT "
            inner += zip(first.to, links).map { "lv_step0.\(quoted($0)) AS \($1)" }.joined(separator: ", ")
            inner += ", " + zip(last.from, ends).map { "\(pivot).\(quoted($0)) AS \($1)" }.joined(separator: ", ")
            inner += " FROM " + relation.joinedSteps
            let join = zip(last.to, ends).map { "\(table.quotedName).\(quoted($0)) = lv_link.\($1)" }
            let columns = table.columns.map { "\(table.quotedName).\(quoted($0))" } + links.map { "lv_link.\($0)" }
            keyList = KeyList(columns: links, of: "lv_link")
            keyPositions = links.indices.map { table.columnCount + $0 }
            head =
                "SELECT \(columns.joined(separator: ", ")) FROM (\(inner)) AS lv_link JOIN \(table.quotedName) ON "
                + "\(join.joined(separator: " AND ")) WHERE "
        }
        let condition = relation.scope.clauses.condition.map { SQLNode.words(.text("AND"), .wrapped("", $0)) }
        tail = .words(condition, relation.scope.orderClause)
    }

    /// The number of parameters besides those of the keys: the values of the relation's filter and order.
    var parameterCount: Int { tail.bindings.count }

    func select(where keyCondition: String, _ keys: [RelationKey]) -> SQLNode {
        var values: [(any Binding)?] = []
        values.reserveCapacity(keys.count)
        for key in keys { key.append(to: &values) }
        return .words(.template(head + keyCondition, values), tail)
    }
}
