/// A command for `/bin/sh -c`, started with default signal handling.
package struct ShellCommand: Sendable {
    /// Where one of the child's standard streams leads.
    package enum Stream: Sendable {
        /// The same as this process's stream.
        case inherited
        case null
        /// An open descriptor of this process.
        case descriptor(Int32)
    }

    package let text: String
    /// Variables to add to our environment, or to replace there.
    package var variables: [String: String] = [:]
    package var input = Stream.inherited
    package var output = Stream.inherited
    package var error = Stream.inherited
    /// Whether the child leads a process group of its own, so that ``ChildProcess/signal(_:)`` reaches everything it starts.
    package var leadsGroup = false

    package init(_ text: String) { self.text = text }

    /// Starts the command.
    ///
    /// - Throws: ``SystemError`` when the system cannot start it.
    package func spawn() throws(SystemError) -> ChildProcess {
        var (actions, attributes) = (Platform.spawnActions, Platform.spawnAttributes)
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        // Descriptors first: one of them may be a standard stream of ours, which the others replace.
        let streams = [(input, STDIN_FILENO), (output, STDOUT_FILENO), (error, STDERR_FILENO)]
        for (stream, target) in streams {
            if case .descriptor(let source) = stream { posix_spawn_file_actions_adddup2(&actions, source, target) }
        }
        for (stream, target) in streams {
            guard case .null = stream else { continue }
            posix_spawn_file_actions_addopen(
                &actions, target, "/dev/null", target == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0)
        }
        // We block some signals and ignore others; a child that inherited that could not be interrupted.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for signal in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { sigaddset(&defaults, signal) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        if leadsGroup { posix_spawnattr_setpgroup(&attributes, 0) }
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (leadsGroup ? POSIX_SPAWN_SETPGROUP : 0)))

        let words: [String] = ["/bin/sh", "-c", text]
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        let added: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") }
        defer { for text in arguments + added { free(text) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments, added + inherited() + [nil])
        guard code == 0 else { throw SystemError(code: code) }
        return ChildProcess(id: child, leadsGroup: leadsGroup)
    }

    /// The entries of our environment that ``variables`` do not replace. Their bytes need not be text, and are not copied.
    private func inherited() -> [UnsafeMutablePointer<CChar>?] {
        let names = variables.keys.map { "\($0)=" }
        var entries: [UnsafeMutablePointer<CChar>?] = []
        var next: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = environ
        while let entry = next?.pointee {
            if !names.contains(where: { strncmp(entry, $0, $0.utf8.count) == 0 }) { entries.append(entry) }
            next = next?.advanced(by: 1)
        }
        return entries
    }
}

/// A process that ``ShellCommand/spawn()`` started. It has to be waited for: until then its number is not used again.
package struct ChildProcess: Sendable {
    package enum Ending: Sendable, Equatable, CustomStringConvertible {
        case status(Int32)
        case signal(Int32)

        /// - Parameter status: what `waitpid` returned.
        fileprivate init(_ status: Int32) {
            let signal = status & 0x7F
            self = signal == 0 ? .status(status >> 8 & 0xFF) : .signal(signal)
        }

        /// `status 1` or `signal 9`.
        package var description: String {
            switch self {
            case .status(let number): "status \(number)"
            case .signal(let number): "signal \(number)"
            }
        }
    }

    /// The process number.
    package let id: Int32
    package let leadsGroup: Bool

    /// The argument of `kill`: the group if the child leads one, otherwise the child.
    package var signalTarget: Int32 { leadsGroup ? -id : id }

    /// Sends a signal to the child, or to its group if it leads one. Must not be called once it was waited for.
    package func signal(_ number: Int32) { kill(signalTarget, number) }

    /// Blocks until the child has ended. Its number stays taken.
    package func waitUntilEnded() {
        var found = siginfo_t()
        while waitid(P_PID, id_t(id), &found, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    }

    /// Whether the child has ended. Its number stays taken.
    package func hasEnded() -> Bool {
        var found = siginfo_t()
        // Without a child that has ended, the answer of zero has no signal.
        return waitid(P_PID, id_t(id), &found, WEXITED | WNOWAIT | WNOHANG) == 0 ? found.si_signo != 0 : errno != EINTR
    }

    /// Blocks until the child has ended, and releases its number.
    ///
    /// - Throws: ``SystemError`` when somebody else waited for it.
    @discardableResult
    package func wait() throws(SystemError) -> Ending {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 {
            guard errno == EINTR else { throw SystemError(code: errno) }
        }
        return Ending(status)
    }
}
