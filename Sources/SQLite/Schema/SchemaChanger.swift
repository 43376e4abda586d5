public import Foundation
public import LiteVaultCore
public import LiteVaultQuery
public import LiteVaultSchema

/// Changes tables, also in ways for which the linked engine has no statement.
///
/// ```swift
/// let changer = SchemaChanger(connection: db)
/// try changer.alter(table: "users") { table in
///     table.add(column: ColumnDefinition(name: "city", type: .TEXT))
///     table.rename(column: "mail", to: "email")
///     table.drop(column: "age")
/// }
/// ```
///
/// Each call is one transaction: it applies all changes, or none. Before SQLite 3.25 (columns renamed) and 3.35
/// (columns dropped) the table is rebuilt: rows keep their rowids, and indexes, triggers, constraints and the foreign
/// keys of other tables are preserved. A change that would break one of them throws `VaultError`.
public final class SchemaChanger: CustomStringConvertible {
    private let connection: Connection
    private let version: SQLiteVersion

    /// Creates a changer of a connection's main and temporary tables.
    public convenience init(connection: Connection) {
        self.init(connection: connection, version: connection.sqliteVersion)
    }

    /// Creates a changer that uses only the statements of a version of SQLite.
    public init(connection: Connection, version: SQLiteVersion) {
        self.connection = connection
        self.version = version
    }

    /// Changes a table, in the order of the calls in the block.
    ///
    /// - Throws: `DatabaseError`, ``Error`` or `VaultError`; the table is unchanged.
    public func alter(table: String, block: AlterTableDefinitionBlock) throws {
        let definition = AlterTableDefinition(name: table)
        block(definition)
        try run(definition.operations, table: table)
    }

    /// Creates a table and its indexes.
    ///
    /// - Parameters:
    ///   - table: the table's name.
    ///   - ifNotExists: if true, keeps a table or index that already exists.
    ///   - block: adds columns and indexes.
    /// - Throws: `DatabaseError`; nothing is created then.
    public func create(table: String, ifNotExists: Bool = false, block: CreateTableDefinitionBlock) throws {
        let definition = CreateTableDefinition(name: table, ifNotExists: ifNotExists)
        block(definition)
        try run(definition.operations, table: table)
    }

    /// Drops a table with its indexes and triggers. While foreign keys are enforced, its rows are deleted first, which
    /// applies the actions of the foreign keys that reference them.
    ///
    /// - Parameters:
    ///   - table: the table's name.
    ///   - ifExists: if true, does nothing when the table does not exist.
    /// - Throws: `DatabaseError`; nothing is dropped then.
    public func drop(table: String, ifExists: Bool = true) throws {
        try run("DROP TABLE \(ifExists ? " IF EXISTS " : "") \(quoted(table))")
    }

    /// Renames a table, also in the foreign keys of other tables, and in triggers and views if the engine supports it
    /// (SQLite 3.26 and later). A change that would break one of them is rejected.
    ///
    /// - Throws: `DatabaseError` or `VaultError`; the table keeps its name.
    public func rename(table: String, to: String) throws {
        try run([.renameTable(to)], table: table)
    }

    /// Runs a statement.
    ///
    /// - Throws: `DatabaseError`
    @discardableResult
    public func run(_ sql: String, _ bindings: (any Binding)?...) throws -> Statement {
        try connection.run(sql, bindings)
    }

    /// The name of the class and the connection.
    public var description: String { "SQLiteSchemaChanger: \(connection.description)" }

    private func run(_ operations: [Operation], table: String) throws {
        let changes = try operations.map { try $0.change(table: table) }
        do { try TableChanger(connection, version: version).make(changes, on: table) } catch let error as VaultError {
            if let violations = error.cause as? SchemaReader.ViolatedForeignKeys {
                throw Error.foreignKeyError(violations.rows)
            }
            throw error
        }
    }

    // MARK: Collecting changes

    /// Collects the changes of a table.
    public typealias AlterTableDefinitionBlock = (AlterTableDefinition) -> Void

    /// Collects the columns and indexes of a new table.
    public typealias CreateTableDefinitionBlock = (CreateTableDefinition) -> Void

    /// Changes of a table, made in the order of the calls.
    public final class AlterTableDefinition {
        /// The table's name.
        public let name: String
        fileprivate var operations: [Operation] = []

        fileprivate init(name: String) { self.name = name }

        /// Adds a column at the end. It cannot be unique or a primary key.
        public func add(column: ColumnDefinition) { operations.append(.addColumn(column)) }

        /// Adds an index.
        public func add(index: IndexDefinition, ifNotExists: Bool = false) {
            operations.append(.addIndex(index, ifNotExists: ifNotExists))
        }

        /// Drops a column that no index, key, trigger or view uses.
        public func drop(column: String) { operations.append(.dropColumn(column)) }

        /// Drops an index.
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

        fileprivate init(name: String, ifNotExists: Bool) {
            self.name = name
            self.ifNotExists = ifNotExists
        }

        /// Adds a column.
        public func add(column: ColumnDefinition) { columns.append(column) }

        /// Adds the column of an expression, NOT NULL unless its type is optional.
        public func add<T: SQLType>(expression: SQLExpression<T>) {
            let template = expression.template
            let tokens = SQLTokens(template).filter { $0.isSignificant }
            let name = tokens.count == 1 ? tokens.first?.name ?? template : template
            add(
                column: ColumnDefinition(
                    name: name, type: ColumnDefinition.Affinity(T.SQLBase.declaredDatatype),
                    nullable: T.self is any _OptionalType.Type))
        }

        /// Adds an index.
        public func add(index: IndexDefinition) { indexes.append(index) }

        fileprivate var operations: [Operation] {
            [.createTable(columns: columns, ifNotExists: ifNotExists)]
                + indexes.map { .addIndex($0, ifNotExists: ifNotExists) }
        }
    }

    // MARK: Applying changes

    /// Why a change was rejected.
    public enum Error: LocalizedError, Sendable {
        /// The column cannot be added in this form.
        case invalidColumnDefinition(String)
        /// Rows would violate foreign keys. Nothing was changed.
        case foreignKeyError([ForeignKeyError])

        /// The reason.
        public var errorDescription: String? {
            switch self {
            case .invalidColumnDefinition(let message): "Invalid column definition: \(message)"
            case .foreignKeyError(let errors): "Foreign key errors: \(errors)"
            }
        }
    }

    /// A change of a table.
    public enum Operation: Sendable {
        case addColumn(ColumnDefinition)
        case addIndex(IndexDefinition, ifNotExists: Bool)
        case dropColumn(String)
        case dropIndex(String, ifExists: Bool)
        case renameColumn(String, String)
        case renameTable(String)
        case createTable(columns: [ColumnDefinition], ifNotExists: Bool)

        /// The blanks in the statements are those of SQLite.swift.
        fileprivate func change(table: String) throws -> TableChange {
            switch self {
            case .addColumn(let column):
                try Self.validate(added: column)
                return .statement("ALTER TABLE \(quoted(table)) ADD COLUMN \(column.toSQL())")
            case .addIndex(let index, let ifNotExists):
                try index.validate()
                return .statement(index.toSQL(ifNotExists: ifNotExists))
            case .dropColumn(let name): return .dropColumn(name)
            case .dropIndex(let name, let ifExists):
                return .statement("DROP INDEX \(ifExists ? " IF EXISTS " : "") \(quoted(name))")
            case .renameColumn(let name, let newName): return .renameColumn(name, newName)
            case .renameTable(let newName): return .renameTable(newName)
            case .createTable(let columns, let ifNotExists):
                let declarations = columns.map { $0.toSQL() }.joined(separator: ",\n")
                return .statement(
                    "CREATE TABLE \(ifNotExists ? " IF NOT EXISTS " : "") \(quoted(table)) (\(declarations))")
            }
        }

        /// Requires a column that ADD COLUMN accepts (https://sqlite.org/lang_altertable.html#altertabaddcol). The messages
        /// are those of SQLite.swift.
        private static func validate(added column: ColumnDefinition) throws {
            guard column.primaryKey == nil else {
                throw Error.invalidColumnDefinition("can not add primary key column")
            }
            guard !column.unique else { throw Error.invalidColumnDefinition("can not add unique column") }
            switch column.defaultValue {
            case .CURRENT_TIME, .CURRENT_DATE, .CURRENT_TIMESTAMP:
                throw Error.invalidColumnDefinition("Invalid default value")
            case .NULL where !column.nullable:
                throw Error.invalidColumnDefinition("NOT NULL columns must have a default value other than NULL")
            default: break
            }
        }
    }
}
