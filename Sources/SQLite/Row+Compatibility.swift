public import LiteVaultCore

extension Row {
    /// A row by the positions of its quoted column names, and its values.
    public init(_ columnNames: [String: Int], _ values: [(any Binding)?]) {
        let keys = values.indices.map { index in columnNames.first { $0.value == index }?.key ?? "" }
        self.init(
            columns: RowColumns(names: keys.map(Self.unquoted), keys: keys), cells: values.map(StoredValue.init))
    }

    /// The positions of the columns, by their quoted names.
    public var columnNames: [String: Int] { columns.positions }

    private static func unquoted(_ key: String) -> String {
        guard key.hasPrefix("\""), key.hasSuffix("\""), key.count >= 2 else { return key }
        return key.dropFirst().dropLast().split(separator: "\"\"", omittingEmptySubsequences: false).joined(
            separator: "\"")
    }
}
