import Foundation
import LiteVaultBackup
import LiteVaultSchedule
import LiteVaultScheduleFile
import Testing

/// What the sources of a job match.
@Suite struct SourceTests {
    let scratch = Scratch()

    private func write(_ name: String) throws {
        let url = URL(fileURLWithPath: scratch.path(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("x".utf8).write(to: url)
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: scratch.path(name), withDestinationPath: target)
    }

    private func list(_ more: String) throws -> SourceList {
        let configuration = try ScheduleConfiguration(
            text: "repository: r\njobs: [{name: a, every: 1h, \(more)}]", path: scratch.path("backup.yml"))
        return SourceList(try #require(configuration.jobs.first))
    }

    @Test func `H-SEC-27 databases whose names are canonically equal are two`() throws {
        for name in ["caf\u{e9}.db", "cafe\u{301}.db", "\u{212a}unden.db", "Kunden.db"] { try write("db/" + name) }
        for sources in ["'\(scratch.path("db/*.db"))'", "['\(scratch.path("db/caf*.db"))', '\(scratch.path("db/*unden.db"))']"] {
            let found = try list("sources: \(sources)")
            #expect(found.problems.isEmpty)
            #expect(Set(found.databases.map { Array($0.name.utf8) }).count == 4)
        }
    }

    @Test func `H-SEC-27 repositories whose paths are canonically equal are two`() {
        let (one, other) = (RepositoryReference("/caf\u{e9}"), RepositoryReference("/cafe\u{301}"))
        #expect(one != other && Set([one, other]).count == 2)
        #expect(one == RepositoryReference("/caf\u{e9}"))
    }

    @Test func `a pattern that matches a link to nowhere is a failure, wherever in the path the link is`() throws {
        try write("db/one/a.db")
        try link("db/two", to: "/nowhere/volume")
        try link("db/one/b.db", to: "c.db")
        try link("db/one/a.db-wal", to: "c.db-wal")
        let sources = "sources: '\(scratch.path("db/*/*.db"))', database: '{parent}/{file}'"
        let found = try list(sources)
        #expect(found.databases.map(\.name) == ["one/a.db"])
        #expect(found.problems.map(\.source) == [scratch.path("db/one/b.db"), scratch.path("db/two")])
        #expect(found.problems.allSatisfy { $0.code == "no-input" && $0.remedy?.contains("exclude") == true })
        #expect(found.problems.last?.message.contains("/nowhere/volume") == true)
        // As the remedy says.
        #expect(try list(sources + ", exclude: [b.db, '\(scratch.path("db/two"))']").problems.isEmpty)
        // `allow-none` is about databases that may come, not about those that went.
        try FileManager.default.removeItem(atPath: scratch.path("db/one/a.db"))
        #expect(try list(sources + ", allow-none: true").problems.count == 2)
    }
}
