internal import Dispatch
internal import LiteVaultSystem

/// Runs the closure of one access of a task on a thread of `ThreadPool.accesses`, as a part of the task: task-local values,
/// `Task.isCancelled` and the priority are the task's own there.
///
/// A call of an actor's method moves the calling task to the actor's executor. This one's queue is the semaphore: the task waits
/// there without a thread, and what runs it holds a permit. An executor of tasks (`TaskExecutor`) would need a thread of its own before the
/// task can wait.
actor AccessExecutor: JobExecutor {
    /// Nil if the access need not wait.
    private nonisolated let semaphore: FairSemaphore?
    private nonisolated let isAlwaysAdmitted: Bool
    private nonisolated let cancellation: Cancellation
    private nonisolated let permit: Permit
    /// Why the access was not admitted. Written before the task is resumed, and read by it.
    private nonisolated let refusal = Locked<(any Error)?>(nil)

    init(_ semaphore: FairSemaphore?, isAlwaysAdmitted: Bool = false, _ cancellation: Cancellation) {
        self.semaphore = semaphore
        self.isAlwaysAdmitted = isAlwaysAdmitted
        self.cancellation = cancellation
        permit = Permit(semaphore)
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

    /// Runs the body when the semaphore admits it. The body may release the permit before it ends.
    ///
    /// - Throws: the errors of the body; `CancellationError`, or the error that waiters are refused with.
    func run<T: Sendable>(_ body: @Sendable (Permit) throws -> T) throws -> T {
        if let refusal = refusal.withLock({ $0 }) { throw refusal }
        return try body(permit)
    }

    /// Resumes the task with a permit, or without one to throw an error: there is no other way to end its wait.
    nonisolated func admit(_ job: UnownedJob) {
        guard let semaphore else { return ThreadPool.accesses.run { self.resume(job) } }
        let admission = FairSemaphore.Job(
            isAlwaysAdmitted: isAlwaysAdmitted, refused: { self.resume(job, throwing: $0) },
            run: {
                self.cancellation.hasWaited()
                self.resume(job)
                return self.permit.keep()
            })
        let waits = cancellation.willWait {
            if semaphore.withdraw(admission) { self.resume(job, throwing: CancellationError()) }
        }
        guard waits else { return resume(job, throwing: CancellationError()) }
        semaphore.enqueue(admission)
    }

    private nonisolated func resume(_ job: UnownedJob) { job.runSynchronously(on: asUnownedSerialExecutor()) }

    /// This takes no time, so it needs no thread that may block: thousands that wait may be refused at once.
    private nonisolated func resume(_ job: UnownedJob, throwing error: any Error) {
        cancellation.hasWaited()
        refusal.withLock { $0 = error }
        _ = permit.keep()
        DispatchQueue.global().async { self.resume(job) }
    }
}

extension ThreadPool {
    /// The threads of tasks' accesses. The semaphores limit their number.
    static let accesses = ThreadPool(idleTimeout: .seconds(10))
}
