internal import Foundation

/// Tasks that may block for as long as they like and hold up nothing else.
///
/// The threads of Swift's tasks are as few as the machine's cores. A store on a disk that hangs blocks its thread; two of
/// them would stop every task of the program, those that keep the time included. What runs here has threads of its own, as
/// many as it takes, and so has everything that it awaits.
package enum Lane {
    /// A task of its own, which inherits nothing.
    package static func task<T: Sendable>(_ body: @escaping @Sendable () async -> T) -> Task<T, Never> {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, *) {
            Task(executorPreference: LaneExecutor.shared, operation: body)
        } else {
            Task(operation: body)
        }
    }

    /// A task of its own that may throw.
    package static func task<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) -> Task<T, any Error> {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, *) {
            Task(executorPreference: LaneExecutor.shared, operation: body)
        } else {
            Task(operation: body)
        }
    }

    /// What a task comes to, if it does within a time; nil where it does not, or where the caller is cancelled. It goes on
    /// then: whether it is cancelled is the caller's.
    package static func value<T: Sendable>(of task: Task<T, Never>, within seconds: Double) async -> T? {
        let (values, continuation) = AsyncStream<T?>.makeStream()
        Task {
            continuation.yield(await task.value)
            continuation.finish()
        }
        let timer = Task {
            try? await Task.sleep(for: .seconds(seconds))
            continuation.yield(nil)
            continuation.finish()
        }
        defer { timer.cancel() }
        var iterator = values.makeAsyncIterator()
        return await iterator.next() ?? nil
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, *)
private final class LaneExecutor: TaskExecutor, @unchecked Sendable {  // the condition guards every variable
    static let shared = LaneExecutor()

    /// Seconds after which a thread without work ends.
    private static let patience = 5.0

    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []
    private var idle = 0

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isNew = condition.withLock {
            jobs.append(job)
            condition.signal()
            return jobs.count > idle
        }
        guard isNew else { return }
        let thread = Thread { [self] in work() }
        thread.stackSize = 4 << 20
        thread.start()
    }

    private func work() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        condition.withLock {
            idle += 1
            defer { idle -= 1 }
            let end = Date().addingTimeInterval(Self.patience)
            while jobs.isEmpty { if !condition.wait(until: end), jobs.isEmpty { return nil } }
            return jobs.removeFirst()
        }
    }
}
