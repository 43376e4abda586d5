import Foundation
import LiteVault
import Testing

/// What depends on the engine that is linked. Runs on each of them.
@Suite struct EngineTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.makeDatabase("notes.db")
        try workspace.copy(fixture: "v4-4.6.1-default.db", to: "vault.db")
        try workspace.write("secret", to: "key")
    }

    @Test(arguments: [
        ["encrypt", "notes.db", "new.db"], ["encrypt", "notes.db", "--in-place"],
        ["encrypt", "notes.db", "new.db", "--plaintext-header", "32", "--salt-file", "salt"],
        ["decrypt", "vault.db", "new.db", "--yes"], ["rekey", "vault.db", "--new-key-file", "key"],
        ["export", "vault.db", "new.db"], ["migrate", "vault.db"], ["verify", "vault.db"], ["vacuum", "vault.db"],
        ["vacuum", "vault.db", "--into", "new.db"], ["backup", "vault.db", "new.db"], ["info", "vault.db"],
    ])
    func `without encryption in the engine, commands that need it end with 69 before a file is touched`(
        _ arguments: [String]
    ) throws {
        let before = try ["notes.db", "vault.db"].map(workspace.bytes)
        let run = try workspace.tool.run(arguments + ["--key-file", "key", "--json"])
        if EngineInfo.linked.encrypts {
            #expect(try run.status != 69 || run.failureCode() == "unsupported")
        } else {
            #expect(run.status == 69)
            #expect(try run.failureCode() == "no-encryption")
            #expect(try ["notes.db", "vault.db"].map(workspace.bytes) == before)
            #expect(try workspace.names() == ["notes.db", "vault.db", "key"])
        }
    }

    @Test func `plaintext databases are verified, vacuumed and backed up by every engine`() throws {
        for arguments in [["verify", "notes.db"], ["vacuum", "notes.db"], ["backup", "notes.db", "copy.db"]] {
            let run = try workspace.tool.run(arguments + ["--json"])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.errors.isEmpty)
        }
        #expect(try workspace.tool.run("info", "copy.db", "--json").json()["kind"] as? String == "plain")
        #expect(try workspace.tool.run("verify", "copy.db").status == 0)
    }

    @Test func `a feature of newer engines is rejected with 69`() throws {
        guard EngineInfo.linked.sqlcipherMajorVersion == 3 else { return }
        let run = try workspace.tool.run(
            "encrypt", "notes.db", "new.db", "--key-file", "key", "--kdf-algorithm", "sha512", "--json")
        #expect(run.status == 69)
        #expect(try run.failureCode() == "unsupported")
        #expect(try !workspace.names().contains("new.db"))
    }
}
