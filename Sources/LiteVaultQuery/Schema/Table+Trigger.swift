public import LiteVaultCore

extension Table {
    /// When a trigger runs.
    public enum TriggerTiming: String, Sendable {
        /// Before the row is written.
        case before = "BEFORE"
        /// After the row was written.
        case after = "AFTER"
        /// In place of writing to a view.
        case insteadOf = "INSTEAD OF"
    }

    /// The event that fires a trigger.
    public enum TriggerEvent: Sendable {
        /// A row was inserted; it is `new`.
        case insert
        /// A row was updated; it was `old` and is `new`.
        case update
        /// One of these columns was updated.
        case updateOf([any Expressible])
        /// A row was deleted; it was `old`.
        case delete

        fileprivate var node: SQLNode {
            switch self {
            case .insert: .text("INSERT")
            case .update: .text("UPDATE")
            case .updateOf(let columns): .words(.text("UPDATE OF"), .joined(columns.map(\.node), separator: ", "))
            case .delete: .text("DELETE")
            }
        }
    }
}

extension SchemaType {
    /// `CREATE TRIGGER "name" AFTER INSERT ON "users" WHEN … BEGIN …; END` (https://sqlite.org/lang_createtrigger.html).
    ///
    /// ```swift
    /// let new = Table("new")
    /// try db.run(users.createTrigger("audit", .after, .insert, [log.insert(userID <- new[id])]))
    /// ```
    ///
    /// For what it does not support, such as RAISE, write SQL and run it with `Connection.run`.
    ///
    /// - Parameters:
    ///   - name: the trigger's name. It is created in the database of the table.
    ///   - timing: when it runs.
    ///   - event: the event that fires it.
    ///   - condition: the rows for which it fires. `Table("new")[column]` and `Table("old")[column]` are the row's
    ///     values.
    ///   - ifNotExists: if true, does nothing when a trigger of that name already exists.
    ///   - statements: inserts, updates, deletes and queries. Their values become part of the trigger.
    /// - Returns: the statement, for `Connection.run`. Its dates get the form of the connection that runs it.
    public func createTrigger(
        _ name: String, _ timing: Table.TriggerTiming, _ event: Table.TriggerEvent,
        when condition: SQLExpression<Bool>? = nil, ifNotExists: Bool = false, _ statements: [any Expressible]
    ) -> Update {
        Update(
            literal:
                .words(
                    createNode("TRIGGER", inSchema(name), ifNotExists: ifNotExists), .text(timing.rawValue), event.node,
                    .text("ON"), .identifier(clauses.from.name), .text("FOR EACH ROW"),
                    condition.map { .words(.text("WHEN"), $0.root) }, .text("BEGIN"),
                    .joined(statements.map { .joined([$0.node, .text(";")], separator: "") }, separator: " "),
                    .text("END")
                ))
    }

    /// The statement as text, whose dates have the form ``DateStorage/text``: run the statement itself on a connection that
    /// stores dates in another form.
    ///
    /// - Returns: the SQL text.
    @_disfavoredOverload
    public func createTrigger(
        _ name: String, _ timing: Table.TriggerTiming, _ event: Table.TriggerEvent,
        when condition: SQLExpression<Bool>? = nil, ifNotExists: Bool = false, _ statements: [any Expressible]
    ) -> String {
        let statement: Update = createTrigger(
            name, timing, event, when: condition, ifNotExists: ifNotExists, statements)
        return statement.sql(dates: .text)
    }

    /// `DROP TRIGGER "name"`, in the database of the table.
    ///
    /// - Parameters:
    ///   - name: the trigger's name.
    ///   - ifExists: if true, does nothing when the trigger does not exist.
    /// - Returns: the statement, for `Connection.run`.
    public func dropTrigger(_ name: String, ifExists: Bool = false) -> SQL {
        SQL(sql: dropTrigger(name, ifExists: ifExists))
    }

    /// The statement as text.
    ///
    /// - Returns: the SQL text.
    @_disfavoredOverload
    public func dropTrigger(_ name: String, ifExists: Bool = false) -> String {
        dropNode("TRIGGER", inSchema(name), ifExists: ifExists).sql(dates: .text)
    }
}
