internal import LiteVaultQuoting

/// Where each object of a schema was created, for the diagnostics of later checks.
struct Origins {
    private var locations: [SQLName: Location] = [:]

    /// The statement that created an object, or the first statement for an unknown object.
    subscript(name: String) -> Location {
        locations[SQLName(name)] ?? locations.values.min() ?? Location(path: "schema.sql", line: 1, column: 1)
    }

    /// Records the location of the objects that are new.
    mutating func note(_ names: [String], at location: Location) {
        for name in names where locations[SQLName(name)] == nil { locations[SQLName(name)] = location }
    }
}

/// Runs scripts statement by statement.
struct ScriptRunner {
    let database: MemoryDatabase

    /// - Throws: ``Diagnostics`` for the first statement that the engine refuses: those after it may depend on it.
    func run(_ scripts: [Script]) throws -> Origins {
        var origins = Origins()
        for script in scripts { try run(script, &origins) }
        return origins
    }

    private func run(_ script: Script, _ origins: inout Origins) throws {
        // A dump writes virtual tables as rows of the schema, which the engine does not see until it reads the schema again.
        defer { database.rereadSchema() }
        let text = script.bytes.map { CChar(bitPattern: $0) } + [0]
        var offset = 0
        while true {
            let start = script.start(after: offset)
            do {
                let length = try text.withUnsafeBufferPointer { buffer in
                    try buffer.baseAddress.map { try database.runFirst($0 + offset) } ?? 0
                }
                let names = try database.rows(
                    "SELECT name FROM sqlite_master UNION ALL SELECT name FROM sqlite_temp_master"
                ).compactMap { $0[0] }
                origins.note(names, at: script.location(at: start))
                guard length > 0 else { return }
                offset += length
            } catch let failure as MemoryDatabase.Failure {
                let place = failure.offset.map { offset + $0 } ?? quotedPlace(failure, script, from: start)
                throw Diagnostics(script.location(at: place), failure.message + failure.directive)
            }
        }
    }

    /// Finds the word that an error message quotes. Engines before 3.38 report no offset.
    private func quotedPlace(_ failure: MemoryDatabase.Failure, _ script: Script, from start: Int) -> Int {
        guard let word = failure.word.map({ Array($0.utf8) }) else { return start }
        // An operator is as many tokens as it has signs.
        let token = SQLTokens(bytes: script.bytes, from: start).lazy.first { token in
            token.isSignificant && token.range.count <= word.count
                && script.bytes[token.range.lowerBound...].starts(with: word)
        }
        return token?.range.lowerBound ?? start
    }
}

/// Checks what CREATE does not check: foreign keys, views and triggers, which would fail when they are first used.
struct SchemaChecks {
    let database: MemoryDatabase
    let origins: Origins

    /// - Throws: ``Diagnostics`` with all errors, in the order of the scripts.
    func run() throws {
        let objects = try database.rows(
            """
            SELECT type, name, tbl_name, sql FROM (SELECT * FROM sqlite_master UNION ALL SELECT * FROM sqlite_temp_master)
            WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            """)
        let tables = Set(objects.filter { $0[0] == "table" }.compactMap { $0[1].map { SQLName($0) } })
        var found: [Diagnostic] = []
        for object in objects {
            guard let name = object[1] else { continue }
            switch object[0] {
            case "table": found += try references(of: name, among: tables)
            case "view": found += broken(name, "SELECT * FROM \(quoted(name))")
            case "trigger": found += trigger(name, on: object[2] ?? "", object[3] ?? "")
            default: break
            }
        }
        try Diagnostics.throwIfAny(found)
    }

    private func references(of table: String, among tables: Set<SQLName>) throws -> [Diagnostic] {
        let missing = try database.rows("PRAGMA foreign_key_list(\(quoted(table)))").compactMap { $0[2] }
            .filter { !tables.contains(SQLName($0)) }
        guard missing.isEmpty else {
            return Set(missing).sorted().map {
                Diagnostic(location: origins[table], message: "table \(table) refers to \($0), which does not exist")
            }
        }
        do {
            _ = try database.rows("PRAGMA foreign_key_check(\(quoted(table)))")
            return []
        } catch {
            return [Diagnostic(location: origins[table], message: error.message + error.directive)]
        }
    }

    /// Compiles a statement that fires the trigger, which compiles the trigger.
    private func trigger(_ name: String, on table: String, _ sql: String) -> [Diagnostic] {
        let words = SQLTokens(sql).lazy.filter { $0.kind == .word }.map { foldedKeyword($0.text) }
        switch words.first(where: ["INSERT", "UPDATE", "DELETE"].contains) {
        case "INSERT": return broken(name, "INSERT INTO \(quoted(table)) DEFAULT VALUES")
        case "DELETE": return broken(name, "DELETE FROM \(quoted(table))")
        default:
            let columns = (try? database.rows("PRAGMA table_info(\(quoted(table)))")) ?? []
            let sets = columns.compactMap { $0[1] }.map { "\(quoted($0)) = NULL" }
            return broken(name, "UPDATE \(quoted(table)) SET \(sets.joined(separator: ", "))")
        }
    }

    private func broken(_ name: String, _ sql: String) -> [Diagnostic] {
        do {
            try database.compile(sql)
            return []
        } catch {
            return [Diagnostic(location: origins[name], message: "\(name): \(error.message)\(error.directive)")]
        }
    }
}

extension MemoryDatabase.Failure {
    /// The word that the message quotes, `near "TABEL": syntax error`; nil if it quotes none.
    var word: Substring? {
        guard message.hasPrefix("near \""), let end = message.range(of: "\": ") else { return nil }
        return message[message.index(message.startIndex, offsetBy: 6)..<end.lowerBound]
    }

    /// How to declare what the application adds to its connections, if that is what is missing; empty otherwise.
    var directive: String {
        let declared = [
            ("no such function: ", "function ", " as Type?"), ("no such collation sequence: ", "collation ", ""),
            ("no such module: ", "module ", ""),
        ]
        for (start, word, end) in declared where message.hasPrefix(start) {
            let name = String(message.dropFirst(start.count))
            return "; if the application adds it, write '-- litevault: \(word)\(Directives.word(name))\(end)'"
        }
        if message.hasPrefix("object name reserved for internal use: sqlite_") {
            return "; leave the statement out: the engine makes that table itself ('.schema --nosys' does not print it)"
        }
        return ""
    }
}
