internal import LiteVaultCore
internal import LiteVaultSystem

/// An index as the schema declares it.
public struct IndexDefinition: Equatable, Sendable {
    /// The sort order of a column in an index.
    public enum Order: String, Sendable {
        case ASC, DESC
    }

    /// What created an index.
    public enum Origin: String, Sendable {
        /// A UNIQUE constraint.
        case uniqueConstraint = "u"
        /// CREATE INDEX.
        case createIndex = "c"
        /// A PRIMARY KEY constraint.
        case primaryKey = "pk"
    }

    /// The indexed table.
    public let table: String
    /// The index's name.
    public let name: String
    /// Whether no two rows may have the same values.
    public let unique: Bool
    /// The columns, in order. For an expression, its SQL text: see ``expressions``.
    public let columns: [String]
    /// The positions in ``columns`` that are expressions. A unique index on `(a, length(name))` is not unique on `a`.
    public let expressions: Set<Int>
    /// The condition of a partial index, as SQL text. nil if the index has all rows.
    public let `where`: String?
    /// The columns and expressions that are not sorted in ascending order.
    public let orders: [String: Order]?
    /// What created the index.
    public let origin: Origin?

    /// Creates a definition from its parts.
    ///
    /// The condition and the expressions are SQL text and used verbatim: never build them from untrusted input.
    ///
    /// - Parameter expressions: the positions in `columns` that are expressions, not names.
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

    /// Creates a definition with the condition and the orders of a CREATE INDEX statement.
    public init(
        table: String, name: String, unique: Bool, columns: [String], indexSQL: String?, origin: Origin? = nil
    ) {
        let statement = indexSQL.flatMap(CreateIndexText.init)
        self.init(
            table: table, name: name, unique: unique, columns: columns, where: statement?.condition,
            orders: statement?.orders, origin: origin)
    }

    /// Whether the index belongs to a constraint.
    public var isInternal: Bool { name.hasPrefix("sqlite_autoindex_") }
}

/// A CREATE INDEX statement, split into its clauses.
struct CreateIndexText {
    private let tokens: [SQLTokens.Token]
    /// The parentheses around the columns.
    private let open: Int
    private let close: Int

    /// Returns nil if the text is not a CREATE INDEX statement.
    init?(_ sql: String) {
        tokens = Array(SQLTokens(sql))
        guard let open = tokens.firstIndex(where: { $0.isSymbol("(") }), let close = tokens.closing(open)
        else { return nil }
        self.open = open
        self.close = close
    }

    /// The text after WHERE.
    var condition: String? {
        guard let start = tokens[close...].firstIndex(where: { $0.isKeyword("WHERE") }) else { return nil }
        return tokens[(start + 1)...].map(\.text).joined().trimmed
    }

    struct Term {
        /// The column's name; nil for an expression.
        let column: String?
        /// The text, without ASC or DESC.
        let text: String
        let isDescending: Bool

        fileprivate init(_ tokens: ArraySlice<SQLTokens.Token>) {
            var rest = tokens
            let last = rest.lastIndex(where: \.isSignificant)
            isDescending = last.map { rest[$0].isKeyword("DESC") } ?? false
            if let last, isDescending || rest[last].isKeyword("ASC") { rest = rest[..<last] }
            text = rest.map(\.text).joined().trimmed
            // `name` or `name COLLATE collation`; anything else is an expression.
            let words = rest.filter(\.isSignificant)
            let isColumn = words.count == 1 || (words.count == 3 && words[words.startIndex + 1].isKeyword("COLLATE"))
            column = isColumn ? words.first?.name : nil
        }
    }

    /// The columns and expressions that are not sorted in ascending order; nil for none.
    var orders: [String: IndexDefinition.Order]? {
        let descending = terms.filter(\.isDescending).map { ($0.column ?? $0.text, IndexDefinition.Order.DESC) }
        return descending.isEmpty ? nil : Dictionary(descending) { first, _ in first }
    }

    /// The columns and expressions, in order.
    var terms: [Term] { tokens.elements(open, close).map { Term(tokens[$0]) } }

    func renaming(column: String, to newName: String) -> String {
        var result = tokens.map(\.text)
        for index in (open + 1)..<tokens.count where tokens.isColumnReference(index, column) {
            result[index] = quoted(newName)
        }
        return result.joined()
    }

    func mentions(column: String) -> Bool {
        ((open + 1)..<tokens.count).contains { tokens.isColumnReference($0, column) }
    }
}
