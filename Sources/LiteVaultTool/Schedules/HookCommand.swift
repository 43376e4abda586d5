internal import Foundation
internal import LiteVaultBackup
internal import LiteVaultSchedule

/// A shell command around a job. What it prints goes to standard error, as standard output is for results.
struct HookCommand {
    /// Seconds between SIGTERM and SIGKILL for a hook that took too long.
    static let grace = 5.0

    let text: String
    let variables: [String: String]
    /// Seconds that it may take.
    let limit: Double
    /// Whether its output is dropped.
    let quiet: Bool

    /// Runs it and waits for its end; a signal that ends us ends it too. What it leaves running in the background is not
    /// waited for, whatever of ours it holds open.
    ///
    /// - Throws: ``BackupError`` `jobFailed` when it can not be started or does not end with status 0; ``LimitReached`` when
    ///   it took too long: it and all that it has started were ended then. `CancellationError`, and the same.
    func run() async throws {
        let child = try spawn()
        // The whole group of processes: a shell would leave behind what it has started.
        Interruption.shared.watch(child: -child)
        defer { Interruption.shared.forget(child: -child) }
        let end = ContinuousClock.now + .seconds(limit)
        var status: Int32 = 0
        while true {
            let ended = waitpid(child, &status, WNOHANG)
            if ended == child { break }
            if ended < 0, errno != EINTR { throw BackupError(.jobFailed, "the hook was lost") }
            do {
                try await Task.sleep(nanoseconds: 20_000_000)
            } catch {
                await Self.end(child)
                throw error
            }
            if ContinuousClock.now >= end {
                await Self.end(child)
                throw LimitReached(
                    "hook", seconds: limit, "a hook was ended, as it did not end by itself within",
                    remedy: "Find out what it waits for, or raise 'limits: {hook: …}'.")
            }
        }
        guard status == 0 else {
            let signal = status & 0x7F
            let end = signal == 0 ? "status \(status >> 8 & 0xFF)" : "signal \(signal)"
            throw BackupError(
                .jobFailed, "a hook ended with \(end)", remedy: "Run it by itself to see what is wrong.")
        }
    }

    /// Ends a hook and all of its group: SIGTERM, and SIGKILL where that does not help. As long as the shell is not waited
    /// for, nobody else can get the group's number.
    private static func end(_ child: pid_t) async {
        kill(-child, SIGTERM)
        // One that is stopped acts on it only when it goes on.
        kill(-child, SIGCONT)
        let end = ContinuousClock.now + .seconds(grace)
        while ContinuousClock.now < end, hasOthers(child) || !hasEnded(child) {
            // The task may be cancelled; the pause is needed all the same.
            await Task.detached { try? await Task.sleep(nanoseconds: 20_000_000) }.value
        }
        kill(-child, SIGKILL)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
    }

    /// Whether the shell has ended, without waiting for it.
    private static func hasEnded(_ child: pid_t) -> Bool {
        var found = siginfo_t()
        return waitid(P_PID, id_t(child), &found, WEXITED | WNOHANG | WNOWAIT) == 0 && found.si_signo == SIGCHLD
    }

    /// Whether others than the shell are in its group, where the platform tells.
    private static func hasOthers(_ child: pid_t) -> Bool {
        #if os(Linux)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return names.lazy.compactMap { pid_t($0) }.contains { $0 != child && getpgid($0) == child }
        #else
            return false
        #endif
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
