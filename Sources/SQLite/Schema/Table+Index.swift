public import LiteVaultQuery

extension Table {
    /// `CREATE INDEX "index_users_on_email" ON "users" ("email")`
    ///
    /// - Parameters:
    ///   - columns: columns, also in an order (`email.desc`) or with a collation, and expressions such as
    ///     `email.lowercaseString`, which SQLite understands from 3.9 on.
    ///   - unique: if true, forbids two rows with equal values.
    ///   - ifNotExists: if true, does nothing when an index of that name already exists.
    ///   - name: the index's name; by default it consists of the table and the columns.
    ///   - condition: the condition of a partial index (https://sqlite.org/partialindex.html); by default the table's
    ///     filter: `users.filter(isActive).createIndex(email)`.
    /// - Returns: the SQL text, for `Connection.run`.
    public func createIndex(
        _ columns: [any Expressible], unique: Bool = false, ifNotExists: Bool = false, named name: String? = nil,
        where condition: SQLExpression<Bool>? = nil
    ) -> String {
        createIndex(columns, unique, ifNotExists, name, condition?.root)
    }

    /// `CREATE INDEX … WHERE …`, with a condition that may be NULL. Rows for which it is NULL are not in the index.
    public func createIndex(
        _ columns: [any Expressible], unique: Bool = false, ifNotExists: Bool = false, named name: String? = nil,
        where condition: SQLExpression<Bool?>
    ) -> String {
        createIndex(columns, unique, ifNotExists, name, condition.root)
    }

    /// `CREATE INDEX "index_users_on_email" ON "users" ("email")`; see the form with an array.
    public func createIndex(
        _ columns: any Expressible..., unique: Bool = false, ifNotExists: Bool = false, named name: String? = nil,
        where condition: SQLExpression<Bool>? = nil
    ) -> String {
        createIndex(columns, unique, ifNotExists, name, condition?.root)
    }

    /// `CREATE INDEX … WHERE …`, with a condition that may be NULL; see the form with an array.
    public func createIndex(
        _ columns: any Expressible..., unique: Bool = false, ifNotExists: Bool = false, named name: String? = nil,
        where condition: SQLExpression<Bool?>
    ) -> String {
        createIndex(columns, unique, ifNotExists, name, condition.root)
    }

    /// `DROP INDEX "index_users_on_email"`: the index that `createIndex` creates for these columns.
    ///
    /// - Parameters:
    ///   - columns: the columns of the index.
    ///   - ifExists: if true, does nothing when it does not exist.
    /// - Returns: the SQL text, for `Connection.run`.
    public func dropIndex(_ columns: [any Expressible], ifExists: Bool = false) -> String {
        dropNode("INDEX", inSchema(indexName(columns)), ifExists: ifExists).sql(dates: .textWithT)
    }

    /// `DROP INDEX "index_users_on_email"`; see the form with an array.
    public func dropIndex(_ columns: any Expressible..., ifExists: Bool = false) -> String {
        dropIndex(columns, ifExists: ifExists)
    }

    /// `DROP INDEX "name"`: an index by its name.
    public func dropIndex(named name: String, ifExists: Bool = false) -> String {
        dropNode("INDEX", inSchema(name), ifExists: ifExists).sql(dates: .textWithT)
    }

    private func createIndex(
        _ columns: [any Expressible], _ isUnique: Bool, _ ifNotExists: Bool, _ name: String?, _ condition: SQLNode?
    ) -> String {
        SQLNode.words(
            createNode(
                "INDEX", inSchema(name ?? indexName(columns)), modifier: isUnique ? "UNIQUE" : nil,
                ifNotExists: ifNotExists),
            // The index is in the database of its table: only its own name is qualified.
            .text("ON"), .identifier(clauses.from.name),
            .wrapped("", .joined(columns.map(\.node), separator: ", ")),
            (condition ?? clauses.condition).map { .words(.text("WHERE"), $0) }
        ).sql(dates: .textWithT)
    }

    /// `index_users_on_email`: lower case, without quotes, and everything but ASCII letters and digits as `_`.
    private func indexName(_ columns: [any Expressible]) -> String {
        let words = ["index", clauses.from.name, "on"] + columns.map { $0.expression.template }
        return words.joined(separator: " ").lowercased().reduce(into: "") { name, character in
            switch character {
            case "\"": break
            case let letter where letter.isASCII && (letter.isLetter || letter.isNumber): name.append(letter)
            default: name.append("_")
            }
        }
    }
}
