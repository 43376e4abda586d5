internal import LiteVaultQuoting
internal import LiteVaultSystem

/// A literal in SQL text, as in a DEFAULT clause (https://sqlite.org/lang_expr.html#literal_values_constants_).
public enum LiteralValue: Equatable, CustomStringConvertible, Sendable {
    /// A number, or any other expression: the engine reports those of DEFAULT clauses without their parentheses.
    case numericLiteral(String)
    /// A string, without its quotes.
    case stringLiteral(String)
    /// Bytes, as hexadecimal digits.
    case blobLiteral(String)
    case NULL
    case TRUE
    case FALSE
    case CURRENT_TIME
    case CURRENT_DATE
    case CURRENT_TIMESTAMP

    private static let keywords: [String: LiteralValue] = [
        "NULL": .NULL, "TRUE": .TRUE, "FALSE": .FALSE, "CURRENT_TIME": .CURRENT_TIME, "CURRENT_DATE": .CURRENT_DATE,
        "CURRENT_TIMESTAMP": .CURRENT_TIMESTAMP,
    ]

    /// Reads a literal from SQL text. nil is NULL.
    public init(_ sql: String?) {
        guard let sql else {
            self = .NULL
            return
        }
        if let keyword = Self.keywords[foldedKeyword(sql)] {
            self = keyword
        } else if let text = Quoting.unquoted(sql, "'\"") {
            self = .stringLiteral(text)
        } else if ["x", "X"].contains(sql.first), let digits = Quoting.unquoted(String(sql.dropFirst()), "'") {
            self = .blobLiteral(digits)
        } else {
            self = .numericLiteral(sql)
        }
    }

    /// The SQL text.
    public var description: String {
        switch self {
        case .numericLiteral(let text): text
        case .stringLiteral(let text): Quoting.sqlText(text)
        case .blobLiteral(let digits): "X" + Quoting.sqlText(digits)
        case .NULL, .TRUE, .FALSE, .CURRENT_TIME, .CURRENT_DATE, .CURRENT_TIMESTAMP:
            Self.keywords.first { $0.value == self }?.key ?? ""
        }
    }

    /// The text for a DEFAULT clause, in which an expression needs parentheses.
    package var defaultClause: String {
        guard case .numericLiteral(let text) = self else { return description }
        var digits = text[...]
        if let sign = digits.first, sign == "-" || sign == "+" { digits = digits.dropFirst() }
        let isNumber = digits.allSatisfy { $0.isASCII && ($0.isHexDigit || "xX.eE+-_".contains($0)) }
        guard isNumber, let first = digits.first, first.isNumber || first == "." else { return "(\(text))" }
        return text
    }
}
