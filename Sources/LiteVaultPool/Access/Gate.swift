internal import Foundation
internal import LiteVaultSupport

/// Lets a number of accesses in at a time, first come, first served. Threads wait in it, and jobs without a thread.
final class Gate: Sendable {
    /// An access that begins when it is let in. It runs on a thread of its own.
    final class Job: Sendable {
        /// Returns whether it still has its permit.
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

    /// How many are in at the moment.
    var inUse: Int { state.withLock { count - $0.free } }

    /// Waits to be let in.
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

    /// Waits to be let in, or until it is cancelled.
    ///
    /// - Throws: `CancellationError`; it is not let in then.
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

    /// Gives the permit to whoever waits longest.
    func release() {
        if let job = releaseToJob() { Self.dispatch(job, self) }
    }

    /// Has a job run when it is let in. Nobody waits.
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

    /// Takes back a job that still waits. False: it runs, or did.
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

    /// One thread does the jobs that follow each other.
    private static func dispatch(_ first: Job, _ gate: Gate) {
        WorkerThreads.shared.run {
            var next: Job? = first
            while let job = next { next = job.run() ? gate.releaseToJob() : nil }
        }
    }
}
