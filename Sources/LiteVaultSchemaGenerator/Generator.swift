internal import Foundation

/// Turns SQL scripts into typed tables: runs them in a database in memory, and writes down what came out.
enum Generator {
    /// The program; its result is the exit status.
    static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count >= 3, arguments[0] == "--output" else {
            report(["usage: LiteVaultSchemaGenerator --output FILE SCRIPT…"])
            return 64
        }
        do {
            let (text, warnings) = try generate(scripts: arguments[2...].map { try Script(path: $0) })
            report(warnings.map(\.description))
            try Data(text.utf8).write(to: URL(fileURLWithPath: arguments[1]), options: .atomic)
            return 0
        } catch let diagnostics as Diagnostics {
            report(diagnostics.list.map(\.description))
        } catch {
            report(["error: \(error.localizedDescription)"])
        }
        return 1
    }

    /// The Swift source for a schema.
    ///
    /// - Throws: ``Diagnostics``, each at the line that it is about.
    static func generate(scripts: [Script]) throws -> (text: String, warnings: [Diagnostic]) {
        let directives = try Directives(scripts)
        let database = try MemoryDatabase()
        let origins = try ScriptRunner(database).run(scripts)
        try SchemaChecks(database, origins).run()
        let tables = try ModelReader(database, origins).tables()
        let types = ColumnTypes(directives)
        let text = try SwiftWriter(scripts: scripts, directives: directives, types: types, origins: origins)
            .source(of: tables)
        return (text, types.warnings(tables, origins))
    }

    private static func report(_ lines: [String]) {
        FileHandle.standardError.write(Data(lines.map { $0 + "\n" }.joined().utf8))
    }
}
