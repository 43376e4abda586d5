import Foundation
import Testing

/// The built `litevault`, run as a user runs it.
struct Tool {
    /// How a run ended.
    struct Run {
        let arguments: [String]
        let status: Int32
        let output: String
        let errors: String

        /// The one JSON object of standard output.
        func json(_ location: SourceLocation = #_sourceLocation) throws -> [String: Any] {
            let lines = output.split(separator: "\n")
            #expect(lines.count == 1, "exactly one line of JSON", sourceLocation: location)
            return try Self.object(lines.first ?? "", location)
        }

        /// Standard error, every line of which is a JSON object.
        func jsonErrors(_ location: SourceLocation = #_sourceLocation) throws -> [[String: Any]] {
            try errors.split(separator: "\n").map { try Self.object($0, location) }
        }

        /// The `code` of the failure on standard error.
        func failureCode(_ location: SourceLocation = #_sourceLocation) throws -> String? {
            try jsonErrors(location).compactMap { ($0["error"] as? [String: Any])?["code"] as? String }.last
        }

        private static func object(_ line: Substring, _ location: SourceLocation) throws -> [String: Any] {
            let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return try #require(value as? [String: Any], sourceLocation: location)
        }
    }

    /// The directory of the run.
    let directory: URL
    /// The environment of the run, beside what the process itself was started with.
    var environment: [String: String] = [:]

    /// The executable: `LITEVAULT_TOOL`, or the one beside the test bundle.
    static let executable: URL = {
        if let given = ProcessInfo.processInfo.environment["LITEVAULT_TOOL"] { return URL(fileURLWithPath: given) }
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("litevault")
    }()

    /// Runs `litevault` to its end, with `input` on a pipe as standard input.
    func run(_ arguments: String..., input: String = "") throws -> Run {
        try run(arguments, input: input)
    }

    /// Runs `litevault` to its end.
    func run(_ arguments: [String], input: String = "") throws -> Run {
        try run(arguments, bytes: Data(input.utf8))
    }

    /// Runs `litevault` to its end, with bytes as standard input that need not be text.
    func run(_ arguments: [String], bytes: Data) throws -> Run {
        let process = Process()
        process.executableURL = Self.executable
        process.arguments = arguments
        process.currentDirectoryURL = directory
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let (standardInput, output, errors) = (Pipe(), Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        try? standardInput.fileHandleForWriting.write(contentsOf: bytes)
        try? standardInput.fileHandleForWriting.close()
        // Both pipes are drained at the same time: a process blocked on the one would never end the other.
        let drained = DispatchGroup()
        let errorText = Drain(errors.fileHandleForReading, drained)
        let outputText = Drain(output.fileHandleForReading, drained)
        drained.wait()
        process.waitUntilExit()
        return Run(
            arguments: arguments,
            status: process.terminationReason == .uncaughtSignal
                ? 128 + process.terminationStatus : process.terminationStatus,
            output: outputText.text, errors: errorText.text)
    }
}

/// Reads a pipe to its end in the background.
private final class Drain: @unchecked Sendable {
    private(set) var text = ""

    init(_ handle: FileHandle, _ group: DispatchGroup) {
        DispatchQueue.global().async(group: group) { [self] in
            text = String(decoding: handle.readDataToEndOfFile(), as: UTF8.self)
        }
    }
}
