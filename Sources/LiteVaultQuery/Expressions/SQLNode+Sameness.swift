extension SQLNode {
    /// Whether two lists of columns are the same. False where that would take long to find out.
    static func areSame(_ left: [SQLNode], _ right: [SQLNode]) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
    }

    /// Whether two columns are the same. False where that would take long to find out.
    static func isSame(_ left: SQLNode, _ right: SQLNode) -> Bool {
        if left === right { return true }
        switch (left.kind, right.kind) {
        case (.identifier(let left), .identifier(let right)), (.text(let left), .text(let right)): return left == right
        case (.qualified(let leftTable, let left), .qualified(let rightTable, let right)):
            return isSame(left, right) && isSame(leftTable, rightTable)
        default: return false
        }
    }
}
