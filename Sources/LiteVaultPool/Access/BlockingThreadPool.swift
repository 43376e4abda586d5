internal import LiteVaultFoundation
internal import LiteVaultSystem

/// Threads for the asynchronous accesses of tasks.
///
/// Swift's cooperative pool, and Dispatch's, which are the same on Linux, have one thread per processor: long
/// statements would block all other work, including code that wants to cancel them. The semaphores limit the number of
/// threads here.
final class BlockingThreadPool: @unchecked Sendable {  // all state only under `condition`
    static let shared = BlockingThreadPool()

    private let condition = Condition()
    private var waiting: [@Sendable () -> Void] = []
    private var idle = 0

    /// Runs work on an idle thread, or a new one.
    func run(_ work: @escaping @Sendable () -> Void) {
        condition.lock()
        waiting.append(work)
        let needsThread = waiting.count > idle
        if !needsThread { condition.signal() }
        condition.unlock()
        if needsThread { SystemThread.start { self.serve() } }
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

    /// The next work item; nil if there was none for some seconds.
    private func next() -> (@Sendable () -> Void)? {
        condition.lock()
        defer { condition.unlock() }
        let end = ContinuousClock.now + .seconds(10)
        while waiting.isEmpty {
            idle += 1
            let isInTime = condition.wait(seconds: (end - .now).seconds)
            idle -= 1
            if !isInTime, waiting.isEmpty { return nil }
        }
        return waiting.removeFirst()
    }
}
