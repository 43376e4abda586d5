/// A lock with a queue of threads that wait for a change of what it guards.
///
/// Threads hold the lock while they read or change the state, and call ``wait(seconds:)`` while it is not as they need it. Where
/// nobody waits, ``Locked`` is the better choice: it keeps the state itself.
package final class Condition: @unchecked Sendable {  // the system's locks may be used by any thread
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let queue: UnsafeMutablePointer<pthread_cond_t>

    package init() {
        mutex = .allocate(capacity: 1)
        queue = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        Platform.initialize(queue)
    }

    deinit {
        pthread_cond_destroy(queue)
        pthread_mutex_destroy(mutex)
        queue.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` while holding the lock, and returns what it returns.
    package func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body()
    }

    /// Acquires the lock. The calling thread must not hold it.
    package func lock() { pthread_mutex_lock(mutex) }

    /// Releases the lock, which the calling thread holds.
    package func unlock() { pthread_mutex_unlock(mutex) }

    /// Wakes one of the threads that wait.
    package func signal() { pthread_cond_signal(queue) }

    /// Releases the lock, waits for ``signal()``, and acquires the lock again. It may return early: check the state.
    ///
    /// - Returns: false after `seconds` without a signal.
    package func wait(seconds: Double) -> Bool {
        Platform.wait(for: queue, mutex, timespec(max(seconds, 0)))
    }
}
