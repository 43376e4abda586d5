// SELECT and what belongs to it, and the statements that write.

extension Parser {
    mutating func with() throws(SQLSyntaxError) -> With? {
        guard skip(keyword: "WITH") else { return nil }
        let isRecursive = isKeyword("RECURSIVE") && token(after: 1).text != "AS" && skip(keyword: "RECURSIVE")
        let tables = try list { parser throws(SQLSyntaxError) in
            let name = try parser.name()
            let columns =
                parser.isSign("(")
                ? try parser.parenthesized { parser throws(SQLSyntaxError) in try parser.names() } : []
            try parser.require(keyword: "AS")
            if parser.isKeyword("NOT") || parser.isKeyword("MATERIALIZED") {
                parser.need(.init(3, 35), "a materialization hint")
                _ = parser.skip(keyword: "NOT")
                try parser.require(keyword: "MATERIALIZED")
            }
            let select = try parser.parenthesized { parser throws(SQLSyntaxError) in try parser.select() }
            return With.Table(name: name, columns: columns, select: select)
        }
        return With(isRecursive: isRecursive, tables: tables)
    }

    mutating func select() throws(SQLSyntaxError) -> Select {
        try nested { parser throws(SQLSyntaxError) in try parser.select(try parser.with()) }
    }

    mutating func select(_ with: With?) throws(SQLSyntaxError) -> Select {
        var cores = [try core()]
        while current.kind == .word, ["UNION", "INTERSECT", "EXCEPT"].contains(current.text) {
            advance()
            _ = skip(keyword: "ALL")
            cores.append(try core())
        }
        let order = isKeyword("ORDER") ? try orderTerms() : []
        let (limit, offset) = try limit()
        return Select(with: with, cores: cores, order: order, limit: limit, offset: offset)
    }

    private mutating func limit() throws(SQLSyntaxError) -> (limit: Expression?, offset: Expression?) {
        guard skip(keyword: "LIMIT") else { return (nil, nil) }
        let first = try expression()
        if skip(sign: ",") { return (try expression(), first) }
        return (first, skip(keyword: "OFFSET") ? try expression() : nil)
    }

    mutating func orderTerms() throws(SQLSyntaxError) -> [Expression] {
        try require(keyword: "ORDER")
        try require(keyword: "BY")
        return try list { parser throws(SQLSyntaxError) in
            let term = try parser.expression()
            if !parser.skip(keyword: "ASC") { _ = parser.skip(keyword: "DESC") }
            if parser.isKeyword("NULLS") {
                parser.need(.init(3, 30), "NULLS \(parser.token(after: 1).text)")
                parser.advance()
                parser.advance()
            }
            return term
        }
    }

    private mutating func core() throws(SQLSyntaxError) -> Select.Core {
        if skip(keyword: "VALUES") {
            return .values(
                try list { parser throws(SQLSyntaxError) in
                    try parser.parenthesized { parser throws(SQLSyntaxError) in try parser.expressions() }
                })
        }
        try require(keyword: "SELECT")
        if !skip(keyword: "DISTINCT") { _ = skip(keyword: "ALL") }
        let results = try results()
        let from = skip(keyword: "FROM") ? try from() : nil
        let condition = skip(keyword: "WHERE") ? try expression() : nil
        var groups: [Expression] = []
        if skip(keyword: "GROUP") {
            try require(keyword: "BY")
            groups = try expressions()
        }
        let having = skip(keyword: "HAVING") ? try expression() : nil
        var windows: [(name: String, window: Window)] = []
        if skip(keyword: "WINDOW") {
            windows = try list { parser throws(SQLSyntaxError) in
                let name = try parser.name()
                try parser.require(keyword: "AS")
                return (name, try parser.window())
            }
        }
        return .query(
            Select.Query(
                results: results, from: from, condition: condition, groups: groups, having: having, windows: windows))
    }

    private mutating func results() throws(SQLSyntaxError) -> [Select.Result] {
        try list { parser throws(SQLSyntaxError) in
            if parser.skip(sign: "*") { return .star }
            let next = parser.token(after: 1)
            let isName = parser.current.kind == .word || parser.current.kind == .quotedName
            if isName, next.kind == .sign, next.text == ".", parser.token(after: 2).text == "*" {
                let start = parser.current.range.lowerBound
                let table = try parser.name()
                parser.advance()
                parser.advance()
                return .tableStar(table, at: start)
            }
            let expression = try parser.expression()
            return .expression(expression, alias: try parser.alias())
        }
    }

    /// An alias with or without AS. Without, it cannot be a keyword that may follow.
    private mutating func alias() throws(SQLSyntaxError) -> String? {
        if skip(keyword: "AS") { return try name() }
        let isWord = current.kind == .word && !Self.notAliases.contains(current.text)
        return isWord || current.kind == .quotedName || current.kind == .text ? try name() : nil
    }

    private static let notAliases: Set = [
        "FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "JOIN", "LEFT",
        "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "OUTER", "ON", "USING", "INDEXED", "NOT", "SET", "RETURNING",
        "AS",
        "VALUES", "SELECT", "DO", "DEFAULT", "OFFSET",
    ]
}

// MARK: FROM

extension Parser {
    private mutating func from() throws(SQLSyntaxError) -> Select.From {
        var left = try source()
        while let (kind, isNatural) = try joinOperator() {
            let right = try source()
            var condition: Expression?
            var using: [String] = []
            if skip(keyword: "ON") {
                condition = try expression()
            } else if skip(keyword: "USING") {
                using = try parenthesized { parser throws(SQLSyntaxError) in try parser.names() }
            }
            left = .join(left, .init(kind: kind, isNatural: isNatural, using: using, condition: condition), right)
        }
        return left
    }

    private mutating func joinOperator() throws(SQLSyntaxError) -> (Select.Join.Kind, isNatural: Bool)? {
        if skip(sign: ",") { return (.inner, false) }
        let isNatural = skip(keyword: "NATURAL")
        var kind = Select.Join.Kind.inner
        switch current.kind == .word ? current.text : "" {
        case "LEFT":
            advance()
            kind = .left
            _ = skip(keyword: "OUTER")
        case "RIGHT", "FULL":
            need(.init(3, 39), "a \(current.text) JOIN")
            kind = current.text == "RIGHT" ? .right : .full
            advance()
            _ = skip(keyword: "OUTER")
        case "INNER", "CROSS": advance()
        case "JOIN": break
        default:
            if isNatural { throw unexpected() }
            return nil
        }
        try require(keyword: "JOIN")
        return (kind, isNatural)
    }

    private mutating func source() throws(SQLSyntaxError) -> Select.From {
        guard isSign("(") else { return .table(try tableReference(allowsAlias: true, allowsArguments: true)) }
        let next = token(after: 1)
        if next.kind == .word, ["SELECT", "VALUES", "WITH"].contains(next.text) {
            let select = try parenthesized { parser throws(SQLSyntaxError) in try parser.select() }
            return .subquery(select, alias: try alias())
        }
        return try nested { parser throws(SQLSyntaxError) in
            try parser.parenthesized { parser throws(SQLSyntaxError) in try parser.from() }
        }
    }

    mutating func tableReference(
        allowsAlias: Bool, allowsArguments: Bool = false
    ) throws(SQLSyntaxError) -> TableReference {
        let start = current.range.lowerBound
        var name = try name()
        var schema: String?
        if skip(sign: ".") {
            schema = name
            name = try self.name()
        }
        let end = lastEnd
        var arguments: [Expression]?
        if allowsArguments, isSign("(") {
            arguments = try parenthesized { parser throws(SQLSyntaxError) in
                parser.isSign(")") ? [] : try parser.expressions()
            }
        }
        let alias = allowsAlias ? try alias() : nil
        if skip(keyword: "INDEXED") {
            try require(keyword: "BY")
            _ = try self.name()
        } else if isKeyword("NOT"), token(after: 1).text == "INDEXED" {
            advance()
            advance()
        }
        return TableReference(schema: schema, name: name, alias: alias, arguments: arguments, range: start..<end)
    }
}

// MARK: Statements that write

extension Parser {
    mutating func insert(_ with: With?) throws(SQLSyntaxError) -> Insert {
        if skip(keyword: "INSERT"), skip(keyword: "OR") { advance() } else { _ = skip(keyword: "REPLACE") }
        try require(keyword: "INTO")
        var table = try tableReference(allowsAlias: false)
        if skip(keyword: "AS") {
            table = TableReference(
                schema: table.schema, name: table.name, alias: try name(), arguments: nil, range: table.range)
        }
        let columns = isSign("(") ? try parenthesized { parser throws(SQLSyntaxError) in try parser.names() } : []
        var source: Select?
        if skip(keyword: "DEFAULT") { try require(keyword: "VALUES") } else { source = try select() }
        var upserts: [Insert.Upsert] = []
        while isKeyword("ON") { upserts.append(try upsert(isFurther: !upserts.isEmpty)) }
        return Insert(
            with: with, table: table, columns: columns, source: source, upserts: upserts, returning: try returning())
    }

    private mutating func upsert(isFurther: Bool) throws(SQLSyntaxError) -> Insert.Upsert {
        need(
            isFurther ? .init(3, 35) : .init(3, 24),
            isFurther ? "several ON CONFLICT clauses" : "an upsert (ON CONFLICT … DO)")
        advance()
        try require(keyword: "CONFLICT")
        var target: [Expression] = []
        var targetCondition: Expression?
        if isSign("(") {
            target = try parenthesized { parser throws(SQLSyntaxError) in
                try parser.list { parser throws(SQLSyntaxError) in
                    let term = try parser.expression()
                    if !parser.skip(keyword: "ASC") { _ = parser.skip(keyword: "DESC") }
                    return term
                }
            }
            if skip(keyword: "WHERE") { targetCondition = try expression() }
        }
        try require(keyword: "DO")
        if skip(keyword: "NOTHING") {
            return .init(target: target, targetCondition: targetCondition, assignments: nil, condition: nil)
        }
        try require(keyword: "UPDATE")
        try require(keyword: "SET")
        let assignments = try assignments()
        let condition = skip(keyword: "WHERE") ? try expression() : nil
        return .init(target: target, targetCondition: targetCondition, assignments: assignments, condition: condition)
    }

    mutating func update(_ with: With?) throws(SQLSyntaxError) -> Update {
        advance()
        if skip(keyword: "OR") { advance() }
        let table = try tableReference(allowsAlias: true)
        try require(keyword: "SET")
        let assignments = try assignments()
        var from: Select.From?
        if isKeyword("FROM") {
            need(.init(3, 33), "UPDATE … FROM")
            advance()
            from = try self.from()
        }
        let condition = skip(keyword: "WHERE") ? try expression() : nil
        let returning = try returning()
        return Update(
            with: with, table: table, assignments: assignments, from: from, condition: condition, returning: returning,
            tail: try tail())
    }

    mutating func delete(_ with: With?) throws(SQLSyntaxError) -> Delete {
        advance()
        try require(keyword: "FROM")
        let table = try tableReference(allowsAlias: true)
        let condition = skip(keyword: "WHERE") ? try expression() : nil
        let returning = try returning()
        return Delete(with: with, table: table, condition: condition, returning: returning, tail: try tail())
    }

    private mutating func assignments() throws(SQLSyntaxError) -> [Assignment] {
        try list { parser throws(SQLSyntaxError) in
            let columns =
                parser.isSign("(")
                ? try parser.parenthesized { parser throws(SQLSyntaxError) in try parser.names() } : [try parser.name()]
            try parser.require(sign: "=")
            return Assignment(columns: columns, value: try parser.expression())
        }
    }

    private mutating func returning() throws(SQLSyntaxError) -> [Select.Result] {
        guard isKeyword("RETURNING") else { return [] }
        need(.init(3, 35), "RETURNING")
        advance()
        return try results()
    }

    /// ORDER BY and LIMIT of an UPDATE or DELETE, where the engine has them.
    private mutating func tail() throws(SQLSyntaxError) -> [Expression] {
        let order = isKeyword("ORDER") ? try orderTerms() : []
        let (limit, offset) = try limit()
        return order + [limit, offset].compactMap(\.self)
    }
}
