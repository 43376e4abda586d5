internal import LiteVaultQuoting

/// A statement with the types of its parameters and results.
struct CheckedStatement {
    struct Column: Hashable {
        /// In Swift.
        let name: String
        /// With `?` if it can be NULL.
        let type: String
    }

    struct Parameter {
        /// In the SQL, with its sign.
        let sqlName: String
        let name: String
        var external: String?
        let type: String
        let isList: Bool
        /// Whether the statement asks if it is NULL: a filter that can be left out.
        let isFilter: Bool
    }

    let statement: NamedStatement
    let columns: [Column]
    /// In the order of the function's name.
    let parameters: [Parameter]
    let occurrences: [Parser.Occurrence]
    let isReadOnly: Bool
    /// The table whose rows the result has, all columns in order.
    let table: String?
}

/// Checks statements against the schema, with the engine and with the analysis of their types.
struct StatementChecks {
    private let database: MemoryDatabase
    private let analyzer: Analyzer
    private let relations: [SQLName: Relation]
    private let oldestEngine: EngineVersion?
    private let names: GivenNames

    init(_ database: MemoryDatabase, _ relations: [Relation], _ catalog: Catalog, _ directives: Directives) {
        self.database = database
        oldestEngine = directives.oldestEngine
        names = directives.names
        analyzer = Analyzer(catalog, functions: directives.functions.mapValues { CatalogReader.annotated($0) })
        self.relations = Dictionary(relations.map { (SQLName($0.name), $0) }, uniquingKeysWith: { one, _ in one })
    }

    /// - Throws: ``Diagnostics`` with the errors of all statements.
    func run(_ statements: [NamedStatement]) throws -> [CheckedStatement] {
        var checked: [CheckedStatement] = []
        var wrong: [Diagnostic] = []
        var seen: [String: Location] = [:]
        for statement in statements {
            do {
                let one = try check(statement)
                let signature = "\(statement.name)(\(one.parameters.map { "\($0.external ?? $0.name):" }.joined()))"
                if let other = seen.updateValue(statement.location, forKey: signature) {
                    throw Diagnostics(
                        statement.location,
                        "\(signature) is the name of another statement, in line \(other.line) of \(other.path)")
                }
                checked.append(one)
            } catch let diagnostics as Diagnostics {
                wrong += diagnostics.list
            }
        }
        try Diagnostics.throwIfAny(wrong)
        return checked
    }

    private func check(_ statement: NamedStatement) throws -> CheckedStatement {
        var parser = Parser(statement.bytes, statement.tokens)
        let parsed: Result<Statement, SQLSyntaxError>
        do { parsed = .success(try parser.statement()) } catch { parsed = .failure(error) }
        try requireEngine(parser.needs, statement)
        let compiled = try compile(statement, parser.needs)
        do {
            let result = try analyzer.analyze(
                try parsed.get(), parser.parameters,
                annotations: statement.parameters.mapValues { CatalogReader.annotated($0.type) })
            try compare(result, compiled, statement)
            try requireKind(result, statement)
            if statement.isIndexed { try requireIndex(statement, parser.derived) }
            return CheckedStatement(
                statement: statement, columns: try columns(result, compiled, statement),
                parameters: try parameters(result, statement), occurrences: parser.parameters,
                isReadOnly: compiled.isReadOnly, table: statement.columns.isEmpty ? result.table : nil)
        } catch let error as SQLSyntaxError {
            throw Diagnostics(statement.location(at: error.offset), error.message)
        }
    }

    // MARK: The engine

    private func requireEngine(_ needs: [EngineNeed], _ statement: NamedStatement) throws {
        guard let oldestEngine, let need = needs.max(by: { $0.version < $1.version }), need.version > oldestEngine
        else { return }
        throw Diagnostics(
            statement.location(at: need.offset),
            "\(need.feature.name) needs SQLite \(need.version), and '-- litevault: engine \(oldestEngine)' names an older one"
        )
    }

    private func compile(_ statement: NamedStatement, _ needs: [EngineNeed]) throws -> MemoryDatabase.Compiled {
        do { return try database.compile(String(decoding: statement.bytes, as: UTF8.self)) } catch {
            let number = MemoryDatabase.versionNumber
            let linked = EngineVersion(number / 1_000_000, number / 1000 % 1000)
            if let need = needs.max(by: { $0.version < $1.version }), need.version > linked {
                throw Diagnostics(
                    statement.location(at: need.offset),
                    "\(need.feature.name) needs SQLite \(need.version), and the engine of this build is \(linked): \(error.message)"
                )
            }
            throw Diagnostics(statement.location(at: place(of: error, in: statement)), error.message)
        }
    }

    /// Where an error is. Older engines do not say it, so the word that the message is about is looked for.
    private func place(of failure: MemoryDatabase.Failure, in statement: NamedStatement) -> Int {
        if let offset = failure.offset { return offset }
        let last = failure.message.split(separator: " ").last?.split(separator: ".").last
        let word = failure.word ?? last ?? ""
        let token = statement.tokens.first { isSameName($0.text, String(word)) }
        return token?.range.lowerBound ?? statement.tokenRange.lowerBound
    }

    /// The engine's view of the result has to be that of the analysis.
    private func compare(
        _ result: Analyzer.Result, _ compiled: MemoryDatabase.Compiled, _ statement: NamedStatement
    ) throws {
        guard result.columns.count == compiled.columns.count else {
            throw Diagnostics(
                statement.location(at: statement.tokenRange.lowerBound),
                "the engine finds \(compiled.columns.count) columns, the analysis of types \(result.columns.count): "
                    + "please report this statement")
        }
        for (column, engine) in zip(result.columns, compiled.columns) {
            guard let origin = column.typing.origin, let declared = engine.declaredType,
                let own = relations[SQLName(origin.table)]?.columns.first(where: { isSameName($0.name, origin.column) }
                ),
                !isSameName(declared, own.declaredType)
            else { continue }
            throw Diagnostics(
                statement.location(at: column.offset),
                "the engine says that \(engine.name) is declared \(declared), the analysis of types \(own.declaredType): "
                    + "please report this statement")
        }
    }

    /// Statements are refused that read a table or an index from end to end.
    ///
    /// - Parameter derived: the names in FROM of anything but tables.
    private func requireIndex(_ statement: NamedStatement, _ derived: Set<SQLName>) throws {
        let rows: [[String?]]
        do { rows = try database.rows("EXPLAIN QUERY PLAN " + statement.sql) } catch {
            throw Diagnostics(statement.location, error.message)
        }
        for detail in rows.compactMap({ $0.last ?? nil }) {
            let words = detail.split(separator: " ").map { foldedKeyword($0) }
            if detail.contains("AUTOMATIC") {
                throw Diagnostics(statement.location, "it makes an index each time it runs: \(detail)")
            }
            guard words.first == "SCAN", words.count > 1 else { continue }
            let name = words[1] == "TABLE" && words.count > 2 ? words[2] : words[1]
            let isDerived = derived.contains(SQLName(name)) && relations[SQLName(name)] == nil
            if isDerived || name.hasPrefix("(") || words.contains("CONSTANT") || words[1] == "SUBQUERY" { continue }
            if detail.contains("VIRTUAL TABLE INDEX"), words.last != "0:" { continue }
            throw Diagnostics(statement.location, "it does not find its rows by an index: \(detail)")
        }
    }

    // MARK: Parameters and results

    private func requireKind(_ result: Analyzer.Result, _ statement: NamedStatement) throws {
        let kind = statement.kind
        guard kind.readsRows == result.columns.isEmpty else { return }
        throw Diagnostics(
            statement.location,
            kind.readsRows
                ? "it returns no rows, so it cannot be :\(kind.rawValue); write :exec, :rowid or :count"
                : "it returns rows, so it cannot be :\(kind.rawValue); write :many, :one or :optional")
    }

    private func columns(
        _ result: Analyzer.Result, _ compiled: MemoryDatabase.Compiled, _ statement: NamedStatement
    ) throws -> [CheckedStatement.Column] {
        var columns: [CheckedStatement.Column] = []
        var unused = statement.columns
        for (index, column) in result.columns.enumerated() {
            let location = statement.location(at: column.offset > 0 ? column.offset : statement.tokenRange.lowerBound)
            let name =
                column.name ?? Self.name(of: compiled.columns[index].name)
                ?? (result.columns.count == 1 ? "value" : nil)
            guard let name else {
                throw Diagnostics(location, "column \(index + 1) needs a name: write AS after the expression")
            }
            // Under its own name, a column is called as it is in its table.
            let given = column.typing.origin.flatMap {
                isSameName($0.column, name) ? names.given(to: $0.column, in: $0.table) : nil
            }
            let member = given ?? SwiftNames.member(name)
            let annotated = unused.removeValue(forKey: name)?.type
            let type = try annotated ?? Self.type(column.typing, of: name, location) { "column \(name): Type\($0)" }
            columns.append(.init(name: member, type: type))
        }
        if let (name, annotation) = unused.first {
            throw Diagnostics(annotation.location, "the statement has no column \(name)")
        }
        var seen: Set<String> = []
        for column in columns where !seen.insert(column.name).inserted {
            throw Diagnostics(
                statement.location,
                "two columns would be called \(column.name) in Swift; name one with AS")
        }
        return columns
    }

    /// The type in Swift, with `?` if the value can be NULL.
    ///
    /// - Parameter comment: what the author writes to give a type, with `?` or not.
    private static func type(
        _ typing: Typing, of name: String, _ location: Location, comment: (String) -> String
    ) throws -> String {
        let why: String
        var optional = typing.canBeNull ? "?" : ""
        switch typing.content {
        case .value(let type): return type.swift + optional
        case .nothing: (why, optional) = ("it is NULL", "?")
        case .unknown(let reason): why = reason
        }
        throw Diagnostics(
            location,
            "the type of \(name) cannot be known: \(why); write '-- \(comment(optional))' above the statement")
    }

    /// A call that is a column of its own is called after the function: `count(*)` is `count`.
    private static func name(of expression: String) -> String? {
        let name = expression.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        guard !name.isEmpty, expression.hasSuffix(")"), expression.dropFirst(name.count).first == "(",
            expression.count(where: { $0 == "(" }) == 1
        else { return nil }
        return foldedName(name)
    }

    private func parameters(
        _ result: Analyzer.Result, _ statement: NamedStatement
    ) throws -> [CheckedStatement.Parameter] {
        var parameters: [CheckedStatement.Parameter] = []
        for parameter in result.parameters {
            let location = statement.location(at: parameter.offset)
            let name = String(parameter.name.dropFirst())
            guard let first = name.first, !first.isNumber, parameter.name.first != "?", parameter.name.first != "#"
            else {
                throw Diagnostics(location, "a parameter needs a name, as in :text")
            }
            let type = try Self.type(parameter.typing, of: parameter.name, location) { _ in "param \(name): Type" }
            let member = SwiftNames.member(name)
            parameters.append(
                .init(
                    sqlName: parameter.name, name: member, external: SwiftNames.externalLabel(name, of: member),
                    type: type, isList: parameter.isList, isFilter: parameter.isFilter))
        }
        for (name, annotation) in statement.parameters
        where !result.parameters.contains(where: { $0.name.dropFirst() == name }) {
            throw Diagnostics(annotation.location, "the statement has no parameter :\(name)")
        }
        return try ordered(parameters, statement)
    }

    /// The parameters as the name lists them.
    private func ordered(
        _ parameters: [CheckedStatement.Parameter], _ statement: NamedStatement
    ) throws -> [CheckedStatement.Parameter] {
        guard let labels = statement.labels else { return parameters }
        var rest = parameters
        let ordered = try labels.map { label in
            let member = SwiftNames.member(label.name)
            guard let index = rest.firstIndex(where: { $0.name == member || $0.sqlName.dropFirst() == label.name })
            else {
                throw Diagnostics(
                    statement.location, "the statement has no parameter :\(label.name), which its name lists")
            }
            var found = rest.remove(at: index)
            found.external = label.external ?? found.external
            return found
        }
        if let missing = rest.first {
            throw Diagnostics(statement.location, "the name does not list the parameter \(missing.sqlName)")
        }
        return ordered
    }
}
