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

    /// Waits for a task's value, up to a time limit. Each call that does not get it leaves a small task behind until that
    /// task ends: not to be called in a loop.
    ///
    /// - Parameter limit: by default there is none.
    /// - Returns: nil after `limit`, or if the caller is cancelled. The task then continues; the caller decides whether to
    ///   cancel it.
    package static func value<T: Sendable>(of task: Task<T, Never>, within limit: Duration? = nil) async -> T? {
        let (values, continuation) = AsyncStream<T?>.makeStream()
        Task {
            continuation.yield(await task.value)
            continuation.finish()
        }
        let timer = limit.map { limit in
            Task {
                try? await Task.sleep(for: limit)
                continuation.yield(nil)
                continuation.finish()
            }
        }
        defer { timer?.cancel() }
        var iterator = values.makeAsyncIterator()
        return await iterator.next() ?? nil
    }
}

extension ThreadPool {
    fileprivate static let blocking = ThreadPool(stackSize: 4 << 20, idleTimeout: .seconds(5))
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, *)
private final class BlockingExecutor: TaskExecutor {
    static let shared = BlockingExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        ThreadPool.blocking.run { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

/// Runs blocking work on a thread of its own, as a part of the calling task: `Task.isCancelled` is the task's there. No thread of the
/// cooperative pool is blocked meanwhile, which has leases to renew.
package func withDedicatedThread<T: Sendable>(_ body: @escaping () throws -> T) async throws -> T {
    try await DedicatedThread().run(DedicatedWork(body: body))
}

/// A call of an actor's method moves the calling task to the actor's executor. This one's is a thread that may block.
private actor DedicatedThread: JobExecutor {
    nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

    nonisolated func admit(_ job: UnownedJob) {
        ThreadPool.blocking.run { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func run<T: Sendable>(_ work: DedicatedWork<T>) throws -> T { try work.body() }
}

private struct DedicatedWork<T>: @unchecked Sendable {  // the caller waits, so nobody else uses the captured values
    let body: () throws -> T
}
