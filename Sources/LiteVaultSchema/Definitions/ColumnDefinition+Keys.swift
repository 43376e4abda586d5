internal import LiteVaultCore

extension ColumnDefinition {
    /// The primary key of a table, at one of its columns.
    public struct PrimaryKey: Equatable, Sendable {
        /// Whether numbers are never used again.
        public let autoIncrement: Bool
        /// What happens to a row whose key is there already.
        public let onConflict: OnConflict?

        /// A primary key; one of integers that are never used again by default.
        public init(autoIncrement: Bool = true, onConflict: OnConflict? = nil) {
            self.autoIncrement = autoIncrement
            self.onConflict = onConflict
        }

        /// The first primary key that an SQL text declares; nil when it declares none.
        public init?(sql: String) {
            let words = SQLWords(sql)
            guard let start = words.firstIndex(of: "PRIMARY", "KEY") else { return nil }
            var rest = words.after(start + 2)
            rest.skipGroup()
            if !rest.skip("ASC") { rest.skip("DESC") }
            onConflict = rest.skip("ON", "CONFLICT") ? rest.next().flatMap(OnConflict.init(rawValue:)) : nil
            autoIncrement = rest.skip("AUTOINCREMENT")
        }

        /// The constraint of a column.
        public func toSQL() -> String {
            let clauses: [String?] = [
                "PRIMARY KEY", onConflict.map { "ON CONFLICT \($0.rawValue)" }, autoIncrement ? "AUTOINCREMENT" : nil,
            ]
            return clauses.compactMap { $0 }.joined(separator: " ")
        }
    }

    /// A reference of a column to a column of another table.
    public struct ForeignKey: Equatable, Sendable {
        /// The column that refers.
        public let fromColumn: String
        /// The table it refers to.
        public let toTable: String
        /// The column there; nil for its primary key.
        public let toColumn: String?
        /// What happens when the value there changes: `CASCADE`, say. nil for `NO ACTION`.
        public let onUpdate: String?
        /// What happens when the row there is deleted. nil for `NO ACTION`.
        public let onDelete: String?

        /// The reference of a column that is being defined.
        public init(toTable: String, toColumn: String? = nil, onUpdate: String? = nil, onDelete: String? = nil) {
            self.init(
                fromColumn: "", toTable: toTable, toColumn: toColumn, onUpdate: onUpdate, onDelete: onDelete)
        }

        /// The reference of a column.
        public init(
            fromColumn: String, toTable: String, toColumn: String? = nil, onUpdate: String? = nil,
            onDelete: String? = nil
        ) {
            self.fromColumn = fromColumn
            self.toTable = toTable
            self.toColumn = toColumn
            self.onUpdate = onUpdate
            self.onDelete = onDelete
        }

        /// The same reference, of a column that is being defined.
        func of(column: String) -> ForeignKey {
            guard fromColumn.isEmpty else { return self }
            return ForeignKey(
                fromColumn: column, toTable: toTable, toColumn: toColumn, onUpdate: onUpdate, onDelete: onDelete)
        }

        /// The constraint of a column.
        public func toSQL() -> String {
            let clauses: [String?] = [
                "REFERENCES", quoted(toTable), toColumn.map { "(\(quoted($0)))" },
                onUpdate.map { "ON UPDATE \(Self.action($0))" }, onDelete.map { "ON DELETE \(Self.action($0))" },
            ]
            return clauses.compactMap { $0 }.joined(separator: " ")
        }

        /// Anything that is no action becomes a name in quotes, which the engine's parser refuses.
        private static func action(_ text: String) -> String {
            let known = ["NO ACTION", "RESTRICT", "SET NULL", "SET DEFAULT", "CASCADE"]
            return known.contains(text.uppercased()) ? text : quoted(text)
        }
    }
}
