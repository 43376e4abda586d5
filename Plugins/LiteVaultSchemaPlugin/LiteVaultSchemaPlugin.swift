import Foundation
import PackagePlugin

/// Turns a target's `schema.sql`, or its directory `Migrations` of numbered `.sql` files, into typed tables and columns.
///
/// A renamed column is then a compile error where it is used, and a mistake in the SQL fails the build at its line.
@main
struct LiteVaultSchemaPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let folder = (target as? any SourceModuleTarget)?.directoryURL else { return [] }
        let scripts = try Self.scripts(in: folder, of: target.name)
        let output = context.pluginWorkDirectoryURL.appending(path: "Schema.swift")
        return [
            .buildCommand(
                displayName: "Typed tables of \(target.name)",
                executable: try context.tool(named: "LiteVaultSchemaGenerator").url,
                arguments: ["--output", output.path] + scripts.map(\.path), inputFiles: scripts, outputFiles: [output])
        ]
    }

    private static func scripts(in folder: URL, of target: String) throws -> [URL] {
        let schema = folder.appending(path: "schema.sql")
        let migrations = folder.appending(path: "Migrations")
        let hasSchema = FileManager.default.fileExists(atPath: schema.path)
        let numbered = try Self.migrations(in: migrations)
        switch (hasSchema, numbered.isEmpty) {
        case (true, true): return [schema]
        case (false, false): return numbered
        case (true, false):
            throw Mistake("\(target) has both schema.sql and Migrations/*.sql: which of them is the schema?")
        case (false, true):
            throw Mistake("\(target) uses LiteVaultSchemaPlugin, and has neither schema.sql nor Migrations/*.sql")
        }
    }

    private static func migrations(in folder: URL) throws -> [URL] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "sql" }
        var byNumber: [Int: URL] = [:]
        for file in files {
            guard let number = Int(file.lastPathComponent.prefix { $0.isASCII && $0.isNumber }) else {
                throw Mistake("\(file.path): a migration's name begins with its number: 0001-create-users.sql")
            }
            if let other = byNumber.updateValue(file, forKey: number) {
                throw Mistake("\(file.path): has the same number as \(other.lastPathComponent)")
            }
        }
        return byNumber.sorted { $0.key < $1.key }.map(\.value)
    }
}

/// What a target lacks.
struct Mistake: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
