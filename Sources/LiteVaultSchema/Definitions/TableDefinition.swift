internal import LiteVaultCore

/// A table: its columns and indexes.
public struct TableDefinition: Equatable, Sendable {
    /// The table's name.
    public let name: String
    /// Its columns, in order.
    public let columns: [ColumnDefinition]
    /// Its indexes, those of constraints included.
    public let indexes: [IndexDefinition]

    /// A table by its parts.
    public init(name: String, columns: [ColumnDefinition], indexes: [IndexDefinition]) {
        self.name = name
        self.columns = columns
        self.indexes = indexes
    }

    /// The names of the columns for SQL text.
    public var quotedColumnList: String { columns.map { quoted($0.name) }.joined(separator: ", ") }

    /// The CREATE TABLE statement. It has what the definitions can express, which may be less than the table has.
    public func toSQL(temporary: Bool = false) -> String {
        let keys = columns.filter { $0.primaryKey != nil }
        let isComposite = keys.count > 1
        var parts = columns.map { $0.toSQL(withPrimaryKey: !isComposite) }
        if isComposite { parts.append("PRIMARY KEY (\(keys.map { quoted($0.name) }.joined(separator: ", ")))") }
        let clauses: [String?] = [
            "CREATE", temporary ? "TEMPORARY" : nil, "TABLE", SQLWords.quotedWhereNeeded(name), "(",
            parts.joined(separator: ",\n"), ")",
        ]
        return clauses.compactMap { $0 }.joined(separator: " ")
    }

    /// The statement that copies all rows into another table, column by column in order.
    public func copySQL(to target: TableDefinition) -> String {
        "INSERT INTO \(quoted(target.name)) (\(target.quotedColumnList)) "
            + "SELECT \(quotedColumnList) FROM \(quoted(name))"
    }
}
