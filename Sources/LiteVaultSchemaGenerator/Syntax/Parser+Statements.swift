internal import LiteVaultQuoting

// SELECT and what belongs to it, and the statements that write.

extension Parser {
    mutating func with() throws(SQLSyntaxError) -> [CommonTableExpression] {
        guard skip("WITH") else { return [] }
        if !token(after: 1).matches("AS") { _ = skip("RECURSIVE") }
        return try list { parser throws(SQLSyntaxError) in
            let name = try parser.name()
            parser.note(derived: name)
            let columns = try parser.names()
            try parser.require("AS")
            if parser.current.matches("NOT", "MATERIALIZED") {
                parser.need(.materialization)
                _ = parser.skip("NOT")
                try parser.require("MATERIALIZED")
            }
            let select = try parser.parenthesized { parser throws(SQLSyntaxError) in try parser.select() }
            return CommonTableExpression(name: name, columns: columns, select: select)
        }
    }

    mutating func select() throws(SQLSyntaxError) -> Select {
        try nested { parser throws(SQLSyntaxError) in try parser.select(try parser.with()) }
    }

    mutating func select(_ with: [CommonTableExpression]) throws(SQLSyntaxError) -> Select {
        var cores = [try core()]
        while current.matches("UNION", "INTERSECT", "EXCEPT") {
            advance()
            _ = skip("ALL")
            cores.append(try core())
        }
        let order = try order()
        let (limit, offset) = try limit()
        return Select(with: with, cores: cores, order: order, limit: limit, offset: offset)
    }

    private mutating func limit() throws(SQLSyntaxError) -> (limit: Expression?, offset: Expression?) {
        guard skip("LIMIT") else { return (nil, nil) }
        let first = try expression()
        if skip(",") { return (try expression(), first) }
        return (first, skip("OFFSET") ? try expression() : nil)
    }

    /// `ORDER BY` with its terms; none without it.
    mutating func order() throws(SQLSyntaxError) -> [Expression] {
        guard skip("ORDER") else { return [] }
        try require("BY")
        return try list { parser throws(SQLSyntaxError) in
            let term = try parser.term()
            if parser.current.matches("NULLS") {
                parser.need(.nulls(parser.token(after: 1).text))
                parser.advance(by: 2)
            }
            return term
        }
    }

    /// An expression, with a direction or not.
    private mutating func term() throws(SQLSyntaxError) -> Expression {
        let expression = try expression()
        if !skip("ASC") { _ = skip("DESC") }
        return expression
    }

    private mutating func core() throws(SQLSyntaxError) -> Select.Core {
        if skip("VALUES") {
            return .values(
                try list { parser throws(SQLSyntaxError) in
                    try parser.parenthesized { parser throws(SQLSyntaxError) in try parser.expressions() }
                })
        }
        try require("SELECT")
        if !skip("DISTINCT") { _ = skip("ALL") }
        let results = try results()
        let from = skip("FROM") ? try from() : nil
        let condition = skip("WHERE") ? try expression() : nil
        var groups: [Expression] = []
        if skip("GROUP") {
            try require("BY")
            groups = try expressions()
        }
        let having = skip("HAVING") ? try expression() : nil
        var windows: [(name: String, window: Window)] = []
        if skip("WINDOW") {
            windows = try list { parser throws(SQLSyntaxError) in
                let name = try parser.name()
                try parser.require("AS")
                return (name, try parser.window())
            }
        }
        return .query(
            Select.Query(
                results: results, from: from, condition: condition, groups: groups, having: having, windows: windows))
    }

    private mutating func results() throws(SQLSyntaxError) -> [Select.Result] {
        try list { parser throws(SQLSyntaxError) in
            if parser.skip("*") { return .star }
            let isName = parser.current.kind == .word || parser.current.kind == .quotedName
            if isName, parser.token(after: 1).matches("."), parser.token(after: 2).matches("*") {
                let start = parser.current.range.lowerBound
                let table = try parser.name()
                parser.advance(by: 2)
                return .tableStar(table, at: start)
            }
            let expression = try parser.expression()
            return .expression(expression, alias: try parser.alias())
        }
    }

    /// An alias with or without AS. Without, it cannot be a keyword that may follow.
    private mutating func alias() throws(SQLSyntaxError) -> String? {
        if skip("AS") { return try name() }
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
            if skip("ON") {
                condition = try expression()
            } else if skip("USING") {
                using = try names()
                if using.isEmpty { throw unexpected() }
            }
            left = .join(left, .init(kind: kind, isNatural: isNatural, using: using, condition: condition), right)
        }
        return left
    }

    private mutating func joinOperator() throws(SQLSyntaxError) -> (Select.Join.Kind, isNatural: Bool)? {
        if skip(",") { return (.inner, false) }
        let isNatural = skip("NATURAL")
        var kind = Select.Join.Kind.inner
        if current.kind == .word, let named = Self.joins[current.text] {
            if current.matches("RIGHT", "FULL") { need(.join(current.text)) }
            advance()
            if named != .inner { _ = skip("OUTER") }
            kind = named
        } else if !current.matches("JOIN") {
            if isNatural { throw unexpected() }
            return nil
        }
        try require("JOIN")
        return (kind, isNatural)
    }

    private static let joins: [String: Select.Join.Kind] = [
        "LEFT": .left, "RIGHT": .right, "FULL": .full, "INNER": .inner, "CROSS": .inner,
    ]

    private mutating func source() throws(SQLSyntaxError) -> Select.From {
        guard current.matches("(") else { return .table(try tableReference(allowsAlias: true, allowsArguments: true)) }
        if token(after: 1).beginsSelect {
            let select = try parenthesized { parser throws(SQLSyntaxError) in try parser.select() }
            let alias = try alias()
            note(derived: alias)
            return .subquery(select, alias: alias)
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
        if skip(".") {
            schema = name
            name = try self.name()
        }
        let end = lastEnd
        let arguments = allowsArguments && skip("(") ? try expressionsToParenthesis() : nil
        let alias = allowsAlias ? try alias() : nil
        // Engines from 3.36 on name a common table that is read by its alias.
        if arguments != nil || schema == nil && derived.contains(SQLName(name)) { note(derived: alias) }
        if skip("INDEXED") {
            try require("BY")
            _ = try self.name()
        } else {
            _ = skip("NOT", "INDEXED")
        }
        return TableReference(schema: schema, name: name, alias: alias, arguments: arguments, range: start..<end)
    }
}

// MARK: Statements that write

extension Parser {
    mutating func insert(_ with: [CommonTableExpression]) throws(SQLSyntaxError) -> Insert {
        if skip("INSERT"), skip("OR") { advance() } else { _ = skip("REPLACE") }
        try require("INTO")
        var table = try tableReference(allowsAlias: false)
        if skip("AS") { table.alias = try name() }
        let columns = try names()
        var source: Select?
        if skip("DEFAULT") { try require("VALUES") } else { source = try select() }
        var upserts: [Insert.Upsert] = []
        while current.matches("ON") { upserts.append(try upsert(isFurther: !upserts.isEmpty)) }
        return Insert(
            with: with, table: table, columns: columns, source: source, upserts: upserts, returning: try returning())
    }

    private mutating func upsert(isFurther: Bool) throws(SQLSyntaxError) -> Insert.Upsert {
        need(isFurther ? .upserts : .upsert)
        try require("ON", "CONFLICT")
        var target: [Expression] = []
        var targetCondition: Expression?
        if skip("(") {
            target = try list { parser throws(SQLSyntaxError) in try parser.term() }
            try require(")")
            if skip("WHERE") { targetCondition = try expression() }
        }
        try require("DO")
        if skip("NOTHING") {
            return .init(target: target, targetCondition: targetCondition, assignments: nil, condition: nil)
        }
        try require("UPDATE", "SET")
        let assignments = try assignments()
        let condition = skip("WHERE") ? try expression() : nil
        return .init(target: target, targetCondition: targetCondition, assignments: assignments, condition: condition)
    }

    /// UPDATE or DELETE.
    mutating func change(_ with: [CommonTableExpression]) throws(SQLSyntaxError) -> Change {
        let isUpdate = skip("UPDATE")
        if !isUpdate { try require("DELETE", "FROM") } else if skip("OR") { advance() }
        let table = try tableReference(allowsAlias: true)
        var assignments: [Assignment] = []
        var from: Select.From?
        if isUpdate {
            try require("SET")
            assignments = try self.assignments()
            if current.matches("FROM") {
                need(.updateFrom)
                advance()
                from = try self.from()
            }
        }
        let condition = skip("WHERE") ? try expression() : nil
        let returning = try returning()
        return Change(
            with: with, table: table, assignments: assignments, from: from, condition: condition, returning: returning,
            tail: try tail())
    }

    private mutating func assignments() throws(SQLSyntaxError) -> [Assignment] {
        try list { parser throws(SQLSyntaxError) in
            let names = try parser.names()
            let columns = names.isEmpty ? [try parser.name()] : names
            try parser.require("=")
            return Assignment(columns: columns, value: try parser.expression())
        }
    }

    private mutating func returning() throws(SQLSyntaxError) -> [Select.Result] {
        guard current.matches("RETURNING") else { return [] }
        need(.returning)
        advance()
        return try results()
    }

    /// ORDER BY and LIMIT of an UPDATE or DELETE, where the engine has them.
    private mutating func tail() throws(SQLSyntaxError) -> [Expression] {
        let order = try order()
        let (limit, offset) = try limit()
        return order + [limit, offset].compactMap(\.self)
    }
}
