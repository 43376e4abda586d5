internal import LiteVault
internal import LiteVaultCore
internal import LiteVaultSystem

/// A statement, and where its text begins in what was typed or read.
package struct PlacedStatement {
    let sql: String
    /// The number of the line on which its first word is, from 1.
    var line = 1
    /// The line and the characters in it that are before the text.
    var textLine = 1, textColumn = 0

    private static let newline = UInt8(ascii: "\n")

    /// The line of the text with a place in it, and below it a caret with the numbers of line and column.
    ///
    /// - Parameter offset: the place, in bytes from the text's start.
    /// - Returns: these lines and the numbers; nil if the place is not in the text.
    func excerpt(at offset: Int) -> (lines: [String], place: Failure.Place)? {
        let bytes = Array(sql.utf8)
        guard bytes.indices.contains(offset) else { return nil }
        let start = bytes[..<offset].lastIndex(of: Self.newline).map { $0 + 1 } ?? 0
        let end = bytes[offset...].firstIndex(of: Self.newline) ?? bytes.count
        let before = String(decoding: bytes[start..<offset], as: UTF8.self)
        let after = Format.visible(String(decoding: bytes[offset..<end], as: UTF8.self).trimmedEnd)
        let number = textLine + bytes[..<offset].count { $0 == Self.newline }
        let column = before.count + 1 + (start == 0 ? textColumn : 0)
        // The part of a long line in which the place is.
        var shown = Format.visible(String(before.drop { $0.isWhitespace }))
        if DisplayWidth.columns(of: shown) > 48 {
            shown = String(shown.suffix(40))
            while DisplayWidth.columns(of: shown) > 40 { shown.removeFirst() }
            shown = "…" + shown
        }
        let room = max(8, 76 - DisplayWidth.columns(of: shown))
        let rest = after.count > room ? after.prefix(room - 1) + "…" : after
        let indent = String(repeating: " ", count: DisplayWidth.columns(of: shown))
        let lines = ["  " + shown + rest, "  " + indent + "^ line \(number), column \(column)"]
        return (lines, Failure.Place(line: number, column: column))
    }

    /// The failure for what the engine refuses: it is wrong with the SQL text, its values or a constraint, and not with the
    /// file. Nil for other errors.
    func refusal(_ error: DatabaseError, path: String? = nil, remedy: String) -> Failure? {
        guard [.error, .misuse, .range, .mismatch, .constraint, .tooBig].contains(error.resultCode.primary) else {
            return nil
        }
        if let missing = missing(error) { return failure(missing, path: path) }
        var failure = Failure(.usage, error.message, path: path, remedy: remedy)
        // A misspelled PRAGMA may have a key in it, which is not repeated.
        if let offset = error.context?.byteOffset, !MisplacedKey.isSuspected(in: sql, ran: false) {
            let found = excerpt(at: offset)
            (failure.excerpt, failure.place) = (found?.lines ?? [], found?.place)
        }
        return failure
    }
}

// MARK: What only the application has

extension PlacedStatement {
    /// A collation, function or module that the schema needs and this process does not have. The engine may not say its name.
    private typealias Missing = (kind: String, name: String?)

    /// What the application of the database defines; nil if the statement itself names it, which is a mistake in the statement.
    private func missing(_ error: DatabaseError) -> Missing? {
        let message = error.message
        // SQLite says no more than this of an order whose collation it does not know.
        if message == "no query solution" { return ("collation", nil) }
        let starts = [
            ("no such collation sequence: ", "collation"), ("no such function: ", "function"),
            ("unknown function: ", "function"), ("no such module: ", "module"),
        ]
        for (start, kind) in starts where message.starts(withText: start) {
            let rest = String(decoding: message.utf8.dropFirst(start.utf8.count), as: UTF8.self)
            let name = rest.ends(withText: "()") ? String(decoding: rest.utf8.dropLast(2), as: UTF8.self) : rest
            let isNamed = SQLTokens(sql).contains {
                ($0.kind == .word || $0.isLiteral) && isSameName($0.unquoted, name)
            }
            if isNamed { return nil }
            return (kind, name)
        }
        return nil
    }

    private func failure(_ missing: Missing, path: String?) -> Failure {
        let name = missing.name.map { " '\(Format.visible($0))'" } ?? ""
        let article = missing.kind == "module" ? "a virtual table of the module" : "the \(missing.kind)"
        let subject = missing.name == nil ? "a collation that" : "\(article)\(name), which"
        let remedy =
            switch missing.kind {
            case "collation" where missing.name == nil:
                "A table WITHOUT ROWID in its order cannot be read here; 'litevault backup' copies the file as it is."
            case "collation": "Write COLLATE BINARY behind the column to compare bytes."
            case "function": "Read the tables without the view, index or trigger that calls it."
            default: "Read other tables, or those in which it keeps its content: 'litevault info' lists them."
            }
        return Failure(
            .unsupported, "the statement needs \(subject) the engine lacks: the application of the database defines it",
            path: path, remedy: remedy)
    }
}

extension StringProtocol {
    var trimmedEnd: String {
        var text = String(self)
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
