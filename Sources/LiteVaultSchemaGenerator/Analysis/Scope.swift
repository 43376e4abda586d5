internal import LiteVaultQuoting

/// What names mean at a place in a statement.
struct Scope {
    /// A table, view, subquery or common table that FROM names.
    struct Source {
        /// The name that qualifies its columns.
        let name: String
        var columns: [Catalog.Column]
        /// The rowid; nil if it has none.
        var rowid: Typing?
        /// The columns as they are in rows that an outer join has found.
        private var found: [Catalog.Column]?
        /// Columns that `*` leaves out, because USING made one of them and one of a source before.
        var merged: Set<SQLName> = []

        init(name: String, columns: [Catalog.Column], rowid: Typing?) {
            self.name = name
            self.columns = columns
            self.rowid = rowid
        }

        /// For a join that may have no row of this source.
        mutating func becomeNullable() {
            found = found ?? columns
            for index in columns.indices { columns[index].typing = columns[index].typing.orNull }
            rowid = rowid?.orNull
        }

        func index(of column: String) -> Int? {
            columns.firstIndex { isSameName($0.name, column) }
        }

        /// The typing of a column or of the rowid, as an INSERT or UPDATE names it.
        func typing(written column: String) -> Typing? { index(of: column).map { columns[$0].typing } ?? rowid }

        /// For a column that has a value. The row was found then, so all its columns are what the schema says.
        mutating func becomeNotNull(_ index: Int) {
            if let found {
                columns = found
                self.found = nil
                rowid?.canBeNull = false
            }
            columns[index].typing.canBeNull = false
        }
    }

    var sources: [Source] = []
    /// Columns that USING or NATURAL merged, by name.
    var merged: [SQLName: Typing] = [:]
    /// The results of the query by their aliases, which other clauses may use.
    var aliases: [SQLName: Typing] = [:]
    var windows: [SQLName: Window] = [:]
    var commonTables: [SQLName: CommonTable] = [:]
    /// Whether columns outside of aggregates are NULL for an empty table: in `SELECT count(*), name FROM note`.
    var hasOneRowForNone = false
    /// Whether there is at least one row for each row of the result, as GROUP BY has.
    var hasRows = false
    /// The query around a subquery: none or one.
    private let parents: [Scope]

    init(in parent: Scope? = nil) {
        parents = parent.map { [$0] } ?? []
        commonTables = parent?.commonTables ?? [:]
    }

    func column(_ reference: ColumnReference) -> Typing? {
        if var found = ownColumn(reference) {
            if hasOneRowForNone { found.canBeNull = true }
            return found
        }
        if reference.table == nil, let alias = aliases[SQLName(reference.name)] { return alias }
        return parents.first?.column(reference)
    }

    private func ownColumn(_ reference: ColumnReference) -> Typing? {
        if let place = place(of: reference) {
            if reference.table == nil, let merged = merged[SQLName(reference.name)] { return merged }
            return sources[place.source].columns[place.column].typing
        }
        guard SQLName.ofRowid.contains(SQLName(reference.name)) else { return nil }
        return sources.first { reference.table == nil ? $0.rowid != nil : isNamed($0, reference) }?.rowid
    }

    private func isNamed(_ source: Source, _ reference: ColumnReference) -> Bool {
        reference.table.map { isSameName(source.name, $0) } ?? false
    }

    /// Where a column of this scope is.
    func place(of reference: ColumnReference) -> (source: Int, column: Int)? {
        for (index, source) in sources.enumerated() {
            if reference.table != nil, !isNamed(source, reference) { continue }
            if let column = source.index(of: reference.name) { return (index, column) }
        }
        return nil
    }

    // MARK: What a condition says

    /// Notes which columns are not NULL in rows for which a condition is true.
    mutating func narrow(by condition: Expression) {
        switch condition.form {
        case .binary("AND", let left, let right):
            narrow(by: left)
            narrow(by: right)
        case .binary(let sign, let left, let right):
            guard Self.comparisons.contains(sign) else { return }
            requireValue(left, sign)
            requireValue(right, sign)
            if sign == "=", case .column(let reference) = left.form { noteMatch(reference, isOperator: false) }
        case .identity(let left, let right, let isNegated):
            if case .null = right.form {
                if isNegated { requireValue(left) }
            } else if !isNegated, Self.isLiteral(right) {
                requireValue(left)
            }
        case .not(let operand):
            switch operand.form {
            case .not(let operand): narrow(by: operand)
            case .binary("OR", let left, let right):
                narrow(by: Expression(form: .not(left), range: left.range))
                narrow(by: Expression(form: .not(right), range: right.range))
            case .binary(let sign, let left, let right) where Self.comparisons.contains(sign):
                requireValue(left)
                requireValue(right)
            case .identity(let left, let right, isNegated: false):
                if case .null = right.form { requireValue(left) }
            case .pattern(_, let left, let right, _):
                requireValue(left)
                requireValue(right)
            case .between(let operand, _, _): requireValue(operand)
            case .membership(let operand, .list(let members)) where !members.isEmpty && !Self.isParameter(members[0]):
                requireValue(operand)
            default: break
            }
        case .between(let operand, let low, let high):
            for operand in [operand, low, high] { requireValue(operand) }
        case .pattern(let name, let left, let right, _):
            requireValue(left)
            requireValue(right)
            if name == "MATCH", case .column(let reference) = left.form { noteMatch(reference, isOperator: true) }
        case .membership(let operand, _): requireValue(operand)
        case .column: requireValue(condition)
        default: break
        }
    }

    /// Notes which columns are not NULL in rows for which a condition is false or NULL: few, since NULL makes most conditions NULL.
    mutating func narrow(byUntrue condition: Expression) {
        switch condition.form {
        case .binary("OR", let left, let right):
            narrow(byUntrue: left)
            narrow(byUntrue: right)
        case .identity(let operand, let right, isNegated: false):
            if case .null = right.form { requireValue(operand) }
        default: break
        }
    }

    private static let comparisons = ["=", "<>", "<", "<=", ">", ">="]

    private static func isLiteral(_ expression: Expression) -> Bool {
        switch expression.form {
        case .integer, .real, .text, .blob, .boolean: true
        default: false
        }
    }

    /// An empty list holds for NULL as well.
    private static func isParameter(_ expression: Expression) -> Bool {
        if case .parameter = expression.form { true } else { false }
    }

    /// Notes the columns without whose values an expression, which is compared, is NULL.
    private mutating func requireValue(_ expression: Expression, _ comparison: String = "") {
        switch expression.form {
        case .collated(let operand), .sign(_, let operand), .cast(let operand, _): requireValue(operand)
        case .binary(let sign, let left, let right):
            guard ["+", "-", "*", "/", "%", "||", "&", "|", "<<", ">>"].contains(sign) else { return }
            requireValue(left)
            requireValue(right)
        case .call(let call):
            guard call.window == nil, !call.isAggregate, let rule = FunctionRule.rule(call.name),
                rule.nullability == .strict || FunctionRule.ofDates.contains(call.name)
            else { return }
            for argument in call.arguments { requireValue(argument) }
        case .row(let elements):
            // (a, b) < (c, d) can be true when b is NULL, but not when a is; (a, b) <> (c, d) when either is.
            switch comparison {
            case "=": for element in elements { requireValue(element) }
            case "<", "<=", ">", ">=": if let first = elements.first { requireValue(first) }
            default: if elements.count == 1 { requireValue(elements[0]) }
            }
        case .column(let reference):
            let name = SQLName(reference.name)
            if reference.table == nil, merged[name] != nil {
                // Of which source the value is remains open.
                merged[name]?.canBeNull = false
            } else if let place = place(of: reference) {
                sources[place.source].becomeNotNull(place.column)
            }
        default: break
        }
    }

    /// A full-text search has a rank for each row that it finds. `table = 'words'` is a search, `column = 'words'` is not.
    private mutating func noteMatch(_ reference: ColumnReference, isOperator: Bool) {
        guard let place = place(of: reference) else { return }
        let source = sources[place.source]
        guard isOperator || source.columns[place.column].isHidden else { return }
        if let rank = source.index(of: "rank"), source.columns[rank].isHidden {
            sources[place.source].becomeNotNull(rank)
        }
    }
}

/// A common table expression, whose columns are found out when it is first used.
final class CommonTable {
    let definition: CommonTableExpression
    /// Where it was defined.
    var scope: Scope?
    var columns: [Catalog.Column]?

    init(_ definition: CommonTableExpression) { self.definition = definition }
}
