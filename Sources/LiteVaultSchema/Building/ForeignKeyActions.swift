internal import LiteVaultQuery

/// What follows the columns of a foreign key.
struct ForeignKeyActions {
    var onDelete: ForeignKeyAction?
    var onUpdate: ForeignKeyAction?
    var isDeferred = false

    /// `ON DELETE CASCADE ON UPDATE SET NULL DEFERRABLE INITIALLY DEFERRED`
    var node: SQLNode? {
        let clauses = [
            onDelete.map { "ON DELETE \($0.rawValue)" }, onUpdate.map { "ON UPDATE \($0.rawValue)" },
            isDeferred ? "DEFERRABLE INITIALLY DEFERRED" : nil,
        ].compactMap { $0 }
        return clauses.isEmpty ? nil : .text(clauses.joined(separator: " "))
    }
}
