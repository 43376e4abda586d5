extension QueryType {
    /// An INSERT of one row.
    public func insert(_ value: Setter, _ more: Setter...) -> Insert {
        // The array of the other values is used as it is: making one of all would cost more than binding them.
        Insert(
            root: .insert(
                InsertedRow(
                    table: clauses.from, onConflict: nil, leading: value, others: more, condition: clauses.condition)))
    }

    /// An INSERT of one row; without values, of the default values.
    public func insert(_ values: [Setter]) -> Insert { inserting(nil, values) }

    /// An INSERT of one row that says what happens when a constraint is violated.
    public func insert(or onConflict: OnConflict, _ values: Setter...) -> Insert { inserting(onConflict, values) }

    /// An INSERT of one row that says what happens when a constraint is violated.
    public func insert(or onConflict: OnConflict, _ values: [Setter]) -> Insert { inserting(onConflict, values) }

    /// An INSERT of several rows.
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
        guard !values.isEmpty else { return insert() }
        return Insert(
            root: .insert(
                InsertedRow(
                    table: clauses.from, onConflict: onConflict, leading: nil, others: values,
                    condition: clauses.condition)))
    }

    /// Rows may set their columns in different orders, and may leave some out: the columns are those that any of them
    /// sets, and where a row sets none it gets NULL.
    private func insertingMany(_ onConflict: OnConflict?, _ rows: [[Setter]]) -> Insert {
        guard let first = rows.first, !rows.allSatisfy(\.isEmpty) else { return insert() }
        var columns = first.map(\.column)
        var positions: [String: Int] = [:]
        for (index, setter) in first.enumerated() { positions[setter.columnText] = index }
        for setter in rows.dropFirst().joined() where positions[setter.columnText] == nil {
            positions[setter.columnText] = columns.count
            columns.append(setter.column)
        }
        let values = rows.map { setters -> SQLNode in
            var values = [SQLNode](repeating: .value(nil), count: columns.count)
            for setter in setters {
                if let position = positions[setter.columnText] { values[position] = setter.value }
            }
            return row(values)
        }
        return Insert(
            root: .words(
                insertHead(onConflict, columns), .text("VALUES"), .joined(values, separator: ", "), whereClause))
    }

    func insertHead(_ onConflict: OnConflict?, _ columns: [SQLNode]) -> SQLNode {
        .words(
            .text(onConflict.map { "INSERT OR \($0.rawValue) INTO" } ?? "INSERT INTO"), tableName, row(columns))
    }

    func row(_ nodes: [SQLNode]) -> SQLNode { .wrapped("", .joined(nodes, separator: ", ")) }
}

extension Setter {
    /// The column's name as text, to tell columns apart.
    var columnText: String {
        if case .identifier(let name) = column { return name }
        return SQLExpression<Void>(root: column).template
    }
}
