import Foundation
import LiteVault
import Testing

/// Signals, and what they leave behind.
@Suite(.enabled(if: EngineInfo.linked.encrypts, "the engine does not encrypt"))
struct InterruptionTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.makeDatabase("notes.db", rows: 60_000)
        try workspace.write("secret", to: "key")
    }

    /// Starts a command, sends it a signal in the middle of its work, and returns its exit status.
    private func interrupt(_ signal: Int32, _ arguments: String...) throws -> Int32 {
        let (before, names) = (try workspace.bytes("notes.db"), try workspace.names())
        for _ in 1...20 {
            let process = Process()
            process.executableURL = Tool.executable
            process.arguments = arguments + ["--key-file", "key"]
            process.currentDirectoryURL = workspace.directory
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            process.standardInput = FileHandle.nullDevice
            try process.run()
            let isInTheMiddle = stop(process, whileBelow: before.count / 2)
            if isInTheMiddle { kill(process.processIdentifier, signal) }
            kill(process.processIdentifier, SIGCONT)
            process.waitUntilExit()
            #expect(process.terminationReason == .exit)
            if isInTheMiddle { return process.terminationStatus }
            // It was faster than this test, which a busy machine may stop for seconds: once more, from the start.
            #expect(process.terminationStatus == 0)
            for name in try workspace.names().subtracting(names) {
                try FileManager.default.removeItem(atPath: workspace.path(name))
            }
            try workspace.write(before, to: "notes.db")
        }
        Issue.record("the command was never met in the middle of its work")
        return 0
    }

    /// Stops a command when its temporary file has grown: it cannot end between this look at it and the signal.
    ///
    /// - Returns: false if it has ended, or has written more than these bytes and may end before it sees a signal.
    private func stop(_ process: Process, whileBelow limit: Int) -> Bool {
        let end = ContinuousClock.now + .seconds(300)
        while process.isRunning, ContinuousClock.now < end, temporarySize <= 100_000 { usleep(1000) }
        guard process.isRunning else { return false }
        kill(process.processIdentifier, SIGSTOP)
        while ContinuousClock.now < end {
            // The state follows the name, which may contain anything.
            let line = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
            switch line?.split(separator: ")").last?.split(separator: " ").first {
            case "T": return (100_001..<limit).contains(temporarySize)
            case nil, "Z", "X": return false
            default: usleep(1000)
            }
        }
        return false
    }

    /// The size of the temporary file; 0 if there is none.
    private var temporarySize: Int {
        let name = try? workspace.names().first { $0.contains(".litevault-") && $0.hasSuffix(".tmp") }
        let attributes = name.flatMap { try? FileManager.default.attributesOfItem(atPath: workspace.path($0)) }
        return attributes?[.size] as? Int ?? 0
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends encrypt with its status, and nothing is left`(_ signal: Int32) throws {
        let before = try workspace.bytes("notes.db")
        #expect(try interrupt(signal, "encrypt", "notes.db", "vault.db") == 128 + signal)
        #expect(try workspace.names() == ["notes.db", "key"])
        #expect(try workspace.bytes("notes.db") == before)
    }

    @Test func `a signal ends encrypt in place with the old file unchanged`() throws {
        let before = try workspace.bytes("notes.db")
        #expect(try interrupt(SIGTERM, "encrypt", "notes.db", "--in-place") == 143)
        #expect(try workspace.names() == ["notes.db", "key"])
        #expect(try workspace.bytes("notes.db") == before)
    }

    @Test func `a signal while a key command runs ends both at once`() throws {
        let process = Process()
        process.executableURL = Tool.executable
        process.arguments = [
            "encrypt", "notes.db", "vault.db", "--key-command", "echo started > started; exec sleep 100",
        ]
        process.currentDirectoryURL = workspace.directory
        process.standardError = FileHandle.nullDevice
        try process.run()
        while try !workspace.names().contains("started") { usleep(1000) }
        let began = ContinuousClock.now
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        #expect(process.terminationStatus == 143)
        // The command would sleep for 100 s.
        #expect(ContinuousClock.now - began < .seconds(90))
    }

    @Test func `a reader that closes the pipe does not end the work`() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "{ \"$1\" encrypt notes.db vault.db --key-file key --progress; echo $? > status; } 2>&1 | true", "sh",
            Tool.executable.path,
        ]
        process.currentDirectoryURL = workspace.directory
        try process.run()
        process.waitUntilExit()
        #expect(String(decoding: try workspace.bytes("status"), as: UTF8.self) == "0\n")
        #expect(try workspace.tool.run("verify", "vault.db", "--key-file", "key").status == 0)
    }

    @Test(arguments: ["info notes.db", "keygen"])
    func `a result that cannot be written ends with 74, and the error says that it is lost`(command: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "\"$1\" \(command) > /dev/full 2> error", "sh", Tool.executable.path]
        process.currentDirectoryURL = workspace.directory
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 74)
        let error = String(decoding: try workspace.bytes("error"), as: UTF8.self)
        #expect(error.contains("No space left") && error.contains("lost, a new key") && !error.contains("succeeded"))
    }

    @Test func `H-BAK-40 as many files may be open as the hard limit says`() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "ulimit -Sn 200 && ulimit -Hn 3000 && \"$1\" info notes.db --key-command 'ulimit -Sn > files; false' 2> error",
            "sh", Tool.executable.path,
        ]
        process.currentDirectoryURL = workspace.directory
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 77)
        #expect(String(decoding: try workspace.bytes("files"), as: UTF8.self) == "3000\n")
    }

    @Test func `no core is dumped and no debugger of the same user can attach`() throws {
        let run = try workspace.tool.run(
            "info", "notes.db", "--key-command", "grep -h 'core file' /proc/$PPID/limits > limits; false")
        #expect(run.status == 77)
        let limits = String(decoding: try workspace.bytes("limits"), as: UTF8.self)
        let words = limits.split(whereSeparator: \.isWhitespace).map { String($0) }
        #expect(Array(words.prefix(6).suffix(2)) == ["0", "0"])
    }
}
