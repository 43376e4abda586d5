internal import LiteVaultCore

/// The statement that made a trigger.
struct TriggerText {
    private let tokens: [SQLTokens.Token]

    init(_ sql: String) { tokens = Array(SQLTokens(sql)) }

    /// The statement with a column of its table renamed where this is certain: `NEW.column`, `OLD.column` and
    /// `UPDATE OF column`. Whether the rest is understood, the engine tells.
    func renaming(column: String, to newName: String) -> String {
        var texts = tokens.map(\.text)
        let list = updatedColumns
        for index in tokens.indices where tokens[index].isName(column) {
            if list.contains(index) || follows(index, ["NEW", "OLD"]) { texts[index] = quoted(newName) }
        }
        return texts.joined()
    }

    /// The columns after `UPDATE OF`, up to `ON`.
    private var updatedColumns: Range<Int> {
        guard let update = tokens.firstIndex(where: { $0.isKeyword("UPDATE") }), let of = tokens.next(after: update),
            tokens[of].isKeyword("OF"), let on = tokens[of...].firstIndex(where: { $0.isKeyword("ON") })
        else { return 0..<0 }
        return of..<on
    }

    private func follows(_ index: Int, _ qualifiers: Set<String>) -> Bool {
        guard let dot = tokens.previous(before: index), tokens[dot].isSymbol("."),
            let qualifier = tokens.previous(before: dot), let name = tokens[qualifier].name
        else { return false }
        return qualifiers.contains(name.uppercased())
    }
}
