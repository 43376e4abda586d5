internal import Foundation
internal import LiteVaultQuoting

/// `LiteVaultSchemaGenerator --output FILE SCRIPT… [--queries FILE QUERIES…]`
///
/// Turns SQL scripts into typed tables: runs them in an in-memory database and writes Swift source for its schema. Turns files
/// of statements into typed functions: compiles each statement in that database and writes Swift source for them.
/// LiteVaultSchemaPlugin runs it. Diagnostics have the form that SwiftPM and editors read: file:line:column: error: message.
@main
enum Generator {
    static func main() {
        // The engine takes expressions that are nested 1000 times, for which the first thread has not enough stack.
        let worker = Thread { exit(run(Array(CommandLine.arguments.dropFirst()))) }
        worker.stackSize = 256 << 20
        worker.start()
        while true { sleep(60) }
    }

    /// Runs the program and returns its exit status.
    private static func run(_ arguments: [String]) -> Int32 {
        let queries = arguments.firstIndex(of: "--queries") ?? arguments.count
        guard queries >= 3, arguments[0] == "--output", queries == arguments.count || arguments.count > queries + 2
        else {
            report(["usage: LiteVaultSchemaGenerator --output FILE SCRIPT… [--queries FILE QUERIES…]"])
            return 64
        }
        do {
            let generated = try generate(
                scripts: arguments[2..<queries].map { try Script(path: $0) },
                queries: arguments.dropFirst(queries + 2).map { try Script(path: $0) })
            report(generated.warnings.map(\.description))
            try write(generated.schema, to: arguments[1])
            if queries < arguments.count { try write(generated.queries, to: arguments[queries + 1]) }
            return 0
        } catch let diagnostics as Diagnostics {
            report(diagnostics.list.map(\.description))
        } catch {
            report(["error: \(error.localizedDescription)"])
        }
        return 1
    }

    /// The Swift source for a schema and for statements.
    ///
    /// - Throws: ``Diagnostics``, each with its line.
    private static func generate(
        scripts: [Script], queries: [Script]
    ) throws -> (schema: String, queries: String, warnings: [Diagnostic]) {
        let directives = try Directives(scripts + queries)
        let database = try MemoryDatabase()
        for name in directives.functions.keys { database.declare(function: name) }
        for name in directives.collations { database.declare(collation: name) }
        for module in directives.modules { try database.declare(module) }
        let origins = try ScriptRunner(database: database).run(scripts)
        try SchemaChecks(database: database, origins: origins).run()
        let tables = try ModelReader(database: database).tables()
        try directives.names.check(tables)
        var types = ColumnTypes(directives)
        types.infer(tables)
        let reader = RecordModelReader(directives: directives, types: types)
        let records = try reader.records(tables)
        let found = try RelationReader(
            database: database, records: directives.hasRelations ? records : [], names: directives.names
        ).relations()
        let warnings = types.warnings(tables, origins) + reader.warnings(records) + found.warnings
        let schema =
            ([
                try SwiftWriter(scripts: scripts, directives: directives, types: types, origins: origins).source(
                    of: tables)
            ] + RecordSourceWriter(directives: directives, relations: found.relations).source(of: records))
            .joined(separator: "\n")
        guard !queries.isEmpty else { return (schema, "", warnings) }
        let catalog = CatalogReader(types: types, directives: directives).catalog(tables)
        let statements = try queries.flatMap { try QueryFileReader(file: $0).statements() }
        let checked = try StatementChecks(database, tables, catalog, directives).run(statements)
        let names = Dictionary(
            records.map { ($0.table.name, $0.directive.name) }, uniquingKeysWith: { first, _ in first })
        let source = try QueryWriter(files: queries, isPublic: directives.isPublic, records: names).source(of: checked)
        return (schema, source, warnings)
    }

    private static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
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
        let path = Quoting.terminal(location.path)
        return "\(path):\(location.line):\(location.column): \(severity.rawValue): \(Quoting.terminal(message))"
    }
}

struct Diagnostics: Error {
    let list: [Diagnostic]

    init(_ list: [Diagnostic]) { self.list = list }
    init(_ location: Location, _ message: String) { list = [Diagnostic(location: location, message: message)] }

    /// Throws the errors, if there are any, in the order of their places.
    static func throwIfAny(_ found: [Diagnostic]) throws {
        guard found.isEmpty else { throw Diagnostics(found.sorted { $0.location < $1.location }) }
    }
}
