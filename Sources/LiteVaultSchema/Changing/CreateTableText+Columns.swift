internal import LiteVaultCore

extension CreateTableText {
    /// The element that declares a column.
    func element(of column: String) -> Int? {
        elements.firstIndex { $0.column?.lowercased() == column.lowercased() }
    }

    /// Where constraints mean a column of this table. Its declaration is not among them.
    ///
    /// - Parameter table: the table's name, for references to itself.
    func references(to column: String, of table: String) -> [Int] {
        elements.flatMap { references(to: column, of: table, in: $0) }
    }

    /// Where a foreign key means a column of another table.
    func foreignReferences(to column: String, of table: String) -> [Int] {
        elements.flatMap { element in
            groups(in: element.range).filter { $0.owner == .references(table.lowercased()) }
                .flatMap { $0.range.filter { tokens[$0].isName(column) } }
        }
    }

    /// Where foreign keys name a table.
    func references(toTable table: String) -> [Int] {
        tokens.indices.filter { index in
            guard tokens[index].isName(table), let word = tokens.previous(before: index) else { return false }
            return tokens[word].isKeyword("REFERENCES")
        }
    }

    private func references(to column: String, of table: String, in element: Element) -> [Int] {
        groups(in: element.range).flatMap { group -> [Int] in
            switch group.owner {
            case .references(let other) where other != table.lowercased(): []
            // The size of a type, `VARCHAR(20)`, and default values hold no columns.
            case .value: []
            default: group.range.filter { tokens.isColumnReference($0, column) }
            }
        }
    }

    private enum Owner: Equatable {
        case constraint
        case references(String)
        case value
    }

    /// The parentheses of an element, with what stands before them.
    private func groups(in range: Range<Int>) -> [(owner: Owner, range: Range<Int>)] {
        var groups: [(Owner, Range<Int>)] = []
        var index = range.lowerBound
        var words: [SQLTokens.Token] = []
        while index < range.upperBound {
            if tokens[index].isSymbol("("), let close = tokens.closing(index) {
                groups.append((owner(words), (index + 1)..<close))
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
            return .references((last.name ?? last.text).lowercased())
        }
        return last.isKeyword(in: ["CHECK", "UNIQUE", "KEY", "AS"]) ? .constraint : .value
    }
}
