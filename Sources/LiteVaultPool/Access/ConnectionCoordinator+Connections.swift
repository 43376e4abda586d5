internal import Foundation
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSupport

// The connections: readers come and go, the writer stays.

extension ConnectionCoordinator {
    /// An idle reader, or a new one.
    func checkOutReader() throws -> Connection {
        let (idle, setups) = try state.withLock { state in
            guard !state.isClosed else { throw DatabaseAccessError.closed(path) }
            let idle = state.readers.popLast()
            if idle == nil { state.openReaders += 1 }
            return (idle, idle == nil ? state.setups : [])
        }
        if let idle { return idle.connection }
        do {
            let reader = try source.openReader(configuration)
            for setup in setups { try setup(reader) }
            return reader
        } catch {
            state.withLock { $0.openReaders -= 1 }
            throw error
        }
    }

    func checkIn(_ reader: Connection, isUsable: Bool) {
        let now = ContinuousClock.now
        let sweeps = state.withLock { state in
            guard isUsable, !state.isClosed else {
                state.openReaders -= 1
                return false
            }
            state.readers.append(IdleReader(connection: reader, since: now))
            defer { state.isSweeping = true }
            return !state.isSweeping
        }
        if sweeps { sweepLater() }
    }

    /// Closes readers after their idle time. Runs only while there are readers.
    private func sweepLater() {
        guard let timeout = configuration.idleReaderTimeout else { return }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + timeout.seconds) { [weak self] in
            guard let self else { return }
            closeIdleReaders(since: .now - timeout)
            let remain = state.withLock { state in
                state.isSweeping = !state.readers.isEmpty
                return state.isSweeping
            }
            if remain { sweepLater() }
        }
    }

    /// Closes readers that have been idle since then.
    func closeIdleReaders(since limit: ContinuousClock.Instant = .now) {
        let closing = state.withLock { state in
            let closing = state.readers.filter { $0.since <= limit }
            state.readers.removeAll { $0.since <= limit }
            state.openReaders -= closing.count
            return closing
        }
        // Not under the lock: closing may wait for the disk. If it fails, deinit closes the connection.
        for reader in closing { try? reader.connection.close() }
    }

    func releaseMemory() {
        closeIdleReaders()
        guard !CurrentAccess.isWithin(self) else { return }
        writerSemaphore.enqueue(
            FairSemaphore.Job { [weak self] in
                let writer = self?.state.withLock { $0.writer }
                try? writer?.withLock {
                    writer?.finalizeCache()
                    try writer?.execute("PRAGMA shrink_memory")
                }
                return true
            })
    }

    /// Makes commits of the writer checkpoint after the configured number of pages, while no other connection, in any process,
    /// can commit. Readers cannot write, so no other connection checkpoints here.
    func guardCheckpoints(of writer: Connection) throws {
        let pages = try writer.pragma(.walAutoCheckpoint)
        guard pages > 0 else { return }
        try writer.setWALAutoCheckpoint(
            pages, guardedBy: { [source, configuration] in try source.openGuardian(configuration) })
    }

    func register(_ setup: @escaping @Sendable (Connection) throws -> Void) throws {
        try sync(.barrier) { writer in
            try setup(writer)
            try guardCheckpoints(of: writer)
            // There are no reads, so all readers are idle: they are opened again on demand.
            closeIdleReaders()
            state.withLock { $0.setups.append(setup) }
        }
    }

    func close() throws {
        guard !CurrentAccess.isWithin(self) else { throw DatabaseAccessError.reentrant(path) }
        writerSemaphore.acquire()
        defer { writerSemaphore.release() }
        try drained(nil) { try closeFinally() }
    }

    func close() async throws {
        try await job(in: writerSemaphore) { cancellation, _ in
            try self.drained(cancellation) {
                try cancellation.check()
                try self.closeFinally()
            }
        }
    }

    /// Called while no connection is in use.
    private func closeFinally() throws {
        guard !state.withLock({ $0.isClosed }) else { return }
        try closeConnections()
        state.withLock { $0.isClosed = true }
        pressure.stop()
    }

    /// Closes every connection. Called in a barrier.
    func closeConnections() throws {
        closeIdleReaders()
        let writer = state.withLock { $0.writer }
        try writer?.close()
        state.withLock { state in
            state.writer = nil
            state.tracker = nil
        }
    }
}

extension ConnectionCoordinator {
    /// Called in a barrier.
    func rekey(to key: DatabaseKey, _ progress: OperationProgress.Report?) throws {
        guard source.isEncrypted else {
            return try source.rekey(to: key, lockTimeout: configuration.lockTimeout, progress)
        }
        try closeConnections()
        defer {
            // If this fails, the next access tries again.
            _ = try? openedWriter()
        }
        try source.rekey(to: key, lockTimeout: configuration.lockTimeout, progress)
    }

    /// Called in a barrier.
    func vacuum(_ writer: Connection) throws {
        try writer.vacuum()
        if try writer.pragma(.journalMode) == .wal { _ = try writer.emptyLog() }
    }

    func backup(to destination: String, newKey: DatabaseKey?, _ progress: OperationProgress.Report?) throws {
        guard !state.withLock({ $0.isClosed }) else { throw DatabaseAccessError.closed(path) }
        try source.backup(to: destination, newKey: newKey, lockTimeout: configuration.lockTimeout, progress)
    }
}

extension Cancellation {
    /// A progress report that cancels the operation.
    func reporting(_ progress: (@Sendable (OperationProgress) throws -> Void)?) -> OperationProgress.Report {
        { step in
            try self.check()
            try progress?(step)
        }
    }
}
