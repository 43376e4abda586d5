// Functions of texts (https://sqlite.org/lang_corefunc.html, https://sqlite.org/lang_expr.html#like).

extension ExpressionType where UnderlyingType: SQLType, UnderlyingType.Base == String {
    /// The number of characters before the first NUL: `length(x)`.
    public var length: SQLExpression<UnderlyingType.Count> { SQLExpression(root: .call("length", [node])) }

    /// With the letters A to Z in lower case: `lower(x)`.
    public var lowercaseString: SQLExpression<UnderlyingType> { SQLExpression(root: .call("lower", [node])) }

    /// With the letters a to z in upper case: `upper(x)`.
    public var uppercaseString: SQLExpression<UnderlyingType> { SQLExpression(root: .call("upper", [node])) }

    /// Whether the text matches a pattern in which `%` stands for any characters and `_` for one: `x LIKE y`.
    ///
    /// - Parameter character: before `%` or `_` it makes them stand for themselves (`ESCAPE`).
    public func like(
        _ pattern: String, escape character: Character? = nil
    ) -> SQLExpression<UnderlyingType.Logical> {
        SQLExpression(root: likeNode(node, .value(pattern), escape: character))
    }

    /// Whether the text matches the pattern that an expression gives: `x LIKE y`.
    public func like(
        _ pattern: SQLExpression<String>, escape character: Character? = nil
    ) -> SQLExpression<UnderlyingType.Logical> {
        SQLExpression(root: likeNode(node, pattern.root, escape: character))
    }

    /// Whether the text matches a pattern of the shell's kind, with `*`, `?` and `[…]`: `x GLOB y`.
    public func glob(_ pattern: String) -> SQLExpression<UnderlyingType.Logical> {
        SQLExpression(root: .infix(node, "GLOB", .value(pattern)))
    }

    /// Whether a full-text search finds the words: `x MATCH y`. For columns of full-text tables.
    public func match(_ pattern: String) -> SQLExpression<Bool> {
        SQLExpression(root: .infix(node, "MATCH", .value(pattern)))
    }

    /// Whether the text matches a regular expression: `x REGEXP y`. SQLite calls a function `regexp` that the application
    /// defines.
    public func regexp(_ pattern: String) -> SQLExpression<UnderlyingType.Logical> {
        SQLExpression(root: .infix(node, "REGEXP", .value(pattern)))
    }

    /// The text, to be compared by a collation: `x COLLATE y`.
    public func collate(_ collation: Collation) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: .infix(node, "COLLATE", collation.node))
    }

    /// Without characters of a set at its start, blanks by default: `ltrim(x, y)`.
    public func ltrim(_ characters: Set<Character>? = nil) -> SQLExpression<UnderlyingType> {
        trimmed("ltrim", characters)
    }

    /// Without characters of a set at its end, blanks by default: `rtrim(x, y)`.
    public func rtrim(_ characters: Set<Character>? = nil) -> SQLExpression<UnderlyingType> {
        trimmed("rtrim", characters)
    }

    /// Without characters of a set at its start and end, blanks by default: `trim(x, y)`.
    public func trim(_ characters: Set<Character>? = nil) -> SQLExpression<UnderlyingType> {
        trimmed("trim", characters)
    }

    /// With every occurrence of a text replaced by another: `replace(x, y, z)`.
    public func replace(_ pattern: String, with replacement: String) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: .call("replace", [node, .value(pattern), .value(replacement)]))
    }

    /// A part of the text: `substr(x, location, length)`. SQLite counts characters from 1; from the end for locations
    /// below 0.
    public func substring(_ location: Int, length: Int? = nil) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: .call("substr", [node, .value(location)] + (length.map { [.value($0)] } ?? [])))
    }

    /// A part of the text: `substr(x, range.lowerBound, range.count)`.
    public subscript(range: Range<Int>) -> SQLExpression<UnderlyingType> {
        substring(range.lowerBound, length: range.upperBound - range.lowerBound)
    }

    private func trimmed(_ function: String, _ characters: Set<Character>?) -> SQLExpression<UnderlyingType> {
        // Sorted: the same set must give the same text, for the cache of statements and for tests.
        let arguments = characters.map { [SQLNode.value(String($0.sorted()))] } ?? []
        return SQLExpression(root: .call(function, [node] + arguments))
    }
}

extension String {
    /// Whether the text matches the pattern that an expression gives: `'text' LIKE x`.
    public func like(_ pattern: SQLExpression<String>, escape character: Character? = nil) -> SQLExpression<Bool> {
        SQLExpression(root: likeNode(.value(self), pattern.root, escape: character))
    }
}

/// A text to be compared by a collation: `x COLLATE y`.
public func collate<T: SQLType>(_ collation: Collation, _ expression: SQLExpression<T>) -> SQLExpression<T>
where T.Base == String {
    expression.collate(collation)
}

private func likeNode(_ text: SQLNode, _ pattern: SQLNode, escape character: Character?) -> SQLNode {
    guard let character else { return .infix(text, "LIKE", pattern) }
    return .wrapped("", .words(text, .text("LIKE"), pattern, .text("ESCAPE"), .value(String(character))))
}
