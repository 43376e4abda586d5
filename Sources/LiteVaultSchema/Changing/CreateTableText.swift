internal import LiteVaultCore

/// The statement that made a table, taken apart so far that a column can be changed and everything else stays as it is
/// written.
struct CreateTableText {
    /// A column or a constraint of the table.
    struct Element {
        let range: Range<Int>
        /// The column's name; nil for a constraint.
        let column: String?
    }

    var tokens: [SQLTokens.Token]
    let elements: [Element]
    private let nameIndex: Int

    /// nil when the statement is not of the form `CREATE TABLE name (…)`.
    init?(_ sql: String) {
        tokens = Array(SQLTokens(sql))
        guard let table = tokens.firstIndex(where: { $0.isKeyword("TABLE") }), let name = tokens.next(after: table),
            tokens[name].name != nil || tokens[name].kind == .literal,
            let open = tokens.next(after: name), tokens[open].isSymbol("("), let close = tokens.closing(open)
        else { return nil }
        nameIndex = name
        elements = Self.elements(tokens, open + 1, close)
    }

    var sql: String { tokens.map(\.text).joined() }

    /// The statement for a table of another name.
    func named(_ name: String) -> String {
        var texts = tokens.map(\.text)
        texts[nameIndex] = quoted(name)
        return texts.joined()
    }

    /// Whether its numbers are never used again.
    var isAutoincrement: Bool { tokens.contains { $0.isKeyword("AUTOINCREMENT") } }

    /// The statement with one more column, after those that it has.
    func adding(column sql: String) -> CreateTableText? {
        guard let last = elements.last(where: { $0.column != nil }) else { return nil }
        var texts = tokens.map(\.text)
        // Before blanks and comments: one may end the line.
        let end = tokens[last.range].lastIndex(where: \.isSignificant) ?? last.range.upperBound - 1
        texts[end] += ", " + sql
        return CreateTableText(texts.joined())
    }

    /// The statement without an element, and without the comma before or after it.
    func removing(_ index: Int) -> CreateTableText? {
        let range = elements[index].range
        let removed = index == 0 ? range.lowerBound..<(range.upperBound + 1) : (range.lowerBound - 1)..<range.upperBound
        let text = tokens.indices.filter { !removed.contains($0) }.map { tokens[$0].text }.joined()
        return CreateTableText(text)
    }

    /// The statement with some of its tokens replaced by a name.
    func replacing(_ indices: [Int], with name: String) -> CreateTableText? {
        var texts = tokens.map(\.text)
        for index in indices { texts[index] = quoted(name) }
        return CreateTableText(texts.joined())
    }

    private static func elements(_ tokens: [SQLTokens.Token], _ start: Int, _ end: Int) -> [Element] {
        var elements: [Element] = []
        var depth = 0
        var from = start
        for index in start...end {
            if tokens[index].isSymbol("(") { depth += 1 }
            if tokens[index].isSymbol(")"), index < end { depth -= 1 }
            guard index == end || (depth == 0 && tokens[index].isSymbol(",")) else { continue }
            elements.append(Element(range: from..<index, column: column(tokens, from, index)))
            from = index + 1
        }
        return elements
    }

    private static func column(_ tokens: [SQLTokens.Token], _ start: Int, _ end: Int) -> String? {
        guard let first = tokens[start..<end].first(where: \.isSignificant),
            !first.isKeyword(in: ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"])
        else { return nil }
        // 'name' in single quotes is taken for a name here.
        return first.name ?? first.text.trimmingQuotes
    }
}

extension String {
    fileprivate var trimmingQuotes: String {
        count >= 2 && first == "'" && last == "'" ? String(dropFirst().dropLast()) : self
    }
}
