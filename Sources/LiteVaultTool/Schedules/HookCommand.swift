internal import Foundation
internal import LiteVaultBackup

/// A shell command around a job. What it prints goes to standard error, as standard output is for results.
struct HookCommand {
    let text: String
    let variables: [String: String]
    /// Whether its output is dropped.
    let quiet: Bool

    /// Runs it and waits for its end; a signal that ends us ends it too.
    ///
    /// - Throws: ``BackupError`` `jobFailed` when it can not be started or does not end with status 0.
    func run() async throws {
        let child = try spawn()
        // The whole group of processes: a shell would leave behind what it has started.
        Interruption.shared.watch(child: -child)
        defer { Interruption.shared.forget(child: -child) }
        var status: Int32 = 0
        while true {
            let ended = waitpid(child, &status, WNOHANG)
            if ended == child { break }
            if ended < 0, errno != EINTR { throw BackupError(.jobFailed, "the hook was lost") }
            try await Task.sleep(nanoseconds: 20_000_000)
        }
        guard status == 0 else {
            let signal = status & 0x7F
            let end = signal == 0 ? "status \(status >> 8 & 0xFF)" : "signal \(signal)"
            throw BackupError(
                .jobFailed, "a hook ended with \(end)", remedy: "Run it by itself to see what is wrong.")
        }
    }

    private func spawn() throws -> pid_t {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        if quiet {
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        } else {
            posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        }
        // We block some signals and ignore others; a child that inherited that could not be interrupted.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for signal in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { sigaddset(&defaults, signal) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

        let words: [String] = ["/bin/sh", "-c", text]
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        let all = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        let environment: [UnsafeMutablePointer<CChar>?] = all.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments, environment)
        guard code == 0 else {
            throw BackupError(.jobFailed, "a hook could not be started: \(String(cString: strerror(code)))")
        }
        return child
    }
}
