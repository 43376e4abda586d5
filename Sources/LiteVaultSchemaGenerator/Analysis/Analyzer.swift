internal import LiteVaultQuoting

/// Finds out the types of a statement's parameters and results.
///
/// The first pass collects what the places of parameters say of them. The types that it finds can say more of others, so passes follow
/// until nothing new is found; the last one knows all types.
final class Analyzer {
    let catalog: Catalog
    /// What functions of the application return, by their names in lower case.
    let functions: [String: Typing]
    /// What places say of each parameter, by its name with its sign.
    var parameters: [String: ParameterFacts] = [:]
    /// The types that the first pass found, or that annotations give.
    var knownParameters: [String: Typing] = [:]
    private var views: [SQLName: [Catalog.Column]] = [:]
    private var viewsInWork: Set<SQLName> = []

    init(_ catalog: Catalog, functions: [String: Typing] = [:]) {
        self.catalog = catalog
        self.functions = functions
    }

    /// What is known of one statement.
    struct Result: Sendable {
        /// Empty for a statement that returns no rows.
        var columns: [ResultColumn]
        /// In the order of their first occurrence.
        var parameters: [Parameter]
        /// The table whose record the result is: all its columns, in order; nil otherwise.
        var table: String?
    }

    struct Parameter: Sendable {
        /// With its sign.
        let name: String
        let typing: Typing
        let isList: Bool
        /// Whether the statement asks if it is NULL.
        let isFilter: Bool
        /// Where it first occurs, in bytes.
        let offset: Int
    }

    /// What the places of a parameter say of it.
    struct ParameterFacts {
        var types: [ValueType] = []
        /// The type that a CAST, a literal beside it or a function of dates suggests: it counts if nothing else says what it is.
        var suggestion: ValueType?
        /// Whether NULL means something somewhere.
        var isOptional = false
        /// Whether `IS NULL` is asked of it.
        var isFilter = false
    }

    /// Analyzes a statement.
    ///
    /// - Parameter annotations: the typings of parameters that the author gave, by their names without signs.
    func analyze(
        _ statement: Statement, _ occurrences: [Parser.Occurrence], annotations: [String: Typing]
    ) throws(SQLSyntaxError) -> Result {
        parameters = [:]
        knownParameters = [:]
        for occurrence in occurrences {
            if let annotation = annotations[String(occurrence.name.dropFirst())] {
                knownParameters[occurrence.name] = annotation
            }
        }
        try findParameters(of: statement, occurrences.map(\.name))
        var found: [Parameter] = []
        for occurrence in occurrences where !found.contains(where: { isSameText($0.name, occurrence.name) }) {
            let lists = occurrences.filter { isSameText($0.name, occurrence.name) }.map(\.isList)
            guard Set(lists).count == 1 else {
                throw SQLSyntaxError(
                    occurrence.range.lowerBound,
                    "\(occurrence.name) is a list in one place and a single value in another")
            }
            let typing = knownParameters[occurrence.name] ?? inferred(occurrence.name)
            knownParameters[occurrence.name] = typing
            found.append(
                Parameter(
                    name: occurrence.name, typing: typing, isList: occurrence.isList,
                    isFilter: parameters[occurrence.name]?.isFilter ?? false, offset: occurrence.range.lowerBound))
        }
        let columns = try columns(of: statement)
        return Result(columns: columns, parameters: found, table: table(of: columns))
    }

    /// Collects the facts of the parameters, until what is known of some says no more of others.
    private func findParameters(of statement: Statement, _ names: [String]) throws(SQLSyntaxError) {
        let given = Set(knownParameters.keys)
        // What is only suggested waits for what is said.
        for withSuggestions in [false, true] {
            var isNew = true
            while isNew {
                _ = try columns(of: statement)
                isNew = false
                for name in Set(names).subtracting(knownParameters.keys) {
                    let facts = parameters[name]
                    guard withSuggestions || facts?.types.contains(where: { $0 != .count }) == true,
                        case .value = inferred(name).content
                    else { continue }
                    knownParameters[name] = inferred(name)
                    isNew = true
                }
            }
        }
        // Whether a parameter is optional, and whether two places agree, is known from all of them.
        knownParameters = knownParameters.filter { given.contains($0.key) }
    }

    private func inferred(_ name: String) -> Typing {
        let facts = parameters[name] ?? ParameterFacts()
        var types = facts.types
        // A number of rows is an integer like others.
        if types.contains(where: { $0 != .count }) { types.removeAll { $0 == .count } }
        guard let first = types.first ?? facts.suggestion else {
            return .unknown("nothing says what type it has", canBeNull: facts.isOptional)
        }
        if let other = types.first(where: { $0.swift != first.swift }) {
            return .unknown(
                "it is \(first.swift) in one place and \(other.swift) in another", canBeNull: facts.isOptional)
        }
        return Typing(first, canBeNull: facts.isOptional)
    }

    /// The table whose columns these are, all of them and in order.
    private func table(of columns: [ResultColumn]) -> String? {
        guard let name = columns.first?.typing.origin?.table, let table = catalog.table(name) else { return nil }
        let visible = table.columns.filter { !$0.isHidden }
        guard visible.count == columns.count else { return nil }
        for (column, own) in zip(columns, visible) {
            let origin = Typing.Origin(table: table.name, column: own.name)
            let isSame =
                column.typing.origin == origin && column.typing.type?.swift == own.typing.type?.swift
                && column.name.map { isSameText($0, own.name) } == true
            // A condition may exclude NULL: the record is one all the same.
            guard isSame, own.typing.canBeNull || !column.typing.canBeNull else { return nil }
        }
        return table.name
    }

    /// The columns of a view with what is known of them; empty for a view that is not there or not understood.
    func columns(ofView name: String) -> [(name: String, typing: Typing)] {
        guard let table = catalog.table(name), case .view(let sql) = table.kind,
            let columns = try? columns(ofView: table, sql: sql)
        else { return [] }
        return columns.map { ($0.name, $0.typing) }
    }

    /// The columns of a view, from its own SELECT.
    func columns(ofView table: Catalog.Table, sql: String) throws(SQLSyntaxError) -> [Catalog.Column] {
        let key = SQLName(table.name)
        if let known = views[key] { return known }
        guard viewsInWork.insert(key).inserted else { return table.columns }
        defer { viewsInWork.remove(key) }
        guard let select = Self.select(ofView: sql) else { return table.columns }
        // A view has no parameters, and those of the statement mean nothing in it.
        let results = try columns(of: select, in: Scope())
        let columns = zip(table.columns, results).map { column, result in
            column.isAnnotated ? column : Catalog.Column(name: column.name, typing: result.typing)
        }
        views[key] = columns
        return columns
    }

    private static func select(ofView sql: String) -> Select? {
        let bytes = Array(sql.utf8)
        guard var tokens = try? Tokenizer.statement(bytes),
            let start = tokens.firstIndex(where: { $0.kind == .word && $0.text == "AS" })
        else { return nil }
        tokens.removeFirst(start + 1)
        var parser = Parser(bytes, tokens)
        guard case .select(let select) = try? parser.statement() else { return nil }
        return select
    }
}

// MARK: Statements

extension Analyzer {
    private func columns(of statement: Statement) throws(SQLSyntaxError) -> [ResultColumn] {
        switch statement {
        case .select(let select): try columns(of: select, in: Scope())
        case .insert(let insert): try columns(of: insert)
        case .change(let change): try columns(of: change)
        }
    }

    private func columns(of insert: Insert) throws(SQLSyntaxError) -> [ResultColumn] {
        var scope = Scope()
        define(insert.with, in: &scope)
        let target = try source(insert.table, in: scope)
        let written: [Typing?] =
            insert.columns.isEmpty
            ? (catalog.table(insert.table.name)?.columns ?? []).filter { !$0.isHidden && !$0.isGenerated }.map(\.typing)
            : insert.columns.map(target.typing(written:))
        if let source = insert.source { _ = try columns(of: source, in: scope, written: written) }
        scope.sources = [target]
        if !insert.upserts.isEmpty {
            var updated = scope
            updated.sources.append(Scope.Source(name: "excluded", columns: target.columns, rowid: target.rowid))
            for upsert in insert.upserts {
                for term in upsert.target { _ = try type(term, in: scope) }
                if let condition = upsert.targetCondition { try check(condition: condition, in: scope) }
                try assign(upsert.assignments ?? [], to: target, in: updated)
                if let condition = upsert.condition { try check(condition: condition, in: updated) }
            }
        }
        return try results(insert.returning, in: scope)
    }

    private func columns(of change: Change) throws(SQLSyntaxError) -> [ResultColumn] {
        var scope = Scope()
        define(change.with, in: &scope)
        let target = try source(change.table, in: scope)
        scope.sources = [target]
        var returned = scope
        if let from = change.from { try join(from, to: &scope) }
        try assign(change.assignments, to: target, in: scope)
        if let condition = change.condition {
            try check(condition: condition, in: scope)
            // An UPDATE may have changed what its condition asks for.
            if change.assignments.isEmpty { returned.narrow(by: condition) }
        }
        try bound(change.tail, in: scope)
        return try results(change.returning, in: returned)
    }

    private func assign(
        _ assignments: [Assignment], to target: Scope.Source, in scope: Scope
    ) throws(SQLSyntaxError) {
        for assignment in assignments {
            let written = assignment.columns.map(target.typing(written:))
            switch assignment.value.form {
            case .row(let elements):
                for (element, typing) in zip(elements, written) {
                    expect(element, typing)
                    _ = try type(element, in: scope)
                }
            case .subquery(let select): _ = try columns(of: select, in: Scope(in: scope), written: written)
            default:
                expect(assignment.value, written.first ?? nil)
                _ = try type(assignment.value, in: scope)
            }
        }
    }

    /// Numbers of rows: LIMIT, the offsets of a window's frame; and ORDER BY of an UPDATE or DELETE.
    func bound(_ expressions: [Expression], in scope: Scope) throws(SQLSyntaxError) {
        for expression in expressions {
            expect(expression, Typing(.count, canBeNull: false))
            _ = try type(expression, in: scope)
        }
    }

    /// A condition, which may be a parameter.
    func check(condition: Expression, in scope: Scope) throws(SQLSyntaxError) {
        expect(condition, Typing(.boolean, canBeNull: false))
        _ = try type(condition, in: scope)
    }
}

// MARK: Parameters

extension Analyzer {
    /// Notes the type that a parameter has at its place. Anything but a parameter has a type of its own.
    func expect(_ expression: Expression, _ typing: Typing?) {
        switch expression.form {
        case .parameter(let name):
            guard let typing else { return }
            note(parameter: name, typing.type, isOptional: typing.canBeNull)
        case .collated(let operand), .sign("+", let operand), .sign("-", let operand): expect(operand, typing)
        // What is expected of one of several values is expected of each.
        case .call(let call) where ["coalesce", "ifnull"].contains(call.name):
            for argument in call.arguments { expect(argument, typing) }
        case .call(let call) where ["iif", "if"].contains(call.name) && call.arguments.count == 3:
            for argument in call.arguments.dropFirst() { expect(argument, typing) }
        case .conditional(_, let branches, let otherwise):
            for value in branches.map(\.value) + [otherwise].compactMap(\.self) { expect(value, typing) }
        case .binary: suggest(expression, typing?.type)
        default: break
        }
    }

    func note(parameter name: String, _ type: ValueType?, isOptional: Bool) {
        if let type { parameters[name, default: .init()].types.append(type) }
        if isOptional { parameters[name, default: .init()].isOptional = true }
    }

    /// Notes the type that a parameter probably has.
    func suggest(_ expression: Expression, _ type: ValueType?) {
        guard let type else { return }
        switch expression.form {
        case .parameter(let name):
            if parameters[name]?.suggestion == nil { parameters[name, default: .init()].suggestion = type }
        case .collated(let operand), .sign("+", let operand), .sign("-", let operand): suggest(operand, type)
        // Numbers are made of numbers: `latitude > :x - :radius`.
        case .binary(let sign, let left, let right)
        where ["+", "-", "*", "/"].contains(sign) && type.isNumber && type != .boolean:
            suggest(left, type)
            suggest(right, type)
        default: break
        }
    }

    func typing(ofParameter name: String) -> Typing {
        knownParameters[name] ?? .unknown("the parameter \(name) has no known type", canBeNull: false)
    }
}
