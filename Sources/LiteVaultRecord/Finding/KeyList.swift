internal import LiteVaultCore

/// A condition for rows whose columns have one of many values: `"id" IN (?, ?, …)`.
///
/// The number of parameters is rounded up to a power of two, the last key filling the rest, so that lists of all lengths need a
/// few prepared statements between them.
struct KeyList {
    /// The SQL of the columns.
    private let columns: [String]

    /// - Parameter table: the SQL of the table's name, where that is needed.
    init(columns: [String], of table: String? = nil) {
        self.columns = columns.map { (table.map { $0 + "." } ?? "") + quoted($0) }
    }

    /// Passes conditions to a closure, each with keys for its parameters: one for all keys, if a statement may have enough
    /// parameters.
    ///
    /// - Parameter others: the number of parameters that the statement has besides the keys.
    func forEachPart<Key>(
        of keys: [Key], on db: Connection, besides others: Int = 0,
        _ body: (_ condition: String, _ keys: [Key]) throws -> Void
    ) throws {
        guard !columns.isEmpty else { return }
        let most = max(1, (db.parameterLimit - others) / columns.count)
        var start = 0
        while start < keys.count {
            let count = min(most, keys.count - start)
            var part = Array(keys[start..<start + count])
            var rounded = 1
            while rounded < count { rounded *= 2 }
            part.append(contentsOf: repeatElement(part[count - 1], count: min(rounded, most) - count))
            try body(condition(part.count), part)
            start += count
        }
    }

    private func condition(_ count: Int) -> String {
        guard columns.count > 1 else {
            return "\(columns[0]) IN (?\(String(repeating: ", ?", count: count - 1)))"
        }
        let row = "(\(columns.map { _ in "?" }.joined(separator: ", ")))"
        let rows = repeatElement(row, count: count).joined(separator: ", ")
        return "(\(columns.joined(separator: ", "))) IN (VALUES \(rows))"
    }

    static func bind(_ keys: [some StatementArgument], to execution: Execution) throws {
        var index: Int32 = 0
        var code: Int32 = 0
        for key in keys {
            let bound = try key.bind(to: execution.handle, after: &index)
            if code == 0 { code = bound }
        }
        try execution.check(binding: code, count: index)
    }
}
