import Foundation
import LiteVaultBackup
import LiteVaultTestSupport

/// An SSH server of Tests/SFTPTests/sshd, and stores on it. It serves until this process ends.
final class SFTPServer: @unchecked Sendable {  // set once
    static let shared = SFTPServer()
    static var isThere: Bool { shared != nil }

    /// The files of the server, and of the stores.
    let scratch: Scratch
    private let port: Int
    private let process: Process
    /// The program ends with it.
    private let input: Pipe

    /// Starts the server; nil if there is no sshd.
    private init?() {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let (scratch, process, input, output) = (Scratch(), Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-W", "ignore", "\(tests)/SFTPTests/sshd", scratch.directory]
        process.standardInput = input
        process.standardOutput = output
        do { try process.run() } catch { return nil }
        var line = Data()
        while !line.contains(10) {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { return nil }
            line += data
        }
        let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let port = Int(text) else { return nil }
        self.scratch = scratch
        self.port = port
        self.process = process
        self.input = input
    }

    deinit { try? input.fileHandleForWriting.close() }

    /// A store in a directory of its own, which does not exist yet.
    ///
    /// - Parameter path: that of another store.
    static func store(_ path: String? = nil, _ change: (inout SFTPSettings) -> Void = { _ in }) throws -> SFTPStore {
        let folder = shared?.scratch.directory ?? "/nowhere"
        var settings = try SFTPSettings(url: "sftp://127.0.0.1\(path ?? folder + "/stores/" + UUID().uuidString)")
        settings.command =
            "exec ssh -F \(folder)/ssh_config -oBatchMode=yes -p \(shared?.port ?? 1) -s 127.0.0.1 sftp"
        settings.firstPause = .milliseconds(10)
        // Hundreds of tests share the server and two threads: time that passes says nothing about a server or a writer.
        (settings.timeout, settings.retryTimeLimit) = (.seconds(600), .seconds(3600))
        settings.lockTimeout = .seconds(3600)
        change(&settings)
        return SFTPStore(settings)
    }
}
