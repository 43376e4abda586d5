import Foundation
import PackagePlugin

/// Turns a target's `schema.sql`, or the numbered `.sql` files in its directory `Migrations`, into typed tables and columns.
///
/// Using a column that was renamed is then a compile error, and a mistake in the SQL fails the build at its line. The named
/// statements in the files `queries/*.sql` become typed functions.
@main
struct LiteVaultSchemaPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let directory = (target as? any SourceModuleTarget)?.directoryURL else { return [] }
        let scripts = try Self.scripts(in: directory, of: target.name)
        let output = context.pluginWorkDirectoryURL.appending(path: "Schema.swift")
        let queries = try Self.sqlFiles(in: directory.appending(path: "queries")).sorted { $0.path < $1.path }
        let functions = context.pluginWorkDirectoryURL.appending(path: "Queries.swift")
        var arguments = ["--output", output.path] + scripts.map(\.path)
        if !queries.isEmpty { arguments += ["--queries", functions.path] + queries.map(\.path) }
        return [
            .buildCommand(
                displayName: "Typed tables of \(target.name)",
                executable: try context.tool(named: "LiteVaultSchemaGenerator").url, arguments: arguments,
                inputFiles: scripts + queries, outputFiles: queries.isEmpty ? [output] : [output, functions])
        ]
    }

    private static func scripts(in directory: URL, of target: String) throws -> [URL] {
        let schema = directory.appending(path: "schema.sql")
        let migrations = directory.appending(path: "Migrations")
        let hasSchema = FileManager.default.fileExists(atPath: schema.path)
        let numbered = try Self.migrations(in: migrations)
        switch (hasSchema, numbered.isEmpty) {
        case (true, true): return [schema]
        case (false, false): return numbered
        case (true, false):
            throw Mistake("\(target) has both schema.sql and Migrations/*.sql; keep the one that is the schema")
        case (false, true):
            throw Mistake(
                "\(target) uses LiteVaultSchemaPlugin but has neither schema.sql nor Migrations/*.sql; add one")
        }
    }

    private static func sqlFiles(in directory: URL) throws -> [URL] {
        guard FileManager.default.fileExists(atPath: directory.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "sql" }
    }

    private static func migrations(in directory: URL) throws -> [URL] {
        let files = try sqlFiles(in: directory)
        var byNumber: [MigrationNumber: URL] = [:]
        for file in files {
            guard let number = MigrationNumber(file.lastPathComponent) else {
                throw Mistake(
                    "\(file.path): the name of a migration must begin with its number, as in 0001-create-users.sql, "
                        + "or with a date, as in 2026-11-24-create-users.sql")
            }
            if let other = byNumber.updateValue(file, forKey: number) {
                throw Mistake("\(file.path): another migration has the same number: \(other.lastPathComponent)")
            }
        }
        return byNumber.sorted { $0.key < $1.key }.map(\.value)
    }
}

/// A mistake in the files of a target.
struct Mistake: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
