public import Foundation
internal import LiteVaultCore

/// An index, as far as it can be told from the schema or is needed to make one.
public struct IndexDefinition: Equatable, Sendable {
    /// How a column is sorted in the index.
    public enum Order: String, Sendable {
        case ASC, DESC
    }

    /// Why there is an index.
    public enum Origin: String, Sendable {
        /// A UNIQUE constraint.
        case uniqueConstraint = "u"
        /// CREATE INDEX.
        case createIndex = "c"
        /// A PRIMARY KEY constraint.
        case primaryKey = "pk"
    }

    /// The table.
    public let table: String
    /// The index's name.
    public let name: String
    /// Whether no two rows may have the same values.
    public let unique: Bool
    /// The columns, in order. Where the index has an expression, its SQL text: see ``expressions``.
    public let columns: [String]
    /// The positions in ``columns`` of what is an expression. A unique index on `(a, length(name))` is not unique on `a`.
    public let expressions: Set<Int>
    /// The condition for rows to be in the index, as SQL text; nil for all rows.
    public let `where`: String?
    /// How columns and expressions are sorted, where it is not ascending.
    public let orders: [String: Order]?
    /// Why there is this index.
    public let origin: Origin?

    /// An index by its parts. The condition and expressions are SQL text and used as they are: never build them from input.
    ///
    /// - Parameter expressions: the positions in `columns` of what is an expression and no name.
    public init(
        table: String, name: String, unique: Bool = false, columns: [String], `where`: String? = nil,
        orders: [String: Order]? = nil, origin: Origin? = nil, expressions: Set<Int> = []
    ) {
        self.table = table
        self.name = name
        self.unique = unique
        self.columns = columns
        self.where = `where`
        self.orders = orders
        self.origin = origin
        self.expressions = expressions
    }

    /// An index by its columns, with condition and orders taken from the statement that made it.
    public init(
        table: String, name: String, unique: Bool, columns: [String], indexSQL: String?, origin: Origin? = nil
    ) {
        self.init(
            table: table, name: name, unique: unique, columns: columns, indexSQL: indexSQL, origin: origin,
            expressions: [])
    }

    init(
        table: String, name: String, unique: Bool, columns: [String], indexSQL: String?, origin: Origin?,
        expressions: Set<Int>
    ) {
        let text = indexSQL.flatMap(CreateIndexText.init)
        let terms = text?.terms ?? []
        let descending = terms.filter(\.isDescending).map { $0.column ?? $0.text }
        self.init(
            table: table, name: name, unique: unique, columns: columns, where: text?.condition,
            orders: descending.isEmpty ? nil : Dictionary(descending.map { ($0, .DESC) }) { first, _ in first },
            origin: origin, expressions: expressions)
    }

    /// Whether it belongs to a constraint.
    public var isInternal: Bool { name.hasPrefix("sqlite_autoindex_") }

    /// The CREATE INDEX statement.
    public func toSQL(ifNotExists: Bool = false) -> String {
        let columns = columns.enumerated().map { position, column in
            (expressions.contains(position) ? column : quoted(column))
                + (orders?[column].map { " \($0.rawValue)" } ?? "")
        }
        let clauses: [String?] = [
            "CREATE", unique ? "UNIQUE" : nil, "INDEX", ifNotExists ? "IF NOT EXISTS" : nil, quoted(name), "ON",
            quoted(table), "(\(columns.joined(separator: ", ")))", `where`.map { "WHERE \($0)" },
        ]
        return clauses.compactMap { $0 }.joined(separator: " ")
    }

    /// The same index of another table. One of a table called `tmp_…` is called so too, until that is renamed back.
    public func renameTable(to table: String) -> IndexDefinition {
        let prefix = "tmp_"
        let plainName = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
        let newName = table.hasPrefix(prefix) ? prefix + name : plainName
        return IndexDefinition(
            table: table, name: newName, unique: unique, columns: columns, where: `where`, orders: orders,
            origin: origin, expressions: expressions)
    }

    /// Refuses names of more than 64 characters.
    ///
    /// - Throws: ``IndexError``
    public func validate() throws {
        guard name.count <= 64 else { throw IndexError.tooLong(name, table) }
    }

    /// What is wrong with an index.
    public enum IndexError: LocalizedError, Sendable {
        /// The name of the index, and its table.
        case tooLong(String, String)

        /// What is wrong, in words.
        public var errorDescription: String? {
            switch self {
            case .tooLong(let name, let table):
                "Index name '\(name)' on table '\(table)' is too long; the limit is 64 characters"
            }
        }
    }
}
