import Foundation
import LiteVaultBackup
import LiteVaultSchedule
import LiteVaultScheduleFile
import LiteVaultTestSupport
import Testing

/// State files and configurations that say what no run and no person would write.
@Suite struct ExtremeInputTests {
    let scratch = Scratch()

    private func refusal(_ body: () throws -> Void) -> VaultError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? VaultError)?.code
        }
    }

    @Test(arguments: [
        "lastStart", "lastEnd", "lastSuccess", "lastVerification", "lastPrune", "failed", "databases", "stored",
    ])
    func `H-DEC-09 a time or a count in a state file that nothing can be counted with is damage`(member: String) throws
    {
        let path = try StateFile(directory: scratch.directory, configuration: "x").path
        for value in ["-1e300", "1e300", "1e18", "-1", "9223372036854775807", "1e999", "NaN", "\"x\"", "[]"] {
            let others = ["failed", "databases", "stored"].filter { $0 != member }.map { "\"\($0)\":0," }.joined()
            try Data("{\"version\":1,\"jobs\":{\"a\":{\"problems\":[],\(others)\"\(member)\":\(value)}}}".utf8)
                .write(to: URL(fileURLWithPath: path))
            #expect(
                refusal { _ = try StateFile(directory: scratch.directory, configuration: "x") } == .damaged, "\(value)")
        }
    }

    @Test func `H-DEC-09 a state file that is a FIFO, or as long as no state is, is damage`() throws {
        let path = try StateFile(directory: scratch.directory, configuration: "x").path
        #expect(mkfifo(path, 0o600) == 0)
        #expect(refusal { _ = try StateFile(directory: scratch.directory, configuration: "x") } == .damaged)
        unlink(path)
        try LocalFile(creating: path).truncate(to: 1 << 40)
        #expect(refusal { _ = try StateFile(directory: scratch.directory, configuration: "x") } == .damaged)
    }

    @Test func `H-SEC-10: a FIFO in place of the lock of a state file is damage, and is not waited for`() throws {
        let state = try StateFile(directory: scratch.directory, configuration: "x")
        let path = state.path + ".lock"
        #expect(try state.runner() == .none)
        #expect(mkfifo(path, 0o600) == 0)
        // Without it a wait for a writer would have no end.
        let helper = Thread {
            sleep(300)
            let opened = open(path, O_RDWR | O_NONBLOCK)
            if opened >= 0 { close(opened) }
        }
        helper.start()
        let start = Date()
        #expect(refusal { _ = try state.runner() } == .damaged)
        #expect(refusal { try state.lock() } == .damaged)
        #expect(Date().timeIntervalSince(start) < 250, "it waited")
        unlink(path)
        try state.lock()
        #expect(
            try StateFile(directory: scratch.directory, configuration: "x").runner()
                == .process(ProcessInfo.processInfo.processIdentifier))
    }

    @Test func `local memory is read again under the old member names`() throws {
        let state = try StateFile(directory: scratch.directory, configuration: "x")
        var job = JobState()
        job.lastStart = 1_800_000_000.25
        try state.update("a_job") { $0 = job }
        #expect(try StateFile(directory: scratch.directory, configuration: "x").job("a_job") == job)
        #expect(try String(contentsOfFile: state.path, encoding: .utf8).contains("\"lastStart\""))
    }

    @Test func `H-CLOCK-15 a service has an older configuration if the text differs, whatever the clock says`() throws {
        let path = scratch.path("backup.yml")
        func configuration(every: String, changed: Double) throws -> ScheduleConfiguration {
            try Data("repository: /r\njobs: [{name: a, sources: /x, every: \(every)}]\n".utf8)
                .write(to: URL(fileURLWithPath: path))
            let time = Date(timeIntervalSince1970: changed)
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
            return try ScheduleConfiguration(path: path)
        }
        func isOutdated(_ configuration: ScheduleConfiguration) throws -> Bool {
            try StateFile(directory: scratch.directory, configuration: path).isOutdated(configuration)
        }
        // An earlier version noted the time.
        let service = try StateFile(directory: scratch.directory, configuration: path)
        try Data("{\"version\":1,\"jobs\":{},\"loaded\":1}".utf8).write(to: URL(fileURLWithPath: service.path))
        try service.lock()
        let now = Date().timeIntervalSince1970
        #expect(try !isOutdated(configuration(every: "1h", changed: now)))
        try service.noteLoaded(configuration(every: "1h", changed: now))
        // It was read in 1970, or with a clock that was ahead.
        for time in [now + 90_000, 1] {
            #expect(try !isOutdated(configuration(every: "1h", changed: time)))
            #expect(try isOutdated(configuration(every: "2h", changed: time)))
        }
    }

    @Test func `H-DEC-10 a clock at the end of time has no next time, and does not trap`() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let expression = try CalendarExpression(parsing: "daily", zone: Zone(zone))
        for seconds in [-1e300, 1e300, -1e19, 1e19, .infinity, -.infinity, .nan, 9.2e18] {
            #expect(expression.next(after: Date(timeIntervalSince1970: seconds)) == nil)
        }
        #expect(throws: TimeSyntaxError.self) { try TimeSpan.parse("999999999w") }
        #expect(throws: TimeSyntaxError.self) {
            try CalendarExpression(parsing: "*:0/9223372036854775807", zone: Zone(zone))
        }
    }

    @Test func `H-DEC-11 excessive keys, anchors and depths in a configuration are rejected at once`() throws {
        let start = Date()
        func read(_ text: String) -> VaultError.Code? {
            refusal { _ = try ScheduleConfiguration(text: text, path: scratch.path("a.yml")) }
        }
        #expect(read("? \(String(repeating: "k", count: 900_000))\n: 1\njobs: []\n") == .config)
        #expect(read("\(String(repeating: "k", count: 900_000)): 1\n") == .config)
        // Each level stands for nine of the level before.
        var bomb = "a0: &a0 [x, x]\n"
        for level in 1...30 {
            let references = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            bomb += "a\(level): &a\(level) [\(references)]\n"
        }
        #expect(read(bomb + "? *a30\n: x\n") == .config)
        #expect(read(String(repeating: "[", count: 500_000)) == .config)
        #expect(read(String(repeating: "- ", count: 500_000)) == .config)
        #expect(read(String(repeating: "? ", count: 100_000)) == .config)
        #expect(Date().timeIntervalSince(start) < 300, "it hangs")
        // A few are fine.
        #expect(
            read(
                """
                repository: /r
                jobs:
                  - {name: a, sources: &s [/x.db], every: 1h}
                  - {name: b, sources: *s, at: "Mon *-*-01 04:00"}
                """) == nil)
    }

    @Test func `H-DEC-12 a configuration of 15 TB is not read`() throws {
        let path = scratch.path("a.yml")
        let file = try LocalFile(creating: path)
        do { try file.truncate(to: 15 << 40) } catch { try file.truncate(to: 15 << 30) }
        #expect(refusal { _ = try ScheduleConfiguration(path: path) } == .config)
    }

    @Test func `H-SEC-10: a FIFO or a device in place of a configuration file is refused without waiting`() throws {
        let path = scratch.path("a.yml")
        #expect(mkfifo(path, 0o600) == 0)
        for path in [path, "/dev/zero", scratch.directory] {
            #expect(refusal { _ = try ScheduleConfiguration(path: path) } == .config)
        }
    }
}
