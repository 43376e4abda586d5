internal import LiteVaultFoundation
internal import LiteVaultSystem

/// Runs tasks that may block indefinitely without holding up other tasks.
///
/// Swift's cooperative pool has one thread per core. A store on a hanging disk blocks its thread; two of those would
/// stop every task of the process, including those that enforce time limits. Tasks created here run on threads of their
/// own, as many as needed, together with everything they await.
package enum BlockingWork {
    /// Starts an unstructured task that inherits nothing.
    package static func task<T: Sendable>(_ body: @escaping @Sendable () async -> T) -> Task<T, Never> {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, *) {
            Task(executorPreference: BlockingExecutor.shared, operation: body)
        } else {
            Task(operation: body)
        }
    }

    /// Starts an unstructured task that may throw.
    package static func task<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) -> Task<T, any Error> {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, *) {
            Task(executorPreference: BlockingExecutor.shared, operation: body)
        } else {
            Task(operation: body)
        }
    }

    /// Waits for a task's value, up to a time limit. Each call that reaches the limit leaves a small task behind until that
    /// task ends: not to be called in a loop.
    ///
    /// - Returns: nil after `limit`, or if the caller is cancelled. The task then continues; the caller decides whether to
    ///   cancel it.
    package static func value<T: Sendable>(of task: Task<T, Never>, within limit: Duration) async -> T? {
        let (values, continuation) = AsyncStream<T?>.makeStream()
        Task {
            continuation.yield(await task.value)
            continuation.finish()
        }
        let timer = Task {
            try? await Task.sleep(for: limit)
            continuation.yield(nil)
            continuation.finish()
        }
        defer { timer.cancel() }
        var iterator = values.makeAsyncIterator()
        return await iterator.next() ?? nil
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, *)
private final class BlockingExecutor: TaskExecutor {
    static let shared = BlockingExecutor()

    private let threads = ThreadPool(stackSize: 4 << 20, idleTimeout: .seconds(5))

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        threads.run { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

/// Runs blocking work on a thread of its own and waits without blocking a thread of the cooperative pool, which has
/// leases to renew meanwhile.
package func withDedicatedThread<T: Sendable>(_ body: @escaping () throws -> T) async throws -> T {
    // The caller waits, so nobody else uses the captured values.
    let work = DedicatedWork(body: body)
    return try await withCheckedThrowingContinuation { continuation in
        SystemThread.start(stackSize: 2 << 20) { continuation.resume(with: work.run()) }
    }
}

private final class DedicatedWork<T>: @unchecked Sendable {  // used by one thread
    private var body: (() throws -> T)?

    init(body: @escaping () throws -> T) { self.body = body }

    /// Releases the captured values before the caller continues: temporary files are removed with the objects that own
    /// them, and a program that exits right away would leave them behind.
    func run() -> Result<T, any Error> {
        defer { body = nil }
        return Result { try body.map { try $0() } ?? { throw CancellationError() }() }
    }
}
