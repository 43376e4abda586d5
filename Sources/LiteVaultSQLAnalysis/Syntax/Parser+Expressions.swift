internal import LiteVaultQuoting

// Expressions, by precedence (https://sqlite.org/lang_expr.html#operators_and_parse_affecting_attributes): each function reads
// the operators of one level and calls the next for the operands.

extension Parser {
    mutating func expression() throws(SQLSyntaxError) -> Expression {
        try nested { parser throws(SQLSyntaxError) in
            try parser.binary(["OR"]) { parser throws(SQLSyntaxError) in
                try parser.binary(["AND"]) { parser throws(SQLSyntaxError) in try parser.negation() }
            }
        }
    }

    private mutating func binary(
        _ operators: [String], _ operand: (inout Parser) throws(SQLSyntaxError) -> Expression
    ) throws(SQLSyntaxError) -> Expression {
        var left = try operand(&self)
        while current.kind == .word || current.kind == .sign, operators.contains(current.text) {
            let sign = current.text
            if sign.hasPrefix("->") { need(.init(3, 38), "the operator \(sign)") }
            advance()
            let right = try operand(&self)
            left = Expression(
                form: .binary(sign, left, right), range: left.range.lowerBound..<right.range.upperBound)
        }
        return left
    }

    private mutating func negation() throws(SQLSyntaxError) -> Expression {
        let start = current.range.lowerBound
        guard isKeyword("NOT"), token(after: 1).text != "EXISTS" || token(after: 1).kind != .word else {
            return try equality()
        }
        advance()
        let operand = try nested { parser throws(SQLSyntaxError) in try parser.negation() }
        return Expression(form: .not(operand), range: start..<lastEnd)
    }

    /// `=`, `IS`, `IN`, `LIKE`, `BETWEEN` and their relatives.
    private mutating func equality() throws(SQLSyntaxError) -> Expression {
        var left = try comparison()
        while let form = try equalityForm(left) {
            left = Expression(form: form, range: left.range.lowerBound..<lastEnd)
        }
        return left
    }

    private mutating func equalityForm(_ left: Expression) throws(SQLSyntaxError) -> Expression.Form? {
        if current.kind == .sign, ["=", "==", "<>", "!="].contains(current.text) {
            let sign = current.text
            advance()
            return .binary(sign == "==" ? "=" : sign == "!=" ? "<>" : sign, left, try comparison())
        }
        guard current.kind == .word else { return nil }
        switch current.text {
        case "IS": return try identity(left)
        case "ISNULL", "NOTNULL":
            let isNegated = current.text == "NOTNULL"
            advance()
            return .identity(left, null, isNegated: isNegated)
        case "NOT":
            let next = token(after: 1)
            guard next.kind == .word else { return nil }
            if next.text == "NULL" {
                advance()
                advance()
                return .identity(left, null, isNegated: true)
            }
            guard ["LIKE", "GLOB", "REGEXP", "MATCH", "BETWEEN", "IN"].contains(next.text) else { return nil }
            let start = left.range.lowerBound
            advance()
            guard let form = try positive(left) else { throw unexpected() }
            return .not(Expression(form: form, range: start..<lastEnd))
        default: return try positive(left)
        }
    }

    private var null: Expression { Expression(form: .null, range: lastEnd..<lastEnd) }

    private mutating func identity(_ left: Expression) throws(SQLSyntaxError) -> Expression.Form {
        advance()
        var isNegated = skip(keyword: "NOT")
        if isKeyword("DISTINCT"), token(after: 1).text == "FROM" {
            need(.init(3, 39), "IS DISTINCT FROM")
            advance()
            advance()
            isNegated.toggle()
        }
        return .identity(left, try comparison(), isNegated: isNegated)
    }

    private mutating func positive(_ left: Expression) throws(SQLSyntaxError) -> Expression.Form? {
        switch current.text {
        case "LIKE", "GLOB", "REGEXP", "MATCH":
            let name = current.text
            advance()
            let pattern = try comparison()
            let escape = skip(keyword: "ESCAPE") ? try comparison() : nil
            return .pattern(name, left, pattern, escape: escape)
        case "BETWEEN":
            advance()
            let low = try comparison()
            try require(keyword: "AND")
            return .between(left, low, try comparison())
        case "IN":
            advance()
            return .membership(left, try members())
        default: return nil
        }
    }

    private mutating func members() throws(SQLSyntaxError) -> Expression.Members {
        guard isSign("(") else { return .table(try tableReference(allowsAlias: false)) }
        let next = token(after: 1)
        if next.kind == .word, ["SELECT", "VALUES", "WITH"].contains(next.text) {
            return .select(try parenthesized { parser throws(SQLSyntaxError) in try parser.select() })
        }
        advance()
        if skip(sign: ")") { return .list([]) }
        if current.kind == .parameter, token(after: 1).kind == .sign, token(after: 1).text == ")" {
            let parameter = current
            note(parameter: parameter, isList: true)
            advance()
            advance()
            return .list([Expression(form: .parameter(name: parameter.text), range: parameter.range)])
        }
        let members = try expressions()
        try require(sign: ")")
        return .list(members)
    }

    mutating func expressions() throws(SQLSyntaxError) -> [Expression] {
        try list { parser throws(SQLSyntaxError) in try parser.expression() }
    }

    private mutating func comparison() throws(SQLSyntaxError) -> Expression {
        try binary(["<", "<=", ">", ">="]) { parser throws(SQLSyntaxError) in
            try parser.binary(["&", "|", "<<", ">>"]) { parser throws(SQLSyntaxError) in
                try parser.binary(["+", "-"]) { parser throws(SQLSyntaxError) in
                    try parser.binary(["*", "/", "%"]) { parser throws(SQLSyntaxError) in
                        try parser.binary(["||", "->", "->>"]) { parser throws(SQLSyntaxError) in try parser.collated()
                        }
                    }
                }
            }
        }
    }

    private mutating func collated() throws(SQLSyntaxError) -> Expression {
        var operand = try signed()
        while skip(keyword: "COLLATE") {
            _ = try name()
            operand = Expression(form: .collated(operand), range: operand.range.lowerBound..<lastEnd)
        }
        return operand
    }

    private mutating func signed() throws(SQLSyntaxError) -> Expression {
        guard current.kind == .sign, ["-", "+", "~"].contains(current.text) else { return try primary() }
        let sign = current
        advance()
        let operand = try nested { parser throws(SQLSyntaxError) in try parser.signed() }
        return Expression(form: .sign(sign.text, operand), range: sign.range.lowerBound..<lastEnd)
    }
}

// MARK: What has no operators

extension Parser {
    private mutating func primary() throws(SQLSyntaxError) -> Expression {
        let token = current
        let form: Expression.Form
        switch token.kind {
        case .integer:
            advance()
            form = .integer(token.text)
        case .real:
            advance()
            form = .real
        case .text:
            advance()
            form = .text(token.text)
        case .blob:
            advance()
            form = .blob
        case .parameter:
            advance()
            note(parameter: token, isList: false)
            form = .parameter(name: token.text)
        case .sign where token.text == "(": form = try parentheses()
        case .word: form = try word()
        case .quotedName: form = try column()
        default: throw unexpected()
        }
        return Expression(form: form, range: token.range.lowerBound..<lastEnd)
    }

    private mutating func parentheses() throws(SQLSyntaxError) -> Expression.Form {
        advance()
        if current.kind == .word, ["SELECT", "VALUES", "WITH"].contains(current.text) {
            let select = try select()
            try require(sign: ")")
            return .subquery(select)
        }
        let content = try expressions()
        try require(sign: ")")
        return content.count == 1 ? content[0].form : .row(content)
    }

    private mutating func word() throws(SQLSyntaxError) -> Expression.Form {
        switch current.text {
        case "NULL":
            advance()
            return .null
        case "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP":
            advance()
            return .now
        case "CAST" where token(after: 1).text == "(": return try cast()
        case "CASE": return try conditional()
        case "NOT", "EXISTS":
            let isNegated = skip(keyword: "NOT")
            let start = current.range.lowerBound
            try require(keyword: "EXISTS")
            let select = try parenthesized { parser throws(SQLSyntaxError) in try parser.select() }
            let form = Expression.Form.exists(select)
            return isNegated ? .not(Expression(form: form, range: start..<lastEnd)) : form
        case "RAISE" where token(after: 1).text == "(":
            advance()
            while !isSign(")"), current.kind != .end { advance() }
            try require(sign: ")")
            return .raise
        case "TRUE" where token(after: 1).text != ".", "FALSE" where token(after: 1).text != ".":
            need(.init(3, 23), "\(current.text) as a value")
            advance()
            return .boolean
        default:
            if token(after: 1).kind == .sign, token(after: 1).text == "(" { return try call() }
            return try column()
        }
    }

    private mutating func cast() throws(SQLSyntaxError) -> Expression.Form {
        advance()
        try require(sign: "(")
        let operand = try expression()
        try require(keyword: "AS")
        var type = ""
        while !isSign(")"), current.kind != .end {
            type += (type.isEmpty ? "" : " ") + current.text
            if skip(sign: "(") {
                while !isSign(")"), current.kind != .end { advance() }
            }
            advance()
        }
        try require(sign: ")")
        return .cast(operand, type: type)
    }

    private mutating func conditional() throws(SQLSyntaxError) -> Expression.Form {
        advance()
        let base = isKeyword("WHEN") ? nil : try expression()
        var branches: [(condition: Expression, value: Expression)] = []
        while skip(keyword: "WHEN") {
            let condition = try expression()
            try require(keyword: "THEN")
            branches.append((condition, try expression()))
        }
        let otherwise = skip(keyword: "ELSE") ? try expression() : nil
        try require(keyword: "END")
        return .conditional(base: base, branches: branches, otherwise: otherwise)
    }

    private mutating func column() throws(SQLSyntaxError) -> Expression.Form {
        let mayBeText = current.kind == .quotedName
        var parts = [try name()]
        while isSign("."), parts.count < 3 {
            advance()
            parts.append(try name())
        }
        return .column(
            ColumnReference(
                schema: parts.count == 3 ? parts[0] : nil, table: parts.count > 1 ? parts[parts.count - 2] : nil,
                name: parts[parts.count - 1], mayBeText: mayBeText && parts.count == 1))
    }

    private mutating func call() throws(SQLSyntaxError) -> Expression.Form {
        let name = foldedName(current.text)
        if let need = EngineNeed.function(name, at: current.range.lowerBound) {
            self.need(need.version, need.feature, at: need.offset)
        }
        advance()
        try require(sign: "(")
        let isStar = skip(sign: "*")
        let isDistinct = skip(keyword: "DISTINCT")
        var arguments: [Expression] = []
        var order: [Expression] = []
        if !isSign(")") {
            arguments = isKeyword("ORDER") ? [] : try expressions()
            if isKeyword("ORDER") {
                need(.init(3, 44), "ORDER BY among an aggregate's arguments")
                order = try orderTerms()
            }
        }
        try require(sign: ")")
        var filter: Expression?
        if isKeyword("FILTER"), token(after: 1).text == "(" {
            need(.init(3, 30), "FILTER of an aggregate")
            advance()
            filter = try parenthesized { parser throws(SQLSyntaxError) in
                try parser.require(keyword: "WHERE")
                return try parser.expression()
            }
        }
        return .call(
            FunctionCall(
                name: name, arguments: arguments, isStar: isStar, isDistinct: isDistinct, order: order, filter: filter,
                window: try over()))
    }

    private mutating func over() throws(SQLSyntaxError) -> Window? {
        guard isKeyword("OVER"),
            token(after: 1).text == "(" || token(after: 1).kind == .word
                || token(after: 1).kind == .quotedName
        else { return nil }
        need(.init(3, 25), "a window function")
        advance()
        guard isSign("(") else { return Window(base: try name(), expressions: [], frame: nil) }
        return try window()
    }

    /// The definition of a window, in parentheses.
    mutating func window() throws(SQLSyntaxError) -> Window {
        try parenthesized { parser throws(SQLSyntaxError) in
            var base: String?
            let words = ["PARTITION", "ORDER", "ROWS", "RANGE", "GROUPS"]
            if !parser.isSign(")"), parser.current.kind == .quotedName || !words.contains(parser.current.text) {
                parser.need(.init(3, 28), "a window that extends another one")
                base = try parser.name()
            }
            var expressions: [Expression] = []
            if parser.skip(keyword: "PARTITION") {
                try parser.require(keyword: "BY")
                expressions = try parser.expressions()
            }
            if parser.isKeyword("ORDER") { expressions += try parser.orderTerms() }
            return Window(base: base, expressions: expressions, frame: try parser.frame())
        }
    }

    private mutating func frame() throws(SQLSyntaxError) -> Window.Frame? {
        guard current.kind == .word, ["ROWS", "RANGE", "GROUPS"].contains(current.text) else { return nil }
        if isKeyword("GROUPS") { need(.init(3, 28), "a frame of GROUPS") }
        advance()
        var offsets: [Expression] = []
        var includesCurrentRow: Bool
        if skip(keyword: "BETWEEN") {
            let start = try bound(&offsets)
            try require(keyword: "AND")
            let end = try bound(&offsets)
            includesCurrentRow = start != "FOLLOWING" && end != "PRECEDING"
        } else {
            includesCurrentRow = try bound(&offsets) != "FOLLOWING"
        }
        if skip(keyword: "EXCLUDE") {
            need(.init(3, 28), "EXCLUDE of a frame")
            includesCurrentRow = includesCurrentRow && isKeyword("NO")
            if skip(keyword: "NO") {
                try require(keyword: "OTHERS")
            } else if skip(keyword: "CURRENT") {
                try require(keyword: "ROW")
            } else {
                advance()
            }
        }
        return Window.Frame(includesCurrentRow: includesCurrentRow, offsets: offsets)
    }

    /// `PRECEDING`, `CURRENT` or `FOLLOWING`.
    private mutating func bound(_ offsets: inout [Expression]) throws(SQLSyntaxError) -> String {
        if skip(keyword: "CURRENT") {
            try require(keyword: "ROW")
            return "CURRENT"
        }
        if !skip(keyword: "UNBOUNDED") { offsets.append(try expression()) }
        guard isKeyword("PRECEDING") || isKeyword("FOLLOWING") else { throw unexpected() }
        defer { advance() }
        return current.text
    }
}
