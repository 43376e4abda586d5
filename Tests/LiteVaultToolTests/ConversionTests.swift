import Foundation
import LiteVault
import Testing

/// The commands that write databases, from end to end.
@Suite(.enabled(if: EngineInfo.linked.encrypts, "the engine does not encrypt"))
struct ConversionTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.makeDatabase("notes.db")
        try workspace.write("first passphrase", to: "key")
        try workspace.write("second passphrase", to: "new")
    }

    /// Runs a command that has to succeed, and returns its JSON object.
    @discardableResult
    private func run(
        _ arguments: String..., location: SourceLocation = #_sourceLocation
    ) throws -> [String: Any] {
        let run = try workspace.tool.run(arguments + ["--json"])
        #expect(run.status == 0, "\(run.errors)", sourceLocation: location)
        #expect(run.errors.isEmpty, sourceLocation: location)
        return try run.json(location)
    }

    private func status(_ arguments: String...) throws -> Int32 { try workspace.tool.run(arguments).status }

    /// All content of a plaintext database, in an order of its own.
    private func content(_ name: String) throws -> [String] {
        let database = try Connection(workspace.path(name), readonly: true)
        var lines = ["\(try database.pragma(.userVersion)) \(try database.pragma(.applicationID))"]
        lines += try database.all("SELECT sql FROM sqlite_master ORDER BY name") { try $0.get(0, as: String.self) }
        lines += try database.all("SELECT rowid || title || hex(body) FROM note ORDER BY rowid") {
            try $0.get(0, as: String.self)
        }
        return lines
    }

    @Test func `encrypt and decrypt preserve the content, and the encrypted file shows none of it`() throws {
        let report = try run("encrypt", "notes.db", "vault.db", "--key-file", "key")
        #expect(report["command"] as? String == "encrypt")
        #expect(report["verified"] as? Bool == true)
        let bytes = try workspace.bytes("vault.db")
        #expect(report["size"] as? Int == bytes.count)
        for text in ["SQLite format", "a title nobody", "CREATE TABLE"] {
            #expect(bytes.range(of: Data(text.utf8)) == nil)
        }
        try run("decrypt", "vault.db", "back.db", "--yes", "--key-file", "key")
        #expect(try content("back.db") == content("notes.db"))
        #expect(try workspace.names() == ["notes.db", "vault.db", "back.db", "key", "new"])
    }

    @Test(arguments: [("12345", "1 minute"), ("abcde", "20 minutes"), ("password", "242 days")])
    func `a weak passphrase that is set is a warning with an estimate, and changes no exit status`(
        passphrase: String, estimate: String
    ) throws {
        try workspace.write(passphrase + "\n", to: "weak")
        for words in [
            ["encrypt", "notes.db", "vault.db", "--key-file", "weak"],
            ["export", "vault.db", "copy.db", "--key-file", "weak", "--to-key-file", "weak"],
            ["backup", "vault.db", "backup.db", "--key-file", "weak", "--to-key-file", "weak"],
            ["rekey", "copy.db", "--key-file", "weak", "--new-key-file", "new"],
            ["rekey", "copy.db", "--key-file", "new", "--new-key-file", "weak"],
            ["decrypt", "vault.db", "back.db", "--key-file", "weak", "--yes"],
        ] {
            let run = try workspace.tool.run(words + ["--json"])
            #expect(run.status == 0, "\(run.errors)")
            let isSet = words.last == "weak"
            let expected =
                isSet ? ["the passphrase is weak: 10,000 guesses a second find it in \(estimate) at most"] : []
            let warnings = try run.json()["warnings"] as? [[String: Any]] ?? []
            #expect(warnings.compactMap { $0["message"] as? String } == expected, "\(words)")
            #expect(warnings.allSatisfy { $0["code"] as? String == "weak-passphrase" })
            #expect(run.errors.contains("\"warning\"") == isSet && !run.errors.contains(passphrase + "\""), "\(run.errors)")
        }
        let text = try workspace.tool.run("encrypt", "notes.db", "text.db", "--key-file", "weak")
        #expect(text.status == 0 && text.errors.hasPrefix("warning: the passphrase is weak: 10,000 guesses"), "\(text.errors)")
        #expect(try workspace.tool.run("encrypt", "notes.db", "quiet.db", "--key-file", "weak", "--quiet").errors.isEmpty)
    }

    @Test func `a backup of a plaintext database says whether the copy is encrypted`() throws {
        let plain = try workspace.tool.run("backup", "notes.db", "plain.db")
        #expect(plain.status == 0 && plain.output.contains("Neither of them is encrypted."), "\(plain.output)")
        let text = try workspace.tool.run("backup", "notes.db", "one.db", "--to-key-file", "key")
        #expect(text.output.contains("notes.db is plaintext; the copy is encrypted."), "\(text.output)\(text.errors)")
        #expect(!text.output.contains("Neither"))
        #expect(try run("backup", "notes.db", "two.db", "--to-key-file", "key")["encrypted"] as? Bool == true)
        #expect(try run("backup", "two.db", "three.db", "--key-file", "key")["encrypted"] as? Bool == true)
        #expect(try run("backup", "notes.db", "four.db")["encrypted"] as? Bool == false)
        for name in ["one.db", "two.db", "three.db"] {
            #expect(try !workspace.bytes(name).starts(with: Data("SQLite format".utf8)))
        }
    }

    @Test func `a raw key is not measured by the rule of passphrases`() throws {
        try workspace.write(String(repeating: "0", count: 64), to: "hex")
        let run = try workspace.tool.run("encrypt", "notes.db", "raw.db", "--key-file", "hex", "--key-format", "hex", "--json")
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect((try run.json()["warnings"] as? [Any])?.isEmpty == true)
    }

    @Test func `new files can be read by their owner alone`() throws {
        try run("encrypt", "notes.db", "vault.db", "--key-file", "key")
        try run("decrypt", "vault.db", "back.db", "--yes", "--key-file", "key")
        for name in ["vault.db", "back.db"] {
            let mode = try FileManager.default.attributesOfItem(atPath: workspace.path(name))[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test func `encrypt in place replaces the file, keeps its mode, and the original where asked to`() throws {
        let before = try content("notes.db")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: workspace.path("notes.db"))
        let report = try run("encrypt", "notes.db", "--in-place", "--keep-original", "old.db", "--key-file", "key")
        #expect(report["in_place"] as? Bool == true)
        #expect(report["original"] as? String == "old.db")
        let mode =
            try FileManager.default.attributesOfItem(atPath: workspace.path("notes.db"))[.posixPermissions] as? Int
        #expect(mode == 0o640)
        #expect(try content("old.db") == before)
        #expect(try run("info", "notes.db")["kind"] as? String == "encrypted")
        try run("verify", "notes.db", "--key-file", "key")
    }

    @Test(arguments: [
        ["encrypt", "notes.db", "v.db", "--new-keyring", "v.db"],
        ["encrypt", "notes.db", "v.db", "--new-keyring", "./v.db"],
        ["encrypt", "notes.db", "v.db", "--new-keyring", "here/v.db"],
        ["encrypt", "notes.db", "v.db", "--new-keyring", "v.db-journal"],
        ["encrypt", "notes.db", "v.db", "--plaintext-header", "32", "--salt-file", "v.db"],
        ["encrypt", "notes.db", "v.db", "--plaintext-header", "32", "--salt-file", "v.db-wal"],
        ["encrypt", "notes.db", "v.db", "--new-keyring", "k", "--plaintext-header", "32", "--salt-file", "k"],
        // SQLite removes them when it opens the database, and the only copy of the key or the salt was lost.
        ["encrypt", "notes.db", "--in-place", "--new-keyring", "notes.db-wal"],
        ["encrypt", "linked.db", "--in-place", "--new-keyring", "notes.db-journal"],
        ["encrypt", "notes.db", "--in-place", "--plaintext-header", "32", "--salt-file", "notes.db-shm"],
        ["encrypt", "notes.db", "--in-place", "--keep-original", "notes.db"],
        ["encrypt", "notes.db", "--in-place", "--keep-original", "linked.db"],
        ["encrypt", "notes.db", "--in-place", "--keep-original", "notes.db-wal"],
        ["encrypt", "notes.db", "--in-place", "--keep-original", "o.db", "--new-keyring", "o.db"],
        ["encrypt", "notes.db", "--in-place", "--keep-original", "o", "--plaintext-header", "32", "--salt-file", "o"],
        ["export", "vault.db", "v.db", "--plaintext-header", "32", "--salt-file", "v.db"],
        ["export", "vault.db", "vault.db-wal"],
        ["decrypt", "vault.db", "vault.db-wal", "--yes"],
        ["backup", "vault.db", "vault.db-journal"],
        ["vacuum", "vault.db", "--into", "vault.db-wal"],
        ["migrate", "vault.db", "--plaintext-header", "32", "--salt-file", "vault.db-wal"],
        ["restore", "v.db", "--repository", "r", "--keyring-to", "v.db"],
        ["restore", "vault.db", "--repository", "r", "--in-place", "--keep-original", "vault.db"],
        ["restore", "vault.db", "--repository", "r", "--in-place", "--keep-original", "o", "--keyring-to", "o"],
    ])
    func `H-EXP-24 one name for two files of a command, or that of a log of one of them, is refused, and nothing is written`(
        words: [String]
    ) throws {
        try run("encrypt", "notes.db", "vault.db", "--key-file", "key")
        let files = FileManager.default
        try files.createSymbolicLink(atPath: workspace.path("here"), withDestinationPath: workspace.directory.path)
        try files.createSymbolicLink(atPath: workspace.path("linked.db"), withDestinationPath: workspace.path("notes.db"))
        let before = try (workspace.names(), workspace.bytes("notes.db"), workspace.bytes("vault.db"))
        let key = words.first == "restore" ? [] : ["--key-file", "key"]
        let run = try workspace.tool.run(words + key + ["--json"])
        #expect(run.status == 64, "\(run.errors)")
        #expect(try run.failureCode() == "usage")
        #expect(try workspace.names() == before.0)
        #expect(try workspace.bytes("notes.db") == before.1)
        #expect(try workspace.bytes("vault.db") == before.2)
    }

    @Test func `decrypt wants to be confirmed`() throws {
        try run("encrypt", "notes.db", "vault.db", "--key-file", "key")
        let run = try workspace.tool.run("decrypt", "vault.db", "back.db", "--key-file", "key")
        #expect(run.status == 64)
        #expect(run.errors.contains("--yes"))
        #expect(try !workspace.names().contains("back.db"))
    }

    @Test func `after rekey the new key opens the database and the old one does not`() throws {
        try run("encrypt", "notes.db", "vault.db", "--key-file", "key")
        try run("rekey", "vault.db", "--key-file", "key", "--new-key-file", "new")
        #expect(try status("verify", "vault.db", "--key-file", "new") == 0)
        #expect(try status("verify", "vault.db", "--key-file", "key") == 77)
        try run("decrypt", "vault.db", "back.db", "--yes", "--key-file", "new")
        #expect(try content("back.db") == content("notes.db"))
    }

    @Test func `a rekey with a wrong key leaves the file unchanged`() throws {
        try run("encrypt", "notes.db", "vault.db", "--key-file", "key")
        let before = try workspace.bytes("vault.db")
        #expect(try status("rekey", "vault.db", "--key-file", "new", "--new-key-file", "key") == 77)
        #expect(try workspace.bytes("vault.db") == before)
    }

    @Test func `export copies to another key and other settings`() throws {
        try run("encrypt", "notes.db", "vault.db", "--key-file", "key")
        try run(
            "export", "vault.db", "copy.db", "--key-file", "key", "--to-key-file", "new", "--page-size", "8192",
            "--kdf-iterations", "1000")
        let report = try run(
            "info", "copy.db", "--key-file", "new", "--source-page-size", "8192", "--source-kdf-iterations", "1000")
        let cipher = try #require(report["cipher"] as? [String: Any])
        #expect(cipher["page_size"] as? Int == 8192)
        #expect(cipher["kdf_iterations"] as? Int == 1000)
        #expect(report["user_version"] as? Int == 7)
    }

    @Test func `a backup has the key of its source unless another is given`() throws {
        try run("encrypt", "notes.db", "vault.db", "--key-file", "key")
        try run("backup", "vault.db", "same.db", "--key-file", "key")
        try run("backup", "vault.db", "other.db", "--key-file", "key", "--to-key-file", "new")
        #expect(try status("verify", "same.db", "--key-file", "key") == 0)
        #expect(try status("verify", "other.db", "--key-file", "new") == 0)
        #expect(try status("verify", "other.db", "--key-file", "key") == 77)
    }

    @Test func `vacuum shrinks the file, in place or into another`() throws {
        try run("encrypt", "notes.db", "vault.db", "--key-file", "key")
        let database = try Connection(workspace.path("vault.db"), key: .passphrase("first passphrase"))
        try database.execute("DELETE FROM note WHERE id > 10")
        try database.close()
        let before = try workspace.bytes("vault.db").count
        let report = try run("vacuum", "vault.db", "--into", "compact.db", "--key-file", "key")
        #expect(report["size_before"] as? Int == before)
        let compact = try workspace.bytes("compact.db").count
        #expect(compact < before)
        try run("vacuum", "vault.db", "--key-file", "key")
        #expect(try workspace.bytes("vault.db").count == compact)
        try run("verify", "compact.db", "--key-file", "key")
    }

    @Test func `an existing destination, and leftovers beside one, are rejected with 73 and kept`() throws {
        try workspace.write("precious", to: "vault.db")
        #expect(try status("encrypt", "notes.db", "vault.db", "--key-file", "key") == 73)
        #expect(try workspace.bytes("vault.db") == Data("precious".utf8))
        try workspace.write("precious", to: "other.db-wal")
        #expect(try status("encrypt", "notes.db", "other.db", "--key-file", "key") == 73)
        #expect(try workspace.bytes("other.db-wal") == Data("precious".utf8))
        #expect(try !workspace.names().contains("other.db"))
    }

    @Test func `a source of the wrong kind ends with 66`() throws {
        try run("encrypt", "notes.db", "vault.db", "--key-file", "key")
        #expect(try status("encrypt", "vault.db", "twice.db", "--key-file", "key") == 66)
        #expect(try status("decrypt", "notes.db", "twice.db", "--yes", "--key-file", "key") == 66)
        #expect(try status("rekey", "notes.db", "--key-file", "key", "--new-key-file", "new") == 66)
        try workspace.write("", to: "empty.db")
        #expect(try status("decrypt", "empty.db", "twice.db", "--yes", "--key-file", "key") == 66)
        #expect(try !workspace.names().contains("twice.db"))
    }
}
