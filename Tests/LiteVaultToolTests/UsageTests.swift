import Foundation
import LiteVault
import Testing

/// Arguments that are wrong, and what `--help` says.
@Suite struct UsageTests {
    static let commands = [
        "encrypt", "decrypt", "rekey", "export", "migrate", "info", "verify", "query", "shell", "dump", "stats", "diff",
        "vacuum",
        "backup",
        "snapshot", "snapshots", "restore", "restore-all", "follow-restore", "forget", "compact", "check",
    ]
    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    @Test func `the help of snapshot says which keyring is stored of a database that a link names`() throws {
        let run = try workspace.tool.run("snapshot", "--help")
        let text = run.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(text.contains("of a link, first the one beside the database itself"), "\(text)")
        #expect(text.contains("default: the .keys beside the database, or beside the link to it"), "\(text)")
    }

    @Test(arguments: commands)
    func `the help of a command has examples, and says where the exit statuses are`(_ command: String) throws {
        let run = try workspace.tool.run(command, "--help")
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        #expect(run.output.contains("EXAMPLES:\n  litevault \(command) "))
        #expect(run.output.contains("See 'litevault help topics' for exit statuses"))
        #expect(!run.output.contains("EXIT STATUS:"))
    }

    @Test(arguments: [["help", "topics", "exit-status"], ["topics", "exit-status"], ["--help"]])
    func `the exit statuses are on one page, and in the tool's own help`(_ arguments: [String]) throws {
        let run = try workspace.tool.run(arguments)
        #expect(run.status == 0)
        for status in [0, 1, 64, 65, 66, 69, 73, 74, 75, 77, 78, 129, 130, 143] {
            #expect(run.output.contains("\n  \(status) "), "status \(status)")
        }
    }

    @Test(arguments: [
        (["help", "nothing-like-it"], "The commands of 'litevault' are "), (["help", "snapshto"], "Did you mean 'litevault snapshot'?"),
        (["help", "key", "ad"], "Did you mean 'litevault key add'?"),
        (["help", "verify", "x"], "'litevault verify' has no commands"), (["help", "nope"], "The commands of 'litevault' are "),
        (["version"], "'litevault --version'"),
    ])
    func `help of a command that does not exist is an error that names those that do`(_ words: [String], _ hint: String) throws {
        let run = try workspace.tool.run(words)
        #expect(run.status == 64 && run.output.isEmpty)
        #expect(run.errors.contains("unknown command") && run.errors.contains(hint), "\(run.errors)")
        #expect(try workspace.tool.run("help", "key", "add").output.contains("litevault key add"))
    }

    @Test(arguments: [
        (["help", "verify", "--json"], "'litevault verify --help'"), (["-V"], "'litevault --version'"),
        (["snapshots", "-R", "rj"], "unknown option '-R'"), (["info", "a", "-x"], "unknown option '-x'"),
    ])
    func `an option is not taken for a command, and an unknown one is named before what is missing`(
        _ words: [String], _ hint: String
    ) throws {
        let run = try workspace.tool.run(words)
        #expect(run.status == 64 && run.errors.contains(hint), "\(run.errors)")
        #expect(!run.errors.contains("unknown command") && !run.errors.lowercased().contains("missing"))
    }

    @Test func `topics are listed, and each page is printed in 80 columns`() throws {
        let list = try workspace.tool.run("help", "topics").output
        for topic in ["exit-status", "keys", "repositories", "times", "json", "environment"] {
            #expect(list.contains("\n  \(topic) "))
            let page = try workspace.tool.run("topics", topic)
            #expect(page.status == 0)
            #expect(page.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(page.output)")
            #expect(!page.output.contains("USAGE:"))
        }
    }

    @Test(arguments: [[], ["encrypt"], ["rekey"], ["snapshot"], ["restore"], ["query"], ["key", "add"], ["schedule"]])
    func `-h prints a short help, and --help all of it`(command: [String]) throws {
        let (short, full) = (try workspace.tool.run(command + ["-h"]), try workspace.tool.run(command + ["--help"]))
        #expect(short.status == 0 && full.status == 0)
        let lines = short.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 60 && lines.allSatisfy { $0.count <= 80 }, "\(short.output)")
        #expect(lines.count < full.output.split(separator: "\n", omittingEmptySubsequences: false).count)
        #expect(short.output.hasPrefix(full.output.prefix { $0 != "\n" }) && short.output.contains("\nUSAGE: litevault"))
        // Each line is the beginning of one in the whole help, or says where that is.
        let all = full.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for line in lines.dropLast(2) where !line.isEmpty && !line.contains("… and ") {
            let words = line.split(separator: " ").filter { $0 != "…" }.joined(separator: " ")
            #expect(all.contains(words), "\(line)")
        }
        #expect(short.output.hasSuffix("'\((["litevault"] + command).joined(separator: " ")) --help' explains all options.\n"))
    }

    @Test func `the page of keys names the options that there are`() throws {
        let help = try workspace.tool.run("verify", "--help").output
        let page = try workspace.tool.run("topics", "keys").output
        for source in ["file", "fd", "env", "command", "credential", "prompt"] {
            #expect(page.contains(" --key-\(source) ") && help.contains(" --key-\(source)"), "\(source)")
        }
    }

    @Test(
        arguments: commands + [
            "repair", "copy", "key init", "key add", "key test", "key recover", "key audit", "secret", "secret add",
            "secret change", "schedule", "schedule check", "doctor",
        ])
    func `the examples in the help of a command fit 80 columns`(_ command: String) throws {
        let help = try workspace.tool.run(command.split(separator: " ").map(String.init) + ["--help"]).output
        let examples = try #require(
            help.components(separatedBy: "EXAMPLES:\n").last?.components(separatedBy: "\n\n").first)
        for line in examples.split(separator: "\n") {
            #expect(line.count <= 80 && line.hasPrefix("  "), "\(line)")
        }
    }

    @Test func `headings name A of a comparison, and no help names an option that its command does not have`() throws {
        let diff = try workspace.tool.run("diff", "--help").output
        #expect(diff.contains("KEY OF A:") && diff.contains("CIPHER SETTINGS OF A:") && !diff.contains("OF THE A"))
        for command in ["restore", "restore-all"] {
            #expect(try !workspace.tool.run(command, "--help").output.contains("--to-sources"))
        }
        let many = try workspace.tool.run("schedule", "restore", "--help").output
        #expect(many.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("they belong to the owner of the directory"))
    }

    @Test(arguments: [
        ["doctor", "-r", "missing"], ["query", "-r", "missing", "n", "SELECT 1"], ["dump", "-r", "missing", "n"],
        ["stats", "-r", "missing", "n"],
    ])
    func `-r is short for --repository wherever that is`(_ arguments: [String]) throws {
        let run = try workspace.tool.run(arguments)
        #expect(run.status != 64 && !run.errors.contains("unknown"), "\(run.errors)")
    }

    @Test func `the version names the tool and the engine it runs on`() throws {
        let run = try workspace.tool.run("--version")
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("litevault "))
        #expect(run.output.contains("SQLite 3."))
        #expect(run.output.contains(EngineInfo.linked.encrypts ? "SQLCipher" : "no encryption"))
    }

    @Test func `help lists every command`() throws {
        let help = try workspace.tool.run("--help").output
        for command in Self.commands { #expect(help.contains("\n  \(command) ")) }
    }

    @Test func `a misspelt command is answered with the right one`() throws {
        let run = try workspace.tool.run("decript", "a.db", "b.db")
        #expect(run.status == 64)
        #expect(run.errors.contains("litevault decrypt"))
    }

    @Test(arguments: [
        (["key", "lst", "SECRET"], "'litevault key list'"), (["secret", "rotat"], "'litevault secret rotate'"),
        (["key", "SECRET"], "'litevault key' are init, add"),
        (["key", "remove", "k"], "'litevault key remove --help'"),
        (["schedule", "stats"], "'litevault schedule status'"),
    ])
    func `a wrong command of a group is answered with its commands, and help is that of the command`(
        _ arguments: [String], hint: String
    ) throws {
        let run = try workspace.tool.run(arguments)
        #expect(run.status == 64)
        #expect(run.errors.contains(hint) && !run.errors.contains("SECRET"), "\(run.errors)")
    }

    @Test(arguments: ["init", "add", "remove", "change", "list", "recover", "test"])
    func `the help of a command about a keyring names it as its text does`(_ command: String) throws {
        let help = try workspace.tool.run("key", command, "--help").output
        #expect(help.contains("<keyring>") && !help.contains("<path> <"))
        #expect(!help.contains("-key-format"))
    }

    @Test(arguments: [
        ["encrypt"], ["encrypt", "a"], ["encrypt", "a", "b", "--in-place"],
        ["encrypt", "a", "b", "--keep-original", "c"],
        ["info", "a", "--no-such-option"], ["info", "a", "--key-fd", "three"], ["info", "a", "--key-format", "base64"],
        ["info", "a", "--key-file", "b", "--key-env", "c"], ["rekey", "a", "--new-key-file", "b", "--new-key-fd", "3"],
        ["export", "a", "b", "--to-key-file", "b", "--to-key-command", "c"],
        ["info", "a", "--source-page-size", "big"],
        ["decrypt", "a"], ["backup", "a"], ["verify"], ["vacuum", "a", "b"],
        ["restore", "--repository", "r", "--to-stdout", "--owner", "root"], ["key", "remove", "k", "--rekey", "a"],
    ])
    func `wrong arguments end with 64 and a hint, and nothing on standard output`(_ arguments: [String]) throws {
        let run = try workspace.tool.run(arguments)
        #expect(run.status == 64)
        #expect(run.output.isEmpty)
        #expect(run.errors.hasPrefix("error: "))
        #expect(run.errors.contains("\nhint:  "))
    }

    @Test(arguments: [
        ["encrypt", "a", "b", "--key", "SECRET"], ["encrypt", "a", "b", "--key=SECRET"],
        ["encrypt", "a", "b", "--passphrase", "SECRET"], ["rekey", "a", "--new-key", "SECRET"],
        ["decrypt", "a", "b", "-k", "SECRET"], ["shell", "a", "-k", "./SECRET"], ["decrypt", "a", "b", "-kSECRET"], ["decrypt", "a", "b", "-pSECRET"],
    ])
    func `a key among the arguments is refused, not repeated, and answered with the ways to give one`(
        _ arguments: [String]
    ) throws {
        for more in [[], ["--json"]] {
            let run = try workspace.tool.run(arguments + more)
            #expect(run.status == 64)
            #expect(!(run.output + run.errors).contains("SECRET"))
            #expect(run.errors.contains("--key-file"))
        }
    }

    @Test(arguments: [
        ["encrypt", "a", "b", "SECRET"], ["info", "a", "SECRET", "SECRET"], ["info", "a", "--key-fd", "SECRET"],
        ["info", "a", "--json=SECRET"], ["info", "a", "-SECRET"], ["info", "a", "--key-format", "SECRET"],
        ["info", "a", "--unknown=SECRET"], ["SECRET"],
    ])
    func `an argument that may be a key by mistake is not repeated`(_ arguments: [String]) throws {
        let run = try workspace.tool.run(arguments)
        #expect(run.status == 64)
        #expect(!(run.output + run.errors).contains("SECRET"))
    }

    @Test func `with --json a usage error is one JSON object on standard error`() throws {
        let run = try workspace.tool.run("encrypt", "--json")
        #expect(run.status == 64)
        #expect(run.output.isEmpty)
        let lines = try run.jsonErrors()
        #expect(lines.count == 1)
        #expect(lines.first?["schema"] as? Int == 1)
        #expect(try run.failureCode() == "usage")
    }

    @Test func `with --quiet a failure is still reported`() throws {
        let run = try workspace.tool.run("info", "missing.db", "--quiet")
        #expect(run.status == 66)
        #expect(run.errors.contains("missing.db"))
    }
}
