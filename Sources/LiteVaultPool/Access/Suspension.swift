internal import LiteVaultCore
internal import LiteVaultSystem

/// Whether a database is suspended, and what runs on it: that is ended when it is suspended, and nothing begins then.
final class Suspension: Sendable {
    private struct State {
        /// What accesses throw; nil while the database is not suspended.
        var error: VaultError?
        /// How often the database was suspended.
        var round = 0
        var running: [ObjectIdentifier: Activity] = [:]
        var waiting: [ObjectIdentifier: Waiter] = [:]
    }

    private final class Waiter: Sendable {
        let continuation: CheckedContinuation<Void, any Error>

        init(_ continuation: CheckedContinuation<Void, any Error>) { self.continuation = continuation }
    }

    private let state = Locked(State())

    var isActive: Bool { state.withLock { $0.error != nil } }

    /// How often the database was suspended: connections that were open in another round are closed.
    var round: Int { state.withLock { $0.round } }

    /// - Throws: `VaultError` `suspended` while the database is.
    func check() throws { if let error = state.withLock({ $0.error }) { throw error } }

    /// Begins it, and reports it to everything that runs.
    ///
    /// - Returns: the number of this suspension, or of the one that has begun before.
    func begin(_ error: VaultError) -> Int {
        state.withLock { state in
            guard state.error == nil else { return state.round }
            (state.error, state.round) = (error, state.round + 1)
            for activity in state.running.values { activity.suspend(error) }
            return state.round
        }
    }

    /// Ends it.
    func end() -> Bool {
        let (was, waiting) = state.withLock { state in
            defer { (state.error, state.waiting) = (nil, [:]) }
            return (state.error != nil, Array(state.waiting.values))
        }
        for waiter in waiting { waiter.continuation.resume() }
        return was
    }

    /// How far the suspension of a round is.
    enum Progress { case running, idle, ended }

    /// Interrupts what has not ended yet. It has to be called repeatedly: between two statements it has no effect.
    func interrupt(round: Int) -> Progress {
        state.withLock { state in
            guard state.error != nil, state.round == round else { return .ended }
            for activity in state.running.values { activity.interrupt() }
            return state.running.isEmpty ? .idle : .running
        }
    }

    /// Runs an access, or something else that takes locks of the database.
    ///
    /// - Parameter whenIdle: called if the database was suspended meanwhile, and nothing else runs any more.
    /// - Throws: what the body throws; `VaultError` `suspended` if the database is, or the suspension interrupted the body.
    func running<T>(whenIdle: () -> Void, _ body: (Activity) throws -> T) throws -> T {
        let activity = Activity()
        try state.withLock { state in
            if let error = state.error { throw error }
            state.running[ObjectIdentifier(activity)] = activity
        }
        defer {
            let isLast = state.withLock { state in
                state.running[ObjectIdentifier(activity)] = nil
                return state.error != nil && state.running.isEmpty
            }
            if isLast { whenIdle() }
        }
        do { return try body(activity) } catch let error as DatabaseError
            where error.resultCode.primary == .interrupt || error.resultCode.primary == .abort
        {
            try activity.check()
            throw error
        }
    }

    /// Waits for the end of the suspension, without a thread.
    ///
    /// - Throws: `CancellationError`
    func resumption() async throws {
        let registered = Locked<Waiter?>(nil)
        let giveUp = { @Sendable in
            guard let waiter = registered.withLock({ $0.take() }) else { return }
            let waits = self.state.withLock { $0.waiting.removeValue(forKey: ObjectIdentifier(waiter)) != nil }
            if waits { waiter.continuation.resume(throwing: CancellationError()) }
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let waiter = Waiter(continuation)
                let waits = state.withLock { state in
                    guard state.error != nil else { return false }
                    state.waiting[ObjectIdentifier(waiter)] = waiter
                    return true
                }
                guard waits else { return continuation.resume() }
                registered.withLock { $0 = waiter }
                // The task may have been cancelled before there was anything to withdraw.
                if Task.isCancelled { giveUp() }
            }
        } onCancel: {
            giveUp()
        }
    }
}

/// Something that runs on a database, and that a suspension ends.
final class Activity: Sendable {
    private struct State {
        /// The connection that it uses, from when it is open until it is made ready for the next access.
        var connection: Connection?
        /// Whether the closure of the access runs: its statements are refused then.
        var isInBody = false
        var error: VaultError?
    }

    private let state = Locked(State())

    /// - Throws: `VaultError` `suspended` if the database was, also if that is over.
    func check() throws { if let error = state.withLock({ $0.error }) { throw error } }

    /// Makes the connection one that is interrupted; nil when it must not be interrupted any more.
    func use(_ connection: Connection?) { state.withLock { $0.connection = connection } }

    /// Runs the closure of an access, whose statements throw once the database is suspended.
    ///
    /// - Parameter checksEnd: whether it throws, too, if the closure has returned nevertheless.
    func running<T>(checksEnd: Bool, _ body: () throws -> T) throws -> T {
        try state.withLock { state in
            if let error = state.error { throw error }
            state.isInBody = true
        }
        do {
            let result = try body()
            let error = end()
            if checksEnd, let error { throw error }
            return result
        } catch {
            throw end() ?? error
        }
    }

    private func end() -> VaultError? {
        state.withLock { state in
            // From now on statements end the access: they are not refused.
            if state.error != nil { state.connection?.refuseStatements(with: nil) }
            state.isInBody = false
            return state.error
        }
    }

    fileprivate func suspend(_ error: VaultError) {
        state.withLock { state in
            state.error = error
            if state.isInBody { state.connection?.refuseStatements(with: error) }
            state.connection?.interrupt()
        }
    }

    fileprivate func interrupt() { state.withLock { $0.connection?.interrupt() } }
}
