import Foundation
import LiteVault
import Testing

/// Signals, and what they leave behind.
@Suite(.enabled(if: Engine.encrypts, "the engine does not encrypt"))
struct InterruptionTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.makeDatabase("notes.db", rows: 60_000)
        try workspace.write("secret", to: "key")
    }

    /// Starts a command, sends it a signal when its temporary file has grown, and returns its exit status.
    private func interrupt(_ signal: Int32, _ arguments: String...) throws -> Int32 {
        let process = Process()
        process.executableURL = Tool.executable
        process.arguments = arguments + ["--key-file", "key"]
        process.currentDirectoryURL = workspace.directory
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let end = Date(timeIntervalSinceNow: 60)
        while process.isRunning, Date() < end {
            let temporary = try workspace.names().first { $0.contains(".litevault-") && $0.hasSuffix(".tmp") }
            let size = temporary.flatMap { try? workspace.bytes($0).count } ?? 0
            if size > 100_000 { break }
            usleep(1000)
        }
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        return process.terminationStatus
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
        let began = Date()
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        #expect(process.terminationStatus == 143)
        #expect(Date().timeIntervalSince(began) < 10)
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

    @Test func `a result that cannot be written ends with 74`() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "\"$1\" info notes.db > /dev/full 2> error", "sh", Tool.executable.path]
        process.currentDirectoryURL = workspace.directory
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 74)
        #expect(String(decoding: try workspace.bytes("error"), as: UTF8.self).contains("No space left"))
    }

    @Test func `no core is dumped and no debugger of the same user can attach`() throws {
        let run = try workspace.tool.run(
            "info", "notes.db", "--key-command", "grep -h 'core file' /proc/$PPID/limits > limits; false")
        #expect(run.status == 77)
        let limits = String(decoding: try workspace.bytes("limits"), as: UTF8.self)
        #expect(limits.split(whereSeparator: \.isWhitespace).prefix(6).suffix(2) == ["0", "0"])
    }
}
