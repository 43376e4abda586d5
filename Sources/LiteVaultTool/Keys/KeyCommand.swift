internal import Foundation

/// A shell command that prints a key: a password manager, `systemd-creds decrypt`, `gpg --decrypt`.
struct KeyCommand {
    let text: String
    /// Whether the command's own messages are dropped: with `--json`, standard error is JSON alone.
    let quiet: Bool
    /// Seconds after which it is ended, with all that it has started; nil where somebody may be asked, for as long as it takes.
    var limit: Double?

    /// Runs the command and returns what it wrote to standard output. It keeps our standard input: it may ask somebody.
    ///
    /// - Throws: `key-rejected` when it can not be started, does not end with status 0 or in time; `SecretReadError`.
    func read() throws -> SecretBuffer {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SecretReadError.system(errno) }
        let (output, input) = (ends[0], ends[1])
        _ = fcntl(output, F_SETFD, FD_CLOEXEC)
        _ = fcntl(input, F_SETFD, FD_CLOEXEC)
        defer { close(output) }

        let started = spawn(writingTo: input)
        close(input)
        guard case .success(let child) = started else {
            guard case .failure(let error) = started else { throw SecretReadError.system(ECHILD) }
            throw error
        }
        // With a limit it has a group of its own: a shell would leave behind what it has started.
        let group = limit == nil ? child : -child
        Interruption.shared.watch(child: group)
        defer { Interruption.shared.forget(child: group) }
        let alarm = limit.map { Alarm(seconds: $0) { kill(group, SIGKILL) } }

        let buffer = SecretBuffer()
        var problem: SecretReadError?
        do { try buffer.fill(from: output) } catch {
            problem = error
            // It may never stop writing.
            kill(child, SIGTERM)
        }
        var status: Int32 = 0
        if let alarm { Self.waitForEnd(child, alarm) }
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        if let limit, alarm?.hasRung == true {
            throw Failure(
                .keyRejected, "the key command did not end within \(Int(limit)) s, and was ended",
                remedy: "Run it by itself: a schedule has nobody whom it could ask.")
        }
        if let problem { throw problem }
        guard status == 0 else {
            let signal = status & 0x7F
            let end = signal == 0 ? "status \(status >> 8 & 0xFF)" : "signal \(signal)"
            throw Failure(
                .keyRejected, "the key command ended with \(end)",
                remedy: "Run it by itself to see what is wrong; it has to print the key and end with status 0.")
        }
        return buffer
    }

    /// Waits without taking the child's number away, which the alarm may still need.
    private static func waitForEnd(_ child: pid_t, _ alarm: Alarm) {
        var found = siginfo_t()
        while waitid(P_PID, id_t(child), &found, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        alarm.cancel()
    }

    private func spawn(writingTo input: Int32) -> Result<pid_t, SecretReadError> {
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
        posix_spawn_file_actions_adddup2(&actions, input, STDOUT_FILENO)
        if quiet { posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) }
        // We block some signals and ignore others; a child that inherited that could not be interrupted.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for signal in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { sigaddset(&defaults, signal) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        if limit != nil { posix_spawnattr_setpgroup(&attributes, 0) }
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (limit == nil ? 0 : POSIX_SPAWN_SETPGROUP)))

        let words: [String] = ["/bin/sh", "-c", text]
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments, environ)
        return code == 0 ? .success(child) : .failure(.system(code))
    }
}

/// Does something once, after a time, unless it is cancelled before.
private final class Alarm: @unchecked Sendable {  // the lock guards the state, and keeps ringing and cancelling apart
    private let lock = NSLock()
    private var isOver = false
    private var rang = false

    var hasRung: Bool { lock.withLock { rang } }

    init(seconds: Double, _ body: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [self] in
            lock.withLock {
                guard !isOver else { return }
                (isOver, rang) = (true, true)
                body()
            }
        }
    }

    func cancel() { lock.withLock { isOver = true } }
}
