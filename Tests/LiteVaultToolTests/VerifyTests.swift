import Foundation
import LiteVault
import Testing

/// `litevault verify`: what it finds, and how it says so.
@Suite(.enabled(if: EngineInfo.linked.encrypts, "the engine does not encrypt"))
struct VerifyTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.makeDatabase("notes.db", rows: 500)
        try workspace.write("secret", to: "key")
        #expect(try workspace.tool.run("encrypt", "notes.db", "vault.db", "--key-file", "key").status == 0)
    }

    /// The results of the checks by name, and the exit status.
    private func verify(_ name: String) throws -> (status: Int32, checks: [String: String], errors: Tool.Run) {
        let run = try workspace.tool.run("verify", name, "--key-file", "key", "--json")
        let checks = try #require(run.json()["checks"] as? [[String: Any]])
        let pairs = checks.compactMap { check in
            (check["name"] as? String).map { ($0, check["result"] as? String ?? "") }
        }
        return (run.status, Dictionary(uniqueKeysWithValues: pairs), run)
    }

    private func damage(_ name: String, _ change: (inout Data) -> Void) throws {
        var bytes = try workspace.bytes(name)
        change(&bytes)
        try workspace.write(bytes, to: name)
    }

    @Test func `a whole database passes every check`() throws {
        let found = try verify("vault.db")
        #expect(found.status == 0)
        #expect(
            found.checks == [
                "wal": "passed", "pages": "passed", "length": "passed", "integrity_check": "passed",
                "foreign_key_check": "passed",
            ])
        let text = try workspace.tool.run("verify", "vault.db", "--key-file", "key").output
        #expect(text.hasPrefix("vault.db: intact"))
        #expect(text.contains("authenticated"))
    }

    @Test func `a changed byte ends with 65, and the report names the page before the failure`() throws {
        try damage("vault.db") { $0[$0.count / 2] ^= 1 }
        let found = try verify("vault.db")
        #expect(found.status == 65)
        #expect(found.checks["pages"] == "failed")
        #expect(try found.errors.failureCode() == "damaged")
        let text = try workspace.tool.run("verify", "vault.db", "--key-file", "key")
        #expect(text.output.contains("NOT intact"))
        #expect(text.output.contains("Page "))
        #expect(text.errors.hasPrefix("error: vault.db"))
    }

    @Test func `a file that lost its last pages is not intact`() throws {
        try damage("vault.db") { $0.removeLast(8192) }
        let found = try verify("vault.db")
        #expect(found.status == 65)
        #expect(found.checks["length"] == "failed")
    }

    @Test func `a wrong key is distinguished from a damaged first page`() throws {
        try workspace.write("wrong", to: "other")
        let wrong = try workspace.tool.run("verify", "vault.db", "--key-file", "other", "--json")
        #expect(wrong.status == 77)
        try damage("vault.db") { $0[100] ^= 1 }
        #expect(try verify("vault.db").status == 65)
    }

    @Test func `foreign keys that lead nowhere are a remark, and a failure only where they are asked for`() throws {
        let database = try Connection(workspace.path("notes.db"))
        try database.execute(
            "CREATE TABLE tag (note REFERENCES note); INSERT INTO tag VALUES (99999)")
        try database.close()
        let run = try workspace.tool.run("verify", "notes.db", "--json")
        #expect(run.status == 0)
        let found = try #require(run.json()["checks"] as? [[String: Any]])
        #expect(found.last?["result"] as? String == "remarked")
        #expect(try run.json()["intact"] as? Bool == true)
        let text = try workspace.tool.run("verify", "notes.db").output
        #expect(text.contains("foreign_key_check") && text.contains("row 1 of table 'tag'"))

        let strict = try workspace.tool.run("verify", "notes.db", "--foreign-keys", "--json")
        #expect(strict.status == 65)
        #expect(try (strict.json()["checks"] as? [[String: Any]])?.last?["result"] as? String == "failed")
        #expect(try strict.failureCode() == "damaged")
    }

    @Test func `a restore test of a database whose foreign keys lead nowhere passes with a remark`() throws {
        let database = try Connection(workspace.path("notes.db"))
        try database.execute("CREATE TABLE tag (note REFERENCES note); INSERT INTO tag VALUES (99999)")
        try database.close()
        let tool = workspace.tool
        #expect(try tool.run("snapshot", "notes.db", "--repository", "r", "--allow-plaintext").status == 0)
        let run = try tool.run("check", "--repository", "r", "--restore-test", "--json")
        #expect(run.status == 0)
        let remarks = try #require(run.json()["remarks"] as? [[String: Any]])
        #expect((remarks.first?["message"] as? String)?.contains("row 1 of table 'tag'") == true)
        #expect(try tool.run("check", "--repository", "r", "--restore-test").output.contains("remark"))
    }
}
