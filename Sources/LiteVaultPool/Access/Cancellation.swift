internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSystem

/// Ends an access when its task is cancelled.
final class Cancellation: Sendable {
    private struct State {
        var isCancelled = false
        /// Set while the closure of the access runs: never while a transaction begins or ends, which an interrupt would
        /// leave open.
        var running: Connection?
        var withdraw: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// Registers a closure that ends the wait on cancellation.
    ///
    /// - Returns: false if it is already cancelled.
    func willWait(withdraw: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            state.withdraw = withdraw
            return !state.isCancelled
        }
    }

    /// Removes the closure: the wait is over.
    func hasWaited() { state.withLock { $0.withdraw = nil } }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func check() throws { if isCancelled { throw CancellationError() } }

    func cancel() {
        let withdraw = state.withLock { state in
            state.isCancelled = true
            return state.withdraw.take()
        }
        withdraw?()
        guard interrupt() else { return }
        // Repeatedly: an interrupt between two statements has no effect.
        ThreadPool.accesses.run { while self.interrupt() { SystemThread.sleep(seconds: 0.002) } }
    }

    private func interrupt() -> Bool {
        state.withLock { state in
            state.running?.interrupt()
            return state.running != nil
        }
    }

    /// Runs the closure of an access so that cancelling interrupts it.
    ///
    /// - Throws: the errors of the closure; `CancellationError` when it was cancelled, even if the closure caught the error.
    func running<T>(on connection: Connection, _ body: () throws -> T) throws -> T {
        let (result, wasCancelled) = try interruptible(connection, body)
        // Also where the closure caught the error.
        if wasCancelled { throw CancellationError() }
        return result
    }

    /// The same for work whose completed result is kept: if cancelled too late, it succeeds.
    ///
    /// - Throws: the errors of the closure; `CancellationError` when it was cancelled.
    func interrupting<T>(_ connection: Connection, _ body: () throws -> T) throws -> T {
        try interruptible(connection, body).result
    }

    /// Runs the closure. Only a cancellation before its end counts: the lock is taken once for both.
    private func interruptible<T>(
        _ connection: Connection, _ body: () throws -> T
    ) throws -> (result: T, wasCancelled: Bool) {
        try state.withLock { state in
            guard !state.isCancelled else { throw CancellationError() }
            state.running = connection
        }
        do {
            let result = try body()
            return (result, end())
        } catch {
            throw end() ? CancellationError() : error
        }
    }

    /// Ends the interruptible part.
    private func end() -> Bool {
        state.withLock { state in
            state.running = nil
            return state.isCancelled
        }
    }
}

extension Cancellation {
    /// A progress report that cancels the operation.
    func reporting(_ progress: (@Sendable (DatabaseFile.Progress) throws -> Void)?) -> DatabaseFile.Progress.Report {
        { step in
            try self.check()
            try progress?(step)
        }
    }
}
