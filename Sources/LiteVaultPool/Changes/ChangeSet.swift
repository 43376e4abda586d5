internal import LiteVaultCore

struct ChangeSet: Sendable {
    struct Table: Sendable {
        /// The rows, by their rowids afterwards; nil when they are unknown, or too many to be tracked.
        var rows: Set<Int64>? = []
        /// The columns that were set; nil when rows were inserted or deleted, or the columns are unknown.
        var columns: Set<SQLName>? = []

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

    /// Whether changes affect a region.
    enum Effect: Int, Comparable {
        case none
        /// The table was changed, and possibly the rows: the engine does not report the old rowid of a row that was moved, nor
        /// that of a conflicting row that was deleted.
        case possible
        case certain

        static func < (left: Effect, right: Effect) -> Bool { left.rawValue < right.rawValue }
    }

    var tables: [TableName: Table] = [:]
    /// The names of tables that were created or dropped in any schema: a name may refer to another table now.
    var redefined: Set<SQLName> = []
    /// Whether there are changes whose table the engine does not report.
    var everything = false

    /// A change about which nothing is known.
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
            if redefined.contains(SQLName(name.table)) { return .certain }
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

/// The changes of a transaction, or of a savepoint in it, so far.
struct TransactionChanges {
    /// The changes that the hooks reported.
    var changes = ChangeSet()
    /// The texts of statements that write.
    private(set) var texts: Set<ExactText> = []
    /// Whether there were too many of them to be kept.
    private(set) var hasMoreTexts = false
    /// Whether rows were changed that the hooks did not report.
    var hasUnreportedRows = false
    /// Whether a DELETE without WHERE ran: of a table WITHOUT ROWID, SQLite 3.15 does not even count the rows then.
    var clears = false
    var changesSchema = false

    /// The maximum number of kept texts: analyzing one costs as much as preparing it.
    private static let textLimit = 200

    var isEmpty: Bool { changes.isEmpty && !hasUnreportedRows && !clears }

    mutating func note(_ text: ExactText) {
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
