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
        try db.withReader { db in
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
        return try groups(db, keys: keys, capturing: [], in: &captured).map { try Value.related($0) }
    }

    /// Reads the rows of each of some keys, by one statement for all of them.
    ///
    /// - Parameters:
    ///   - positions: the columns, from 0, of keys that relations of the rows start from.
    ///   - captured: those keys of each row, for each of the keys; empty without positions.
    func groups(
        _ db: Connection, keys: [RelationKey], capturing positions: [[Int]], in captured: inout [[[RelationKey]]]
    ) throws -> [[Value.RelatedRecord]] {
        var groups: [RelationKey: Int] = [:]
        groups.reserveCapacity(keys.count)
        var distinct: [RelationKey] = []
        let groupOfKey = keys.map { key -> Int? in
            if key.isNull { return nil }
            if let group = groups[key] { return group }
            groups[key] = distinct.count
            distinct.append(key)
            return distinct.count - 1
        }
        var next = positions.isEmpty ? [] : [[[RelationKey]]](repeating: [], count: distinct.count)
        let rows = try readGroups(db, distinct, groups, capturing: positions, in: &next)
        if !positions.isEmpty { captured = groupOfKey.map { $0.map { next[$0] } ?? [] } }
        return groupOfKey.map { $0.map { rows[$0] } ?? [] }
    }

    /// Reads the rows of all keys. Rows of one key mostly follow each other.
    private func readGroups(
        _ db: Connection, _ keys: [RelationKey], _ groups: [RelationKey: Int], capturing positions: [[Int]],
        in captured: inout [[[RelationKey]]]
    ) throws -> [[Value.RelatedRecord]] {
        typealias Related = Value.RelatedRecord
        var rows = [[Related]](repeating: [], count: keys.count)
        let source = RelationSource(self)
        var similar: [RelationKey: Int]?
        try source.keyList.forEachPart(of: keys, on: db, besides: source.parameterCount) { condition, keys in
            let execution = try db.begin(source.select(where: condition, keys))
            defer { db.end(execution) }
            var current: (key: RelationKey, group: Int)?
            var expected = 0
            while try execution.step() {
                let key = RelationKey(execution, source.keyPositions)
                if current?.key != key {
                    // As many rows as the last key had: mostly they are about as many.
                    if let current { expected = Swift.min(rows[current.group].count, 64) }
                    // The engine found the row by a key that is equal to this one under the column's collation.
                    let group =
                        groups[key]
                        ?? {
                            if similar == nil {
                                similar = Dictionary(groups.map { ($0.key.folded, $0.value) }, uniquingKeysWith: { $1 })
                            }
                            return similar?[key.folded]
                        }()
                    current = group.map { (key, $0) }
                }
                guard let group = current?.group else { continue }
                var reader = RecordReader(execution)
                try Related.append(row: &reader, to: &rows, at: group, reserving: expected)
                try Related.requireAll(reader)
                if !positions.isEmpty { captured[group].append(positions.map { RelationKey(execution, $0) }) }
            }
        }
        return rows
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
        var condition = relation.scope.clauses.condition
        if relation.steps.count == 1 {
            keyList = KeyList(columns: first.to)
            keyPositions = first.to.map { table.position(of: $0) - 1 }
            head = "\(table.selectSQL) WHERE "
            condition = condition.map { .words(.text("AND"), .wrapped("", $0)) }
        } else {
            // The tables in between are in a subquery: columns without a table's name are the destination's.
            let links = first.to.indices.map { "lv_key\($0)" }, ends = last.from.indices.map { "lv_end\($0)" }
            let pivot = "lv_step\(relation.steps.count - 2)"
            var inner = "SELECT "
            inner += zip(first.to, links).map { "lv_step0.\(quoted($0)) AS \($1)" }.joined(separator: ", ")
            inner += ", " + zip(last.from, ends).map { "\(pivot).\(quoted($0)) AS \($1)" }.joined(separator: ", ")
            for (index, step) in relation.steps.dropLast().enumerated() {
                inner += index == 0 ? " FROM " : " JOIN "
                inner += (step.database.map { quoted($0) + "." } ?? "") + "\(quoted(step.table)) AS lv_step\(index)"
                guard index > 0 else { continue }
                let equal = zip(step.from, step.to).map {
                    "lv_step\(index).\(quoted($1)) = lv_step\(index - 1).\(quoted($0))"
                }
                inner += " ON " + equal.joined(separator: " AND ")
            }
            let join = zip(last.to, ends).map { "\(table.quotedName).\(quoted($0)) = lv_link.\($1)" }
            let columns = table.columns.map { "\(table.quotedName).\(quoted($0))" } + links.map { "lv_link.\($0)" }
            keyList = KeyList(columns: links, of: "lv_link")
            keyPositions = links.indices.map { table.columnCount + $0 }
            head =
                "SELECT \(columns.joined(separator: ", ")) FROM (\(inner)) AS lv_link JOIN \(table.quotedName) ON "
                + "\(join.joined(separator: " AND ")) WHERE "
            condition = condition.map { .words(.text("AND"), .wrapped("", $0)) }
        }
        let order = relation.scope.clauses.order
        tail = .words(
            condition, order.isEmpty ? nil : .words(.text("ORDER BY"), .joined(order, separator: ", ")))
    }

    /// The number of parameters besides those of the keys: the values of the relation's filter and order.
    var parameterCount: Int { tail.bindings.count }

    /// The statement for some keys.
    func select(where keyCondition: String, _ keys: [RelationKey]) -> SQLNode {
        .words(.template(head + keyCondition, keys.flatMap(\.values)), tail)
    }
}

/// The values that connect a row with those of another table.
enum RelationKey: Hashable {
    case integer(Int64)
    case text(String)
    case real(Double)
    case blob([UInt8])
    case null
    case several([RelationKey])

    private init(_ value: StoredValue) {
        switch value {
        case .integer(let number): self = .integer(number)
        // As the engine compares them: 2.0 is 2.
        case .real(let number): self = Int64(exactly: number).map { .integer($0) } ?? .real(number)
        case .text(let text): self = .text(text)
        case .blob(let bytes): self = .blob(bytes)
        case .null: self = .null
        }
    }

    /// The key in some of a row's values.
    init(_ values: [StoredValue], _ positions: [Int]) {
        self = positions.count == 1 ? Self(values[positions[0]]) : .several(positions.map { Self(values[$0]) })
    }

    /// The key in the current row.
    init(_ execution: Execution, _ positions: [Int]) {
        guard positions.count == 1 else {
            self = .several(positions.map { RelationKey(execution, [$0]) })
            return
        }
        let column = ColumnReader(execution, positions[0])
        if let number = column.integer {
            self = .integer(number)
        } else if let text = column.text {
            self = .text(text)
        } else {
            self = Self((try? StoredValue.read(from: column)) ?? .null)
        }
    }

    /// Whether a part of it is NULL, which is equal to nothing.
    var isNull: Bool {
        switch self {
        case .null: true
        case .several(let keys): keys.contains(where: \.isNull)
        default: false
        }
    }

    /// The same for all keys that some collation of the engine's own takes for equal (NOCASE, RTRIM).
    var folded: RelationKey {
        switch self {
        case .text(let text):
            .text(
                String(
                    decoding: text.utf8.reversed().drop { $0 == 0x20 }.reversed().map(Self.lowercased), as: UTF8.self))
        case .several(let keys): .several(keys.map(\.folded))
        default: self
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte + 0x20 : byte }

    /// The values to bind.
    var values: [(any Binding)?] {
        switch self {
        case .integer(let number): [number]
        case .real(let number): [number]
        case .text(let text): [text]
        case .blob(let bytes): [Blob(bytes: bytes)]
        case .null: [nil]
        case .several(let keys): keys.flatMap(\.values)
        }
    }
}
