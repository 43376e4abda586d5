import Foundation
import LiteVault
import Testing

/// Where keys come from. Each is shown by opening a database that another program made.
@Suite(.enabled(if: EngineInfo.linked.encrypts, "the engine does not encrypt"))
struct KeySourceTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.copy(fixture: Fixture.encrypted, to: "vault.db")
        try workspace.copy(fixture: Fixture.rawKey, to: "raw.db")
    }

    /// Whether these options open the database.
    private func opens(_ database: String, _ options: String..., input: String = "") throws -> Bool {
        let run = try workspace.tool.run(["info", database, "--json"] + options, input: input)
        guard run.status == 0 else {
            #expect(run.status == 77, "\(run.errors)")
            return false
        }
        return try run.json()["opened"] as? Bool == true
    }

    @Test func `a file, with or without a newline at its end`() throws {
        try workspace.write(Fixture.passphrase, to: "key")
        try workspace.write(Fixture.passphrase + "\n", to: "line")
        try workspace.write(Fixture.passphrase + "\n\n", to: "lines")
        #expect(try opens("vault.db", "--key-file", "key"))
        #expect(try opens("vault.db", "-k", "key"))
        #expect(try opens("vault.db", "--key-file", "line"))
        #expect(try !opens("vault.db", "--key-file", "lines"))
    }

    @Test func `a file descriptor`() throws {
        #expect(try opens("vault.db", "--key-fd", "0", input: Fixture.passphrase + "\n"))
        #expect(try !opens("vault.db", "--key-fd", "99"))
    }

    @Test func `a variable of the environment`() throws {
        var tool = workspace.tool
        tool.environment = ["NOTES_KEY": Fixture.passphrase]
        #expect(try tool.run("info", "vault.db", "--key-env", "NOTES_KEY").output.contains("contents"))
        #expect(try tool.run("info", "vault.db", "--key-env", "OTHER_KEY").status == 77)
    }

    @Test func `the output of a command`() throws {
        #expect(try opens("vault.db", "--key-command", "echo \(Fixture.passphrase)"))
        #expect(try opens("vault.db", "--key-command", "cat", input: Fixture.passphrase))
    }

    @Test func `a command that fails, or prints nothing, or far too much, yields no key`() throws {
        #expect(try !opens("vault.db", "--key-command", "echo \(Fixture.passphrase); exit 3"))
        #expect(try !opens("vault.db", "--key-command", "true"))
        #expect(try !opens("vault.db", "--key-command", "cat /dev/zero"))
        #expect(try !opens("vault.db", "--key-command", "kill -9 $$"))
    }

    @Test func `a command sees no key of the environment`() throws {
        var tool = workspace.tool
        tool.environment = ["OLD": Fixture.passphrase]
        let run = try tool.run(
            "rekey", "vault.db", "--key-env", "OLD",
            "--new-key-command", "env > seen; tr '\\0' '\\n' < /proc/$PPID/environ >> seen; echo new")
        #expect(run.status == 0, "\(run.errors)")
        let seen = String(decoding: try workspace.bytes("seen"), as: UTF8.self)
        #expect(seen.contains("PATH="))
        #expect(!seen.contains(Fixture.passphrase))
    }

    @Test func `a credential of systemd, by its name only`() throws {
        var tool = workspace.tool
        try FileManager.default.createDirectory(
            atPath: workspace.path("credentials"), withIntermediateDirectories: false)
        try workspace.write(Fixture.passphrase, to: "credentials/notes")
        tool.environment = ["CREDENTIALS_DIRECTORY": workspace.path("credentials")]
        #expect(try tool.run("info", "vault.db", "--key-credential", "notes").output.contains("contents"))
        #expect(try tool.run("info", "vault.db", "--key-credential", "others").status == 77)
        #expect(try tool.run("info", "vault.db", "--key-credential", "../credentials/notes").status == 64)
        #expect(try workspace.tool.run("info", "vault.db", "--key-credential", "notes").status == 77)
    }

    @Test func `hexadecimal digits of either case, and raw bytes`() throws {
        try workspace.write(Fixture.hexKey + "\n", to: "hex")
        try workspace.write(Fixture.hexKey.uppercased(), to: "HEX")
        try workspace.write(Workspace.bytes(hex: Fixture.hexKey), to: "raw")
        #expect(try opens("raw.db", "--key-file", "hex", "--key-format", "hex"))
        #expect(try opens("raw.db", "--key-file", "HEX", "--key-format", "hex"))
        #expect(try opens("raw.db", "--key-file", "raw", "--key-format", "raw"))
    }

    @Test(arguments: [("hex", "abc"), ("hex", String(repeating: "g", count: 64)), ("raw", "too short"), ("hex", "")])
    func `a malformed key is rejected without being repeated`(_ format: String, _ key: String) throws {
        try workspace.write(key, to: "key")
        let run = try workspace.tool.run("info", "vault.db", "--key-file", "key", "--key-format", format, "--json")
        #expect(run.status == 77)
        #expect(try run.failureCode() == "key-rejected")
        #expect(key.isEmpty || !run.errors.contains(key))
    }

    @Test func `an empty key, a missing file and a key that is too long are rejected`() throws {
        try workspace.write("\n", to: "empty")
        try workspace.write(String(repeating: "x", count: 70_000), to: "long")
        for file in ["empty", "missing", "long", "."] {
            let run = try workspace.tool.run("info", "vault.db", "--key-file", file, "--json")
            #expect(run.status == 77, "\(file): \(run.errors)")
        }
    }

    @Test func `without a key and without a terminal the options are named`() throws {
        let run = try workspace.tool.run("verify", "vault.db")
        #expect(run.status == 77)
        for option in ["file", "fd", "env", "command", "credential"] {
            #expect(run.errors.contains("--key-\(option) "))
        }
    }

    @Test func `a key file that others can read is warned about, and used`() throws {
        try workspace.write(Fixture.passphrase, to: "key")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: workspace.path("key"))
        let run = try workspace.tool.run("info", "vault.db", "--key-file", "key")
        #expect(run.status == 0)
        #expect(run.errors.contains("warning: key:"))
        let json = try workspace.tool.run("info", "vault.db", "--key-file", "key", "--json")
        #expect(try json.jsonErrors().first?["warning"] != nil)
        #expect(try workspace.tool.run("info", "vault.db", "--key-file", "key", "--quiet").errors.isEmpty)
    }
}
