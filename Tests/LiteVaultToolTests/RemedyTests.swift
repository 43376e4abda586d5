import Foundation
import LiteVault
import Testing

/// What errors advise: something that the command has, and that helps.
@Suite struct RemedyTests {
    let workspace: Workspace
    private let key = ["--key-file", "key"]

    init() throws {
        workspace = try Workspace()
        try workspace.makeDatabase("notes.db")
        try workspace.write("secret", to: "key")
    }

    /// Runs a command that has to fail, and returns what it prints to standard error.
    private func errors(
        _ arguments: [String], status: Int32, _ location: SourceLocation = #_sourceLocation
    ) throws -> String {
        let run = try workspace.tool.run(arguments)
        #expect(run.status == status, "\(arguments): \(run.errors)", sourceLocation: location)
        return run.errors
    }

    @Test func `an empty file is called empty, with a key and without one`() throws {
        try workspace.write("", to: "empty.db")
        for more in [[], key] {
            let text = try errors(["verify", "empty.db"] + more, status: 66)
            #expect(text.contains("the file is empty: it does not contain a database") && !text.contains("key out"))
        }
    }

    @Test(arguments: [
        ["verify", "notes.db"], ["info", "notes.db"], ["dump", "notes.db"], ["stats", "notes.db"], ["backup", "notes.db", "new.db"],
        ["vacuum", "notes.db"], ["query", "notes.db", "SELECT * FROM note"], ["shell", "notes.db"], ["diff", "notes.db", "notes.db"],
        ["encrypt", "notes.db", "new.db", "--key-file", "key"],
    ])
    func `H-VER-21 a schema of a newer engine is answered with that, and not with a backup`(arguments: [String]) throws {
        let database = try Connection(workspace.path("notes.db"))
        try database.execute(
            """
            CREATE TRIGGER g AFTER INSERT ON note BEGIN SELECT 1; END; PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = 'CREATE TRIGGER g AFTER INSERT ON note BEGIN SOMETHING NEW; END' WHERE name = 'g';
            """)
        try database.close()
        let run = try workspace.tool.run(arguments, input: arguments == ["shell", "notes.db"] ? "SELECT * FROM note;\n" : "")
        #expect(run.status == 69, "\(run.status) \(run.errors)")
        guard arguments[0] != "encrypt" || EngineInfo.linked.encrypts else { return }
        #expect(run.errors.contains("newer version of SQLite") && !"\(run.output)\(run.errors)".lowercased().contains("damaged"), "\(run.errors)")
        #expect(try !workspace.names().contains("new.db"))
    }

    @Test(
        .enabled(if: EngineInfo.linked.encrypts, "the engine does not encrypt"),
        arguments: [
            (["decrypt", "notes.db", "new.db", "--yes"], "'litevault backup' copies it"),
            (["export", "notes.db", "new.db"], "'litevault backup'"), (["migrate", "notes.db"], "nothing to migrate"),
        ])
    func `a command that needs an encrypted database does not advise to leave the key out`(
        _ arguments: [String], _ hint: String
    ) throws {
        let text = try errors(arguments + key, status: 66)
        #expect(text.contains("not encrypted") && text.contains(hint) && !text.contains("key out"), "\(text)")
    }

    @Test(.enabled(if: (EngineInfo.linked.sqlcipherMajorVersion ?? 0) >= 4, "the engine writes format 3"))
    func `an older format is answered with the option and the command`() throws {
        try workspace.copy(fixture: "v3-3.4.1-default.db", to: "old.db")
        try workspace.write(Fixture.passphrase, to: "key")
        let text = try errors(["verify", "old.db"] + key, status: 66)
        #expect(text.contains("--compatibility 3") && text.contains("'litevault migrate'"), "\(text)")
        #expect(try workspace.tool.run(["verify", "old.db", "--compatibility", "3"] + key).status == 0)
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts, "the engine does not encrypt"))
    func `a raw key that is given without its format is answered with the format`() throws {
        #expect(try workspace.tool.run("keygen", "--format", "hex", "hex").status == 0)
        let hex = ["--key-file", "hex", "--key-format", "hex"]
        #expect(try workspace.tool.run(["encrypt", "notes.db", "vault.db"] + hex).status == 0)
        #expect(try errors(["verify", "vault.db", "--key-file", "hex"], status: 77).contains("add --key-format hex"))
        #expect(try !errors(["verify", "vault.db"] + key, status: 77).contains("--key-format"))
        #expect(try workspace.tool.run(["verify", "vault.db"] + hex).status == 0)
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts, "the engine does not encrypt"))
    func `a file that is no database at all has a remedy, too`() throws {
        try workspace.write("text", to: "text.db")
        let text = try errors(["verify", "text.db"] + key, status: 66)
        #expect(text.contains("not a database\nhint:  Check the path."), "\(text)")
    }

    @Test func `a descriptor that is not open is answered with how to open it`() throws {
        let text = try errors(["info", "notes.db", "--key-fd", "9"], status: 77)
        #expect(text.contains("3<FILE") && !text.contains("permissions"), "\(text)")
    }

    @Test func `a parameter without a value is answered with the option that gives it one`() throws {
        #expect(try errors(["query", "notes.db", "SELECT :a"], status: 64).contains("'--bind a=VALUE'"))
        #expect(try workspace.tool.run("query", "notes.db", "SELECT :a", "--bind", "a=1").status == 0)
    }

    @Test func `a repository that is a file is answered with what it has to be`() throws {
        let text = try errors(["snapshot", "notes.db", "-r", "notes.db", "--allow-plaintext"], status: 73)
        #expect(text.contains("is not a directory\nhint:  Name a directory."), "\(text)")
    }

    @Test(arguments: ["missing.yml", ".", "notes.db"])
    func `a configuration that cannot be read has no mistakes to be counted`(_ name: String) throws {
        let text = try errors(["schedule", "check", name], status: 78)
        #expect(text.contains("Check its path") && !text.contains("mistake"), "\(text)")
    }

    @Test func `damage of another object is named once`() throws {
        let snapshot = ["snapshot", "notes.db", "-r", "r", "--allow-plaintext", "--state-directory", "state"]
        #expect(try workspace.tool.run(snapshot).status == 0)
        let manifests = workspace.path("r/snapshots")
        let database = try #require(try FileManager.default.contentsOfDirectory(atPath: manifests).first)
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: manifests + "/" + database).first)
        var bytes = try workspace.bytes("r/snapshots/\(database)/\(name)")
        bytes[bytes.count / 2] ^= 1
        try workspace.write(bytes, to: "r/snapshots/\(database)/\(name)")
        let text = try errors(snapshot, status: 65)
        #expect(text.contains("is stored, but another object of the repository is damaged: its hash"), "\(text)")
    }
}
