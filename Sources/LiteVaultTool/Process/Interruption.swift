internal import Dispatch
internal import LiteVault
internal import LiteVaultSystem

/// Ends a command cleanly on SIGINT, SIGTERM and SIGHUP.
///
/// The signals are blocked in all threads, and one thread waits for them with `sigwait`. So ordinary code handles them, which
/// may take locks, remove files and restore the terminal. The first signal asks the running operation to stop: it cancels the task
/// of ``runBlocking(cancelledBySignals:_:)``, and other work calls ``check()`` in its progress reports. If it does not stop within
/// ``grace``, or at the second signal, the process is ended from here. Other work that waits for a child is ended with it, at once.
/// Work under ``stoppable(by:_:)`` is stopped by SIGINT, and the process continues.
final class Interruption: Sendable {
    static let shared = Interruption()

    /// How long an operation may take to stop, unless ``allowMoreTime(_:)`` extends it.
    private static let grace = Duration.seconds(3)
    /// How long a child that may finish has for that.
    private static let childGrace = Duration.seconds(1.5)

    private struct State {
        /// The first signal; 0 if none has arrived.
        var received: Int32 = 0
        var grace = Interruption.grace
        var isEnding = false
        var actions: [(token: Int, immediately: Bool, run: @Sendable () -> Void)] = []
        var nextToken = 0
        /// The children, and whether the first signal leaves them time to finish.
        var children: [pid_t: Bool] = [:]
        /// What SIGINT does instead of ending the process, and how often it still does.
        var stop: (run: @Sendable () -> Void, times: Int)?
        /// The task that the first signal, or a request to reload, cancels.
        var task: Task<Void, Never>?
        /// Whether SIGHUP asks for a reload, and whether it has; nil if it ends the command.
        var reload: Bool?
    }

    private let state = Locked(State())

    /// Starts the signal thread. Called once, before any other thread exists: threads inherit the signal mask.
    func start() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let waited = signals
        SystemThread.start { [self] in
            var signals = waited
            while true {
                var number: Int32 = 0
                if sigwait(&signals, &number) == 0 { handle(number) }
            }
        }
    }

    /// Throws `Interrupted` once a signal has arrived. Operations call it from their progress reports.
    func check() throws(Interrupted) {
        if signal != nil { throw Interrupted() }
    }

    var signal: Int32? {
        let received = state.withLock { $0.received }
        return received == 0 ? nil : received
    }

    /// From now on SIGHUP asks a service to read its configuration again, instead of ending it. It cancels the task that signals cancel.
    func acceptReloads() { state.withLock { $0.reload = $0.reload ?? false } }

    /// Begins the reload that was asked for.
    ///
    /// - Returns: false if none was.
    func beginReload() -> Bool {
        state.withLock { state in
            guard state.reload == true else { return false }
            state.reload = false
            return true
        }
    }

    /// Extends the time that the running operation may take to stop.
    func allowMoreTime(_ time: Duration) { state.withLock { $0.grace = max($0.grace, time) } }

    /// Registers cleanup for an end by a signal.
    ///
    /// - Parameter immediately: whether a signal ends the process at once, as it waits for a person and reports no progress.
    /// - Returns: a token for ``remove(_:)``.
    func onEnd(immediately: Bool = false, _ run: @escaping @Sendable () -> Void) -> Int {
        let (token, late) = state.withLock { state in
            state.nextToken += 1
            state.actions.append((state.nextToken, immediately, run))
            return (state.nextToken, state.received)
        }
        // The signal arrived just before: nothing else would act on it.
        if immediately, late != 0 { end(late) }
        return token
    }

    /// Removes cleanup that ``onEnd(immediately:_:)`` registered.
    func remove(_ token: Int) {
        state.withLock { state in state.actions.removeAll { $0.token == token } }
    }

    /// Does work that SIGINT stops, without ending the process. If it does not stop, the third one ends it.
    ///
    /// - Parameter stop: makes the work throw, from another thread. The first call may come before the work has begun.
    func stoppable<T>(by stop: @escaping @Sendable () -> Void, _ work: () throws -> T) rethrows -> T {
        state.withLock { $0.stop = (stop, 2) }
        defer { state.withLock { $0.stop = nil } }
        return try work()
    }

    /// Waits for a task that the first signal or a request to reload cancels. The signal ends the process after its grace if the task does
    /// not end.
    func cancelling(_ task: Task<Void, Never>, _ wait: () -> Void) {
        let isLate = state.withLock { state in
            state.task = task
            return state.received != 0 || state.reload == true
        }
        if isLate { task.cancel() }
        wait()
        state.withLock { $0.task = nil }
    }

    /// Registers a child process, or a group as its negative number, that is ended with this process.
    ///
    /// - Parameter finishing: whether the first signal ends neither at once: the child may finish within a short time, is ended then, and the
    ///   operation that waits for it stops by itself.
    /// - Returns: what to call once it was waited for: its number may be reused.
    func watch(child: pid_t, finishing: Bool = false) -> @Sendable () -> Void {
        state.withLock { state in
            state.children[child] = finishing
            // The signal came after the child was started and before this.
            if state.received != 0 { Self.pass(state.received, to: child) }
        }
        return { [self] in state.withLock { _ = $0.children.removeValue(forKey: child) } }
    }

    /// SIGINT becomes SIGTERM: with `-c`, dash handles SIGINT itself, and the handler ignores one that arrives while a command
    /// is being started (`vforked`). The command would run to its end, without us (H-JOB-14).
    private static func pass(_ signal: Int32, to child: pid_t) { kill(child, signal == SIGINT ? SIGTERM : signal) }

    private func handle(_ signal: Int32) {
        let (isReload, service) = state.withLock { state in
            let isReload = signal == SIGHUP && state.reload != nil && state.received == 0
            if isReload { state.reload = true }
            return (isReload, state.task)
        }
        if isReload {
            service?.cancel()
            return
        }
        let stop = state.withLock { state -> (@Sendable () -> Void)? in
            guard signal == SIGINT, state.received == 0, let stop = state.stop else { return nil }
            state.stop = stop.times > 1 ? (stop.run, stop.times - 1) : nil
            return stop.run
        }
        if let stop { return stop() }
        let (first, grace, isSecond, task, ended) = state.withLock { state in
            let isSecond = state.received != 0
            if !isSecond { state.received = signal }
            let ended = state.children.filter { isSecond || !$0.value }.map(\.key)
            return (state.received, state.grace, isSecond, state.task, ended)
        }
        // Before its children end: what waits for one was interrupted then, and has not failed.
        task?.cancel()
        let atOnce = state.withLock { state in
            for child in ended where state.children[child] != nil { Self.pass(signal, to: child) }
            // A task has more to end than what waits for the child: followers store what they have read (H-JOB-42).
            return isSecond || task == nil && !ended.isEmpty || state.actions.contains { $0.immediately }
        }
        if atOnce { end(first) }
        SystemThread.start { [self] in
            SystemThread.sleep(seconds: Self.childGrace.seconds)
            state.withLock { state in
                for (child, finishing) in state.children where finishing { Self.pass(first, to: child) }
            }
            SystemThread.sleep(seconds: (grace - Self.childGrace).seconds)
            end(first)
        }
    }

    /// Runs the cleanup in order of registration and ends the process with `_exit`: exit handlers must not run while the main
    /// thread is still running.
    private func end(_ signal: Int32) {
        let pending = state.withLock { state -> [@Sendable () -> Void]? in
            guard !state.isEnding else { return nil }
            state.isEnding = true
            return state.actions.map(\.run)
        }
        guard let pending else { return }
        for run in pending { run() }
        _exit(128 + signal)
    }
}

/// A signal asked the process to end. This is not a failure: temporary files are gone, and the exit status names the signal.
struct Interrupted: Error {}

/// Prepares the process before it touches a key.
enum Hardening {
    /// Disables backtraces and core dumps, which would show keys and pages of the database, and debuggers of the same user.
    /// `/proc/PID/environ` becomes unreadable too. Memory of large blocks is returned once it is free, and more files may be open than usual.
    /// A refusal by the system is ignored.
    static func apply() {
        CrashReports.disable()
        LargeBlocks.returnWhenFreed()
        // A snapshot has a file open for each 32 MiB that changed, until they are stored.
        OpenFileLimit.raise()
        // write(2) reports a closed pipe as an error. The signal would kill an operation half-way.
        _ = signal(SIGPIPE, SIG_IGN)
        openStandardStreams()
    }

    /// Opens closed standard streams: otherwise a database would get their descriptor, and messages would be written into it.
    private static func openStandardStreams() {
        for descriptor in 0...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            if descriptor == STDOUT_FILENO { Terminal.noteClosedOutput() }
            let opened = open("/dev/null", descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY)
            if opened >= 0, opened != descriptor {
                dup2(opened, descriptor)
                close(opened)
            }
        }
    }
}

/// Runs asynchronous work and blocks until it is done: commands are synchronous.
///
/// - Parameter cancelledBySignals: whether the first signal cancels the work, which then fails with `Interrupted`; otherwise the work has to
///   call ``Interruption/check()``.
func runBlocking<T: Sendable>(
    cancelledBySignals: Bool = false, _ body: @escaping @Sendable () async throws -> T
) throws -> T {
    let outcome = Locked<Result<T, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    let task = Task.detached {
        let result: Result<T, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        outcome.withLock { $0 = result }
        done.signal()
    }
    if cancelledBySignals {
        Interruption.shared.cancelling(task) { done.wait() }
    } else {
        done.wait()
    }
    guard let result = outcome.value else { throw CancellationError() }
    // What was cancelled may fail with any error.
    if cancelledBySignals, case .failure = result { try Interruption.shared.check() }
    return try result.get()
}
