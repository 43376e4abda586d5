import Foundation
import LiteVault
import Testing

/// New data under the key of a keyring, as a person and a script meet it.
@Suite(.enabled(if: EngineInfo.linked.encrypts, "the linked engine does not encrypt")) struct KeyringProofTests {
    let workspace: Workspace
    let tool: Tool

    init() throws {
        workspace = try Workspace()
        try workspace.makeDatabase("plain.db")
        try workspace.write(String(repeating: "s", count: 40), to: "secret")
        tool = Tool(directory: workspace.directory, environment: ["XDG_STATE_HOME": workspace.path("state")])
    }

    private let opening = ["--unlock", "secret", "--key-file", "secret"]

    /// A keyring of a recipient, which has not endorsed it, as on the machine of the recipient.
    private func makeRecipient() throws -> (words: [String], fingerprint: String) {
        #expect(try tool.run("keygen", "--format", "identity", "id").status == 0)
        let recipient = try tool.run("key", "export-recipient", "--key-file", "id").output
            .trimmingCharacters(in: .newlines)
        let made = try tool.run("key", "init", "keys", "--kind", "recipient", "--recipient", recipient, "--json").json()
        let proof = try #require(made["keyring_proof"] as? [String: Any])
        try FileManager.default.removeItem(atPath: workspace.path("state"))
        return (
            ["--keyring", "keys", "--unlock", "identity", "--key-file", "id"],
            try #require(proof["fingerprint"] as? String)
        )
    }

    @Test func `H-KEY-21 a keyring without proof gets no new data from a script, which is shown its fingerprint`()
        throws
    {
        let (words, fingerprint) = try makeRecipient()
        let run = try tool.run(["encrypt", "plain.db", "new.db", "--json"] + words)
        #expect(run.status == 77 && run.output.isEmpty)
        let error = try #require(run.jsonErrors().last?["error"] as? [String: Any])
        #expect(error["code"] as? String == "key-rejected" && error["path"] as? String == "keys")
        #expect((error["message"] as? String)?.contains(fingerprint) == true)
        #expect((error["remedy"] as? String)?.contains("--trust-keyring") == true)
        #expect(try !workspace.names().contains("new.db"))
    }

    @Test func `a keyring that is trusted by its fingerprint is remembered, and needs no option again`() throws {
        let (words, fingerprint) = try makeRecipient()
        let trust = ["--trust-keyring", fingerprint]
        #expect(try tool.run(["encrypt", "plain.db", "new.db"] + words + trust).status == 0)
        #expect(try tool.run(["encrypt", "plain.db", "second.db"] + words).status == 0)
        #expect(try tool.run(["verify", "second.db"] + words).status == 0)
        let other = ["--trust-keyring", "0000-0000-0000-0000-0000-0000-0000-0000"]
        let run = try tool.run(["encrypt", "plain.db", "third.db"] + words + other)
        #expect(run.status == 77 && run.errors.contains("another fingerprint"))
        #expect(try tool.run(["encrypt", "plain.db", "third.db"] + words + ["--trust-keyring", "x"]).status == 64)
    }

    @Test(arguments: [("n", Int32(64)), ("y", 0)])
    func `a person on a terminal is shown the fingerprint and asked`(answer: String, status: Int32) throws {
        let (words, fingerprint) = try makeRecipient()
        let state = "XDG_STATE_HOME=\(workspace.path("state"))"
        // The terminal's tool is started by a shell, with the environment of this process.
        let terminal = try Terminal(
            ["encrypt", "plain.db", "new.db"] + words, in: workspace.directory, setting: state)
        #expect(terminal.waitFor(fingerprint))
        #expect(terminal.waitFor("[y/N]"))
        terminal.type(answer)
        #expect(terminal.end() == status, "\(terminal.screen)")
        #expect(try workspace.names().contains("new.db") == (status == 0))
    }

    @Test func `a new keyring is endorsed and remembered, and shows its fingerprint`() throws {
        try workspace.write("several random words 17", to: "passphrase")
        let run = try tool.run(
            "encrypt", "plain.db", "vault.db", "--new-keyring", "keys", "--key-file", "passphrase")
        #expect(run.status == 0)
        let test = try tool.run("key", "test", "keys", "--key-file", "passphrase", "--database", "vault.db", "--json")
            .json()
        #expect((test["keyring_proof"] as? [String: Any])?["proof"] as? String == "remembered")
        try FileManager.default.removeItem(atPath: workspace.path("state"))
        let again = try tool.run("key", "test", "keys", "--key-file", "passphrase", "--json").json()
        #expect((again["keyring_proof"] as? [String: Any])?["proof"] as? String == "endorsed")
        #expect(
            try tool.run("encrypt", "plain.db", "new.db", "--keyring", "keys", "--key-file", "passphrase").status == 0)
    }

    @Test func `a state directory that cannot be written is a warning, and new data is encrypted`() throws {
        #expect(try tool.run(["key", "init", "keys", "--kind", "file", "--new-key-file", "secret"]).status == 0)
        try FileManager.default.removeItem(atPath: workspace.path("state"))
        try workspace.write("not a directory", to: "state")
        let run = try tool.run(["encrypt", "plain.db", "new.db", "--keyring", "keys"] + opening)
        #expect(run.status == 0 && run.errors.contains("will not remember"), "\(run.errors)")
    }
}
