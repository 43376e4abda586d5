internal import LiteVaultQuoting

// Functions of SQL (https://sqlite.org/lang_corefunc.html and the pages beside it): what they return for what.

/// What a function returns, and when that is NULL.
struct FunctionRule {
    enum Nullability {
        case never, always
        /// If an argument is.
        case strict
        /// If the first argument is.
        case first
    }

    let result: ValueType
    let nullability: Nullability
    /// The types of parameters among the arguments; the last is that of all that follow.
    let arguments: [ValueType?]

    /// The rule for a function by its name in lower case.
    static func rule(_ name: String) -> FunctionRule? { rules[name] }

    /// Name, result and nullability, then the arguments: t(ext), i(nteger), r(eal), b(lob) and - for any.
    private static let table = """
        char text never i
        changes integer never
        concat text never t
        concat_ws text first t
        date text moment t
        datetime text moment t
        glob boolean strict t
        hex text never -
        instr integer strict t
        julianday real moment t
        last_insert_rowid integer never
        length integer strict t
        like boolean strict t
        lower text strict t
        ltrim text strict t
        octet_length integer strict t
        printf text always t-
        format text always t-
        quote text never -
        random integer never
        randomblob blob never i
        replace text strict t
        round real strict ri
        rtrim text strict t
        sign integer always r
        soundex text never t
        sqlite_source_id text never
        sqlite_version text never
        sqlite_compileoption_used boolean strict t
        strftime text moment t
        time text moment t
        timediff text always t
        total_changes integer never
        trim text strict t
        typeof text never -
        unhex blob always t
        unicode integer always t
        unixepoch integer moment t
        upper text strict t
        zeroblob blob never i
        pi real never
        json text strict t
        json_array text never -
        json_array_length integer always t
        json_error_position integer strict t
        json_insert text always tt-
        json_object text never -
        json_patch text strict t
        json_pretty text strict t
        json_quote text never -
        json_remove text always t
        json_replace text always tt-
        json_set text always tt-
        json_type text always t
        json_valid boolean strict t
        bm25 real never -r
        highlight text always -itt
        snippet text always -itttti
        offsets text always -
        matchinfo blob always -t
        """

    private static let rules: [String: FunctionRule] = {
        let types: [String: ValueType] = [
            "text": .text, "integer": .integer, "real": .real, "blob": .blob, "boolean": .boolean,
        ]
        let letters: [Character: ValueType] = ["t": .text, "i": .integer, "r": .real, "b": .blob]
        var rules: [String: FunctionRule] = [:]
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count >= 3, let type = types[words[1]] else { continue }
            let nullability: Nullability =
                switch words[2] {
                case "never": .never
                case "strict": .strict
                case "first": .first
                default: .always
                }
            rules[words[0]] = FunctionRule(
                result: type, nullability: nullability, arguments: words.count > 3 ? words[3].map { letters[$0] } : [])
        }
        // pi() is in the table; the type of the others is that of their argument.
        let others: Set = ["pi", "ceil", "ceiling", "floor", "trunc"]
        for name in SQLFunctions.mathematics.split(separator: " ").map(String.init) where !others.contains(name) {
            rules[name] = FunctionRule(result: .real, nullability: .always, arguments: [ValueType.real])
        }
        return rules
    }()

    /// Functions of dates: NULL for what is not a date, so never for `'now'`, or without arguments.
    static let ofDates: Set = ["date", "time", "datetime", "julianday", "unixepoch", "strftime"]
}

extension FunctionCall {
    /// Whether it makes one value of many rows.
    var isAggregate: Bool {
        guard window == nil else { return false }
        switch name {
        case "count", "sum", "total", "avg", "group_concat", "string_agg", "json_group_array", "json_group_object",
            "jsonb_group_array", "jsonb_group_object", "median", "percentile", "percentile_cont", "percentile_disc":
            return true
        case "min", "max": return arguments.count == 1
        default: return false
        }
    }
}

extension Analyzer {
    func type(_ call: FunctionCall, in outer: Scope) throws(SQLSyntaxError) -> Typing {
        var scope = outer
        // Inside of an aggregate there is a row.
        if call.isAggregate { scope.hasOneRowForNone = false }
        if let filter = call.filter { try check(condition: filter, in: scope) }
        for term in call.order { _ = try type(term, in: scope) }
        if let window = call.window { try check(window: window, in: scope) }
        if let special = try special(call, in: scope) { return special }
        if let set = try set(call, in: scope, hasRows: outer.hasRows) { return set }
        guard let rule = FunctionRule.rule(call.name) else {
            for argument in call.arguments { _ = try type(argument, in: scope) }
            if let typing = functions[call.name] { return typing }
            return .unknown("the function \(call.name)() can return any type")
        }
        var typings: [Typing] = []
        for (index, argument) in call.arguments.enumerated() {
            let expected = rule.arguments.isEmpty ? nil : rule.arguments[min(index, rule.arguments.count - 1)]
            if FunctionRule.ofDates.contains(call.name) {
                suggest(argument, expected)
            } else if let expected {
                expect(argument, Typing(expected, canBeNull: false))
            }
            typings.append(try type(argument, in: scope))
        }
        if call.name == "replace", typings.first?.type?.storage != .text, typings.first?.type != nil {
            return .unknown("replace() returns a value that is not a text as it is")
        }
        let canBeNull =
            switch rule.nullability {
            case .never: false
            case .strict: typings.contains(where: \.canBeNull)
            case .always where changesParts(call): typings.first?.canBeNull ?? true
            case .always: !(FunctionRule.ofDates.contains(call.name) && isNow(call)) && !isFormatted(call)
            case .first: typings.first?.canBeNull ?? true
            }
        return Typing(rule.result, canBeNull: canBeNull)
    }

    /// The characters after each `%` of a format.
    private static func conversions(of format: String) -> [Character] {
        var conversions: [Character] = []
        var rest = format[...]
        while let sign = rest.firstIndex(of: "%") {
            rest = rest[rest.index(after: sign)...]
            guard let conversion = rest.popFirst() else { return conversions + ["?"] }
            conversions.append(conversion)
        }
        return conversions
    }

    /// `printf('no. %d', …)`: the result is NULL only for no text at all.
    private func isFormatted(_ call: FunctionCall) -> Bool {
        guard call.name == "printf" || call.name == "format", case .text(let format) = call.arguments.first?.form,
            let first = format.first
        else { return false }
        return first != "%" || Self.conversions(of: format).first.map { "dsfixXeEgGcouqQ%".contains($0) } == true
    }

    /// `json_set(x, '$.a', …)`: the whole document can only be replaced by what is at `$`.
    private func changesParts(_ call: FunctionCall) -> Bool {
        guard ["json_set", "json_insert", "json_replace"].contains(call.name) else { return false }
        return stride(from: 1, to: call.arguments.count, by: 2).allSatisfy { index in
            if case .text(let path) = call.arguments[index].form { path.hasPrefix("$") && path != "$" } else { false }
        }
    }

    /// `date()` and `date('now')`: only for other times, and with modifiers, can the result be NULL.
    private func isNow(_ call: FunctionCall) -> Bool {
        var times = call.arguments[...]
        if call.name == "strftime" {
            // An unknown conversion makes the result NULL. Those of newer engines are unknown to older ones.
            guard case .text(let format) = times.popFirst()?.form,
                Self.conversions(of: format).allSatisfy({ "dfHjJmMsSwWY%".contains($0) })
            else { return false }
        }
        guard let time = times.popFirst() else { return true }
        guard times.isEmpty, case .text(let text) = time.form else { return false }
        return isSameName(text, "now")
    }

    private func special(_ call: FunctionCall, in scope: Scope) throws(SQLSyntaxError) -> Typing? {
        let arguments = call.arguments
        switch (call.name, arguments.count) {
        case ("coalesce", 2...), ("ifnull", 2):
            for argument in arguments {
                if case .parameter(let name) = argument.form { note(parameter: name, nil, isOptional: true) }
            }
            var result = try alternatives(arguments.map { ($0, scope) })
            let typings = try arguments.map { argument throws(SQLSyntaxError) in try type(argument, in: scope) }
            result.canBeNull = typings.allSatisfy(\.canBeNull)
            return result
        case ("iif", 2...), ("if", 2...):
            var branches: [(condition: Expression, value: Expression)] = []
            for index in stride(from: 0, to: arguments.count - 1, by: 2) {
                branches.append((arguments[index], arguments[index + 1]))
            }
            let otherwise = arguments.count % 2 == 1 ? arguments.last : nil
            let range = arguments[0].range
            return try type(
                Expression(form: .conditional(base: nil, branches: branches, otherwise: otherwise), range: range),
                in: scope)
        case ("nullif", 2): return try types(of: arguments, in: scope)[0].orNull
        case ("min", 2...), ("max", 2...): return try alternatives(arguments.map { ($0, scope) })
        case ("likely", 1), ("unlikely", 1), ("likelihood", 2): return try type(arguments[0], in: scope)
        case ("abs", 1), ("ceil", 1), ("ceiling", 1), ("floor", 1), ("trunc", 1):
            return Self.number(try type(arguments[0], in: scope))
        case ("substr", 2...), ("substring", 2...):
            for argument in arguments.dropFirst() { expect(argument, Typing(.integer, canBeNull: false)) }
            expect(arguments[0], Typing(.text, canBeNull: false))
            let typings = try arguments.map { argument throws(SQLSyntaxError) in try type(argument, in: scope) }
            let isBlob = typings[0].type?.storage == .blob
            return Typing(isBlob ? .blob : .text, of: typings)
        case ("json_extract", 2...):
            try types(of: arguments, expected: .text, in: scope)
            // Several paths give an array.
            return arguments.count > 2 ? Typing(.text, canBeNull: true) : .unknown("a value in JSON can be of any type")
        default: return nil
        }
    }

    private func set(_ call: FunctionCall, in scope: Scope, hasRows: Bool) throws(SQLSyntaxError) -> Typing? {
        guard call.isAggregate || call.window != nil else { return nil }
        let first = try call.arguments.map { argument throws(SQLSyntaxError) in try type(argument, in: scope) }.first
        // Whether there is a row to work on, always.
        let isNeverEmpty = call.filter == nil && (call.window.map { includesCurrentRow($0, scope) } ?? hasRows)
        func ofValues(_ typing: Typing?) -> Typing? {
            guard var typing else { return nil }
            typing.canBeNull = typing.canBeNull || !isNeverEmpty
            typing.origin = nil
            return typing
        }
        switch call.name {
        case "count", "row_number", "rank", "dense_rank", "ntile":
            if call.name == "ntile" { expect(call.arguments[0], Typing(.integer, canBeNull: false)) }
            return Typing(.integer, canBeNull: false)
        case "percent_rank", "cume_dist", "total": return Typing(.real, canBeNull: false)
        case "sum": return ofValues(first.map(Self.number))
        case "avg": return ofValues(first.map { Typing(.real, canBeNull: $0.canBeNull) })
        case "median", "percentile", "percentile_cont", "percentile_disc": return Typing(.real, canBeNull: true)
        case "group_concat", "string_agg":
            if call.arguments.count > 1 { expect(call.arguments[1], Typing(.text, canBeNull: false)) }
            return ofValues(first.map { Typing(.text, canBeNull: $0.canBeNull) })
        case "min", "max", "first_value", "last_value": return ofValues(first)
        case "nth_value":
            if call.arguments.count > 1 { expect(call.arguments[1], Typing(.integer, canBeNull: false)) }
            return first?.orNull
        case "lag", "lead":
            if call.arguments.count > 1 { expect(call.arguments[1], Typing(.integer, canBeNull: false)) }
            guard call.arguments.count == 3 else { return first?.orNull }
            return try alternatives([(call.arguments[0], scope), (call.arguments[2], scope)])
        case "json_group_array", "json_group_object": return Typing(.text, canBeNull: false)
        default: return nil
        }
    }

    /// Whether the frame of a window has the current row in it.
    private func includesCurrentRow(_ window: Window, _ scope: Scope) -> Bool {
        if let frame = window.frame { return frame.includesCurrentRow }
        guard let base = window.base.map({ SQLName($0) }) else { return true }
        guard let definition = scope.windows[base], definition.base.map({ SQLName($0) }) != base else { return false }
        return includesCurrentRow(definition, scope)
    }
}
