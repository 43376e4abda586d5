internal import LiteVaultCore

/// How a row that violates a constraint is handled (https://sqlite.org/lang_conflict.html).
public enum OnConflict: String, Sendable {
    /// Deletes the conflicting rows.
    case replace = "REPLACE"
    /// Rolls the transaction back.
    case rollback = "ROLLBACK"
    /// Undoes the statement. The default.
    case abort = "ABORT"
    /// Stops the statement and keeps what it did so far.
    case fail = "FAIL"
    /// Skips the row.
    case ignore = "IGNORE"
}

extension QueryType {
    /// Returns an INSERT of one row: `users.insert(email <- "a@b.example", name <- nil)`.
    @inlinable
    public func insert(_ value: Setter, _ more: Setter...) -> Insert {
        let clauses = clauses
        return Insert(.row(InsertedRow(clauses.from, clauses.condition, first: value, others: more)))
    }

    /// Returns an INSERT of one row with a conflict clause: `INSERT OR IGNORE INTO …`.
    public func insert(or onConflict: OnConflict, _ values: Setter...) -> Insert { insert(or: onConflict, values) }

    /// Returns an INSERT of one row, optionally with a conflict clause. An empty array inserts the default values.
    public func insert(or onConflict: OnConflict? = nil, _ values: [Setter]) -> Insert {
        let clauses = clauses
        return InsertedRow(clauses.from, onConflict, clauses.condition, values).map { Insert(.row($0)) }
            ?? insertingDefaults(onConflict)
    }

    /// Returns an INSERT of several rows, which may set different columns, in any order, optionally with a conflict clause:
    /// `INSERT OR IGNORE INTO …`.
    ///
    /// A column that a row does not set becomes NULL in it, or gets its default value if it is NOT NULL. A VALUES list
    /// cannot name a default value: `run` then reads the table's columns and inserts by several statements, all or none.
    /// The rendered text (`asSQL()`) has NULL in these places.
    ///
    /// Rows that set nothing at all get the default values, by a statement for each of them; the rendered text has one.
    ///
    /// No rows at all insert one row of default values, as ``insert(or:_:)`` does with no values: look before.
    ///
    /// Rows with more values than the engine takes in one statement are inserted by several, all or none;
    /// `Connection.changes` is the number of rows of the last one then.
    public func insertMany(or onConflict: OnConflict? = nil, _ values: [[Setter]]) -> Insert {
        insertingMany(onConflict, values)
    }

    /// Returns an INSERT of several rows; see the form with an array.
    public func insertMany(or onConflict: OnConflict? = nil, _ values: [Setter]...) -> Insert {
        insertingMany(onConflict, values)
    }

    /// Returns an INSERT of one row with the default value in every column.
    public func insert() -> Insert { insertingDefaults(nil) }

    func insertingDefaults(_ onConflict: OnConflict?) -> Insert {
        Insert(root: .words(insertWords(onConflict), tableName, .text("DEFAULT VALUES")))
    }

    /// Returns an INSERT of the rows of a query: `INSERT INTO … SELECT …`.
    public func insert(_ query: any QueryType) -> Update {
        Update(root: .words(.text("INSERT INTO"), tableName, query.selectNode))
    }

    func insertHead(_ onConflict: OnConflict?, _ columns: [SQLNode]) -> SQLNode {
        .words(insertWords(onConflict), tableName, row(columns))
    }

    private func insertWords(_ onConflict: OnConflict?) -> SQLNode {
        .text(onConflict.map { "INSERT OR \($0.rawValue) INTO" } ?? "INSERT INTO")
    }

    func row(_ nodes: [SQLNode]) -> SQLNode { .wrapped("", .joined(nodes, separator: ", ")) }
}

extension QueryType {
    /// Returns an INSERT that updates the inserted columns of the existing row if there is one with the same value
    /// (`ON CONFLICT (…) DO UPDATE`). SQLite 3.24 and later.
    ///
    /// - Parameters:
    ///   - insertValues: the assignments.
    ///   - conflicting: the column or expression of the UNIQUE or PRIMARY KEY constraint.
    ///   - setValues: other assignments to the existing row; by default those of the inserted columns.
    public func upsert(
        _ insertValues: Setter..., onConflictOf conflicting: any Expressible, set setValues: [Setter]? = nil
    ) -> Insert {
        upsert(insertValues, onConflictOf: [conflicting], set: setValues)
    }

    /// Returns an INSERT that updates the existing row if there is one with the same value; see the form without an array.
    public func upsert(
        _ insertValues: [Setter], onConflictOf conflicting: any Expressible, set setValues: [Setter]? = nil
    ) -> Insert {
        upsert(insertValues, onConflictOf: [conflicting], set: setValues)
    }

    /// Returns an INSERT that updates the existing row if there is one with the same values.
    ///
    /// - Parameters:
    ///   - insertValues: the assignments of the INSERT.
    ///   - conflicting: the columns of the UNIQUE or PRIMARY KEY constraint.
    ///   - setValues: the assignments of the UPDATE. By default, every inserted column not in `conflicting`.
    ///   - condition: the rows to update. By default, all of them.
    public func upsert(
        _ insertValues: [Setter], onConflictOf conflicting: [any Expressible], set setValues: [Setter]? = nil,
        where condition: SQLExpression<Bool>? = nil
    ) -> Insert {
        let names = Set(conflicting.map { $0.asSQL() })
        let updates =
            setValues
            ?? insertValues.filter { setter in
                !names.contains(SQLExpression<Void>(root: setter.column).asSQL())
            }.map { Setter(excluded: $0.column) }
        let action: SQLNode =
            updates.isEmpty
            ? .text("DO NOTHING")
            : .words(
                .text("DO UPDATE SET"), .joined(updates.map(\.node), separator: ", "),
                condition.map { .words(.text("WHERE"), $0.root) })
        return Insert(
            root: .words(
                insertHead(nil, insertValues.map(\.column)), .text("VALUES"), row(insertValues.map(\.value)),
                whereClause,
                .text("ON CONFLICT"), row(conflicting.map(\.node)), action))
    }
}

extension QueryType {
    /// Returns an UPDATE of the rows of the query.
    public func update(_ values: Setter...) -> Update { update(values) }

    /// Returns an UPDATE of the rows of the query. ORDER BY and LIMIT need an engine built with `ENABLE_UPDATE_DELETE_LIMIT`.
    ///
    /// Of a join, these are the rows of its first table that are in it, and of a grouped query one row of each group. Both, and
    /// names that a WITH clause defines, need a rowid. Of a UNION, INTERSECT or EXCEPT, running the statement throws `VaultError`
    /// `unsupported`.
    public func update(_ values: [Setter]) -> Update {
        let head: [SQLNode?] = [
            .text("UPDATE"), tableName, .text("SET"), .joined(values.map(\.node), separator: ", "),
        ]
        return Update(root: .joined((head + rows).compactMap(\.self), separator: " "))
    }

    /// Returns a DELETE of the rows of the query. ORDER BY and LIMIT need an engine built with `ENABLE_UPDATE_DELETE_LIMIT`.
    ///
    /// Of a join, these are the rows of its first table that are in it, and of a grouped query one row of each group. Both, and
    /// names that a WITH clause defines, need a rowid. Of a UNION, INTERSECT or EXCEPT, running the statement throws `VaultError`
    /// `unsupported`.
    public func delete() -> Delete {
        let head: [SQLNode?] = [.text("DELETE FROM"), tableName]
        return Delete(root: .joined((head + rows).compactMap(\.self), separator: " "))
    }

    /// The clauses that choose the rows to write.
    private var rows: [SQLNode?] {
        let others = clauses.others
        guard others.compounds.isEmpty else {
            // A row of it need not be one of the table. Left out, the operands would not limit what is written.
            return [.text("WHERE"), .call(EngineRequirement.unwritableCompound, [])]
        }
        guard !others.joins.isEmpty || !others.grouping.isEmpty || !others.with.isEmpty else {
            return [whereClause, orderClause, limitClause]
        }
        // A column is hardly ever called so; one may be called rowid.
        let rowid = SQLNode.qualified(tableName, .identifier("_rowid_"))
        let chosen = selecting([rowid], isDistinct: false).selectNode
        return [.text("WHERE"), .infix(.identifier("_rowid_"), "IN", .wrapped("", chosen))]
    }
}
