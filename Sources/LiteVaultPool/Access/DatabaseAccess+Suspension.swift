internal import LiteVaultCore
internal import LiteVaultSystem

// iOS ends a process that is suspended while it holds a lock on a file in a shared container (0xDEAD10CC). A connection to a
// database in WAL mode holds two locks as long as it is open, also between transactions: SHARED on the file, and one on
// `-shm`. So to hold none, it has to be closed.

extension DatabaseAccess {
    /// Suspends the database: ends what runs on it, and releases all locks that this object holds on its files. For the time
    /// in which the operating system may stop the process, as iOS does in the background.
    ///
    /// From now on, until ``resume()``, accesses throw `VaultError` `suspended` at once, and so do those that wait for their
    /// turn. Running statements are interrupted (`sqlite3_interrupt`), further ones of the same closures are refused, open
    /// transactions are rolled back, and a running checkpoint, `vacuum`, `rekey` or `backup` ends: these accesses throw `suspended`,
    /// too. A commit that has begun may still succeed. Then all connections are closed, without a checkpoint. Keys stay
    /// derived. Observations wait for ``resume()``. A database in memory keeps its connection.
    ///
    /// Suspending again changes nothing, and waits like the first call. Inside an access of the same database, it does not
    /// wait.
    ///
    /// - Parameter limit: how long to wait for what runs: closures that are not executing a statement end with their next
    ///   one, and a wait for locks of other processes with their `lockTimeout`. 4 seconds by default; an app on iOS has about
    ///   5, and about 30 in a background task.
    /// - Returns: whether no lock is held any more. If not, locks are released when the last running closure has returned.
    @discardableResult
    public func suspend(waiting limit: Duration = .seconds(4)) -> Bool { coordinator.suspend(waiting: limit) }

    /// Suspends the database, without blocking a thread of the caller. Cancelling the task does not end it.
    ///
    /// - Returns: as the synchronous form.
    @discardableResult
    public func suspend(waiting limit: Duration = .seconds(4)) async -> Bool {
        await withCheckedContinuation { continuation in
            ThreadPool.accesses.run { continuation.resume(returning: self.coordinator.suspend(waiting: limit)) }
        }
    }

    /// Ends ``suspend(waiting:)``, however often it was called: accesses work again, and open connections on demand.
    ///
    /// Observations continue, and emit what has changed meanwhile. It does nothing if the database is not suspended. What a
    /// connection had beside the file is gone, unless the configuration's `prepare` or ``onEveryConnection(_:)`` makes it again:
    /// temporary tables, attached databases, pragmas.
    public func resume() { coordinator.resume() }

    /// Whether the database is suspended: see ``suspend(waiting:)``.
    public var isSuspended: Bool { coordinator.suspension.isActive }
}

extension ConnectionCoordinator {
    func suspend(waiting limit: Duration) -> Bool {
        let error = VaultError.suspended(path)
        let deadline = Deadline(in: limit)
        let round: Int? = transition.withLock {
            guard !connections.isClosed else { return nil }
            let round = suspension.begin(error)
            for semaphore in semaphores { semaphore.refuse(with: error) }
            return round
        }
        guard let round else { return true }
        while suspension.interrupt(round: round) == .running {
            guard !deadline.isOver, !CurrentAccess.isWithin(self) else {
                // An interrupt between two statements has no effect.
                ThreadPool.accesses.run {
                    while self.suspension.interrupt(round: round) == .running { SystemThread.sleep(seconds: 0.002) }
                }
                return false
            }
            SystemThread.sleep(seconds: 0.002)
        }
        return closeIfSuspended()
    }

    /// Closes the connections of a suspended database on which nothing runs.
    ///
    /// - Returns: whether it is one, and no lock is held.
    func closeIfSuspended() -> Bool {
        transition.withLock {
            guard suspension.interrupt(round: suspension.round) == .idle else { return false }
            return connections.suspend()
        }
    }

    func resume() {
        // Other processes may have written, and a connection does not know what happened before it was opened.
        if endSuspension() { broker.notify(.unknown) }
    }

    @discardableResult
    func endSuspension() -> Bool {
        transition.withLock {
            for semaphore in semaphores { semaphore.admit() }
            return suspension.end()
        }
    }

    /// Runs accesses of an observation, again if a suspension ended them.
    func outlastingSuspensions<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        while true {
            let round = suspension.round
            do { return try await body() } catch let error as VaultError where error.code == .suspended {
                // The body may use another database, which is suspended.
                guard suspension.isActive || suspension.round != round else { throw error }
                try await suspension.resumption()
            }
        }
    }
}
