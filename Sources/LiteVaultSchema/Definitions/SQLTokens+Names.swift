internal import Foundation
internal import LiteVaultCore

extension SQLTokens.Token {
    var isSignificant: Bool { kind != .space && kind != .comment }

    func isSymbol(_ symbol: String) -> Bool { kind == .other && text == symbol }

    func isKeyword(_ keyword: String) -> Bool { kind == .word && text.uppercased() == keyword }

    func isKeyword(in keywords: Set<String>) -> Bool { kind == .word && keywords.contains(text.uppercased()) }

    /// The name that it is, without quotes; nil for numbers, texts and everything else.
    var name: String? {
        if kind == .word { return text }
        guard kind == .literal, text.count >= 2, let quote = text.first else { return nil }
        let content = String(text.dropFirst().dropLast())
        switch quote {
        case "\"", "`": return content.replacingOccurrences(of: "\(quote)\(quote)", with: "\(quote)")
        case "[": return content
        default: return nil
        }
    }

    /// Names are compared without regard to the case of A to Z.
    func isName(_ other: String) -> Bool { name?.lowercased() == other.lowercased() }
}

extension [SQLTokens.Token] {
    /// The next token that is no blank or comment.
    func next(after index: Int) -> Int? { self[(index + 1)...].firstIndex(where: \.isSignificant) }

    /// The one before.
    func previous(before index: Int) -> Int? { self[..<index].lastIndex(where: \.isSignificant) }

    /// The parenthesis that closes one.
    func closing(_ open: Int) -> Int? {
        var depth = 0
        for index in open..<count {
            if self[index].isSymbol("(") { depth += 1 }
            if self[index].isSymbol(")") { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    /// Whether a token of an expression or a list of columns is the name of a column: not a function's, nor a
    /// collation's.
    func isColumnReference(_ index: Int, _ column: String) -> Bool {
        guard self[index].isName(column) else { return false }
        if let next = next(after: index), self[next].isSymbol("("), self[index].kind == .word { return false }
        if let previous = previous(before: index), self[previous].isKeyword("COLLATE") { return false }
        return true
    }
}

extension String {
    var trimmingBlanks: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
