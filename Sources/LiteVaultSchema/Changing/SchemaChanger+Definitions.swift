public import LiteVaultQuery
internal import LiteVaultCore

extension SchemaChanger {
    /// Collects the changes of a table.
    public typealias AlterTableDefinitionBlock = (AlterTableDefinition) -> Void

    /// Collects the columns and indexes of a new table.
    public typealias CreateTableDefinitionBlock = (CreateTableDefinition) -> Void

    /// The changes of a table, made in the order in which they are called.
    public final class AlterTableDefinition {
        /// The table's name.
        public let name: String
        var operations: [Operation] = []

        init(name: String) { self.name = name }

        /// Adds a column at the end. It cannot be unique or a primary key.
        public func add(column: ColumnDefinition) { operations.append(.addColumn(column)) }

        /// Adds an index.
        public func add(index: IndexDefinition, ifNotExists: Bool = false) {
            operations.append(.addIndex(index, ifNotExists: ifNotExists))
        }

        /// Removes a column that no index, key, trigger or view uses.
        public func drop(column: String) { operations.append(.dropColumn(column)) }

        /// Removes an index.
        public func drop(index: String, ifExists: Bool = false) {
            operations.append(.dropIndex(index, ifExists: ifExists))
        }

        /// Renames a column.
        public func rename(column: String, to: String) { operations.append(.renameColumn(column, to)) }
    }

    /// A new table.
    public final class CreateTableDefinition {
        /// The table's name.
        public let name: String
        private var columns: [ColumnDefinition] = []
        private var indexes: [IndexDefinition] = []
        private let ifNotExists: Bool

        init(name: String, ifNotExists: Bool) {
            self.name = name
            self.ifNotExists = ifNotExists
        }

        /// Adds a column.
        public func add(column: ColumnDefinition) { columns.append(column) }

        /// Adds the column that an expression names, NOT NULL.
        public func add<T: Value>(expression: SQLExpression<T>) { add(expression, T.self, nullable: false) }

        /// Adds the column that an expression names.
        public func add<T: Value>(expression: SQLExpression<T?>) { add(expression, T.self, nullable: true) }

        /// Adds an index.
        public func add(index: IndexDefinition) { indexes.append(index) }

        var operations: [Operation] {
            [.createTable(columns: columns, ifNotExists: ifNotExists)]
                + indexes.map { .addIndex($0, ifNotExists: ifNotExists) }
        }

        private func add<T: Value>(_ expression: any ExpressionType, _ type: T.Type, nullable: Bool) {
            let template = expression.template
            let tokens = SQLTokens(template).filter { $0.isSignificant }
            let name = tokens.count == 1 ? tokens.first?.name ?? template : template
            add(
                column: ColumnDefinition(
                    name: name, type: ColumnDefinition.Affinity(type.declaredDatatype), nullable: nullable))
        }
    }
}
