import Foundation
import LiteVault
import Testing

/// What SQL cannot change through `litevault query` and `litevault shell`: what protects the database.
@Suite(.enabled(if: EngineInfo.linked.encrypts, "the engine does not encrypt"))
struct GivenSQLTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        let database = try Connection(workspace.path("a.db"))
        try database.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
        try database.close()
        try workspace.write("a passphrase of some length 1", to: "key")
        #expect(try workspace.tool.run("encrypt", "a.db", "e.enc", "--key-file", "key", "--kdf-iterations", "1000").status == 0)
    }

    private static let key = ["--key-file", "key", "--source-kdf-iterations", "1000"]

    /// Runs a script that continues after errors.
    private func shell(_ script: String, _ name: String = "e.enc", _ more: [String] = []) throws -> Tool.Run {
        let options = name == "e.enc" ? Self.key : []
        return try workspace.tool.run(["shell", name, "--no-bail", "--mode", "csv"] + options + more, input: script)
    }

    private func query(_ sql: String, _ name: String = "e.enc", _ more: String...) throws -> Tool.Run {
        try workspace.tool.run(["query", name, sql, "--format", "csv"] + (name == "e.enc" ? Self.key : []) + more)
    }

    private func expectIntact(rows: Int, _ location: SourceLocation = #_sourceLocation) throws {
        let verified = try workspace.tool.run(["verify", "e.enc"] + Self.key)
        #expect(verified.status == 0, "\(verified.errors)", sourceLocation: location)
        #expect(try query("SELECT count(*) AS n FROM t").output == "n\r\n\(rows)\r\n", sourceLocation: location)
    }

    // MARK: Cipher settings

    @Test(arguments: [
        ("PRAGMA cipher_plaintext_header_size = 32", "litevault export"),
        ("PRAGMA cipher_salt = \"x'00000000000000000000000000000000'\"", "litevault export"),
        ("PRAGMA cipher_use_hmac = OFF", "litevault export"), ("PRAGMA main.cipher_hmac_algorithm(HMAC_SHA1)", "litevault export"),
        ("EXPLAIN PRAGMA cipher_page_size = 8192", "litevault export"), ("PRAGMA kdf_iter = 5", "litevault export"),
        ("PRAGMA fast_kdf_iter = 5", "litevault export"), ("PRAGMA cipher_compatibility = 3", "--compatibility"),
        ("PRAGMA cipher_migrate", "litevault migrate"), ("PRAGMA main.cipher_default_use_hmac = OFF", "--create"),
    ])
    func `H-SET-20 SQL of query and shell cannot change the cipher settings of the database`(_ sql: String, _ hint: String) throws {
        let run = try shell("\(sql);\nINSERT INTO t VALUES (3);\n.explain \(sql)\n")
        #expect(run.status == 64 && run.errors.contains("was not run") && run.errors.contains(hint), "\(run.errors)")
        #expect(run.errors.contains("2 statements or commands of the script failed"), "\(run.errors)")
        let written = try query(sql, "e.enc", "--write")
        #expect(written.status == 64 && written.errors.contains(hint), "\(written.errors)")
        #expect(try query(sql).status == 64)
        try expectIntact(rows: 3)
    }

    @Test(arguments: ["cipher_memory_security = ON", "cipher_store_pass = 1", "cipher_add_random = \"x'00'\"", "cipher_future = 1"])
    func `a pragma of SQLCipher that is not a setting is refused without advice about settings`(_ pragma: String) throws {
        for run in [try shell("PRAGMA \(pragma);\n"), try query("PRAGMA \(pragma)")] {
            #expect(run.status == 64 && run.errors.contains("was not run: it concerns SQLCipher itself"), "\(run.errors)")
            #expect(!run.errors.contains("encrypted") && !run.errors.contains("litevault export"), "\(run.errors)")
        }
        try expectIntact(rows: 2)
    }

    @Test(arguments: ["a.db", "e.enc"]) func `H-SET-21 SQL cannot change the settings of the next database`(_ name: String) throws {
        let run = try shell(
            """
            PRAGMA cipher_default_page_size = 8192; PRAGMA cipher_default_use_hmac = OFF; PRAGMA cipher_default_kdf_iter = 7;
            .open new.enc --create --key-file key
            CREATE TABLE x (a);
            """, name)
        #expect(run.status == 64 && run.errors.contains("--create --source-page-size"), "\(run.errors)")
        #expect(run.errors.contains("3 statements or commands of the script failed"), "\(run.errors)")
        let read = try workspace.tool.run("query", "new.enc", "SELECT count(*) AS n FROM x", "--format", "csv", "--key-file", "key")
        #expect(read.status == 0 && read.output == "n\r\n0\r\n", "\(read.errors)")
    }

    @Test func `H-SET-22 another page size of an encrypted database is refused before VACUUM could fail`() throws {
        let size = try query("PRAGMA page_size").output.split(whereSeparator: \.isNewline).last ?? ""
        let run = try shell("PRAGMA page_size = 16384;\nVACUUM;\nPRAGMA page_size = \(size);\nVACUUM;\nINSERT INTO t VALUES (3);\n")
        #expect(run.status == 64 && run.errors.contains("1 statement or command of the script failed"), "\(run.errors)")
        #expect(run.errors.contains("is a cipher setting") && run.errors.contains("litevault export --page-size N"), "\(run.errors)")
        try expectIntact(rows: 3)
        #expect(try shell("PRAGMA page_size = 16384;\nVACUUM;\nPRAGMA page_size;\n", "a.db").output == "page_size\r\n16384\r\n")
    }

    @Test(arguments: [
        "cipher_version", "cipher_provider", "cipher_settings", "cipher_integrity_check", "cipher_page_size", "cipher_use_hmac",
        "cipher_default_kdf_iter", "kdf_iter", "page_size", "temp_store",
    ])
    func `settings are read by SQL`(_ pragma: String) throws {
        for name in ["e.enc", "a.db"] {
            let run = try shell("PRAGMA \(pragma);\n", name)
            #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
            #expect(try query("PRAGMA \(pragma)", name).status == 0)
            #expect(try shell("PRAGMA \(pragma);\n", name, ["--read-only"]).output == run.output)
        }
        try expectIntact(rows: 2)
    }

    // MARK: Files that are not encrypted

    @Test(arguments: ["temp_store = FILE", "temp_store = 1", "main.temp_store('file')", "temp_store = DEFAULT", "temp_store_directory = '.'"])
    func `H-TMP-05 SQL cannot send the temporary data of an encrypted database to files`(_ pragma: String) throws {
        let run = try shell("PRAGMA \(pragma);\nPRAGMA temp_store;\nPRAGMA temp_store = MEMORY;\nPRAGMA temp_store = 2;\n")
        #expect(run.status == 64 && run.output == "temp_store\r\n2\r\n", "\(run.output)")
        #expect(run.errors.contains("stays in memory") && run.errors.contains("1 statement or command of the script failed"), "\(run.errors)")
        #expect(try query("PRAGMA \(pragma)", "e.enc", "--write").status == 64)
        // A plaintext database has nothing to hide.
        #expect(try shell("PRAGMA \(pragma);\n", "a.db").status == 0)
    }

    @Test(arguments: ["cipher_profile = 'precious.txt'", "cipher_log = 'precious.txt'", "cipher_log_level = DEBUG", "cipher_profile = 'new.txt'"])
    func `H-SEC-33 SQL cannot make SQLCipher write to files, in commands that write nothing either`(_ pragma: String) throws {
        try workspace.write("precious\n", to: "precious.txt")
        let (before, names) = (try workspace.bytes("precious.txt"), try workspace.names())
        for name in ["e.enc", "a.db"] {
            let script = "PRAGMA \(pragma);\nSELECT 'sesame' AS x;\n"
            let runs = try [
                query("PRAGMA \(pragma)", name), query("PRAGMA \(pragma)", name, "--write"), shell(script, name),
                shell(script, name, ["--read-only"]),
            ]
            for run in runs {
                #expect(run.status == 64 && run.errors.contains("would write statements"), "\(run.arguments) \(run.errors)")
            }
        }
        #expect(try workspace.bytes("precious.txt") == before)
        #expect(try workspace.names() == names)
    }

    @Test func `H-SEC-33 the assertion of a check cannot make SQLCipher write to files`() throws {
        try workspace.write("precious\n", to: "precious.txt")
        let before = try workspace.bytes("precious.txt")
        let common = ["--repository", "repository", "--allow-plaintext"]
        #expect(try workspace.tool.run(["snapshot", "a.db"] + common).status == 0)
        for assertion in ["PRAGMA cipher_profile = 'precious.txt'", "PRAGMA cipher_log = 'precious.txt'"] {
            let check = ["check", "--restore-test", "--assert", assertion, "--assert", "SELECT 'sesame'", "--repository", "repository"]
            let run = try workspace.tool.run(check)
            #expect(run.status == 65 && (run.output + run.errors).contains("cannot be evaluated"), "\(run.status) \(run.errors)")
        }
        #expect(try workspace.bytes("precious.txt") == before)
    }

    // MARK: Attached files

    @Test(arguments: [("e.enc", "a.db", "another key"), ("a.db", "e.enc", "is encrypted"), ("a.db", "text", "not a database")])
    func `an attached file that the key does not open is blamed itself, not the database`(
        _ name: String, _ other: String, _ message: String
    ) throws {
        try workspace.write(String(repeating: "no database, but longer than a header ", count: 200), to: "text")
        let run = try shell("ATTACH '\(other)' AS p;\nSELECT count(*) AS n FROM t;\n", name)
        #expect(run.status == 77 && run.output == "n\r\n2\r\n", "\(run.output)")
        #expect(run.errors.contains("the attached file") && run.errors.contains(message), "\(run.errors)")
        #expect(!run.errors.contains("damaged") && !run.errors.contains("restore a backup"), "\(run.errors)")
        let written = try query("ATTACH '\(other)' AS p", name, "--write")
        #expect(written.status == 77 && written.errors.contains(message), "\(written.errors)")
    }

    @Test func `a file under the same key file, with a salt of its own, is not said to have another key`() throws {
        #expect(try workspace.tool.run("encrypt", "a.db", "b.enc", "--key-file", "key", "--kdf-iterations", "1000").status == 0)
        let run = try shell("ATTACH 'b.enc' AS p;\n")
        #expect(run.status == 77 && run.errors.contains("another key, salt or settings"), "\(run.errors)")
        #expect(run.errors.contains("'litevault diff'"), "\(run.errors)")
        // One with that salt is attached.
        try workspace.write(workspace.bytes("e.enc"), to: "c.enc")
        #expect(try shell("ATTACH 'c.enc' AS p;\nSELECT count(*) AS n FROM p.t;\n").output == "n\r\n2\r\n")
    }

    @Test(arguments: ["a.db", "e.enc"])
    func `H-ATT-05 an attached file with a schema of a newer engine is not damaged, and has no other key`(_ name: String) throws {
        try workspace.write(workspace.bytes(name), to: "newer.db")
        let path = workspace.path("newer.db")
        let database =
            try name == "a.db"
            ? Connection(path)
            : Connection(path, key: .passphrase("a passphrase of some length 1"), settings: CipherSettings(kdfIterations: 1000))
        try database.execute(
            """
            CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END; PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = 'CREATE TRIGGER g AFTER INSERT ON t BEGIN SOMETHING NEW; END' WHERE name = 'g';
            """)
        try database.close()
        let script = "ATTACH 'newer.db' AS p;\nSELECT count(*) AS n FROM t;\n"
        for run in [try shell(script, name), try query("ATTACH 'newer.db' AS p", name, "--write")] {
            #expect(run.status == 69 && run.errors.contains("newer version of SQLite"), "\(run.errors)")
            #expect(run.errors.contains("schema of the attached file") && !run.errors.contains("damaged"), "\(run.errors)")
        }
        #expect(try shell(script, name).output == "n\r\n2\r\n")
    }

    @Test func `an attached plaintext file that is damaged is named as such`() throws {
        var bytes = try workspace.bytes("a.db")
        // The kind of the first page, which has the schema.
        bytes[100] = 0
        try workspace.write(bytes, to: "broken.db")
        let run = try shell("ATTACH 'broken.db' AS p;\n", "a.db")
        #expect(run.status == 65 && run.errors.contains("the attached file is damaged"), "\(run.errors)")
        #expect(!run.errors.contains("restore a backup"), "\(run.errors)")
    }
}
