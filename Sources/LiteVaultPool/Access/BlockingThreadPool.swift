internal import Foundation

/// Threads for the accesses of tasks.
///
/// The threads that tasks share, and those of Dispatch, which on Linux are the same, are as many as processors: long statements
/// would block all other work, including what wants to cancel them. The semaphores limit the number of threads here.
final class BlockingThreadPool: @unchecked Sendable {  // all state only under `condition`
    static let shared = BlockingThreadPool()

    private let condition = NSCondition()
    private var waiting: [@Sendable () -> Void] = []
    private var idle = 0

    /// Runs something on a thread that waits for work, or a new one.
    func run(_ work: @escaping @Sendable () -> Void) {
        condition.lock()
        waiting.append(work)
        let needsThread = waiting.count > idle
        if !needsThread { condition.signal() }
        condition.unlock()
        if needsThread { Thread { self.serve() }.start() }
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

    /// The next work; nil when there was none for some seconds.
    private func next() -> (@Sendable () -> Void)? {
        condition.lock()
        defer { condition.unlock() }
        let end = Date(timeIntervalSinceNow: 10)
        while waiting.isEmpty {
            idle += 1
            let isInTime = condition.wait(until: end)
            idle -= 1
            if !isInTime, waiting.isEmpty { return nil }
        }
        return waiting.removeFirst()
    }
}
