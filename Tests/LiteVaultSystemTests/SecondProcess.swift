internal import Foundation
internal import Testing

/// A Python process that runs a script, says "ready" and then waits for a line on its standard input.
final class SecondProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ script: String, _ arguments: String...) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let program = "import fcntl, os, sys, time\n" + script
        process.arguments = ["python3", "-c", program] + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit { kill() }

    var identifier: Int32 { process.processIdentifier }

    /// The next line of output, waited for.
    func line() throws -> String {
        var bytes: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func go() throws { try input.fileHandleForWriting.write(contentsOf: Data("go\n".utf8)) }

    /// SIGKILL, and waits until the process is gone.
    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func wait() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}
