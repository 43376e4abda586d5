internal import LiteVaultQuoting

/// What tables, columns and relations are called in Swift, where directives say so:
///
///     -- litevault: name user_account Account
///     -- litevault: name note.written_at whenWritten
///     -- litevault: relation book.author_id writer writings
///
/// Everything else is called after its name in SQL, and two names can become the same.
struct GivenNames {
    /// By `table` and by `table.column`.
    private var names: [SQLName: (name: String, location: Location)] = [:]
    /// By `table.column`: in the table with the foreign key, and in the one that it refers to.
    private var relations: [SQLName: (own: String, reverse: String?, location: Location)] = [:]

    /// Reads the words of a directive.
    ///
    /// - Returns: false for another directive.
    /// - Throws: ``Diagnostics`` for what cannot be a name in Swift.
    mutating func read(_ words: [String], _ location: Location) throws -> Bool {
        if words.count == 3, words[0] == "name" {
            names[SQLName(words[1])] = (try Self.swift(words[2], location), location)
            return true
        }
        if words.count == 3 || words.count == 4, words[0] == "relation", words[1].contains(".") {
            let given = try words[2...].map { try Self.swift($0, location) }
            relations[SQLName(words[1])] = (given[0], given.count > 1 ? given[1] : nil, location)
            return true
        }
        return false
    }

    /// A name that is written into the source as it is.
    private static func swift(_ name: String, _ location: Location) throws -> String {
        let isName = name.unicodeScalars.enumerated().allSatisfy { index, scalar in
            scalar == "_" || (index == 0 ? scalar.properties.isXIDStart : scalar.properties.isXIDContinue)
        }
        guard isName, !name.isEmpty, name != "_" else {
            throw Diagnostics(location, "\(name) is not a name in Swift: write letters, digits and _")
        }
        guard !SwiftNames.isTaken(name) else {
            throw Diagnostics(location, "\(name) is a name that generated code uses: choose another one")
        }
        return SwiftNames.escaped(name)
    }

    func type(of table: String) -> String { names[SQLName(table)]?.name ?? SwiftNames.type(table) }

    func member(of column: String, in table: String) -> String {
        given(to: column, in: table) ?? SwiftNames.member(column)
    }

    /// The name that a directive gives to a column; nil without one.
    func given(to column: String, in table: String) -> String? { names[SQLName("\(table).\(column)")]?.name }

    /// What the relations of a foreign key are called; nil where no directive says it.
    func relation(of column: String, in table: String) -> (own: String, reverse: String?)? {
        relations[SQLName("\(table).\(column)")].map { ($0.own, $0.reverse) }
    }

    /// - Parameter columns: the first columns of the foreign keys that are relations, as `table.column`.
    /// - Throws: ``Diagnostics`` for directives about other columns.
    func requireRelations(of columns: Set<SQLName>) throws {
        try Diagnostics.throwIfAny(
            relations.filter { !columns.contains($0.key) }.map {
                Diagnostic(
                    location: $0.value.location,
                    message:
                        "\($0.key.text) has no relation to name: there is one for each foreign key between two records, "
                        + "with '-- litevault: relations'")
            })
    }

    /// - Throws: ``Diagnostics`` for a directive about what does not exist.
    func check(_ tables: [Relation]) throws {
        var known: Set<SQLName> = []
        for table in tables {
            known.insert(SQLName(table.name))
            known.formUnion(table.columns.map { SQLName("\(table.name).\($0.name)") })
        }
        try Diagnostics.throwIfAny(
            names.filter { !known.contains($0.key) }.map {
                Diagnostic(location: $0.value.location, message: "there is no table or column \($0.key.text) to name")
            })
    }
}
