internal import LiteVaultQuoting

// Expressions, by precedence (https://sqlite.org/lang_expr.html#operators_and_parse_affecting_attributes): `binary` reads the
// operators of one level of a table. The other operators have functions, which `operand` puts between the levels.

extension Parser {
    mutating func expression() throws(SQLSyntaxError) -> Expression {
        try nested { parser throws(SQLSyntaxError) in try parser.binary(Self.disjunction) }
    }

    /// The operators of two operands, those that bind least first.
    private static let levels = [
        ["OR"], ["AND"], ["<", "<=", ">", ">="], ["&", "|", "<<", ">>"], ["+", "-"], ["*", "/", "%"],
        ["||", "->", "->>"],
    ]
    // Indices of levels: of OR, AND, `<` and `||`.
    private static let disjunction = 0
    private static let conjunction = 1
    private static let inequality = 2
    private static let concatenation = levels.count - 1

    private mutating func binary(_ level: Int) throws(SQLSyntaxError) -> Expression {
        var left = try operand(level)
        while current.kind == .word || current.kind == .sign, Self.levels[level].contains(current.text) {
            let sign = current.text
            if sign.hasPrefix("->") { need(.arrow(sign)) }
            advance()
            let right = try operand(level)
            left = Expression(
                form: .binary(sign, left, right), range: left.range.lowerBound..<right.range.upperBound)
        }
        return left
    }

    /// An operand of the operators of a level. `NOT`, and what `equality()` reads, bind more than AND and less than `<`.
    private mutating func operand(_ level: Int) throws(SQLSyntaxError) -> Expression {
        switch level {
        case Self.conjunction: try negation()
        case Self.concatenation: try collated()
        default: try binary(level + 1)
        }
    }

    private mutating func comparison() throws(SQLSyntaxError) -> Expression { try binary(Self.inequality) }

    private mutating func negation() throws(SQLSyntaxError) -> Expression {
        let start = current.range.lowerBound
        guard current.matches("NOT"), !token(after: 1).matches("EXISTS") else { return try equality() }
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
        if current.matches("=", "==", "<>", "!=") {
            let sign = current.text
            advance()
            return .binary(sign == "==" ? "=" : sign == "!=" ? "<>" : sign, left, try comparison())
        }
        if skip("IS") { return try identity(left) }
        if skip("ISNULL") { return .identity(left, null, isNegated: false) }
        if skip("NOTNULL") || skip("NOT", "NULL") { return .identity(left, null, isNegated: true) }
        guard current.matches("NOT") else { return try positive(left) }
        guard token(after: 1).matches("LIKE", "GLOB", "REGEXP", "MATCH", "BETWEEN", "IN") else { return nil }
        advance()
        guard let form = try positive(left) else { throw unexpected() }
        return .not(Expression(form: form, range: left.range.lowerBound..<lastEnd))
    }

    private var null: Expression { Expression(form: .null, range: lastEnd..<lastEnd) }

    private mutating func identity(_ left: Expression) throws(SQLSyntaxError) -> Expression.Form {
        var isNegated = skip("NOT")
        if current.matches("DISTINCT"), token(after: 1).matches("FROM") {
            need(.distinctFrom)
            advance(by: 2)
            isNegated.toggle()
        }
        return .identity(left, try comparison(), isNegated: isNegated)
    }

    private mutating func positive(_ left: Expression) throws(SQLSyntaxError) -> Expression.Form? {
        if current.matches("LIKE", "GLOB", "REGEXP", "MATCH") {
            let name = current.text
            advance()
            let pattern = try comparison()
            let escape = skip("ESCAPE") ? try comparison() : nil
            return .pattern(name, left, pattern, escape: escape)
        }
        if skip("BETWEEN") {
            let low = try comparison()
            try require("AND")
            return .between(left, low, try comparison())
        }
        return skip("IN") ? .membership(left, try members()) : nil
    }

    private mutating func members() throws(SQLSyntaxError) -> Expression.Members {
        guard current.matches("(") else { return .table(try tableReference(allowsAlias: false)) }
        if token(after: 1).beginsSelect {
            return .select(try parenthesized { parser throws(SQLSyntaxError) in try parser.select() })
        }
        advance()
        if current.kind == .parameter, token(after: 1).matches(")") {
            let parameter = current
            note(parameter: parameter, isList: true)
            advance(by: 2)
            return .list([Expression(form: .parameter(name: parameter.text), range: parameter.range)])
        }
        return .list(try expressionsToParenthesis())
    }

    mutating func expressions() throws(SQLSyntaxError) -> [Expression] {
        try list { parser throws(SQLSyntaxError) in try parser.expression() }
    }

    /// Expressions, or none, and the parenthesis that ends them.
    mutating func expressionsToParenthesis() throws(SQLSyntaxError) -> [Expression] {
        let expressions = current.matches(")") ? [] : try expressions()
        try require(")")
        return expressions
    }

    private mutating func collated() throws(SQLSyntaxError) -> Expression {
        var operand = try signed()
        while skip("COLLATE") {
            _ = try name()
            operand = Expression(form: .collated(operand), range: operand.range.lowerBound..<lastEnd)
        }
        return operand
    }

    private mutating func signed() throws(SQLSyntaxError) -> Expression {
        guard current.matches("-", "+", "~") else { return try primary() }
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
        case .integer: form = take(.integer(token.text))
        case .real: form = take(.real)
        case .text: form = take(.text(token.text))
        case .blob: form = take(.blob)
        case .parameter:
            note(parameter: token, isList: false)
            form = take(.parameter(name: token.text))
        case .sign where token.text == "(": form = try parentheses()
        case .word: form = try word()
        case .quotedName: form = try column()
        default: throw unexpected()
        }
        return Expression(form: form, range: token.range.lowerBound..<lastEnd)
    }

    /// What is one token.
    private mutating func take(_ form: Expression.Form) -> Expression.Form {
        advance()
        return form
    }

    private mutating func parentheses() throws(SQLSyntaxError) -> Expression.Form {
        if token(after: 1).beginsSelect {
            return .subquery(try parenthesized { parser throws(SQLSyntaxError) in try parser.select() })
        }
        let content = try parenthesized { parser throws(SQLSyntaxError) in try parser.expressions() }
        return content.count == 1 ? content[0].form : .row(content)
    }

    private mutating func word() throws(SQLSyntaxError) -> Expression.Form {
        switch current.text {
        case "NULL": return take(.null)
        case "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP": return take(.now)
        case "CAST" where token(after: 1).matches("("): return try cast()
        case "CASE": return try conditional()
        case "NOT", "EXISTS":
            let isNegated = skip("NOT")
            let start = current.range.lowerBound
            try require("EXISTS")
            let select = try parenthesized { parser throws(SQLSyntaxError) in try parser.select() }
            let form = Expression.Form.exists(select)
            return isNegated ? .not(Expression(form: form, range: start..<lastEnd)) : form
        case "RAISE" where token(after: 1).matches("("):
            advance()
            while !current.matches(")"), !current.isEnd { advance() }
            try require(")")
            return .raise
        case "TRUE" where !token(after: 1).matches("."), "FALSE" where !token(after: 1).matches("."):
            need(.truth(current.text))
            return take(.boolean)
        default: return token(after: 1).matches("(") ? try call() : try column()
        }
    }

    private mutating func cast() throws(SQLSyntaxError) -> Expression.Form {
        advance()
        try require("(")
        let operand = try expression()
        try require("AS")
        var type = ""
        while !current.matches(")"), !current.isEnd {
            type += (type.isEmpty ? "" : " ") + current.text
            if skip("(") {
                while !current.matches(")"), !current.isEnd { advance() }
            }
            advance()
        }
        try require(")")
        return .cast(operand, type: type)
    }

    private mutating func conditional() throws(SQLSyntaxError) -> Expression.Form {
        advance()
        let base = current.matches("WHEN") ? nil : try expression()
        var branches: [(condition: Expression, value: Expression)] = []
        while skip("WHEN") {
            let condition = try expression()
            try require("THEN")
            branches.append((condition, try expression()))
        }
        let otherwise = skip("ELSE") ? try expression() : nil
        try require("END")
        return .conditional(base: base, branches: branches, otherwise: otherwise)
    }

    private mutating func column() throws(SQLSyntaxError) -> Expression.Form {
        let mayBeText = current.kind == .quotedName
        var parts = [try name()]
        while current.matches("."), parts.count < 3 {
            advance()
            parts.append(try name())
        }
        return .column(
            ColumnReference(
                table: parts.dropLast().last, name: parts[parts.count - 1], mayBeText: mayBeText && parts.count == 1))
    }

    private mutating func call() throws(SQLSyntaxError) -> Expression.Form {
        let name = foldedName(current.text)
        need(function: name)
        advance()
        try require("(")
        if !skip("*") { _ = skip("DISTINCT") }
        let arguments = current.matches(")", "ORDER") ? [] : try expressions()
        if current.matches("ORDER") { need(.aggregateOrder) }
        let order = try order()
        try require(")")
        var filter: Expression?
        if current.matches("FILTER"), token(after: 1).matches("(") {
            need(.filter)
            try require("FILTER", "(", "WHERE")
            filter = try expression()
            try require(")")
        }
        return .call(
            FunctionCall(
                name: name, arguments: arguments, order: order, filter: filter, window: try over()))
    }

    private mutating func over() throws(SQLSyntaxError) -> Window? {
        let next = token(after: 1)
        guard current.matches("OVER"), next.matches("(") || next.kind == .word || next.kind == .quotedName else {
            return nil
        }
        need(.window)
        advance()
        guard current.matches("(") else { return Window(base: try name(), expressions: [], frame: nil) }
        return try window()
    }

    mutating func window() throws(SQLSyntaxError) -> Window {
        try parenthesized { parser throws(SQLSyntaxError) in
            var base: String?
            if !parser.current.matches(")", "PARTITION", "ORDER", "ROWS", "RANGE", "GROUPS") {
                parser.need(.extendedWindow)
                base = try parser.name()
            }
            var expressions: [Expression] = []
            if parser.skip("PARTITION") {
                try parser.require("BY")
                expressions = try parser.expressions()
            }
            expressions += try parser.order()
            return Window(base: base, expressions: expressions, frame: try parser.frame())
        }
    }

    private mutating func frame() throws(SQLSyntaxError) -> Window.Frame? {
        guard current.matches("ROWS", "RANGE", "GROUPS") else { return nil }
        if current.matches("GROUPS") { need(.groups) }
        advance()
        var offsets: [Expression] = []
        var includesCurrentRow: Bool
        if skip("BETWEEN") {
            let start = try bound(&offsets)
            try require("AND")
            let end = try bound(&offsets)
            includesCurrentRow = start != "FOLLOWING" && end != "PRECEDING"
        } else {
            includesCurrentRow = try bound(&offsets) != "FOLLOWING"
        }
        if skip("EXCLUDE") {
            need(.exclude)
            if skip("NO") {
                try require("OTHERS")
            } else {
                includesCurrentRow = false
                if skip("CURRENT") { try require("ROW") } else if !skip("GROUP") { try require("TIES") }
            }
        }
        return Window.Frame(includesCurrentRow: includesCurrentRow, offsets: offsets)
    }

    /// `PRECEDING`, `CURRENT` or `FOLLOWING`.
    private mutating func bound(_ offsets: inout [Expression]) throws(SQLSyntaxError) -> String {
        if skip("CURRENT") {
            try require("ROW")
            return "CURRENT"
        }
        if !skip("UNBOUNDED") { offsets.append(try expression()) }
        guard current.matches("PRECEDING", "FOLLOWING") else { throw unexpected() }
        defer { advance() }
        return current.text
    }
}
