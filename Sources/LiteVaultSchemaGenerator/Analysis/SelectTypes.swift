internal import LiteVaultQuoting

// The columns of a SELECT, and what FROM and WITH make visible.

extension Analyzer {
    /// The columns of a SELECT.
    ///
    /// - Parameters:
    ///   - scope: the scope of the SELECT itself, whose parent is that of the query around it.
    ///   - written: the columns that an INSERT or UPDATE writes the results to.
    func columns(
        of select: Select, in scope: Scope, written: [Typing?] = []
    ) throws(SQLSyntaxError) -> [ResultColumn] {
        var scope = scope
        define(select.with, in: &scope)
        var columns: [ResultColumn] = []
        var parts: [[ResultColumn]] = []
        for (index, core) in select.cores.enumerated() {
            let isOnly = select.cores.count == 1
            let next: [ResultColumn]
            switch core {
            case .values(let rows): next = try self.columns(ofValues: rows, in: scope, written: written)
            case .query(let query):
                next = try self.columns(of: query, in: scope, written: written, order: isOnly ? select.order : [])
            }
            columns = index == 0 ? next : Self.merge(columns, next)
            parts.append(next)
        }
        if parts.count > 1 { unify(select.cores, parts) }
        try bound([select.limit, select.offset].compactMap(\.self), in: scope)
        return columns
    }

    /// A parameter that is a column of one part of a compound has the type of that column in the others.
    private func unify(_ cores: [Select.Core], _ parts: [[ResultColumn]]) {
        func expressions(_ core: Select.Core) -> [[Expression]] {
            switch core {
            case .values(let rows): rows
            case .query(let query): [query.results.compactMap(\.expression)]
            }
        }
        for (index, core) in cores.enumerated() {
            for row in expressions(core) where row.count == parts[index].count {
                for (column, expression) in row.enumerated() {
                    guard case .parameter = expression.form else { continue }
                    let others = parts.indices.lazy.filter { $0 != index && column < parts[$0].count }
                    let known = others.compactMap { parts[$0][column].typing.type }.first
                    if let known { expect(expression, Typing(known, canBeNull: false)) }
                }
            }
        }
    }

    private static func merge(_ columns: [ResultColumn], _ others: [ResultColumn]) -> [ResultColumn] {
        zip(columns, others).map { column, other in
            ResultColumn(name: column.name, typing: column.typing.merged(with: other.typing), offset: column.offset)
        }
    }

    private func columns(
        ofValues rows: [[Expression]], in scope: Scope, written: [Typing?]
    ) throws(SQLSyntaxError) -> [ResultColumn] {
        var columns: [ResultColumn] = []
        for (number, row) in rows.enumerated() {
            var next: [ResultColumn] = []
            for (index, expression) in row.enumerated() {
                if index < written.count { expect(expression, written[index]) }
                next.append(
                    ResultColumn(
                        name: "column\(index + 1)", typing: try type(expression, in: scope),
                        offset: expression.range.lowerBound))
            }
            columns = number == 0 ? next : Self.merge(columns, next)
        }
        return columns
    }

    private func columns(
        of query: Select.Query, in outer: Scope, written: [Typing?], order: [Expression]
    ) throws(SQLSyntaxError) -> [ResultColumn] {
        var scope = outer
        if let from = query.from { try join(from, to: &scope) }
        let unnarrowed = scope
        if let condition = query.condition { scope.narrow(by: condition) }
        for (name, window) in query.windows { scope.windows[SQLName(name)] = window }
        let isAggregate = Self.isAggregate(query, order)
        scope.hasRows = !query.groups.isEmpty
        scope.hasOneRowForNone = isAggregate && query.groups.isEmpty
        for (result, typing) in zip(query.results, written) {
            if let expression = result.expression { expect(expression, typing) }
        }
        let columns = try results(query.results, in: scope)
        for case .expression(_, let alias?) in query.results {
            let typing = columns.first { $0.name.map { isSameText($0, alias) } ?? false }?.typing
            if let typing { scope.aliases[SQLName(alias)] = typing }
        }
        if let condition = query.condition {
            var filtered = unnarrowed
            filtered.aliases = scope.aliases
            try check(condition: condition, in: filtered)
        }
        for expression in query.groups + order { _ = try type(expression, in: scope) }
        if let having = query.having { try check(condition: having, in: scope) }
        for (_, window) in query.windows { try check(window: window, in: scope) }
        return columns
    }

    /// The columns between SELECT and FROM, or after RETURNING.
    func results(_ results: [Select.Result], in scope: Scope) throws(SQLSyntaxError) -> [ResultColumn] {
        var columns: [ResultColumn] = []
        for result in results {
            switch result {
            case .star:
                for source in scope.sources { columns += all(of: source, in: scope, withMerged: false) }
            case .tableStar(let table, let offset):
                guard let source = scope.sources.first(where: { isSameName($0.name, table) }) else {
                    throw SQLSyntaxError(offset, "no such table: \(table)")
                }
                columns += all(of: source, in: scope, withMerged: true)
            case .expression(let expression, let alias):
                var name = alias
                if name == nil, case .column(let reference) = expression.form { name = reference.name }
                columns.append(
                    ResultColumn(
                        name: name, typing: try type(expression, in: scope), offset: expression.range.lowerBound))
            }
        }
        return columns
    }

    private func all(of source: Scope.Source, in scope: Scope, withMerged: Bool) -> [ResultColumn] {
        source.columns.compactMap { column in
            let key = SQLName(column.name)
            guard !column.isHidden, withMerged || !source.merged.contains(key) else { return nil }
            var typing = withMerged ? column.typing : scope.merged[key] ?? column.typing
            if scope.hasOneRowForNone { typing.canBeNull = true }
            return ResultColumn(name: column.name, typing: typing, offset: 0)
        }
    }

    /// Whether a query makes one row of many.
    private static func isAggregate(_ query: Select.Query, _ order: [Expression]) -> Bool {
        (query.results.compactMap(\.expression) + order + (query.having.map { [$0] } ?? []))
            .contains(where: isAggregate)
    }

    private static func isAggregate(_ expression: Expression) -> Bool {
        if case .call(let call) = expression.form, call.isAggregate { return true }
        return expression.operands.contains(where: isAggregate)
    }

    /// Whether a SELECT has exactly one row, whatever the tables hold.
    static func hasOneRow(_ select: Select) -> Bool {
        guard select.cores.count == 1, select.limit == nil, select.offset == nil else { return false }
        switch select.cores[0] {
        case .values: return true
        case .query(let query):
            guard query.groups.isEmpty, query.having == nil else { return false }
            return isAggregate(query, select.order) || query.from == nil && query.condition == nil
        }
    }
}

// MARK: FROM

extension Analyzer {
    func join(_ from: Select.From, to scope: inout Scope) throws(SQLSyntaxError) {
        switch from {
        case .table(let reference):
            for argument in reference.arguments ?? [] {
                expect(argument, Typing(.text, canBeNull: false))
                _ = try type(argument, in: scope)
            }
            scope.sources.append(try source(reference, in: scope))
        case .subquery(let select, let alias):
            let columns = try columns(of: select, in: Scope(in: withoutSources(scope))).enumerated().map {
                Catalog.Column(name: $0.element.name ?? "column\($0.offset + 1)", typing: $0.element.typing)
            }
            scope.sources.append(Scope.Source(name: alias ?? "", columns: columns, rowid: nil))
        case .join(let left, let join, let right):
            try self.join(left, to: &scope)
            try self.join(join, right, to: &scope)
        }
    }

    /// A subquery of FROM sees what is around the query, but not what is beside it.
    private func withoutSources(_ scope: Scope) -> Scope {
        var outer = scope
        outer.sources = []
        outer.merged = [:]
        return outer
    }

    private func join(
        _ join: Select.Join, _ right: Select.From, to scope: inout Scope
    ) throws(SQLSyntaxError) {
        let left = 0..<scope.sources.count
        // What is in parentheses is joined by itself, before it is joined to the left side.
        try self.join(right, to: &scope)
        let added = left.upperBound..<scope.sources.count
        let merged = mergedColumns(join, left, added, scope)
        if join.kind == .inner, let condition = join.condition { scope.narrow(by: condition) }
        if let condition = join.condition { try check(condition: condition, in: scope) }
        if join.kind == .left || join.kind == .full {
            for index in added { scope.sources[index].becomeNullable() }
        }
        if join.kind == .right || join.kind == .full {
            for index in left { scope.sources[index].becomeNullable() }
        }
        for (name, typing) in merged {
            scope.merged[name] = typing
            for index in added { scope.sources[index].merged.insert(name) }
        }
    }

    /// The columns that USING or NATURAL makes of one on each side.
    private func mergedColumns(
        _ join: Select.Join, _ left: Range<Int>, _ added: Range<Int>, _ scope: Scope
    ) -> [(name: SQLName, typing: Typing)] {
        var names = join.using.map { SQLName($0) }
        if join.isNatural {
            let known = left.flatMap { scope.sources[$0].columns }.filter { !$0.isHidden }.map { SQLName($0.name) }
            names = added.flatMap { scope.sources[$0].columns }.filter { !$0.isHidden }.map { SQLName($0.name) }
                .filter(known.contains)
        }
        return names.compactMap { name in
            func typing(_ sources: Range<Int>) -> Typing? {
                sources.lazy.compactMap { index in
                    scope.sources[index].index(of: name.text).map { scope.sources[index].columns[$0].typing }
                }.first
            }
            guard let one = scope.merged[name] ?? typing(left), let other = typing(added) else { return nil }
            switch join.kind {
            case .inner:
                // Equal, so neither is NULL.
                return (name, Typing(one.content, canBeNull: false, origin: one.origin))
            case .left: return (name, one)
            case .right: return (name, Typing(other.content, canBeNull: other.canBeNull))
            case .full: return (name, one.merged(with: other))
            }
        }
    }

    /// The source that a name stands for: a common table, a table, or a view.
    func source(_ reference: TableReference, in scope: Scope) throws(SQLSyntaxError) -> Scope.Source {
        let name = reference.alias ?? reference.name
        if reference.schema == nil, reference.arguments == nil,
            let common = scope.commonTables[SQLName(reference.name)]
        {
            return Scope.Source(name: name, columns: try columns(of: common), rowid: nil)
        }
        guard let table = catalog.table(reference.name) else {
            throw SQLSyntaxError(reference.range.lowerBound, "no such table: \(reference.name)")
        }
        switch table.kind {
        case .table(let hasRowid, let alias):
            var rowid = Typing(.integer, canBeNull: false)
            if let alias { rowid.origin = .init(table: table.name, column: alias) }
            return Scope.Source(name: name, columns: table.columns, rowid: hasRowid ? rowid : nil)
        case .view(let sql):
            return Scope.Source(name: name, columns: try columns(ofView: table, sql: sql), rowid: nil)
        case .virtual:
            var source = Scope.Source(name: name, columns: table.columns, rowid: Typing(.integer, canBeNull: false))
            // The argument of a full-text table is what to search for.
            if let arguments = reference.arguments, !arguments.isEmpty, let rank = source.index(of: "rank") {
                source.becomeNotNull(rank)
            }
            return source
        }
    }
}

// MARK: WITH

extension Analyzer {
    func define(_ with: [CommonTableExpression], in scope: inout Scope) {
        let tables = with.map { CommonTable($0) }
        for table in tables { scope.commonTables[SQLName(table.definition.name)] = table }
        // Each may refer to all of them, itself included.
        for table in tables { table.scope = scope }
    }

    private func columns(of table: CommonTable) throws(SQLSyntaxError) -> [Catalog.Column] {
        if let columns = table.columns { return columns }
        let select = table.definition.select
        let scope = table.scope ?? Scope()
        guard select.cores.count > 1 else {
            table.columns = []
            table.columns = named(try columns(of: select, in: scope), table)
            return table.columns ?? []
        }
        // The first part does not refer to the table, the others may: their results can make more of its columns nullable.
        let first = Select(with: select.with, cores: [select.cores[0]], order: [], limit: nil, offset: nil)
        table.columns = []
        var columns = try self.columns(of: first, in: scope)
        for _ in 0..<4 {
            table.columns = named(columns, table)
            let next = try self.columns(of: select, in: scope)
            let isStable = zip(columns, next).allSatisfy {
                $0.typing.canBeNull == $1.typing.canBeNull && $0.typing.type == $1.typing.type
            }
            columns = next
            if isStable { break }
        }
        table.columns = named(columns, table)
        return table.columns ?? []
    }

    private func named(_ columns: [ResultColumn], _ table: CommonTable) -> [Catalog.Column] {
        columns.enumerated().map { index, column in
            let given = table.definition.columns
            let name = index < given.count ? given[index] : column.name ?? "column\(index + 1)"
            return Catalog.Column(name: name, typing: column.typing)
        }
    }
}
