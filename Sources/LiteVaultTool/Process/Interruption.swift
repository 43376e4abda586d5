internal import Foundation

/// SIGINT, SIGTERM and SIGHUP end a command cleanly.
///
/// The signals are blocked in every thread, and one thread waits for them with `sigwait`: what runs then is ordinary
/// code, not a signal handler, so it may take locks, remove files and restore the terminal. The first signal asks the
/// running operation to stop at its next progress report; when it does not within `grace`, or at the second signal,
/// the process ends from here.
final class Interruption: @unchecked Sendable {  // its lock guards every variable
    static let shared = Interruption()

    /// How long an operation may take to notice, in seconds, unless it was allowed more.
    static let grace = 3.0

    private let lock = NSLock()
    private var received: Int32 = 0
    private var grace = Interruption.grace
    private var isEnding = false
    private var actions: [(token: Int, immediately: Bool, run: @Sendable () -> Void)] = []
    private var nextToken = 0
    private var children: Set<pid_t> = []

    /// Starts to wait for the signals. Called once, before any other thread exists: threads inherit the mask.
    func start() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let waited = signals
        let thread = Thread { [self] in
            var signals = waited
            while true {
                var number: Int32 = 0
                if sigwait(&signals, &number) == 0 { handle(number) }
            }
        }
        thread.name = "signals"
        thread.start()
    }

    /// Throws `Interrupted` once a signal came. Operations call it from their progress reports.
    func check() throws(Interrupted) {
        lock.lock()
        defer { lock.unlock() }
        if received != 0 { throw Interrupted(signal: received) }
    }

    /// The signal that came, if one did.
    var signal: Int32? {
        lock.lock()
        defer { lock.unlock() }
        return received == 0 ? nil : received
    }

    /// Gives what runs from now on more time to end.
    func allow(seconds: Double) { lock.withLock { grace = max(grace, seconds) } }

    /// Registers what has to be undone before the process may end.
    ///
    /// - Parameter immediately: the process now waits for a person and will not notice a signal by itself.
    func onEnd(immediately: Bool = false, _ run: @escaping @Sendable () -> Void) -> Int {
        lock.lock()
        nextToken += 1
        let token = nextToken
        actions.append((token, immediately, run))
        let late = received
        lock.unlock()
        // The signal came just before: nobody would act on it any more.
        if immediately, late != 0 { end(late) }
        return token
    }

    /// Forgets what `onEnd` registered.
    func remove(_ token: Int) {
        lock.lock()
        actions.removeAll { $0.token == token }
        lock.unlock()
    }

    /// A child that must not outlive the command.
    func watch(child: pid_t) {
        lock.lock()
        defer { lock.unlock() }
        children.insert(child)
        // The signal came after the child was started and before this.
        if received != 0 { kill(child, received) }
    }

    /// The child was waited for: its number may belong to another process from now on.
    func forget(child: pid_t) {
        lock.lock()
        children.remove(child)
        lock.unlock()
    }

    private func handle(_ signal: Int32) {
        lock.lock()
        let isSecond = received != 0
        if !isSecond { received = signal }
        let first = received
        for child in children { kill(child, signal) }
        let grace = grace
        let atOnce = isSecond || !children.isEmpty || actions.contains { $0.immediately }
        lock.unlock()
        if atOnce { end(first) }
        Thread.detachNewThread { [self] in
            Thread.sleep(forTimeInterval: grace)
            end(first)
        }
    }

    /// Undoes what is registered, in that order, and ends the process. `_exit`: the main thread still runs, and exit
    /// handlers would run beside it.
    private func end(_ signal: Int32) {
        lock.lock()
        guard !isEnding else {
            lock.unlock()
            return
        }
        isEnding = true
        let pending = actions
        lock.unlock()
        for action in pending { action.run() }
        _exit(128 + signal)
    }
}
