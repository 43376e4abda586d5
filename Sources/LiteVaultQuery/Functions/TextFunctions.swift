// Text functions (https://sqlite.org/lang_corefunc.html, https://sqlite.org/lang_expr.html#like).

extension ExpressionType where UnderlyingType: SQLType, UnderlyingType.SQLBase == String {
    /// The number of characters before the first NUL: `length(x)`.
    public var length: SQLExpression<UnderlyingType.SQLCount> { SQLExpression(root: .call("length", [node])) }

    /// The text with A to Z in lower case: `lower(x)`.
    public var lowercaseString: SQLExpression<UnderlyingType> { SQLExpression(root: .call("lower", [node])) }

    /// The text with a to z in upper case: `upper(x)`.
    public var uppercaseString: SQLExpression<UnderlyingType> { SQLExpression(root: .call("upper", [node])) }

    /// Whether the text matches a pattern, in which `%` matches any characters and `_` a single one: `x LIKE y`.
    ///
    /// - Parameters:
    ///   - pattern: the pattern.
    ///   - character: makes a following `%` or `_` literal (`ESCAPE`).
    public func like(
        _ pattern: String, escape character: Character? = nil
    ) -> SQLExpression<UnderlyingType.SQLLogical> {
        SQLExpression(root: likeNode(node, .value(pattern), escape: character))
    }

    /// Whether the text matches a pattern given by an expression: `x LIKE y`.
    public func like(
        _ pattern: SQLExpression<String>, escape character: Character? = nil
    ) -> SQLExpression<UnderlyingType.SQLLogical> {
        SQLExpression(root: likeNode(node, pattern.root, escape: character))
    }

    /// Whether the text matches a shell pattern of `*`, `?` and `[…]`: `x GLOB y`.
    public func glob(_ pattern: String) -> SQLExpression<UnderlyingType.SQLLogical> {
        SQLExpression(root: .infix(node, "GLOB", .value(pattern)))
    }

    /// Whether a full-text search finds a pattern in the column: `x MATCH y`. For columns of full-text tables.
    public func match(_ pattern: String) -> SQLExpression<Bool> {
        SQLExpression(root: .infix(node, "MATCH", .value(pattern)))
    }

    /// Whether the text matches a regular expression: `x REGEXP y`. The application has to define the function `regexp`,
    /// which SQLite calls.
    public func regexp(_ pattern: String) -> SQLExpression<UnderlyingType.SQLLogical> {
        SQLExpression(root: .infix(node, "REGEXP", .value(pattern)))
    }

    /// The text, compared by a collation: `x COLLATE y`.
    public func collate(_ collation: Collation) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: .infix(node, "COLLATE", collation.node))
    }

    /// The text without leading characters of a set, by default spaces: `ltrim(x, y)`.
    public func ltrim(_ characters: Set<Character>? = nil) -> SQLExpression<UnderlyingType> {
        trimmed("ltrim", characters)
    }

    /// The text without trailing characters of a set, by default spaces: `rtrim(x, y)`.
    public func rtrim(_ characters: Set<Character>? = nil) -> SQLExpression<UnderlyingType> {
        trimmed("rtrim", characters)
    }

    /// The text without leading and trailing characters of a set, by default spaces: `trim(x, y)`.
    public func trim(_ characters: Set<Character>? = nil) -> SQLExpression<UnderlyingType> {
        trimmed("trim", characters)
    }

    /// The text with every occurrence of a pattern replaced: `replace(x, y, z)`.
    public func replace(_ pattern: String, with replacement: String) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: .call("replace", [node, .value(pattern), .value(replacement)]))
    }

    /// A part of the text: `substr(x, location, length)`.
    ///
    /// - Parameters:
    ///   - location: the position of the first character, from 1; a negative number counts from the end.
    ///   - length: the number of characters; nil for all remaining ones.
    public func substring(_ location: Int, length: Int? = nil) -> SQLExpression<UnderlyingType> {
        SQLExpression(root: .call("substr", [node, .value(location)] + (length.map { [.value($0)] } ?? [])))
    }

    /// A part of the text: `substr(x, range.lowerBound, range.count)`.
    public subscript(range: Range<Int>) -> SQLExpression<UnderlyingType> {
        substring(range.lowerBound, length: range.upperBound - range.lowerBound)
    }

    private func trimmed(_ function: String, _ characters: Set<Character>?) -> SQLExpression<UnderlyingType> {
        // Sorted, so that equal sets give equal SQL, which the statement cache depends on.
        let arguments = characters.map { [SQLNode.value(String($0.sorted()))] } ?? []
        return SQLExpression(root: .call(function, [node] + arguments))
    }
}

extension String {
    /// Whether the text matches the pattern given by an expression: `'text' LIKE x`.
    public func like(_ pattern: SQLExpression<String>, escape character: Character? = nil) -> SQLExpression<Bool> {
        SQLExpression(root: likeNode(.value(self), pattern.root, escape: character))
    }
}

/// A text, compared by a collation: `x COLLATE y`.
public func collate<T: SQLType>(_ collation: Collation, _ expression: SQLExpression<T>) -> SQLExpression<T>
where T.SQLBase == String {
    expression.collate(collation)
}

private func likeNode(_ text: SQLNode, _ pattern: SQLNode, escape character: Character?) -> SQLNode {
    guard let character else { return .infix(text, "LIKE", pattern) }
    return .wrapped("", .words(text, .text("LIKE"), pattern, .text("ESCAPE"), .value(String(character))))
}
