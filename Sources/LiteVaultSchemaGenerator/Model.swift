/// A table, view or virtual table.
struct Relation {
    enum Kind { case table, view, virtual(module: String) }

    let name: String
    let kind: Kind
    let columns: [Column]
}

/// One of its columns.
struct Column {
    let name: String
    /// As declared; empty when nothing was.
    let declaredType: String
    let canBeNull: Bool
}
