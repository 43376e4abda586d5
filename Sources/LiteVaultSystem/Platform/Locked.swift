/// A lock together with the state that it guards: the state cannot be reached without the lock.
///
/// The lock is a `pthread_mutex_t`. It is not recursive: `withLock` must not be called on the same lock from its own body.
/// `Mutex` of the standard library would do the same, but needs newer systems than this package supports.
package final class Locked<State>: @unchecked Sendable {  // `state` is used only while `mutex` is held
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    @usableFromInline
    var state: State

    /// Creates an unlocked lock around `state`.
    package init(_ state: sending State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        // A pthread mutex stays where it was initialized, so it has memory of its own.
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with the state while holding the lock, and returns what it returns.
    ///
    /// - Throws: what `body` throws. The changes made before stay.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body(&state)
    }

    @usableFromInline
    func lock() { pthread_mutex_lock(mutex) }

    @usableFromInline
    func unlock() { pthread_mutex_unlock(mutex) }
}

extension Locked where State: Sendable {
    package var value: State { withLock { $0 } }
}

/// A lock that the thread holding it may acquire again. Part of its owner, without a reference to count.
///
/// pthread's own: `DispatchQueue.sync` costs about six times as much and is not recursive.
package struct RecursiveLock: ~Copyable, @unchecked Sendable {  // a pthread mutex may be used from any thread
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Runs `body` while holding the lock, and returns what it returns.
    package func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body()
    }

    /// Acquires the lock, which the calling thread may hold already.
    package func lock() { pthread_mutex_lock(mutex) }

    /// Releases the lock, once for each time it was acquired.
    package func unlock() { pthread_mutex_unlock(mutex) }

    /// Acquires the lock if no other thread holds it.
    package func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }
}
