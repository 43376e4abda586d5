internal import LiteVaultCore

/// What a transaction changed.
struct ChangeSet: Sendable {
    /// Of one table.
    struct Table: Sendable {
        /// The rows, by the rowids that they have afterwards. nil: more than are worth counting.
        var rows: Set<Int64>? = []

        mutating func insert(_ row: Int64) {
            guard let count = rows?.count else { return }
            if count < 10_000 { rows?.insert(row) } else { rows = nil }
        }

        mutating func merge(_ other: Table) {
            guard let mine = rows, let theirs = other.rows, mine.count + theirs.count <= 10_000 else {
                rows = nil
                return
            }
            rows = mine.union(theirs)
        }
    }

    /// How far changes concern a region.
    enum Effect: Int, Comparable {
        case none
        /// The table was changed, the rows perhaps: the engine does not tell the old rowid of a row that was moved, nor of
        /// one that was deleted to make room for another.
        case possible
        case certain

        static func < (left: Effect, right: Effect) -> Bool { left.rawValue < right.rawValue }
    }

    var tables: [String: Table] = [:]
    /// Something was changed that the engine does not tell the table of.
    var everything = false

    var isEmpty: Bool { tables.isEmpty && !everything }

    mutating func merge(_ other: ChangeSet) {
        everything = everything || other.everything
        for (name, table) in other.tables { tables[name, default: .init()].merge(table) }
    }

    func effect(on region: DatabaseRegion) -> Effect {
        guard !isEmpty else { return .none }
        guard !everything, let observed = region.tables else { return .certain }
        var effect = Effect.none
        for (name, rows) in observed {
            guard let changed = tables[name] else { continue }
            guard case .ids(let ids) = rows, let changedRows = changed.rows else { return .certain }
            if !ids.isDisjoint(with: changedRows) { return .certain }
            effect = .possible
        }
        return effect
    }
}
