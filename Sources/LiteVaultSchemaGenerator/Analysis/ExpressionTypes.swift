// The type of each kind of expression, and whether it can be NULL.

extension Analyzer {
    func type(_ expression: Expression, in scope: Scope) throws(SQLSyntaxError) -> Typing {
        switch expression.form {
        case .null, .raise: return Typing(.nothing, canBeNull: true)
        case .integer(let digits):
            var typing = Typing(.integer, canBeNull: false)
            typing.isFlag = digits == "0" || digits == "1"
            return typing
        case .real: return Typing(.real, canBeNull: false)
        case .text, .now: return Typing(.text, canBeNull: false)
        case .blob: return Typing(.blob, canBeNull: false)
        case .boolean: return Typing(.boolean, canBeNull: false)
        case .parameter(let name): return typing(ofParameter: name)
        case .column(let reference):
            if let typing = scope.column(reference) { return typing }
            if reference.mayBeText { return Typing(.text, canBeNull: false) }
            throw SQLSyntaxError(expression.range.lowerBound, "no such column: \(reference.name)")
        case .collated(let operand): return try type(operand, in: scope)
        case .sign(let sign, let operand): return try type(sign, operand, in: scope)
        case .not(let operand):
            expect(operand, Typing(.boolean, canBeNull: false))
            return Typing(.boolean, of: [try type(operand, in: scope)])
        case .binary(let sign, let left, let right): return try type(left, sign, right, in: scope)
        case .identity(let left, let right, _):
            if case .null = right.form, case .parameter(let name) = left.form {
                note(parameter: name, nil, isOptional: true)
                parameters[name]?.isFilter = true
            } else {
                _ = try types(of: [left, right], in: scope, areOptional: true)
            }
            return Typing(.boolean, canBeNull: false)
        case .between(let operand, let low, let high):
            return Typing(.boolean, of: try types(of: [operand, low, high], in: scope))
        case .pattern(_, let left, let right, let escape):
            let operands = [left, right] + (escape.map { [$0] } ?? [])
            return Typing(.boolean, of: try types(of: operands, expected: .text, in: scope))
        case .membership(let operand, let members): return try type(operand, in: members, scope)
        case .call(let call): return try type(call, in: scope)
        case .cast(let operand, let name):
            let type = ValueType(cast: name)
            suggest(operand, type)
            return Typing(type, of: [try self.type(operand, in: scope)])
        case .conditional(let base, let branches, let otherwise):
            return try type(base, branches, otherwise, in: scope)
        case .exists(let select):
            _ = try columns(of: select, in: Scope(in: scope))
            return Typing(.boolean, canBeNull: false)
        case .subquery(let select):
            guard let column = try columns(of: select, in: Scope(in: scope)).first else {
                return .unknown("it has no column")
            }
            return Self.hasOneRow(select) ? column.typing : column.typing.orNull
        case .row(let elements):
            for element in elements { _ = try type(element, in: scope) }
            return .unknown("it is several values")
        }
    }

    /// The types of operands that are compared. A parameter has the type of the first other operand.
    @discardableResult
    func types(
        of operands: [Expression], in scope: Scope, areOptional: Bool = false
    ) throws(SQLSyntaxError) -> [Typing] {
        if let rows = Self.rows(operands) {
            var typings: [Typing] = []
            for index in rows[0].indices {
                typings += try types(
                    of: rows.compactMap { index < $0.count ? $0[index] : nil }, in: scope, areOptional: areOptional)
            }
            return typings
        }
        let typings = try operands.map { operand throws(SQLSyntaxError) in try type(operand, in: scope) }
        let known = operands.indices.filter { typings[$0].type != nil && !isSuggestion(operands[$0]) }
        let suggested = operands.indices.first { typings[$0].type != nil }
        for (index, operand) in operands.enumerated() {
            if let other = known.first(where: { $0 != index }) {
                expect(operand, Typing(typings[other].content, canBeNull: areOptional))
            } else if let suggested, suggested != index {
                suggest(operand, typings[suggested].type)
            }
            if areOptional, case .parameter(let name) = operand.form { note(parameter: name, nil, isOptional: true) }
        }
        return typings
    }

    /// The types of operands of which each is expected to be of one type.
    @discardableResult
    func types(
        of operands: [Expression], expected: ValueType, in scope: Scope
    ) throws(SQLSyntaxError) -> [Typing] {
        for operand in operands { expect(operand, Typing(expected, canBeNull: false)) }
        return try operands.map { operand throws(SQLSyntaxError) in try type(operand, in: scope) }
    }

    /// Whether the type of an expression says little about what it is compared with: a text may be a date, 0 an amount.
    func isSuggestion(_ expression: Expression) -> Bool {
        switch expression.form {
        case .null, .integer, .real, .text, .now: true
        case .sign(_, let operand), .collated(let operand): isSuggestion(operand)
        case .call(let call) where ["coalesce", "ifnull"].contains(call.name): call.arguments.allSatisfy(isSuggestion)
        case .call(let call): FunctionRule.ofDates.contains(call.name)
        case .parameter: Self.isParameter(expression)
        default: false
        }
    }

    private static func rows(_ operands: [Expression]) -> [[Expression]]? {
        var rows: [[Expression]] = []
        for operand in operands {
            guard case .row(let elements) = operand.form else { return nil }
            rows.append(elements)
        }
        return rows.isEmpty ? nil : rows
    }

    static func isParameter(_ expression: Expression) -> Bool {
        switch expression.form {
        case .parameter: true
        case .collated(let operand), .sign("+", let operand), .sign("-", let operand): isParameter(operand)
        default: false
        }
    }

    private func type(_ sign: String, _ operand: Expression, in scope: Scope) throws(SQLSyntaxError) -> Typing {
        let typing = try type(operand, in: scope)
        if sign == "+" { return typing }
        return sign == "~" ? Typing(.integer, of: [typing]) : Self.number(typing)
    }

    /// The number that arithmetic makes of an operand. A part of a date, such as `strftime('%Y', day)`, is a text, but a whole number.
    private static func number(of operand: Expression, _ typing: Typing) -> Typing {
        guard case .call(let call) = operand.form, call.name == "strftime",
            case .text(let format) = call.arguments.first?.form,
            format.count == 2, format.first == "%", let part = format.last, "dHjmMsSwWY".contains(part)
        else { return number(typing) }
        return Typing(.integer, canBeNull: typing.canBeNull)
    }

    /// The number that arithmetic makes of an operand.
    static func number(_ typing: Typing) -> Typing {
        switch typing.content {
        case .value(let type):
            switch type.storage {
            case .integer: return Typing(.integer, canBeNull: typing.canBeNull)
            case .real, .numeric: return Typing(.real, canBeNull: typing.canBeNull)
            case .text, .blob, .any:
                return .unknown(
                    "a \(type.swift) can be an integer or a real in arithmetic", canBeNull: typing.canBeNull)
            }
        case .nothing, .unknown: return typing
        }
    }

    private func type(
        _ left: Expression, _ sign: String, _ right: Expression, in scope: Scope
    ) throws(SQLSyntaxError) -> Typing {
        switch sign {
        case "AND", "OR":
            return Typing(.boolean, of: try types(of: [left, right], expected: .boolean, in: scope))
        case "=", "<>", "<", "<=", ">", ">=":
            return Typing(.boolean, of: try types(of: [left, right], in: scope))
        case "||":
            return Typing(.text, of: try types(of: [left, right], expected: .text, in: scope))
        case "->", "->>":
            try types(of: [left, right], expected: .text, in: scope)
            return sign == "->" ? Typing(.text, canBeNull: true) : .unknown("a value in JSON can be of any type")
        default: return try arithmetic(left, sign, right, in: scope)
        }
    }

    private func arithmetic(
        _ left: Expression, _ sign: String, _ right: Expression, in scope: Scope
    ) throws(SQLSyntaxError) -> Typing {
        let typings = [
            Self.number(of: left, try type(left, in: scope)), Self.number(of: right, try type(right, in: scope)),
        ]
        if ["&", "|", "<<", ">>"].contains(sign) {
            for operand in [left, right] { expect(operand, Typing(.integer, canBeNull: false)) }
            return Typing(.integer, of: typings)
        }
        let known = typings.first { $0.type != nil }
        for operand in [left, right] where Self.isParameter(operand) {
            expect(operand, known.map { Typing($0.content, canBeNull: false) })
        }
        var canBeNull = typings.contains(where: \.canBeNull)
        if sign == "/" || sign == "%", !Self.isNotZero(right) { canBeNull = true }
        var result = typings[0].merged(with: typings[1])
        result.isFlag = false
        result.canBeNull = canBeNull
        return result
    }

    /// Whether it is a literal other than zero: dividing by anything else can give NULL.
    private static func isNotZero(_ expression: Expression) -> Bool {
        if case .integer(let digits) = expression.form {
            return digits.contains { $0 != "0" } && !digits.hasPrefix("0x")
        }
        return false
    }

    private func type(
        _ operand: Expression, in members: Expression.Members, _ scope: Scope
    ) throws(SQLSyntaxError) -> Typing {
        switch members {
        case .list(let list): return Typing(.boolean, of: try types(of: [operand] + list, in: scope))
        case .select(let select):
            var elements = [operand]
            if case .row(let several) = operand.form { elements = several }
            let typings = try elements.map { element throws(SQLSyntaxError) in try type(element, in: scope) }
            let written = typings.map { Typing($0.content, canBeNull: false) }
            let columns = try columns(of: select, in: Scope(in: scope), written: written)
            if let first = columns.first { expect(operand, Typing(first.typing.content, canBeNull: false)) }
            return Typing(.boolean, of: typings + columns.map(\.typing))
        case .table(let reference):
            let columns = try source(reference, in: scope).columns
            if let first = columns.first { expect(operand, Typing(first.typing.content, canBeNull: false)) }
            return Typing(.boolean, of: [try type(operand, in: scope)] + columns.map(\.typing))
        }
    }

    private func type(
        _ base: Expression?, _ branches: [(condition: Expression, value: Expression)], _ otherwise: Expression?,
        in scope: Scope
    ) throws(SQLSyntaxError) -> Typing {
        if let base {
            try types(of: [base] + branches.map(\.condition), in: scope)
        } else {
            for branch in branches { try check(condition: branch.condition, in: scope) }
        }
        var values: [(Expression, Scope)] = []
        // Each branch is for rows for which no condition before it is true.
        var remaining = scope
        for branch in branches {
            var narrowed = remaining
            if base == nil {
                narrowed.narrow(by: branch.condition)
                remaining.narrow(byUntrue: branch.condition)
            }
            values.append((branch.value, narrowed))
        }
        if let otherwise { values.append((otherwise, remaining)) }
        let result = try alternatives(values)
        return otherwise == nil ? result.orNull : result
    }

    /// One of several values, each in its scope.
    func alternatives(_ values: [(Expression, Scope)]) throws(SQLSyntaxError) -> Typing {
        var result: Typing?
        var canBeNull = false
        for (expression, scope) in values {
            let typing = try type(expression, in: scope)
            canBeNull = canBeNull || typing.canBeNull
            // In the first pass a parameter has no type yet.
            if Self.isParameter(expression), typing.type == nil { continue }
            result = result?.merged(with: typing) ?? typing
        }
        let isSuggested = values.allSatisfy { isSuggestion($0.0) }
        for (expression, _) in values where Self.isParameter(expression) {
            if isSuggested {
                suggest(expression, result?.type)
            } else {
                expect(expression, result.flatMap { $0.type == nil ? nil : Typing($0.content, canBeNull: false) })
            }
        }
        guard var result else { return .unknown("nothing says what type it has") }
        result.canBeNull = canBeNull
        if values.count > 1 { result.origin = nil }
        return result
    }

    func check(window: Window, in scope: Scope) throws(SQLSyntaxError) {
        for expression in window.expressions { _ = try type(expression, in: scope) }
        try bound(window.frame?.offsets ?? [], in: scope)
    }
}
