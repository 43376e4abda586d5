internal import LiteVaultCore

/// A CREATE TABLE statement, split into its columns and constraints, so that one column can change while everything
/// else stays as written.
struct CreateTableText {
    /// A column or a constraint of the table.
    struct Element {
        let range: Range<Int>
        /// The column's name; nil for a constraint.
        let column: String?
    }

    let tokens: [SQLTokens.Token]
    let elements: [Element]
    private let nameIndex: Int

    /// Returns nil if the statement is not of the form `CREATE TABLE name (…)`.
    init?(_ sql: String) {
        tokens = Array(SQLTokens(sql))
        guard let table = tokens.firstIndex(where: { $0.isKeyword("TABLE") }), let name = tokens.next(after: table),
            tokens[name].name != nil || tokens[name].isLiteral,
            let open = tokens.next(after: name), tokens[open].isSymbol("("), let close = tokens.closing(open)
        else { return nil }
        nameIndex = name
        elements = tokens.elements(open, close).map { [tokens] in Element(range: $0, column: Self.column(tokens[$0])) }
    }

    /// The statement for a table of another name.
    func named(_ name: String) -> String {
        var texts = tokens.map(\.text)
        texts[nameIndex] = quoted(name)
        return texts.joined()
    }

    /// Whether rowids of deleted rows are never reused.
    var isAutoincrement: Bool { tokens.contains { $0.isKeyword("AUTOINCREMENT") } }

    func adding(column sql: String) -> CreateTableText? {
        guard let last = elements.last(where: { $0.column != nil }) else { return nil }
        var texts = tokens.map(\.text)
        // Before blanks and comments: one may end the line.
        let end = tokens[last.range].lastIndex(where: \.isSignificant) ?? last.range.upperBound - 1
        texts[end] += ", " + sql
        return CreateTableText(texts.joined())
    }

    /// The statement without an element and its comma.
    func removing(_ index: Int) -> CreateTableText? {
        let range = elements[index].range
        let removed = index == 0 ? range.lowerBound..<(range.upperBound + 1) : (range.lowerBound - 1)..<range.upperBound
        let text = tokens.indices.filter { !removed.contains($0) }.map { tokens[$0].text }.joined()
        return CreateTableText(text)
    }

    func replacing(_ indices: [Int], with name: String) -> CreateTableText? {
        var texts = tokens.map(\.text)
        for index in indices { texts[index] = quoted(name) }
        return CreateTableText(texts.joined())
    }

    private static func column(_ element: ArraySlice<SQLTokens.Token>) -> String? {
        guard let first = element.first(where: \.isSignificant),
            !first.isKeyword(in: ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"])
        else { return nil }
        // Here the engine accepts 'name' in single quotes as a name.
        return first.name ?? Quoting.unquoted(first.text, "'") ?? first.text
    }
}

extension CreateTableText {
    func element(of column: String) -> Int? {
        elements.firstIndex { $0.column.map { isSameName($0, column) } ?? false }
    }

    /// The tokens of constraints that name a column of this table, without the column's declaration.
    ///
    /// - Parameter table: the table's name, for references to itself.
    func references(to column: String, of table: String) -> [Int] {
        elements.flatMap { references(to: column, of: table, in: $0) }
    }

    /// The tokens of foreign keys that name a column of another table.
    func foreignReferences(to column: String, of table: String) -> [Int] {
        elements.flatMap { element in
            groups(in: element.range).filter { $0.owner == .references(SQLName(table)) }
                .flatMap { $0.range.filter { tokens[$0].isName(column) } }
        }
    }

    /// The tokens of foreign keys that name a table.
    func references(toTable table: String) -> [Int] {
        tokens.indices.filter { index in
            guard tokens[index].isName(table), let word = tokens.previous(before: index) else { return false }
            return tokens[word].isKeyword("REFERENCES")
        }
    }

    private func references(to column: String, of table: String, in element: Element) -> [Int] {
        groups(in: element.range).flatMap { group -> [Int] in
            switch group.owner {
            case .references(let other) where other != SQLName(table): []
            // The size of a type, `VARCHAR(20)`, and default values hold no columns.
            case .value: []
            default: group.range.filter { tokens.isColumnReference($0, column) }
            }
        }
    }

    /// The conditions of CHECK constraints that consist of columns: without those that name the rowid by another name, and those
    /// with text in double quotes, which not every statement may have.
    func checks(ofColumns columns: [String], in table: String) -> [String] {
        let names = Set((columns + [table]).map { SQLName($0) })
        let checks = elements.flatMap { groups(in: $0.range) }.filter { group in
            group.isCheck
                && !tokens[group.range].contains { token in
                    guard let name = token.name.map({ SQLName($0) }), !names.contains(name) else { return false }
                    return SQLName.ofRowid.contains(name) || token.isLiteral
                }
        }
        // A comment to the end of the line would hide what follows.
        return checks.map { group in tokens[group.range].map { $0.kind == .comment ? " " : $0.text }.joined() }
    }

    /// The clause that parentheses belong to.
    private enum Owner: Equatable {
        case constraint
        case references(SQLName)
        case value
    }

    /// The parentheses of an element, with the clause before them.
    private func groups(in range: Range<Int>) -> [(owner: Owner, isCheck: Bool, range: Range<Int>)] {
        var groups: [(Owner, Bool, Range<Int>)] = []
        var index = range.lowerBound
        var words: [SQLTokens.Token] = []
        while index < range.upperBound {
            if tokens[index].isSymbol("("), let close = tokens.closing(index) {
                groups.append((owner(words), words.last?.isKeyword("CHECK") ?? false, (index + 1)..<close))
                index = close
            } else if tokens[index].isSignificant {
                words.append(tokens[index])
            }
            index += 1
        }
        return groups
    }

    private func owner(_ words: [SQLTokens.Token]) -> Owner {
        guard let last = words.last else { return .constraint }
        if words.count > 1, words[words.count - 2].isKeyword("REFERENCES") {
            return .references(SQLName(last.name ?? last.text))
        }
        return last.isKeyword(in: ["CHECK", "UNIQUE", "KEY", "AS"]) ? .constraint : .value
    }
}
