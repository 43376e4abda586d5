import Foundation
import LiteVault
import Testing

/// What is said about backups in each state, compared with the table of the article "Monitoring".
@Suite struct BackupStateTests {
    let workspace: Workspace
    private let common = ["--repository", "repository", "--state-folder", "state", "--cache-folder", "cache"]

    init() throws {
        workspace = try Workspace()
        try workspace.makeDatabase("notes.db")
        try workspace.write(
            """
            repository: repository
            state-folder: state
            metrics-file: metrics.prom
            jobs:
              - {name: notes, sources: notes.db, every: 1s, allow-plaintext: yes}

            """, to: "backup.yml")
    }

    /// What each command ends with, and the metrics.
    private func row(_ state: String) throws -> String {
        // The job is due a second after it ran.
        Thread.sleep(forTimeInterval: 1.1)
        let commands = [
            ["schedule", "run-due", "backup.yml"], ["schedule", "status", "backup.yml", "--check"],
            ["doctor", "backup.yml"], ["snapshots"] + common, ["check"] + common,
        ]
        let results = try commands.map { String(try workspace.tool.run($0).status) }
        let metrics = String(decoding: try workspace.bytes("metrics.prom"), as: UTF8.self)
        let values = ["unrestorable", "lost"].map { name in
            metrics.split(separator: "\n").first { $0.hasPrefix("litevault_job_\(name)_snapshots{") }?
                .split(separator: " ").last.map(String.init) ?? "-"
        }
        return "| \(([state] + results + values).joined(separator: " | ")) |"
    }

    private func change() throws {
        let database = try Connection(workspace.path("notes.db"))
        try database.execute("UPDATE note SET title = 'changed ' || random() WHERE id = 1")
        try database.close()
    }

    /// Flips a byte of the newest data pack.
    private func flip() throws {
        let root = URL(fileURLWithPath: workspace.path("repository/data"))
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: [.contentModificationDateKey])
        let packs = try #require(files).compactMap { $0 as? URL }.filter { $0.lastPathComponent.count == 32 }
        let newest = try #require(
            packs.max { one, other in
                let times = [one, other].map {
                    (try? $0.resourceValues(forKeys: [.contentModificationDateKey]))?.contentModificationDate ?? .distantPast
                }
                return times[0] < times[1]
            })
        var bytes = try Data(contentsOf: newest)
        bytes[64 + 100] ^= 1
        try bytes.write(to: newest)
    }

    @Test func `the table of states in Monitoring says what each command and metric says`() throws {
        var rows: [String] = []
        rows.append(try row("never verified"))
        try change()
        #expect(try workspace.tool.run(["schedule", "run-due", "backup.yml"]).status == 0)
        #expect(try workspace.tool.run(["check", "--restore-test"] + common).status == 0)
        rows.append(try row("intact"))
        try change()
        Thread.sleep(forTimeInterval: 1.1)
        #expect(try workspace.tool.run(["schedule", "run-due", "backup.yml"]).status == 0)
        try flip()
        #expect(try workspace.tool.run(["check", "--read-data"] + common).status == 65)
        rows.append(try row("recorded damage"))
        // The run above has stored the blocks again: what was damaged is all that is lost.
        #expect(try workspace.tool.run(["repair"] + common).status == 65)
        rows.append(try row("repaired loss"))
        let listed = try workspace.tool.run(["snapshots", "--json"] + common).json()
        let lost = try #require(listed["snapshots"] as? [[String: Any]]).filter {
            ($0["verification"] as? [String: Any])?["lost_blocks"] != nil
        }.compactMap { $0["id"] as? String }
        #expect(!lost.isEmpty)
        #expect(try workspace.tool.run(["forget", "--snapshot"] + lost + ["--dry-run"] + common).status == 0)
        #expect(try workspace.tool.run(["forget", "--snapshot"] + lost + common).status == 0)
        rows.append(try row("loss forgotten"))
        try FileManager.default.moveItem(atPath: workspace.path("repository"), toPath: workspace.path("away"))
        rows.append(try row("unreachable"))

        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/LiteVault/Documentation.docc/Monitoring.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let table = text.split(separator: "\n").map(String.init)
            .drop { !$0.hasPrefix("| state |") }.dropFirst(2).prefix { $0.hasPrefix("| ") }
        #expect(Array(table) == rows, "\(rows.joined(separator: "\n"))")
    }
}
