public import LiteVaultQuery
public import LiteVaultSchema

/// The parameters that FTS4 and FTS5 have in common: columns, tokenizer, prefixes, content.
///
/// Use ``FTS4Config`` or ``FTS5Config``.
open class FTSConfig {
    /// Options of a column.
    public enum ColumnOption: Sendable {
        /// The column is stored without being indexed.
        case unindexed
    }

    fileprivate var parameters = FullTextArguments()
    private var isContentless = false

    fileprivate init() {}

    /// Adds a column.
    @discardableResult
    open func column(_ column: any Expressible, _ options: [ColumnOption] = []) -> Self {
        parameters.columns.append((column.node, options.contains(.unindexed)))
        return self
    }

    /// Adds columns.
    @discardableResult
    open func columns(_ columns: [any Expressible]) -> Self {
        for column in columns { self.column(column) }
        return self
    }

    /// Sets how texts are split into words; nil for the module's default.
    @discardableResult
    open func tokenizer(_ tokenizer: Tokenizer?) -> Self {
        parameters.tokenizer = tokenizer
        return self
    }

    /// Adds lengths of indexed word prefixes, in characters. They speed up searches for `wo*`.
    @discardableResult
    open func prefix(_ prefix: [Int]) -> Self {
        parameters.prefixes += prefix
        return self
    }

    /// Takes the texts from a table or view of the same database instead of storing them again. The application has to
    /// synchronize the index with it (https://sqlite.org/fts5.html#external_content_tables).
    @discardableResult
    open func externalContent(_ schema: any SchemaType) -> Self {
        if !isContentless { parameters.content = schema.clauses.from.name }
        return self
    }

    /// Stores no texts: a search returns rowids only.
    @discardableResult
    open func contentless() -> Self {
        isContentless = true
        parameters.content = ""
        return self
    }
}

/// The parameters of an FTS4 table (https://sqlite.org/fts3.html#fts4_options).
open class FTS4Config: FTSConfig {
    /// What is stored for `matchinfo()`.
    public typealias MatchInfo = FTS4.MatchInfo

    /// The order of rowids in which searches are fast.
    public enum Order: String, Sendable {
        /// From the lowest.
        case asc
        /// From the highest.
        case desc
    }

    /// Creates parameters with the module's defaults.
    public override init() { super.init() }

    /// Sets the SQL function that compresses texts before they are stored.
    @discardableResult
    open func compress(_ functionName: String) -> Self {
        parameters.compress = functionName
        return self
    }

    /// Sets the SQL function that decompresses stored texts.
    @discardableResult
    open func uncompress(_ functionName: String) -> Self {
        parameters.uncompress = functionName
        return self
    }

    /// Adds a hidden column for the number of the text's language, which tokenizers may use.
    @discardableResult
    open func languageId(_ columnName: String) -> Self {
        parameters.languageColumn = columnName
        return self
    }

    /// Sets what is stored for `matchinfo()`.
    @discardableResult
    open func matchInfo(_ matchInfo: MatchInfo) -> Self {
        parameters.matchInfo = matchInfo
        return self
    }

    /// Sets the order of rowids in which searches are fast.
    @discardableResult
    open func order(_ order: Order) -> Self {
        parameters.order = order.rawValue
        return self
    }
}

/// The parameters of an FTS5 table (https://sqlite.org/fts5.html#fts5_table_creation_and_initialization).
open class FTS5Config: FTSConfig {
    /// How much of a word's position is stored.
    public typealias Detail = FTS5.Detail

    /// Creates parameters with the module's defaults.
    public override init() { super.init() }

    /// Sets the column of the external content that is its rowid.
    @discardableResult
    open func contentRowId(_ column: any Expressible) -> Self {
        parameters.contentRowid = column.node
        return self
    }

    /// Sets whether the lengths of texts are stored, 1 or 0. Without them, ranking reads the texts.
    @discardableResult
    open func columnSize(_ size: Int) -> Self {
        parameters.columnSize = size
        return self
    }

    /// Sets how much of a word's position is stored.
    @discardableResult
    open func detail(_ detail: Detail) -> Self {
        parameters.detail = detail
        return self
    }
}

/// The module of a virtual table with its arguments: what follows USING.
///
/// There are factories for ``FTS4(_:)``, ``FTS5(_:)`` and ``RTree(_:_:)``.
public struct Module: Expressible {
    private let name: SQLNode
    private let arguments: [SQLNode]

    /// Creates a module by its name, which is quoted.
    ///
    /// - Parameters:
    ///   - name: the module's name.
    ///   - arguments: its arguments, in order.
    public init(_ name: String, _ arguments: [any Expressible]) {
        self.name = .identifier(name)
        self.arguments = arguments.map(\.node)
    }

    /// A module of the engine, whose name needs no quotes.
    private init(builtIn name: String, _ arguments: [SQLNode]) {
        self.name = .text(name)
        self.arguments = arguments
    }

    /// `name(arguments)`
    public var expression: SQLExpression<Void> {
        SQLExpression(root: .joined([name, .wrapped("", .joined(arguments, separator: ", "))], separator: ""))
    }

    /// A full-text index on columns: `fts4("subject", "body")` (https://sqlite.org/fts3.html).
    public static func FTS4(_ column: any Expressible, _ more: any Expressible...) -> Module {
        FTS4([column] + more)
    }

    /// A full-text index on columns with a tokenizer: `fts4("subject", "body", tokenize=porter)`.
    public static func FTS4(_ columns: [any Expressible] = [], tokenize tokenizer: Tokenizer? = nil) -> Module {
        FTS4(FTS4Config().columns(columns).tokenizer(tokenizer))
    }

    /// A full-text index with parameters of FTS4.
    public static func FTS4(_ config: FTS4Config) -> Module { Module(builtIn: "fts4", config.parameters.fts4) }

    /// A full-text index with parameters of FTS5 (https://sqlite.org/fts5.html). If the engine was built without FTS5,
    /// creating the table fails with "no such module".
    public static func FTS5(_ config: FTS5Config) -> Module { Module(builtIn: "fts5", config.parameters.fts5) }

    /// An index of ranges in one to five dimensions: `rtree("id", "minX", "maxX")` (https://sqlite.org/rtree.html).
    ///
    /// Coordinates are stored with 32 bits: lower bounds are rounded down, upper bounds up.
    ///
    /// - Parameters:
    ///   - primaryKey: the column of the row's number.
    ///   - pairs: the columns of the lower and the upper bound, for each dimension.
    public static func RTree<T: Value, U: Value>(
        _ primaryKey: SQLExpression<T>, _ pairs: (SQLExpression<U>, SQLExpression<U>)...
    ) -> Module where T.Datatype == Int64, U.Datatype == Double {
        Module(builtIn: "rtree", [primaryKey.root] + pairs.flatMap { [$0.0.root, $0.1.root] })
    }

    /// An index of ranges of 32-bit integers: `rtree_i32("id", "from", "to")`. The parameters are those of `RTree(_:_:)`.
    public static func RTree<T: Value, U: Value>(
        integers primaryKey: SQLExpression<T>, _ pairs: (SQLExpression<U>, SQLExpression<U>)...
    ) -> Module where T.Datatype == Int64, U.Datatype == Int64 {
        Module(builtIn: "rtree_i32", [primaryKey.root] + pairs.flatMap { [$0.0.root, $0.1.root] })
    }
}

// The tokenizers by the names they have in SQLite.swift.

extension Tokenizer {
    /// Words of ASCII letters and digits, ignoring the case of A to Z. FTS4 only.
    public static let Simple = Tokenizer.simple

    /// English words by their stems: "wondering" finds "wonder".
    public static let Porter = Tokenizer.porter

    /// Words of ASCII letters and digits, ignoring the case of A to Z. FTS5 only.
    public static let Ascii = Tokenizer.ascii

    /// Words of letters and digits as Unicode 6.1 defines them, ignoring case.
    ///
    /// - Parameters:
    ///   - removeDiacritics: whether "é" is indexed as "e"; true by default.
    ///   - tokenchars: additional characters that are part of words.
    ///   - separators: characters that separate words.
    public static func Unicode61(
        removeDiacritics: Bool? = nil, tokenchars: Set<Character> = [], separators: Set<Character> = []
    ) -> Tokenizer {
        var options: [Option] = []
        if let removeDiacritics { options.append(Option("remove_diacritics", removeDiacritics ? "1" : "0")) }
        if !tokenchars.isEmpty { options.append(Option("tokenchars", text(tokenchars))) }
        if !separators.isEmpty { options.append(Option("separators", text(separators))) }
        return Tokenizer(unicode61: options)
    }

    /// Sequences of three characters, for searching parts of words. FTS5 only, SQLite 3.34 and later.
    ///
    /// - Parameter caseSensitive: whether upper and lower case differ.
    public static func Trigram(caseSensitive: Bool = false) -> Tokenizer { .trigram(caseSensitive: caseSensitive) }

    /// A tokenizer that the application or an extension has registered with the engine, by its name.
    public static func Custom(_ name: String) -> Tokenizer { .custom(name) }
}
