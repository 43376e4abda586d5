/// What a transaction, or a savepoint in it, has changed so far.
struct TransactionChanges {
    /// As the hooks told it.
    var changes = ChangeSet()
    /// The statements that write.
    private(set) var texts: Set<String> = []
    /// Whether there were more of them than are worth keeping.
    private(set) var hasMoreTexts = false
    /// Whether rows were changed that the hooks did not tell.
    var hasUntoldRows = false
    /// Whether a DELETE without WHERE ran: of a table WITHOUT ROWID, SQLite 3.15 does not even count the rows then.
    var clears = false
    var changesSchema = false

    /// Kept texts, at most: a look at each costs as much as preparing it.
    private static let textLimit = 200

    var isEmpty: Bool { changes.isEmpty && !hasUntoldRows && !clears }

    mutating func note(_ text: String) {
        guard !hasMoreTexts, texts.insert(text).inserted, texts.count > Self.textLimit else { return }
        texts = []
        hasMoreTexts = true
    }

    mutating func merge(_ other: TransactionChanges) {
        changes.merge(other.changes)
        hasUntoldRows = hasUntoldRows || other.hasUntoldRows
        clears = clears || other.clears
        changesSchema = changesSchema || other.changesSchema
        hasMoreTexts = hasMoreTexts || other.hasMoreTexts
        for text in other.texts { note(text) }
        if hasMoreTexts { texts = [] }
    }
}
