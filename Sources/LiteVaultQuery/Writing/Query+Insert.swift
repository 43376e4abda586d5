extension QueryType {
    /// An INSERT of one row.
    @inlinable
    public func insert(_ value: Setter, _ more: Setter...) -> Insert {
        let clauses = clauses
        return Insert(.row(InsertedRow(clauses.from, clauses.condition, first: value, others: more)))
    }

    /// An INSERT of one row; without values, of the default values.
    public func insert(_ values: [Setter]) -> Insert { inserting(nil, values) }

    /// An INSERT of one row that says what happens when a constraint is violated.
    public func insert(or onConflict: OnConflict, _ values: Setter...) -> Insert { inserting(onConflict, values) }

    /// An INSERT of one row that says what happens when a constraint is violated.
    public func insert(or onConflict: OnConflict, _ values: [Setter]) -> Insert { inserting(onConflict, values) }

    /// An INSERT of several rows, which may set their columns in different orders.
    ///
    /// Where a row does not set a column that another one sets, it gets NULL, or the default value where the column is
    /// NOT NULL. SQL has no word for a default value there: `run` asks for the table's columns then and inserts by several
    /// statements, all or none, and the text, as of `asSQL()`, has NULL.
    public func insertMany(_ values: [[Setter]]) -> Insert { insertingMany(nil, values) }

    /// An INSERT of several rows.
    public func insertMany(_ values: [Setter]...) -> Insert { insertingMany(nil, values) }

    /// An INSERT of several rows that says what happens when a constraint is violated.
    public func insertMany(or onConflict: OnConflict, _ values: [[Setter]]) -> Insert {
        insertingMany(onConflict, values)
    }

    /// An INSERT of several rows that says what happens when a constraint is violated.
    public func insertMany(or onConflict: OnConflict, _ values: [Setter]...) -> Insert {
        insertingMany(onConflict, values)
    }

    /// An INSERT of one row with the default value in every column.
    public func insert() -> Insert {
        Insert(root: .words(.text("INSERT INTO"), tableName, .text("DEFAULT VALUES")))
    }

    /// An INSERT of the rows of a query.
    public func insert(_ query: any QueryType) -> Update {
        Update(root: .words(.text("INSERT INTO"), tableName, query.selectNode))
    }

    private func inserting(_ onConflict: OnConflict?, _ values: [Setter]) -> Insert {
        let clauses = clauses
        return InsertedRow(clauses.from, onConflict, clauses.condition, values).map { Insert(.row($0)) } ?? insert()
    }

    func insertHead(_ onConflict: OnConflict?, _ columns: [SQLNode]) -> SQLNode {
        .words(
            .text(onConflict.map { "INSERT OR \($0.rawValue) INTO" } ?? "INSERT INTO"), tableName, row(columns))
    }

    func row(_ nodes: [SQLNode]) -> SQLNode { .wrapped("", .joined(nodes, separator: ", ")) }
}

extension Setter {
    /// The column's name as text, to tell columns apart.
    var columnText: String { column.columnText }
}
