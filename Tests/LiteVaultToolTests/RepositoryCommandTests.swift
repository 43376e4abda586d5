import Foundation
import LiteVault
import Testing

/// `snapshot`, `snapshots`, `restore`, `forget` and `check`, from end to end.
@Suite struct RepositoryCommandTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.makeDatabase("notes.db")
    }

    private let common = ["--repository", "repository", "--state-directory", "state", "--cache-directory", "cache"]

    private func run(_ arguments: [String], location: SourceLocation = #_sourceLocation) throws -> [String: Any] {
        let run = try workspace.tool.run(arguments + common + ["--json"])
        #expect(run.status == 0, "\(run.errors)", sourceLocation: location)
        return try run.json(location)
    }

    private func status(_ arguments: [String]) throws -> Int32 { try workspace.tool.run(arguments + common).status }

    private func change() throws {
        let database = try Connection(workspace.path("notes.db"))
        try database.execute("UPDATE note SET title = 'changed ' || random() WHERE id = 1")
        try database.close()
    }

    private func take() throws -> [String: Any] {
        let result = try run(["snapshot", "notes.db", "--allow-plaintext"])
        return try #require(result["snapshot"] as? [String: Any])
    }

    @Test func `a database is stored in a repository and restored`() throws {
        #expect(try status(["snapshot", "notes.db"]) == 66)
        let first = try take()
        #expect(first["database"] as? String == "notes.db")
        #expect(first["encrypted"] as? Bool == false)
        let before = try workspace.bytes("notes.db")
        #expect(first["size"] as? Int == before.count)
        try change()
        let second = try take()
        let listed = try #require(try run(["snapshots"])["snapshots"] as? [[String: Any]])
        #expect(listed.map { $0["id"] as? String } == [first["id"] as? String, second["id"] as? String])
        #expect(listed.allSatisfy { $0["time"] is String && $0["stored"] is Int })

        let id = try #require(first["id"] as? String)
        let restored = try run(["restore", "--snapshot", id, "one.db"])
        #expect(restored["snapshot"] as? String == id)
        #expect(restored["verified"] as? Bool == true)
        #expect(try workspace.bytes("one.db") == before)
        _ = try run(["restore", "two.db"])
        #expect(try workspace.bytes("two.db") == workspace.bytes("notes.db"))
        #expect(try status(["restore", "two.db"]) == 73)
        #expect(try status(["restore", "--snapshot", "0123", "three.db"]) == 66)
        #expect(try status(["restore", "--at", "2001-01-01", "three.db"]) == 66)
        #expect(try status(["restore", "--at", "yesterday", "three.db"]) == 64)
        _ = try run(["restore", "--at", "2101-01-01T00:00:00Z", "three.db"])
        #expect(try workspace.bytes("three.db") == workspace.bytes("notes.db"))
    }

    @Test func `a second copy is kept, and a database restored from it`() throws {
        _ = try take()
        func copy(_ more: [String] = []) throws -> [String: Any] {
            let run = try workspace.tool.run(
                ["copy", "repository", "far", "--state-directory", "state", "--cache-directory", "cache", "--json"]
                    + more)
            #expect(run.status == 0, "\(run.errors)")
            return try run.json()
        }
        #expect(try copy(["--dry-run"])["snapshots"] as? Int == 1)
        #expect(try !workspace.names().contains("far"))
        #expect(try copy()["snapshots"] as? Int == 1)
        try change()
        _ = try take()
        let second = try copy()
        #expect(second["snapshots"] as? Int == 1)
        #expect(second["present"] as? Int == 1)
        try FileManager.default.removeItem(atPath: workspace.path("repository"))
        let restored = try workspace.tool.run(
            [
                "restore", "from-copy.db", "--repository", "far", "--state-directory", "state", "--cache-directory",
                "cache",
            ])
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try workspace.bytes("from-copy.db") == workspace.bytes("notes.db"))
        // Neither the repository itself nor another one is a place for a copy.
        #expect(try workspace.tool.run(["copy", "far", "far", "--state-directory", "state"]).status == 78)
        #expect(try workspace.tool.run(["copy", "repository", "far", "--state-directory", "new"]).status == 66)
    }

    @Test func `a repository that does not exist is reported as missing`() throws {
        for command in [["snapshots"], ["restore", "x.db"], ["check"], ["forget", "--keep-last", "1"]] {
            #expect(try status(command) == 66)
        }
        #expect(try status(["snapshot", "nothing.db"]) == 66)
        #expect(try workspace.names() == ["notes.db"])
    }

    @Test func `a missing repository is a failure, and a missing slash creates no directory`() throws {
        _ = try take()
        #expect(try status(["check", "--restore-test", "--database", "other.db"]) == 66)
        #expect(try status(["check", "--restore-test", "--snapshot", "0000000"]) == 66)
        #expect(try status(["restore", "x.db", "--database", "other.db"]) == 66)
        let run = try workspace.tool.run([
            "snapshot", "notes.db", "--allow-plaintext", "--repository", "s3:/bucket/prefix",
        ])
        #expect(run.status == 64)
        #expect(run.errors.contains("s3://BUCKET/PREFIX"))
        #expect(try !workspace.names().contains("s3:"))
    }

    @Test func `forget reports the reasons, and a dry run removes nothing`() throws {
        for _ in 0..<3 {
            _ = try take()
            try change()
        }
        #expect(try status(["forget"]) == 64)
        #expect(try status(["forget", "--keep-last", "0"]) == 64)
        let dry = try run(["forget", "--keep-last", "1", "--dry-run", "--prune"])
        #expect(dry["removed"] as? Int == 2)
        let decisions = try #require(dry["snapshots"] as? [[String: Any]])
        #expect(decisions.map { $0["keep"] as? Bool } == [false, false, true])
        #expect(decisions.last?["reasons"] as? [String] == ["newest", "last 1"])
        #expect((try run(["snapshots"])["snapshots"] as? [Any])?.count == 3)
        let done = try run(["forget", "--keep-last", "1", "--prune", "--grace", "0s"])
        #expect((done["prune"] as? [String: Any])?["removed"] as? Int == 0)
        #expect((try run(["snapshots"])["snapshots"] as? [Any])?.count == 1)
        let later = try run(["forget", "--keep-last", "1", "--prune", "--grace", "0s"])
        #expect((later["prune"] as? [String: Any])?["removed"] as? Int ?? 0 > 0)
        #expect(try run(["check", "--read-data"])["intact"] as? Bool == true)
    }

    @Test func `check reports what protects the repository, and finds damage`() throws {
        _ = try take()
        let found = try run(["check", "--restore-test", "--assert", "SELECT count(*) > 0 FROM note"])
        #expect(found["intact"] as? Bool == true)
        #expect(found["protection"] as? String == "hashes")
        let listed = try #require(try run(["snapshots"])["snapshots"] as? [[String: Any]])
        #expect((listed[0]["verification"] as? [String: Any])?["level"] as? String == "restore")
        #expect(try status(["check", "--restore-test", "--assert", "SELECT 0"]) == 65)
        #expect(try status(["check", "--assert", "SELECT 1"]) == 64)

        let folder = workspace.path("repository/data")
        let pack = try #require(
            FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }.first { $0.count > 10 })
        let url = URL(fileURLWithPath: folder + "/" + pack)
        var bytes = try Data(contentsOf: url)
        bytes[5000] ^= 1
        try bytes.write(to: url)
        #expect(try status(["check", "--read-data"]) == 65)
        #expect(try status(["restore", "out.db"]) == 65)
        #expect(try !workspace.names().contains("out.db"))
    }

    @Test func `H-REP-01 a damaged old manifest stops no restore, and the status of a snapshot reports it`() throws {
        var images: [(id: String, bytes: Data)] = []
        for _ in 0..<3 {
            images.append((try #require(try take()["id"] as? String), try workspace.bytes("notes.db")))
            try change()
        }
        let folder = workspace.path("repository/snapshots")
        let names = try #require(FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }.sorted())
        let oldest = try #require(names.first { $0.hasSuffix("0000000001") })
        let url = URL(fileURLWithPath: folder + "/" + oldest)
        var manifest = try Data(contentsOf: url)
        manifest[100] ^= 1
        try manifest.write(to: url)
        for (id, bytes) in images.dropFirst() {
            let restored = try run(["restore", "--snapshot", id, id])
            #expect((restored["warnings"] as? [[String: Any]])?.count == 1)
            #expect(try workspace.bytes(id) == bytes)
        }
        _ = try run(["restore", "newest"])
        #expect(try status(["restore", "--snapshot", images[0].id, "oldest"]) == 65)
        for command in [["snapshots"], ["snapshot", "notes.db", "--allow-plaintext"], ["forget", "--keep-last", "9"]] {
            let run = try workspace.tool.run(command + common + ["--json"])
            #expect(run.status == 65, "\(command)")
            let result = try run.json()
            let warnings = try #require(result["warnings"] as? [[String: Any]])
            #expect(warnings.map { $0["path"] as? String } == ["snapshots/" + oldest])
            #expect(warnings.allSatisfy { $0["severity"] as? String == "damage" && $0["remedy"] is String })
            #expect(run.errors.contains("snapshots/" + oldest))
        }
        #expect(try status(["check"]) == 65)
        let pruning = try workspace.tool.run(["forget", "--keep-last", "9", "--prune"] + common)
        #expect(pruning.status == 65 && pruning.errors.contains(oldest) && pruning.errors.contains("litevault repair"))
    }

    @Test func `H-REP-05 a repository that is gone or replaced is reported, and accepted only on request`() throws {
        _ = try take()
        let files = FileManager.default
        try files.moveItem(atPath: workspace.path("repository"), toPath: workspace.path("aside"))
        let gone = try workspace.tool.run(["snapshot", "notes.db", "--allow-plaintext"] + common)
        #expect(gone.status == 65 && gone.errors.contains("--accept-repository"))
        #expect(!files.fileExists(atPath: workspace.path("repository")))
        #expect(try status(["snapshots"]) == 65)
        _ = try run(["snapshot", "notes.db", "--allow-plaintext", "--accept-repository"])
        #expect((try run(["snapshots"])["snapshots"] as? [Any])?.count == 1)
    }

    @Test func `with a secret everything is authenticated, and nothing written without it`() throws {
        try workspace.write("of the repository", to: "secret")
        let secret = ["--repository-secret-file", "secret"]
        let taken = try run(["snapshot", "notes.db", "--allow-plaintext"] + secret)
        #expect(taken["authenticated"] as? Bool == true)
        #expect(try status(["snapshot", "notes.db", "--allow-plaintext"]) == 77)
        try workspace.write("something else", to: "wrong")
        #expect(try status(["snapshots", "--repository-secret-file", "wrong"]) == 77)
        #expect(try run(["check"] + secret)["protection"] as? String == "secret")
        #expect(try run(["check"])["protection"] as? String == "hashes")
        #expect(try run(["restore", "out.db"])["authenticated"] as? Bool == false)
        // What pruning would do it tells only with the secret; what retention would do, all the same.
        let preview = try workspace.tool.run(["forget", "--keep-last", "1", "--dry-run", "--prune", "--json"] + common)
        #expect(preview.status == 77)
        #expect((try preview.json()["snapshots"] as? [Any])?.count == 1)
    }

    @Test func `secrets of a repository are added, listed, changed and removed, and never shown`() throws {
        let texts = ["first": "the first secret of it", "second": "a second secret", "third": "this is the third"]
        for (name, text) in texts { try workspace.write(text, to: name) }
        func by(_ name: String) -> [String] { ["--repository-secret-file", name] }
        func new(_ name: String) -> [String] { ["--new-repository-secret-file", name] }
        _ = try run(["snapshot", "notes.db", "--allow-plaintext"] + by("first"))
        let added = try #require(
            try run(["secret", "add", "--name", "laptop"] + by("first") + new("second"))["secret"] as? [String: Any])
        #expect(added["slot"] as? Int == 2 && added["kind"] as? String == "passphrase")
        let listed = try run(["secret", "list"] + by("second"))
        #expect(listed["opened"] as? Int == 2 && listed["authenticated"] as? Bool == true)
        let slots = try #require(listed["secrets"] as? [[String: Any]])
        #expect(slots.map { $0["name"] as? String } == ["", "laptop"])
        for command in [["secret", "list"], ["snapshots"], ["check"]] {
            #expect(try run(command + by("second"))["rotation_unfinished"] as? Bool == false, "\(command)")
        }
        let blind = try run(["secret", "list"])
        #expect(blind["opened"] is NSNull && blind["authenticated"] as? Bool == false)

        let changed = try run(["secret", "change", "1"] + by("second") + new("third"))
        #expect(changed["replaced"] as? Int == 1 && (changed["secret"] as? [String: Any])?["slot"] as? Int == 3)
        #expect(try status(["snapshots"] + by("first")) == 77)
        let removed = try run(["secret", "remove", "2"] + by("third"))
        #expect(removed["removed"] as? Int == 2 && removed["left"] as? Int == 1)
        #expect(try status(["secret", "remove", "3"] + by("third")) == 64)
        #expect(try status(["secret", "remove", "2"] + by("third")) == 66)
        #expect(try status(["secret", "add"] + by("third") + new("third")) == 64)
        #expect(try status(["secret", "add"] + by("second") + new("first")) == 77)
        #expect(try status(["secret", "add"] + new("first")) == 77)
        #expect(try status(["secret", "add"] + by("third")) == 77)
        try workspace.write("weak", to: "weak")
        #expect(try status(["secret", "add"] + by("third") + new("weak")) == 77)
        #expect(try status(["secret", "add", "--allow-weak"] + by("third") + new("weak")) == 0)
        #expect(try run(["check"] + by("weak"))["protection"] as? String == "secret")

        let shown = try [["secret", "list"], ["secret", "add", "--allow-weak"] + new("first")].map {
            try workspace.tool.run($0 + by("third") + common)
        }
        for text in texts.values {
            #expect(shown.allSatisfy { $0.status == 0 && !($0.output + $0.errors).contains(text) })
        }
        let object = String(decoding: try workspace.bytes("repository/repository.json"), as: UTF8.self)
        #expect(texts.values.allSatisfy { !object.contains($0) })
    }

    @Test func `a repository without a secret gets none`() throws {
        _ = try take()
        try workspace.write("some secret or other", to: "new")
        #expect(try status(["secret", "add", "--new-repository-secret-file", "new"]) == 69)
        #expect(try run(["secret", "list"])["secrets"] as? [String] == [])
    }

    @Test func `a refused first snapshot leaves no repository, and its remedy can be followed`() throws {
        try workspace.write("no database at all, but text", to: "text")
        try workspace.write("", to: "empty")
        for name in ["notes.db", "text", "empty"] {
            #expect(try status(["snapshot", name]) == 66)
            #expect(try !workspace.names().contains("repository"), "\(name)")
        }
        try workspace.write("of the repository", to: "secret")
        let secret = ["--repository-secret-file", "secret"]
        _ = try run(["init", "--sealed"] + secret)
        // Sealed, it takes plaintext.
        _ = try run(["snapshot", "notes.db"] + secret)
        #expect(try status(["snapshot", "empty"] + secret) == 66)
    }

    @Test func `a repository without a secret and without snapshots is to be made again, and the errors say so`() throws {
        _ = try run(["init"])
        try workspace.write("of the repository", to: "secret")
        let secret = ["--repository-secret-file", "secret"]
        let hint = "remove it, and create it with the secret"
        for (words, code) in [
            (["snapshots"] + secret, 77), (["init", "--sealed"] + secret, 73), (["upgrade"], 69),
        ] as [([String], Int32)] {
            let run = try workspace.tool.run(words + common)
            #expect(run.status == code && run.errors.contains(hint), "\(words): \(run.errors)")
        }
        _ = try take()
        #expect(try !workspace.tool.run(["snapshots"] + secret + common).errors.contains(hint))
    }

    @Test(.enabled(if: EngineInfo.linked.encrypts, "the engine does not encrypt"))
    func `an encrypted database needs its key only for its content`() throws {
        try workspace.write("first passphrase", to: "key")
        let made = try workspace.tool.run(["encrypt", "notes.db", "vault.db", "--key-file", "key"])
        #expect(made.status == 0)
        let taken = try run(["snapshot", "vault.db"])
        #expect((taken["snapshot"] as? [String: Any])?["encrypted"] as? Bool == true)
        #expect(try run(["check", "--authenticate", "--key-file", "key"])["intact"] as? Bool == true)
        #expect(try status(["check", "--restore-test"]) == 77)
        _ = try run(["restore", "out.db"])
        #expect(try workspace.bytes("out.db") == workspace.bytes("vault.db"))
    }
}
