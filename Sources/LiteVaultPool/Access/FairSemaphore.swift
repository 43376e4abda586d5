internal import Dispatch
internal import LiteVaultFoundation
internal import LiteVaultSupport

/// A semaphore that admits waiters in FIFO order: blocked threads, and jobs that wait without a thread.
final class FairSemaphore: Sendable {
    /// An access that starts when it is admitted. It runs on a thread of its own.
    final class Job: Sendable {
        /// Returns whether it still holds its permit.
        let run: @Sendable () -> Bool

        init(_ run: @escaping @Sendable () -> Bool) { self.run = run }
    }

    private enum Waiter {
        case thread(DispatchSemaphore)
        case job(Job)

        /// The semaphore or the job.
        var object: AnyObject {
            switch self {
            case .thread(let semaphore): semaphore
            case .job(let job): job
            }
        }
    }

    private struct State {
        var free: Int
        var waiters: [Waiter] = []
    }

    let count: Int
    private let state: Locked<State>

    init(count: Int) {
        self.count = count
        state = Locked(State(free: count))
    }

    /// The number of permits in use.
    var inUse: Int { state.withLock { count - $0.free } }

    /// Waits for a permit.
    func acquire() {
        let semaphore: DispatchSemaphore? = state.withLock { state in
            guard state.free == 0 else {
                state.free -= 1
                return nil
            }
            let semaphore = DispatchSemaphore(value: 0)
            state.waiters.append(.thread(semaphore))
            return semaphore
        }
        semaphore?.wait()
    }

    /// Waits for a permit, or for cancellation.
    ///
    /// - Throws: `CancellationError`; no permit is held then.
    func acquire(unless cancellation: Cancellation?) throws {
        guard let cancellation else { return acquire() }
        let semaphore = DispatchSemaphore(value: 0)
        let isIn = state.withLock { state in
            guard state.free == 0 else {
                state.free -= 1
                return true
            }
            state.waiters.append(.thread(semaphore))
            return false
        }
        if isIn { return }
        let isGivenUp = Locked(false)
        let giveUp = { @Sendable in
            guard self.withdraw(semaphore) else { return }
            isGivenUp.withLock { $0 = true }
            semaphore.signal()
        }
        if !cancellation.willWait(withdraw: giveUp) { giveUp() }
        semaphore.wait()
        cancellation.hasWaited()
        if isGivenUp.withLock({ $0 }) { throw CancellationError() }
    }

    /// Passes the permit to the longest waiter.
    func release() {
        if let job = releaseToJob() { Self.dispatch(job, self) }
    }

    /// Runs a job when there is a permit for it. Does not block.
    func enqueue(_ job: Job) {
        let runsNow = state.withLock { state in
            guard state.free > 0 else {
                state.waiters.append(.job(job))
                return false
            }
            state.free -= 1
            return true
        }
        if runsNow { Self.dispatch(job, self) }
    }

    /// Withdraws a job.
    ///
    /// - Returns: false if it is running or has run.
    func withdraw(_ job: Job) -> Bool { withdraw(job as AnyObject) }

    private func withdraw(_ waiter: AnyObject) -> Bool {
        state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.object === waiter }) else { return false }
            state.waiters.remove(at: index)
            return true
        }
    }

    private func releaseToJob() -> Job? {
        let next: Waiter? = state.withLock { state in
            guard !state.waiters.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiters.removeFirst()
        }
        switch next {
        case .thread(let semaphore): semaphore.signal()
        case .job(let job): return job
        case nil: break
        }
        return nil
    }

    /// One thread runs successive jobs.
    private static func dispatch(_ first: Job, _ semaphore: FairSemaphore) {
        BlockingThreadPool.shared.run {
            var next: Job? = first
            while let job = next { next = job.run() ? semaphore.releaseToJob() : nil }
        }
    }
}

/// A permit that is released once.
final class Permit: Sendable {
    private let semaphore: FairSemaphore
    private let isHeld = Locked(true)

    init(_ semaphore: FairSemaphore) { self.semaphore = semaphore }

    func release() { if keep() { semaphore.release() } }

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
