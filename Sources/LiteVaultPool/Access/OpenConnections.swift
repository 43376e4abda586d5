internal import Dispatch
internal import LiteVaultCore
internal import LiteVaultSystem

/// The connections of a ``DatabasePool`` or ``DatabaseQueue``: readers come and go, the writer stays.
///
/// The ``ConnectionCoordinator`` decides when each of them is used.
final class OpenConnections: Sendable {
    private struct IdleReader {
        let connection: Connection
        let since: ContinuousClock.Instant
    }

    private struct State {
        var writer: Connection?
        var tracker: ChangeTracker?
        var readers: [IdleReader] = []
        var openReaders = 0
        var openedWriters = 0
        /// Readers besides those of the accesses.
        var ownReaders: [WeakConnection] = []
        var setups: [@Sendable (Connection) throws -> Void] = []
        var isClosed = false
        var isSweeping = false
    }

    let source: ConnectionSource
    private let configuration: DatabaseConfiguration
    private let usesWAL: Bool
    private struct WeakConnection {
        weak var connection: Connection?
    }

    private let state = Locked(State())
    /// Held while the writer is being opened.
    private let opening = RecursiveLock()
    /// Held while idle readers are being closed: closing the rest waits for them. Otherwise the last connection could be one of
    /// them, and a reader cannot remove the log.
    private let closingReaders = RecursiveLock()

    init(_ source: ConnectionSource, _ configuration: DatabaseConfiguration, usesWAL: Bool) {
        self.source = source
        self.configuration = configuration
        self.usesWAL = usesWAL
    }

    var openReaderCount: Int { state.withLock { $0.openReaders } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    // MARK: The writer

    /// The writer, opened if necessary.
    func writer() throws -> Connection {
        if let writer = try present().writer { return writer }
        return try opening.withLock {
            let (writer, setups) = try present()
            return try writer ?? open(setups)
        }
    }

    /// How many writers were opened so far: what one of them says of changes, another does not.
    var openedWriters: Int { state.withLock { $0.openedWriters } }

    private func present() throws -> (writer: Connection?, setups: [@Sendable (Connection) throws -> Void]) {
        try state.withLock { state in
            guard !state.isClosed else { throw VaultError.closed(source.path) }
            return (state.writer, state.setups)
        }
    }

    private func open(_ setups: [@Sendable (Connection) throws -> Void]) throws -> Connection {
        let opened = try source.openWriter(configuration, usesWAL: usesWAL)
        for setup in setups { try setup(opened) }
        try guardCheckpoints(of: opened)
        state.withLock { state in
            state.writer = opened
            state.tracker = nil
            state.openedWriters += 1
        }
        return opened
    }

    /// Closes a writer that can no longer be used.
    func discard(_ writer: Connection) {
        state.withLock { state in
            // A barrier may have opened another one.
            if state.writer === writer { (state.writer, state.tracker) = (nil, nil) }
        }
        try? writer.close()
    }

    /// The tracker of a writer's changes, which are recorded only while they are observed.
    func tracker(of writer: Connection, isWanted: Bool, _ schemaCache: SchemaCache) -> ChangeTracker? {
        let present = state.withLock { $0.tracker }
        guard isWanted != (present != nil) else { return present }
        let tracker = isWanted ? ChangeTracker(writer, schemaCache) : nil
        writer.setObserver(tracker)
        state.withLock { $0.tracker = tracker }
        return tracker
    }

    /// Frees unused memory of the writer, if it is open.
    func releaseMemoryOfWriter() {
        let writer = state.withLock { $0.writer }
        try? writer?.withLock {
            writer?.finalizeCache()
            try writer?.execute("PRAGMA shrink_memory")
        }
    }

    /// Makes commits of the writer checkpoint after the configured number of pages, while no other connection, in any process,
    /// can commit. Readers cannot write, so no other connection checkpoints here.
    private func guardCheckpoints(of writer: Connection) throws {
        let pages = try writer.pragma(.walAutoCheckpoint)
        guard pages > 0 else { return }
        try writer.setWALAutoCheckpoint(
            pages, guardedBy: { [source, configuration] in try source.unlocked(configuration) })
    }

    /// Runs a setup on the writer now, and on every connection that is opened later. Called in a barrier.
    func add(_ setup: @escaping @Sendable (Connection) throws -> Void, to writer: Connection) throws {
        try setup(writer)
        try guardCheckpoints(of: writer)
        // There are no reads, so all readers are idle: they are opened again on demand.
        closeIdleReaders()
        state.withLock { $0.setups.append(setup) }
    }

    // MARK: Readers

    /// An idle reader, or a new one.
    func checkOutReader() throws -> Connection {
        let (idle, setups) = try state.withLock { state in
            guard !state.isClosed else { throw VaultError.closed(source.path) }
            let idle = state.readers.popLast()
            if idle == nil { state.openReaders += 1 }
            return (idle, idle == nil ? state.setups : [])
        }
        if let idle { return idle.connection }
        do {
            // It opens the log, which a reader cannot.
            if usesWAL { _ = try writer() }
            let reader = try source.openReader(configuration)
            for setup in setups { try setup(reader) }
            return reader
        } catch {
            state.withLock { $0.openReaders -= 1 }
            throw error
        }
    }

    /// A reader besides those of the accesses. The caller keeps it.
    func openOwnReader() throws -> Connection {
        _ = try writer()
        let reader = try source.openReader(configuration)
        state.withLock { state in
            state.ownReaders.removeAll { $0.connection == nil }
            state.ownReaders.append(WeakConnection(connection: reader))
        }
        return reader
    }

    func checkIn(_ reader: Connection, isUsable: Bool) {
        let now = ContinuousClock.now
        let (isKept, sweeps) = state.withLock { state in
            guard isUsable, !state.isClosed else {
                state.openReaders -= 1
                return (false, false)
            }
            state.readers.append(IdleReader(connection: reader, since: now))
            defer { state.isSweeping = true }
            return (true, !state.isSweeping)
        }
        // Before the access ends, which closing the pool waits for: a thread that interrupts the reader may hold it longer, and a connection
        // that closes after the writer leaves the log behind.
        if !isKept { try? reader.close() }
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

    /// Closes readers that have been idle since then, and waits for those that another thread is closing.
    func closeIdleReaders(since limit: ContinuousClock.Instant = .now) {
        closingReaders.withLock {
            let closing = state.withLock { state in
                let closing = state.readers.filter { $0.since <= limit }
                state.readers.removeAll { $0.since <= limit }
                state.openReaders -= closing.count
                return closing
            }
            // Not under the lock of the state: closing may wait for the disk. If it fails, deinit closes the connection.
            for reader in closing { try? reader.connection.close() }
        }
    }

    // MARK: Closing

    /// Closes every connection; the next access opens them again. Called in a barrier.
    func closeAll() throws {
        closeIdleReaders()
        let writer = state.withLock { $0.writer }
        try writer?.close()
        state.withLock { state in
            state.writer = nil
            state.tracker = nil
        }
    }

    /// Closes every connection of a file, without a checkpoint, which may take long: no lock remains. Called while there are no
    /// accesses. The next access opens them again. Databases without a file exist only as long as their connection, and stay.
    ///
    /// - Returns: false when one could not be closed, because a statement of it was kept.
    func suspend() -> Bool {
        closingReaders.withLock { closeForSuspension() }
    }

    private func closeForSuspension() -> Bool {
        let (writer, others) = state.withLock { state in
            let others = state.readers.map(\.connection) + state.ownReaders.compactMap(\.connection)
            state.openReaders -= state.readers.count
            (state.readers, state.ownReaders) = ([], [])
            return (state.writer, others)
        }
        var isClosed = true
        for connection in others where !connection.closeForSuspension() { isClosed = false }
        guard let writer, !writer.description.isEmpty else { return isClosed }
        guard writer.closeForSuspension() else { return false }
        state.withLock { state in
            if state.writer === writer { (state.writer, state.tracker) = (nil, nil) }
        }
        return isClosed
    }

    /// Closes every connection, and opens none any more. Called in a barrier.
    func closeFinally() throws {
        guard !isClosed else { return }
        try closeAll()
        state.withLock { $0.isClosed = true }
    }
}

extension Connection {
    /// Whether it could be closed.
    fileprivate func closeForSuspension() -> Bool {
        _ = try? withLock { closeBlobs() }
        return (try? close(checkpointing: false)) != nil
    }
}
