internal import LiteVaultCore
public import LiteVaultPool

/// A relation together with what belongs to the records that it leads to: the books of an author, each with its chapters.
///
/// ```swift
/// let books = Author.books.order(Book.title).including(Book.chapters)
/// for (author, books) in try Author.including(books).all(db) {             // three statements
///     for (book, chapters) in books { … }
/// }
/// ```
///
/// It takes one statement for each level, however many records there are.
public struct NestedRelation<Origin: Record, Value>: Sendable {
    /// The positions, from 0, of the columns of the origin that it starts from.
    let originPositions: @Sendable () throws -> [Int]
    /// What belongs to each of some keys.
    let load: @Sendable (Connection, [RelationKey]) throws -> [Value]

    /// Reads what belongs to each of some records, by one statement for each level.
    ///
    /// - Parameters:
    ///   - db: a connection, pool or queue.
    ///   - origins: the records. More than a statement may have parameters take several statements.
    /// - Returns: what belongs to each, in the order of the records.
    /// - Throws: `VaultError` `notFound` when a row that has to be there is not; `QueryError`; `DatabaseError`.
    public func load(_ db: some RecordDatabase, for origins: [Origin]) throws -> [Value] {
        try db._withReader { db in
            let positions = try originPositions()
            let keys = try origins.map { RelationKey(try $0.values(db), positions) }
            return try db.isInTransaction ? load(db, keys) : db.transaction(.deferred) { try load(db, keys) }
        }
    }
}

extension Relation {
    /// The relation, with what belongs to each of the records that it leads to: one statement more for each relation.
    ///
    /// - Parameter relations: relations of the records that this one leads to.
    public func including<D: Record, each V: RelatedValue>(
        _ relations: repeat Relation<D, each V>
    ) -> NestedRelation<Origin, [(D, repeat each V)]> where Value == [D] {
        nested(levels(repeat each relations)) { $0 }
    }

    /// The relation, with what belongs to the record that it leads to.
    public func including<each V: RelatedValue>(
        _ relations: repeat Relation<Value, each V>
    ) -> NestedRelation<Origin, (Value, repeat each V)> where Value: Record {
        nested(levels(repeat each relations)) { rows in
            guard let row = rows.first else { throw VaultError.notFound(Value.table.name) }
            return row
        }
    }

    /// The relation, with what belongs to the record that it leads to, if there is one.
    public func including<D: Record, each V: RelatedValue>(
        _ relations: repeat Relation<D, each V>
    ) -> NestedRelation<Origin, (D, repeat each V)?> where Value == D? {
        nested(levels(repeat each relations)) { $0.first }
    }

    /// The relation, with what belongs to each of the records that it leads to, and to those: a level more.
    public func including<D: Record, V>(
        _ relation: NestedRelation<D, V>
    ) -> NestedRelation<Origin, [(D, V)]> where Value == [D] {
        nested(NestedLevels(deeper: relation)) { $0 }
    }

    private func levels<D: Record, each V: RelatedValue>(
        _ relations: repeat Relation<D, each V>
    ) -> NestedLevels<D, (D, repeat each V)> { NestedLevels(relations: repeat each relations) }

    private func nested<D: Record, Row, Result>(
        _ levels: NestedLevels<D, Row>, _ result: @escaping @Sendable ([Row]) throws -> Result
    ) -> NestedRelation<Origin, Result> where Value.RelatedRecord == D {
        NestedRelation(originPositions: { try originPositions() }) { db, keys in
            let positions = try levels.positions()
            var next: [[[RelationKey]]] = []
            let groups = try groups(db, keys: keys, capturing: positions, in: &next)
            // The records of all groups one after the other, as the levels below read them.
            let records = groups.flatMap(\.self)
            let rows = try levels.rows(db, records, next.map { $0.flatMap(\.self) })
            var start = 0
            return try groups.map { group in
                defer { start += group.count }
                return try result(Array(rows[start..<start + group.count]))
            }
        }
    }
}

/// What is below the records of a query or a nested relation.
struct NestedLevels<D: Record, Row>: Sendable {
    /// The columns of the record that each relation starts from.
    let positions: @Sendable () throws -> [[Int]]
    /// The records with what belongs to them. The keys are in the order of the relations, one for each record.
    let rows: @Sendable (Connection, [D], [[RelationKey]]) throws -> [Row]

    init<each V: RelatedValue>(relations: repeat Relation<D, each V>) where Row == (D, repeat each V) {
        let all = (repeat each relations)
        positions = {
            var positions: [[Int]] = []
            for relation in repeat each all { positions.append(try relation.originPositions()) }
            return positions
        }
        rows = { db, records, keys in
            var next = keys.makeIterator()
            let values = (repeat try (each all).load(db, keys: next.next() ?? []))
            // Not `map`: its closure would look up the type of the tuple for each of them.
            var rows: [(D, repeat each V)] = []
            rows.reserveCapacity(records.count)
            for index in records.indices { rows.append((records[index], repeat (each values)[index])) }
            return rows
        }
    }

    init<V>(deeper relation: NestedRelation<D, V>) where Row == (D, V) {
        positions = { [try relation.originPositions()] }
        rows = { db, records, keys in
            let values = try relation.load(db, keys[0])
            return zip(records, values).map { ($0, $1) }
        }
    }
}

extension RecordQuery {
    /// The records, each with what belongs to it, and what belongs to that: one statement for each level.
    public func including<V>(_ relation: NestedRelation<R, V>) -> RecordRows<(R, V)> {
        RecordRows(NestedSource(query: self, levels: NestedLevels(deeper: relation)))
    }
}

extension Record {
    /// All records, each with what belongs to it, and what belongs to that: see ``NestedRelation``.
    public static func including<V>(_ relation: NestedRelation<Self, V>) -> RecordRows<(Self, V)> {
        query.including(relation)
    }
}

/// Reads related rows by a statement for each relation.
struct NestedSource<R: Record, Row>: RowSource {
    let query: RecordQuery<R>
    let levels: NestedLevels<R, Row>
    var isSnapshot: Bool { true }

    func readAll(_ db: Connection, limit: Int?) throws -> [Row] {
        let (records, keys) = try query.records(db, limit: limit, capturing: try levels.positions())
        return try levels.rows(db, records, keys)
    }
}

extension NestedRelation where Origin: Sendable, Value: Sendable {
    /// Reads what belongs to each of some records, without blocking a thread.
    public func load(_ db: DatabaseAccess, for origins: [Origin]) async throws -> [Value] {
        try await db.read { try load($0, for: origins) }
    }
}
