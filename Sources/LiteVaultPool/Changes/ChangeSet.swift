internal import LiteVaultCore

/// What a transaction changed.
struct ChangeSet: Sendable {
    /// Of one table.
    struct Table: Sendable {
        /// The rows, by the rowids that they have afterwards. nil: it is not known which, or they are more than are worth
        /// counting.
        var rows: Set<Int64>? = []
        /// The columns that were set. nil: rows came or went, or it is not known which.
        var columns: Set<String>? = []

        /// Some change of some rows.
        static let unknown = Table(rows: nil, columns: nil)

        mutating func insert(_ row: Int64) {
            guard let count = rows?.count else { return }
            if count < 10_000 { rows?.insert(row) } else { rows = nil }
        }

        mutating func merge(_ other: Table) {
            if let mine = rows, let theirs = other.rows, mine.count + theirs.count <= 10_000 {
                rows = mine.union(theirs)
            } else {
                rows = nil
            }
            if let mine = columns, let theirs = other.columns { columns = mine.union(theirs) } else { columns = nil }
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

    var tables: [TableName: Table] = [:]
    /// Tables by these names came or went, in whatever schema: a name can mean another table now.
    var redefined: Set<String> = []
    /// Something was changed that the engine does not tell the table of.
    var everything = false

    /// A change of which nothing else is known.
    static let unknown = ChangeSet(everything: true)

    var isEmpty: Bool { tables.isEmpty && !everything }

    mutating func merge(_ other: ChangeSet) {
        everything = everything || other.everything
        redefined.formUnion(other.redefined)
        for (name, table) in other.tables { tables[name, default: .init()].merge(table) }
    }

    func effect(on region: DatabaseRegion) -> Effect {
        guard !isEmpty else { return .none }
        guard !everything, let observed = region.tables else { return .certain }
        var effect = Effect.none
        for (name, part) in observed {
            if redefined.contains(name.table) { return .certain }
            guard let changed = tables[name] else { continue }
            if let columns = part.columns, let changedColumns = changed.columns,
                columns.isDisjoint(with: changedColumns)
            {
                continue
            }
            guard let ids = part.rows, let changedRows = changed.rows else { return .certain }
            if !ids.isDisjoint(with: changedRows) { return .certain }
            effect = .possible
        }
        return effect
    }
}

/// What a transaction, or a savepoint in it, has changed so far.
struct TransactionChanges {
    /// As the hooks told it.
    var changes = ChangeSet()
    /// The statements that write.
    private(set) var texts: Set<String> = []
    /// Whether there were more of them than are worth keeping.
    private(set) var hasMoreTexts = false
    /// Whether rows were changed that the hooks did not tell.
    var hasUnreportedRows = false
    /// Whether a DELETE without WHERE ran: of a table WITHOUT ROWID, SQLite 3.15 does not even count the rows then.
    var clears = false
    var changesSchema = false

    /// Kept texts, at most: a look at each costs as much as preparing it.
    private static let textLimit = 200

    var isEmpty: Bool { changes.isEmpty && !hasUnreportedRows && !clears }

    mutating func note(_ text: String) {
        guard !hasMoreTexts, texts.insert(text).inserted, texts.count > Self.textLimit else { return }
        texts = []
        hasMoreTexts = true
    }

    mutating func merge(_ other: TransactionChanges) {
        changes.merge(other.changes)
        hasUnreportedRows = hasUnreportedRows || other.hasUnreportedRows
        clears = clears || other.clears
        changesSchema = changesSchema || other.changesSchema
        hasMoreTexts = hasMoreTexts || other.hasMoreTexts
        for text in other.texts { note(text) }
        if hasMoreTexts { texts = [] }
    }
}
