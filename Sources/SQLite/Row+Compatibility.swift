public import LiteVaultCore

extension Row {
    /// A row by the positions of its quoted column names, and its values.
    public init(_ columnNames: [String: Int], _ values: [(any Binding)?]) {
        let count = max(values.count, (columnNames.values.max() ?? -1) + 1)
        let keys = (0..<count).map { index in columnNames.first { $0.value == index }?.key ?? "" }
        // Names beyond the values name what is NULL.
        let cells = values.map(StoredValue.init) + Array(repeating: .null, count: count - values.count)
        self.init(columns: RowColumns(names: keys.map(Self.unquoted), keys: keys), cells: cells)
    }

    /// The positions of the columns, by their quoted names.
    public var columnNames: [String: Int] { columns.positions }

    private static func unquoted(_ key: String) -> String {
        guard key.hasPrefix("\""), key.hasSuffix("\""), key.count >= 2 else { return key }
        return key.dropFirst().dropLast().split(separator: "\"\"", omittingEmptySubsequences: false).joined(
            separator: "\"")
    }
}
