import Foundation
import LiteVault
import Testing

/// What happens on a terminal: keys are asked for, without echo.
@Suite(.enabled(if: EngineInfo.linked.encrypts, "the engine does not encrypt"))
struct PromptTests {
    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func start(_ arguments: String...) throws -> Terminal {
        try Terminal(arguments, in: workspace.directory)
    }

    @Test func `a passphrase is asked for without echo, and opens the database`() throws {
        try workspace.copy(fixture: Fixture.encrypted, to: "vault.db")
        let terminal = try start("verify", "vault.db")
        #expect(terminal.waitFor("Passphrase for vault.db: "))
        #expect(!terminal.echoes)
        terminal.type(Fixture.passphrase)
        #expect(terminal.end() == 0)
        #expect(!terminal.screen.contains(Fixture.passphrase))
    }

    @Test func `a key about to be set is asked for twice, until both are the same`() throws {
        try workspace.makeDatabase("notes.db")
        let terminal = try start("encrypt", "notes.db", "vault.db")
        #expect(terminal.waitFor("New passphrase for vault.db: "))
        terminal.type("one")
        #expect(terminal.waitFor("Repeat it: "))
        terminal.type("two")
        #expect(terminal.waitFor("New passphrase for vault.db: "))
        terminal.type("three")
        #expect(terminal.waitFor("Repeat it: "))
        terminal.type("three")
        #expect(terminal.end() == 0)
        #expect(terminal.screen.contains("the passphrase is weak: 10,000 guesses a second find it in 20 minutes at most"))
        try workspace.write("three", to: "key")
        #expect(try workspace.tool.run("verify", "vault.db", "--key-file", "key").status == 0)
    }

    @Test func `a key that was typed differently three times is not set`() throws {
        try workspace.makeDatabase("notes.db")
        let terminal = try start("encrypt", "notes.db", "vault.db")
        for _ in 1...3 {
            #expect(terminal.waitFor("New passphrase for vault.db: "))
            terminal.type("one")
            #expect(terminal.waitFor("Repeat it: "))
            terminal.type("two")
        }
        #expect(terminal.end() == 77)
        #expect(try workspace.names() == ["notes.db"])
    }

    @Test func `Ctrl-C at the prompt ends with 130 and restores the terminal's echo`() throws {
        try workspace.copy(fixture: Fixture.encrypted, to: "vault.db")
        let terminal = try start("verify", "vault.db")
        #expect(terminal.waitFor("Passphrase for vault.db: "))
        #expect(!terminal.echoes)
        terminal.interrupt()
        #expect(terminal.end() == 130)
        #expect(terminal.echoes)
    }

    @Test(arguments: [("y", 0), ("", 64), ("no", 64)])
    func `decrypt asks for confirmation, and anything but yes means no`(_ answer: String, _ status: Int32) throws {
        try workspace.copy(fixture: Fixture.encrypted, to: "vault.db")
        try workspace.write(Fixture.passphrase, to: "key")
        let terminal = try start("decrypt", "vault.db", "notes.db", "--key-file", "key")
        #expect(terminal.waitFor("[y/N] "))
        terminal.type(answer)
        #expect(terminal.end() == status)
        #expect(try workspace.names().contains("notes.db") == (status == 0))
    }

    @Test func `a missing file and an existing destination are reported before the passphrase prompt`() throws {
        try workspace.makeDatabase("notes.db")
        #expect(try start("encrypt", "missing.db", "vault.db").end() == 66)
        #expect(try start("encrypt", "notes.db", "notes.db").end() == 73)
    }
}
