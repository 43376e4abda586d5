/// What CREATE does not check, and would fail only at the first use: references, views and triggers.
struct SchemaChecks {
    private let database: MemoryDatabase
    private let origins: Origins

    init(_ database: MemoryDatabase, _ origins: Origins) {
        self.database = database
        self.origins = origins
    }

    /// - Throws: ``Diagnostics`` with all that is wrong, in the order of the scripts.
    func run() throws {
        let objects = try database.rows(
            "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        let tables = Set(objects.filter { $0[0] == "table" }.compactMap { $0[1]?.lowercased() })
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
        guard found.isEmpty else { throw Diagnostics(found.sorted { $0.location < $1.location }) }
    }

    private func references(of table: String, among tables: Set<String>) throws -> [Diagnostic] {
        let missing = try database.rows("PRAGMA foreign_key_list(\(quoted(table)))").compactMap { $0[2] }
            .filter { !tables.contains($0.lowercased()) }
        guard missing.isEmpty else {
            return Set(missing).sorted().map {
                Diagnostic(location: origins[table], message: "table \(table) refers to \($0), which does not exist")
            }
        }
        do {
            _ = try database.rows("PRAGMA foreign_key_check(\(quoted(table)))")
            return []
        } catch {
            return [Diagnostic(location: origins[table], message: error.message)]
        }
    }

    /// Compiling a statement that fires a trigger compiles the trigger.
    private func trigger(_ name: String, on table: String, _ sql: String) -> [Diagnostic] {
        let words = sql.uppercased().split { !$0.isLetter && $0 != "_" }
        let event = words.first { ["INSERT", "UPDATE", "DELETE"].contains($0) }
        switch event {
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
            return [Diagnostic(location: origins[name], message: "\(name): \(error.message)")]
        }
    }
}
