import Foundation
import LiteVaultBackup

/// An SSH server of Tests/SFTPTests/sshd, and stores on it.
struct SFTPServer: Sendable {
    static let shared: (server: Server, scratch: Scratch)? = {
        let scratch = Scratch()
        return Server.start("../SFTPTests/sshd", [scratch.folder], python: "python3").map { ($0, scratch) }
    }()
    static var isThere: Bool { shared != nil }

    /// A store in a directory of its own, which does not exist yet.
    ///
    /// - Parameter path: that of another store.
    static func store(_ path: String? = nil, _ change: (inout SFTPSettings) -> Void = { _ in }) throws -> SFTPStore {
        let folder = shared?.scratch.folder ?? "/nowhere"
        var settings = try SFTPSettings(url: "sftp://127.0.0.1\(path ?? folder + "/stores/" + UUID().uuidString)")
        settings.command =
            "exec ssh -F \(folder)/ssh_config -oBatchMode=yes -p \(shared?.server.port ?? 1) -s 127.0.0.1 sftp"
        settings.firstPause = .milliseconds(10)
        // Hundreds of tests share the server and two threads: time that passes says nothing about a server or a writer.
        (settings.timeout, settings.retryTimeLimit) = (.seconds(600), .seconds(3600))
        settings.lockTimeout = .seconds(3600)
        change(&settings)
        return SFTPStore(settings)
    }
}
