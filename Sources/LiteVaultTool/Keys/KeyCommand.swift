internal import Foundation

/// A shell command that prints a key: a password manager, `systemd-creds decrypt`, `gpg --decrypt`.
struct KeyCommand {
    let text: String
    /// Whether the command's own messages are dropped: with `--json`, standard error is JSON alone.
    let quiet: Bool

    /// Runs the command and returns what it wrote to standard output. It keeps our standard input: it may ask somebody.
    ///
    /// - Throws: `key-rejected` when it can not be started or does not end with status 0; `SecretReadError`.
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
        Interruption.shared.watch(child: child)
        defer { Interruption.shared.forget(child: child) }

        let buffer = SecretBuffer()
        var problem: SecretReadError?
        do { try buffer.fill(from: output) } catch {
            problem = error
            // It may never stop writing.
            kill(child, SIGTERM)
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
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
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

        let words: [String] = ["/bin/sh", "-c", text]
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments, environ)
        return code == 0 ? .success(child) : .failure(.system(code))
    }
}
