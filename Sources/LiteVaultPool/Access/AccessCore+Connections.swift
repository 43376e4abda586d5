internal import Foundation
internal import LiteVaultCore

// The connections themselves: readers come and go, the writer stays.

extension AccessCore {
    /// A reader that nobody uses, or a new one.
    func takeReader() throws -> Connection {
        let (idle, setups) = try state.withLock { state in
            guard !state.isClosed else { throw AccessError.closed(path) }
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

    func giveBack(_ reader: Connection, isUsable: Bool) {
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

    /// Closes readers that were idle for long. Runs only while there are any.
    private func sweepLater() {
        guard let seconds = configuration.idleReaderTimeout else { return }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + seconds) { [weak self] in
            guard let self else { return }
            closeIdleReaders(since: .now - .seconds(seconds))
            let remain = state.withLock { state in
                state.isSweeping = !state.readers.isEmpty
                return state.isSweeping
            }
            if remain { sweepLater() }
        }
    }

    /// Closes readers that nobody has used since then.
    func closeIdleReaders(since limit: ContinuousClock.Instant = .now) {
        let closing = state.withLock { state in
            let closing = state.readers.filter { $0.since <= limit }
            state.readers.removeAll { $0.since <= limit }
            state.openReaders -= closing.count
            return closing
        }
        // Not under the lock: closing may have to wait for the disk. What fails here is done by deinit.
        for reader in closing { try? reader.connection.close() }
    }

    func releaseMemory() {
        closeIdleReaders()
        guard !CurrentAccess.isWithin(self) else { return }
        writerGate.enqueue(
            Gate.Job { [weak self] in
                let writer = self?.state.withLock { $0.writer }
                try? writer?.withLock {
                    writer?.finalizeCache()
                    try writer?.execute("PRAGMA shrink_memory")
                }
                return true
            })
    }

    /// Commits of the writer checkpoint after as many pages as its setup says, while nobody else, in any process, can
    /// commit. Readers cannot write, so nobody else checkpoints here.
    func guardCheckpoints(of writer: Connection) throws {
        let pages = writer.walAutoCheckpoint
        guard pages > 0 else { return }
        try writer.setWALAutoCheckpoint(
            pages, guardedBy: { [source, configuration] in try source.openGuardian(configuration) })
    }

    func register(_ setup: @escaping @Sendable (Connection) throws -> Void) throws {
        try sync(.barrier) { writer in
            try setup(writer)
            try guardCheckpoints(of: writer)
            // Nobody reads, so all of them are idle: each is opened again when it is needed.
            closeIdleReaders()
            state.withLock { $0.setups.append(setup) }
        }
    }

    func close() throws {
        guard !CurrentAccess.isWithin(self) else { throw AccessError.reentrant(path) }
        writerGate.acquire()
        defer { writerGate.release() }
        try drained(nil) { try closeFinally() }
    }

    func close() async throws {
        try await job(in: writerGate) { cancellation, _ in
            try self.drained(cancellation) {
                try cancellation.check()
                try self.closeFinally()
            }
        }
    }

    /// While nobody uses a connection.
    private func closeFinally() throws {
        guard !state.withLock({ $0.isClosed }) else { return }
        try closeConnections()
        state.withLock { $0.isClosed = true }
        pressure.stop()
    }

    /// Closes every connection. Inside a barrier.
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
