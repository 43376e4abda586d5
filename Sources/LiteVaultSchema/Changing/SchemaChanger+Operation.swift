public import Foundation
internal import LiteVaultCore

extension SchemaChanger {
    /// What stands against a change of the schema.
    public enum Error: LocalizedError, Sendable {
        /// A column cannot be added in this form.
        case invalidColumnDefinition(String)
        /// Rows would refer to rows that are not there. Nothing was changed.
        case foreignKeyError([ForeignKeyError])

        /// What is wrong, in words.
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

        /// The statement of an engine that has one for it. The blanks are those of SQLite.swift.
        func sql(table: String) throws -> String {
            let alter = "ALTER TABLE \(quoted(table))"
            switch self {
            case .addColumn(let column):
                try Self.validate(added: column)
                return "\(alter) ADD COLUMN \(column.toSQL())"
            case .addIndex(let index, let ifNotExists):
                try index.validate()
                return index.toSQL(ifNotExists: ifNotExists)
            case .dropColumn(let name): return "\(alter) DROP COLUMN \(quoted(name))"
            case .dropIndex(let name, let ifExists):
                return "DROP INDEX \(ifExists ? " IF EXISTS " : "") \(quoted(name))"
            case .renameColumn(let name, let newName):
                return "\(alter) RENAME COLUMN \(quoted(name)) TO \(quoted(newName))"
            case .renameTable(let newName): return "\(alter) RENAME TO \(quoted(newName))"
            case .createTable(let columns, let ifNotExists):
                let declarations = columns.map { $0.toSQL() }.joined(separator: ",\n")
                return "CREATE TABLE \(ifNotExists ? " IF NOT EXISTS " : "") \(quoted(table)) (\(declarations))"
            }
        }

        /// https://sqlite.org/lang_altertable.html#altertabaddcol
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
