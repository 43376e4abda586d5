internal import LiteVaultCore
internal import LiteVaultQuoting

/// What a person typed, as a query of a full-text index: nothing in it is an operator.
///
/// ```swift
/// guard let pattern = FullTextPattern(typed, .allWords, prefixOfLast: true) else { return [] }
/// let found = try db.all(emails.filter(emails.match(pattern)).order(emails.rank))
/// ```
///
/// Words are separated by blanks. One that the index's tokenizer takes apart, such as `e-mail`, is found where its parts follow each
/// other, which an FTS5 table with `detail` other than `full` cannot do.
public struct FullTextPattern: Sendable, Hashable, CustomStringConvertible {
    /// What a row must have of the words.
    public enum Words: Sendable {
        /// All of them, in any order and any columns.
        case allWords
        /// At least one of them.
        case anyWord
        /// All of them, one after another in one column.
        case phrase
    }

    /// The module of the index: their languages differ.
    public enum Module: Sendable {
        case fts4
        case fts5
    }

    /// The query, in the module's language: for `MATCH` in SQL of one's own.
    public let text: String

    /// The query.
    public var description: String { text }

    /// Creates the query for what was typed.
    ///
    /// - Parameters:
    ///   - typed: any text.
    ///   - words: what a row must have of its words.
    ///   - prefixOfLast: whether the last word may be the beginning of one, for searches while typing.
    ///   - module: the module of the index. In an index of the other one, a pattern may find nothing.
    /// - Returns: nil if the text has no word, which would match no row, or be an error.
    public init?(_ typed: String, _ words: Words, prefixOfLast: Bool = false, module: Module = .fts5) {
        // Scalars: a blank or a quotation mark with a combining character is one to the engine.
        let separated = typed.unicodeScalars.split {
            $0.properties.isWhitespace || $0.properties.generalCategory == .control
        }
        var list = separated.map { Self.word($0, module) }
        // FTS4 finds nothing at all where one of the words has nothing that it indexes, as a dash.
        if module == .fts4 { list.removeAll { !$0.contains(where: Self.isIndexed) } }
        guard !list.isEmpty else { return nil }
        if prefixOfLast, module == .fts4 { list[list.count - 1] = Self.fts4Prefix(list[list.count - 1]) }
        if words == .phrase { list = [Array(list.joined(separator: [" "]))] }
        // A string of FTS5 is quoted as a name of SQL is.
        let strings = list.map { word in
            var text = ""
            text.unicodeScalars.append(contentsOf: word)
            return quoted(text)
        }
        text =
            strings.joined(separator: words == .anyWord ? " OR " : " ") + (prefixOfLast && module == .fts5 ? " *" : "")
    }

    /// A word inside of quotation marks.
    private static func word(_ scalars: Substring.UnicodeScalarView, _ module: Module) -> [Unicode.Scalar] {
        switch module {
        case .fts5: Array(scalars)
        // There it cannot be written inside of quotation marks, and the other two are operators also there.
        case .fts4: scalars.map { ["\"", "*", "^"].contains($0) ? " " : $0 }
        }
    }

    /// An asterisk makes a prefix of the token that it follows directly.
    private static func fts4Prefix(_ word: [Unicode.Scalar]) -> [Unicode.Scalar] {
        word[...(word.lastIndex(where: isIndexed) ?? word.count - 1)] + ["*"]
    }

    /// Whether tokenizers make words of a character.
    private static func isIndexed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber, .privateUse:
            true
        default: false
        }
    }
}

extension VirtualTable {
    /// Whether a full-text search finds what a person typed, in any column.
    public func match(_ pattern: FullTextPattern) -> SQLExpression<Bool> { match(pattern.text) }

    /// The rows in which a full-text search finds what a person typed.
    public func match(_ pattern: FullTextPattern) -> any QueryType {
        filter(match(pattern.text) as SQLExpression<Bool>)
    }
}
