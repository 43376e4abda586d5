import Foundation
import LiteVaultBackup
import LiteVaultSchedule
import LiteVaultScheduleFile
import LiteVaultTestSupport
import Testing

private final class Counter: @unchecked Sendable {  // its lock guards the rest
    private let lock = NSLock()
    private var count = 0
    var value: Int { lock.withLock { count } }
    func increase() { lock.withLock { count += 1 } }
}

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
        for sources in [
            "'\(scratch.path("db/*.db"))'", "['\(scratch.path("db/caf*.db"))', '\(scratch.path("db/*unden.db"))']",
        ] {
            let found = try list("sources: \(sources)")
            #expect(found.problems.isEmpty)
            #expect(Set(found.databases.map { Array($0.name.utf8) }).count == 4)
        }
    }

    @Test func `H-SEC-32 a combining mark behind a slash or a wildcard is the start of a name`() throws {
        for name in ["\u{301}a.db", "b\u{301}.db"] { try write("db/" + name) }
        for pattern in ["*\u{301}*.db", "*.db"] {
            let found = try list("sources: '\(scratch.path("db"))/\(pattern)', database: '{parent}-{stem}'")
            let names = Set(found.databases.map { Array($0.name.utf8) })
            #expect(names == [Array("db-\u{301}a".utf8), Array("db-b\u{301}".utf8)])
        }
        let one = try list("sources: '\(scratch.path("db"))/*\u{301}.db'")
        #expect(one.databases.map { Array($0.name.utf8) } == [Array("b\u{301}.db".utf8)])
    }

    @Test func `H-SEC-27 repositories whose paths are canonically equal are two`() {
        let (one, other) = (RepositoryReference("/caf\u{e9}"), RepositoryReference("/cafe\u{301}"))
        #expect(one != other && Set([one, other]).count == 2)
        #expect(one == RepositoryReference("/caf\u{e9}"))
    }

    @Test func `H-SEC-31 a file, or a directory, whose name is not UTF-8 is a failure that names it`() throws {
        // What such names become when they are repaired exists as well: it is another file.
        try write("db/b\u{FFFD}.db")
        for name in ["db/b\u{FF}.db", "db/b\u{FF}.db-wal", "db/d\u{FF}/c.db"] {
            // Each scalar as one byte: U+00FF is then not UTF-8.
            let path = Array(scratch.path("").utf8) + name.unicodeScalars.map { UInt8($0.value) }
            let directory = path[...(path.lastIndex(of: UInt8(ascii: "/")) ?? 0)]
            mkdir(directory.map { CChar(bitPattern: $0) } + [0], 0o700)
            let file = creat(path.map { CChar(bitPattern: $0) } + [0], 0o600)
            #expect(file >= 0)
            close(file)
        }
        let found = try list("sources: ['\(scratch.path("db/*.db"))', '\(scratch.path("db/*/*.db"))']")
        #expect(found.databases.map(\.path) == [scratch.path("db/b\u{FFFD}.db")])
        #expect(
            found.problems.map(\.source) == [scratch.path("db/b\u{FFFD}.db"), scratch.path("db/d\u{FFFD}/c.db")])
        #expect(found.problems.allSatisfy { $0.step == "sources" && $0.message.contains("UTF-8") })
        #expect(try list("sources: '\(scratch.path("db/*.db*"))', exclude: 'b*', allow-none: true").problems.isEmpty)
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

    @Test func `H-JOB-44 a directory or file that cannot be looked at is a failure that names it`() throws {
        try write("db/one/a.db")
        // What no user can look at, root included.
        try link("db/two", to: "two")
        try link("db/one/b.db", to: "b.db")
        let sources = "sources: '\(scratch.path("db/*/*.db"))', database: '{parent}/{file}', allow-none: true"
        let found = try list(sources)
        #expect(found.databases.map(\.name) == ["one/a.db"])
        #expect(found.problems.map(\.source) == [scratch.path("db/two"), scratch.path("db/one/b.db")])
        #expect(found.problems.allSatisfy { $0.step == "sources" && $0.message.contains("cannot be read") })
        #expect(try list(sources + ", exclude: [b.db, two]").problems.isEmpty)
        let single = try list("sources: '\(scratch.path("db/one/b.db"))'")
        #expect(single.problems.count == 1 && single.problems.first?.message.contains("cannot be read") == true)
    }

    /// What the jobs match of one configuration, in the order of the jobs.
    private func lists(_ jobs: [String]) throws -> [SourceList] {
        let configuration = try ScheduleConfiguration(
            text: "repository: r\njobs:\n" + jobs.map { "  - {every: 1h, \($0)}\n" }.joined(),
            path: scratch.path("backup.yml"))
        let names = SharedNames(configuration.jobs)
        return configuration.jobs.map { names.list($0) }
    }

    @Test
    func `H-JOB-12 two files of two jobs do not share a name in one repository, and both files and jobs are named`()
        throws
    {
        for name in ["x/d.db", "x/e.db", "y/d.db", "z/d.db"] { try write(name) }
        try FileManager.default.createDirectory(atPath: scratch.path("r"), withIntermediateDirectories: true)
        try link("other", to: scratch.path("r"))
        let (x, y) = ("name: x, sources: '\(scratch.path("x/*.db"))'", "name: y, sources: '\(scratch.path("y/*.db"))'")
        for place in ["r", "r/", "./r", "other"] {
            let found = try lists([
                x, y + ", repository: \(place)", "name: z, repository: r2, sources: '\(scratch.path("z/*.db"))'",
            ])
            #expect(found.map { $0.databases.map(\.name) } == [["e.db"], [], ["d.db"]], "\(place)")
            #expect(
                found.map { $0.problems.map(\.source) } == [[scratch.path("x/d.db")], [scratch.path("y/d.db")], []])
            for problem in found.flatMap(\.problems) {
                #expect(problem.code == "config" && problem.remedy?.contains("{parent}/{file}") == true)
                for text in ["'x'", "'y'", "'d.db'"] { #expect(problem.message.contains(text)) }
            }
            #expect(found[0].problems.first?.message.contains(scratch.path("y/d.db")) == true)
            #expect(found[1].problems.first?.message.contains(scratch.path("x/d.db")) == true)
        }
        // As the remedy says.
        let named = try lists([x, y + ", database: '{parent}/{file}'"])
        #expect(named.allSatisfy { $0.problems.isEmpty } && named.map(\.databases.count) == [2, 1])
    }

    @Test func `many jobs of one repository expand their sources once for all of them, and see what is new`() throws {
        for number in 0..<40 { try write("\(number)/a.db") }
        let text =
            "repository: r\njobs:\n"
            + (0..<40).map {
                "  - {every: 1h, name: j\($0), sources: '\(scratch.path("\($0)/*.db"))', database: '{parent}/{file}'}\n"
            }
            .joined()
        let jobs = try ScheduleConfiguration(text: text, path: scratch.path("backup.yml")).jobs
        let count = Counter()
        let names = SharedNames(jobs) { job in
            count.increase()
            return SourceList(job)
        }
        for job in jobs { #expect(names.list(job).databases.count == 1) }
        // The first job, which makes the index, expands its own once.
        #expect(count.value == 79)
        // A new database is compared with what the others have now.
        try write("9/b.db")
        let others = try ScheduleConfiguration(
            text: text
                + "  - {every: 1h, name: x, sources: '\(scratch.path("x/*/*.db"))', database: '{parent}/{file}'}\n",
            path: scratch.path("backup.yml")
        ).jobs
        let known = SharedNames(others)
        #expect(known.list(others[9]).problems.isEmpty)
        try write("x/9/b.db")
        #expect(known.list(others[40]).problems.map(\.code) == ["config"])
    }

    @Test func `the sources of jobs of other repositories, which may hang, are not expanded`() throws {
        for name in ["a", "b", "c"] { try write("\(name)/\(name).db") }
        let text =
            "jobs:\n"
            + [("a", "r"), ("b", "r"), ("c", "s")].map { name, repository in
                "  - {every: 1h, name: \(name), sources: '\(scratch.path("\(name)/*.db"))', repository: \(repository)}\n"
            }.joined()
        let jobs = try ScheduleConfiguration(text: text, path: scratch.path("backup.yml")).jobs
        let names = SharedNames(jobs) { job in
            #expect(job.name != "c")
            return SourceList(job)
        }
        for job in jobs.prefix(2) { #expect(names.list(job).databases.count == 1) }
    }

    @Test func `one file in two jobs is one database, behind links as well`() throws {
        try write("x/d.db")
        try link("linked", to: scratch.path("x"))
        let found = try lists([
            "name: a, sources: '\(scratch.path("x/d.db"))'", "name: b, sources: '\(scratch.path("linked/*.db"))'",
        ])
        #expect(found.allSatisfy { $0.problems.isEmpty && $0.databases.map(\.name) == ["d.db"] })
    }

    @Test func `a volume that is not mounted is a failure before the first wildcard, too, whatever may match nothing`()
        throws
    {
        try write("vol/t2/a.db")
        try link("vol/t1", to: "/nowhere/mount")
        let found = try list(
            "sources: ['\(scratch.path("vol/t1/*.db"))', '\(scratch.path("vol/t1/sub/*.db"))'], allow-none: yes")
        #expect(found.problems.map(\.source) == [scratch.path("vol/t1"), scratch.path("vol/t1")])
        #expect(found.problems.allSatisfy { $0.message.contains("/nowhere/mount") && $0.code == "no-input" })
        #expect(try list("sources: '\(scratch.path("vol/t2/*.x"))', allow-none: yes").problems.isEmpty)
    }
}
