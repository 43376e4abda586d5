import Foundation
import Testing

/// Pages that list what there is: CommandLine.md, the contract of the command line, and the products in README.md.
@Suite struct CommandLinePageTests {
    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func text(_ path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    private func page() throws -> String { try text("Sources/LiteVault/Documentation.docc/CommandLine.md") }

    /// A command as the tool describes it to those who make man pages.
    private struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable {
                let kind: String
                let name: String
            }
            let names: [Name]?
            let shouldDisplay: Bool?
        }
        let commandName: String
        let subcommands: [Command]?
        let arguments: [Argument]?

        var commands: [Command] { (subcommands ?? []).filter { $0.commandName != "help" } }

        /// Its options and those of the commands below it, as they are typed.
        var options: Set<String> {
            let shown = (arguments ?? []).filter { $0.shouldDisplay ?? true }
            let names = shown.flatMap { $0.names ?? [] }
            let own = names.map { name in (name.kind == "long" ? "--" : "-") + name.name }
            return commands.reduce(into: Set(own)) { $0.formUnion($1.options) }
        }
    }

    private func described() throws -> Command {
        struct Dump: Decodable { let command: Command }
        let dump = try workspace.tool.run("--experimental-dump-help").output
        return try JSONDecoder().decode(Dump.self, from: Data(dump.utf8)).command
    }

    @Test func `the page names every option, by itself or as one of a family`() throws {
        let words = Set(
            try page().split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")) }.map(String.init))
        // Options that are about another key, file or store than the first one have its names behind a prefix, which the page gives.
        func isNamed(_ option: String) -> Bool {
            if words.contains(option) { return true }
            for (prefix, base) in [("--new-", "--"), ("--to-", "--"), ("--source-", "--"), ("--repository-secret-", "--key-")]
            where option.hasPrefix(prefix) {
                return isNamed(base + option.dropFirst(prefix.count))
            }
            return false
        }
        let options = try described().options
        #expect(options.count > 100)
        #expect(options.filter { !isNamed($0) }.sorted() == [])
    }

    @Test func `the first table has every command`() throws {
        let page = try page()
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `litevault ") }.map { $0.dropFirst(13) }
        for command in try described().commands {
            let (name, below) = (command.commandName, command.commands.map(\.commandName))
            let own = rows.filter { $0.hasPrefix(name + " ") || $0.hasPrefix(name + "`") }
            #expect(!own.isEmpty, "\(name)")
            for one in below where name != "topics" {
                let isThere = own.contains { row in
                    row.dropFirst(name.count + 1).prefix { $0 != " " && $0 != "`" }.split { $0 == "|" || $0 == "\\" }.contains { $0 == one }
                }
                #expect(isThere, "\(name) \(one)")
            }
        }
    }

    @Test(arguments: ["copy", "query"])
    func `the table of results has a row of the command`(_ command: String) throws {
        let results = try #require(try page().components(separatedBy: "Members of the results").last)
        #expect(results.contains("\n| `\(command)` |"))
    }

    @Test func `the member "command" is the last word of the command alone`() throws {
        let config = try workspace.write("repository: r\njobs: [{name: a, sources: notes.db, every: 1h}]\n", to: "backup.yml")
        let result = try workspace.tool.run("schedule", "check", config, "--json").json()
        #expect(result["command"] as? String == "check")
        #expect(try page().contains("`command` is the last word of the command"))
    }

    @Test func `the README's table has every product of the package`() throws {
        let rows = try text("README.md").split(separator: "\n").filter { $0.hasPrefix("| `") }
        let declared = try text("Package.swift").split(separator: "\n").filter { line in
            [".library(name: ", ".executable(name: ", ".plugin(name: "].contains { line.contains($0) && line.contains(", targets: ") }
        }
        let products = declared.compactMap { $0.split(separator: "\"").dropFirst().first }
        #expect(products.count > 5)
        for product in products { #expect(rows.contains { $0.contains("`\(product)`") }, "\(product)") }
    }
}
