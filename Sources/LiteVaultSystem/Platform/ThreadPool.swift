/// Threads for work that may block: as many as there is work at a time, each kept for some seconds for what comes next.
///
/// Swift's cooperative pool, and Dispatch's, which are the same on Linux, have one thread per processor: what blocks there holds up all other
/// tasks, including those that would cancel it. Callers limit how much they start.
package final class ThreadPool: @unchecked Sendable {  // all state only under `condition`
    private let stackSize: Int?
    private let idleTimeout: Duration
    private let condition = Condition()
    private var waiting: [@Sendable () -> Void] = []
    private var idle = 0

    /// - Parameters:
    ///   - stackSize: of each thread, in bytes; nil for the system's default.
    ///   - idleTimeout: the time after which a thread without work ends.
    package init(stackSize: Int? = nil, idleTimeout: Duration) {
        self.stackSize = stackSize
        self.idleTimeout = idleTimeout
    }

    /// Runs work on an idle thread, or a new one.
    package func run(_ work: @escaping @Sendable () -> Void) {
        condition.lock()
        waiting.append(work)
        let needsThread = waiting.count > idle
        if !needsThread { condition.signal() }
        condition.unlock()
        if needsThread { SystemThread.start(stackSize: stackSize) { self.serve() } }
    }

    private func serve() {
        while let work = next() {
            #if canImport(ObjectiveC)
                autoreleasepool(invoking: work)
            #else
                work()
            #endif
        }
    }

    /// The next work; nil if there was none for ``idleTimeout``.
    private func next() -> (@Sendable () -> Void)? {
        condition.lock()
        defer { condition.unlock() }
        let end = ContinuousClock.now + idleTimeout
        while waiting.isEmpty {
            idle += 1
            let isInTime = condition.wait(seconds: (end - .now).seconds)
            idle -= 1
            if !isInTime, waiting.isEmpty { return nil }
        }
        return waiting.removeFirst()
    }
}

/// An executor of an actor that chooses the thread: a call of the actor's method moves the calling task there. `Task.isCancelled`, task-local
/// values and the priority are still its own.
///
/// An executor of tasks (`TaskExecutor`) would need macOS 15, and the default implementations of the standard library macOS 14.
package protocol JobExecutor: SerialExecutor {
    /// Lets a thread run the job, with `runSynchronously(on:)`.
    func admit(_ job: UnownedJob)
}

extension JobExecutor {
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
