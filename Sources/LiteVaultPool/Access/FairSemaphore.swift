internal import Dispatch
internal import LiteVaultSystem

/// A semaphore that admits waiters in FIFO order: blocked threads, and jobs that wait without a thread.
final class FairSemaphore: Sendable {
    /// A thread or a job that waits.
    protocol Waiter: AnyObject, Sendable {
        /// Whether it is admitted while others are refused.
        var isAlwaysAdmitted: Bool { get }
        /// Ends the wait with an error. Called for a waiter that is no longer in the queue.
        func refuse(_ error: any Error)
        /// Gives it the permit: wakes a thread, or returns the job that the caller runs. Called for a waiter that is no longer in
        /// the queue.
        func admit() -> Job?
    }

    /// An access that starts when it is admitted. It runs on a thread of its own.
    final class Job: Waiter {
        let isAlwaysAdmitted: Bool
        /// Called in place of `run` with the error that waiters are refused with.
        private let refused: @Sendable (any Error) -> Void
        /// Returns whether it still holds its permit.
        let run: @Sendable () -> Bool

        init(
            isAlwaysAdmitted: Bool = false, refused: @escaping @Sendable (any Error) -> Void,
            run: @escaping @Sendable () -> Bool
        ) {
            self.isAlwaysAdmitted = isAlwaysAdmitted
            self.refused = refused
            self.run = run
        }

        func refuse(_ error: any Error) { refused(error) }

        func admit() -> Job? { self }
    }

    private final class BlockedThread: Waiter {
        let isAlwaysAdmitted: Bool
        private let semaphore = DispatchSemaphore(value: 0)
        private let error = Locked<(any Error)?>(nil)

        init(isAlwaysAdmitted: Bool) { self.isAlwaysAdmitted = isAlwaysAdmitted }

        func refuse(_ error: any Error) {
            self.error.withLock { $0 = error }
            semaphore.signal()
        }

        func admit() -> Job? {
            semaphore.signal()
            return nil
        }

        func wait() throws {
            semaphore.wait()
            if let error = error.withLock({ $0 }) { throw error }
        }
    }

    private struct State {
        var free: Int
        var waiters: [any Waiter] = []
        /// What waiters throw instead of waiting.
        var refusal: (any Error)?
    }

    let count: Int
    private let state: Locked<State>

    init(count: Int) {
        self.count = count
        state = Locked(State(free: count))
    }

    var inUse: Int { state.withLock { count - $0.free } }

    /// Waits for a permit, or for cancellation.
    ///
    /// - Parameter isAlwaysAdmitted: whether it waits while others are refused.
    /// - Throws: `CancellationError`, or the error that waiters are refused with; no permit is held then.
    func acquire(unless cancellation: Cancellation? = nil, isAlwaysAdmitted: Bool = false) throws {
        let blocked: BlockedThread? = try state.withLock { state in
            if let refusal = state.refusal, !isAlwaysAdmitted { throw refusal }
            guard state.free == 0 else {
                state.free -= 1
                return nil
            }
            let thread = BlockedThread(isAlwaysAdmitted: isAlwaysAdmitted)
            state.waiters.append(thread)
            return thread
        }
        guard let blocked else { return }
        guard let cancellation else { return try blocked.wait() }
        let giveUp = { @Sendable in
            if self.withdraw(blocked) { blocked.refuse(CancellationError()) }
        }
        if !cancellation.willWait(withdraw: giveUp) { giveUp() }
        defer { cancellation.hasWaited() }
        try blocked.wait()
    }

    /// Makes all who wait, and all who come, throw an error, until `admit()`. Those who hold a permit keep it.
    func refuse(with error: any Error) {
        let refused = state.withLock { state in
            state.refusal = error
            defer { state.waiters.removeAll { !$0.isAlwaysAdmitted } }
            return state.waiters.filter { !$0.isAlwaysAdmitted }
        }
        for waiter in refused { waiter.refuse(error) }
    }

    /// Ends the effect of `refuse(with:)`.
    func admit() { state.withLock { $0.refusal = nil } }

    /// Passes the permit to the longest waiter.
    func release() {
        if let job = releaseToJob() { Self.dispatch(job, self) }
    }

    /// Runs a job when there is a permit for it. Does not block.
    func enqueue(_ job: Job) {
        let (runsNow, refusal) = state.withLock { state -> (Bool, (any Error)?) in
            if let refusal = state.refusal, !job.isAlwaysAdmitted { return (false, refusal) }
            guard state.free > 0 else {
                state.waiters.append(job)
                return (false, nil)
            }
            state.free -= 1
            return (true, nil)
        }
        if let refusal { return job.refuse(refusal) }
        if runsNow { Self.dispatch(job, self) }
    }

    /// Withdraws a waiter.
    ///
    /// - Returns: false if it was admitted or refused.
    func withdraw(_ waiter: any Waiter) -> Bool {
        state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0 === waiter }) else { return false }
            state.waiters.remove(at: index)
            return true
        }
    }

    private func releaseToJob() -> Job? {
        let next: (any Waiter)? = state.withLock { state in
            guard !state.waiters.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiters.removeFirst()
        }
        return next?.admit()
    }

    /// One thread runs successive jobs.
    private static func dispatch(_ first: Job, _ semaphore: FairSemaphore) {
        ThreadPool.accesses.run {
            var next: Job? = first
            while let job = next { next = job.run() ? semaphore.releaseToJob() : nil }
        }
    }
}

final class Permit: Sendable {
    private let semaphore: FairSemaphore?
    private let isHeld = Locked(true)

    /// - Parameter semaphore: nil if nothing waits for the permit.
    init(_ semaphore: FairSemaphore?) { self.semaphore = semaphore }

    func release() { if keep() { semaphore?.release() } }

    /// Gives up responsibility for the permit.
    ///
    /// - Returns: whether it was still held: the caller has to release it then.
    func keep() -> Bool {
        isHeld.withLock { held in
            defer { held = false }
            return held
        }
    }
}
