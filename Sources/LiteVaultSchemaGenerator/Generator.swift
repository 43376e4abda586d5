internal import Foundation

/// `LiteVaultSchemaGenerator --output FILE SCRIPT…`
///
/// Turns SQL scripts into typed tables: runs them in an in-memory database and writes Swift source for its schema.
/// LiteVaultSchemaPlugin runs it. Diagnostics have the form that SwiftPM and editors read: file:line:column: error: message.
@main
enum Generator {
    static func main() { exit(run(Array(CommandLine.arguments.dropFirst()))) }

    /// Runs the program and returns its exit status.
    private static func run(_ arguments: [String]) -> Int32 {
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
    /// - Throws: ``Diagnostics``, each with its line.
    private static func generate(scripts: [Script]) throws -> (text: String, warnings: [Diagnostic]) {
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

/// A place in a script. Lines and columns start at 1, as in editors.
struct Location: Comparable {
    let path: String
    let line: Int
    let column: Int

    static func < (one: Location, other: Location) -> Bool {
        (one.path, one.line, one.column) < (other.path, other.line, other.column)
    }
}

/// A message about a location, in the form that compilers use.
struct Diagnostic: CustomStringConvertible {
    enum Severity: String { case error, warning }

    let location: Location
    var severity = Severity.error
    let message: String

    var description: String {
        "\(location.path):\(location.line):\(location.column): \(severity.rawValue): \(message)"
    }
}

/// One or several errors.
struct Diagnostics: Error {
    let list: [Diagnostic]

    init(_ list: [Diagnostic]) { self.list = list }
    init(_ location: Location, _ message: String) { list = [Diagnostic(location: location, message: message)] }
}
