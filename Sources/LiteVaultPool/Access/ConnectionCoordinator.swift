internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultEngine
internal import LiteVaultSystem

/// Schedules access to the writer and the readers of a ``DatabasePool`` or ``DatabaseQueue``.
package final class ConnectionCoordinator: Sendable {
    enum Kind { case read, write, writeWithoutTransaction, barrier }

    let connections: OpenConnections
    let suspension = Suspension()
    /// Held while the database changes between suspended and not.
    let transition = RecursiveLock()
    private let configuration: DatabaseConfiguration
    private let writerSemaphore = FairSemaphore(count: 1)
    /// Nil if reads use the writer.
    private let readerSemaphore: FairSemaphore?
    private let pressure = MemoryPressure()
    let broker = ChangeBroker()
    let schemaCache = SchemaCache()

    init(_ source: ConnectionSource, _ configuration: DatabaseConfiguration, hasReaders: Bool) throws {
        connections = OpenConnections(source, configuration, usesWAL: hasReaders)
        self.configuration = configuration
        readerSemaphore = hasReaders ? FairSemaphore(count: max(configuration.maximumReaderCount, 1)) : nil
        // So that failing to open the database is reported here, not by the first access.
        _ = try connections.writer()
        pressure.start { [weak self] in self?.releaseMemory() }
    }

    private var source: ConnectionSource { connections.source }
    var path: String { source.path }

    package var openReaderCount: Int { connections.openReaderCount }

    package var accessCount: Int { writerSemaphore.inUse + (readerSemaphore?.inUse ?? 0) }

    package var keyDerivations: Int { source.derivations }

    package var isObserved: Bool { broker.isObserved }

    var semaphores: [FairSemaphore] { [writerSemaphore] + (readerSemaphore.map { [$0] } ?? []) }

    private func semaphore(for kind: Kind) -> FairSemaphore {
        kind == .read ? readerSemaphore ?? writerSemaphore : writerSemaphore
    }

    func sync<T>(_ kind: Kind, _ body: (Connection) throws -> T) throws -> T {
        guard !CurrentAccess.isWithin(self) else { throw VaultError.reentrant(path) }
        let semaphore = semaphore(for: kind)
        try semaphore.acquire()
        defer { semaphore.release() }
        return try perform(kind, nil, body)
    }

    func async<T: Sendable>(_ kind: Kind, _ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await job(in: semaphore(for: kind)) { cancellation, _ in try self.perform(kind, cancellation, body) }
    }

    /// A barrier whose body checks for cancellation itself: changes made by then stay.
    func asyncBarrier<T: Sendable>(
        _ body: @escaping @Sendable (Connection, Cancellation) throws -> T
    ) async throws -> T {
        try await job(in: writerSemaphore) { cancellation, _ in
            try self.accessing(cancellation) { access in
                try self.drained(cancellation) {
                    try cancellation.check()
                    return try self.withWriter(access) { writer in
                        try access.activity.running(checksEnd: false) { try body(writer, cancellation) }
                    }
                }
            }
        }
    }

    /// Runs a body on a thread of its own, at once.
    func onThread<T: Sendable>(_ body: @escaping @Sendable (Cancellation) throws -> T) async throws -> T {
        try await job(in: nil) { cancellation, _ in
            try cancellation.check()
            return try body(cancellation)
        }
    }

    /// Runs a body on a thread of its own when the semaphore admits it. The body may release its permit before it ends.
    private func job<T: Sendable>(
        in semaphore: FairSemaphore?, isAlwaysAdmitted: Bool = false,
        _ body: @escaping @Sendable (Cancellation, Permit) throws -> T
    ) async throws -> T {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await AccessExecutor(semaphore, isAlwaysAdmitted: isAlwaysAdmitted, cancellation).run { permit in
                try body(cancellation, permit)
            }
        } onCancel: {
            cancellation.cancel()
        }
    }

    /// A reader besides those of the accesses, for a caller that keeps its snapshot while others read and write; nil if reads
    /// use the writer.
    func openOwnReader() throws -> Connection? {
        guard readerSemaphore != nil else { return nil }
        return try connections.openOwnReader()
    }

    func readSnapshot<C, T>(
        after changes: (Connection) throws -> C, _ body: (Connection, C) throws -> T
    ) throws -> T {
        guard !CurrentAccess.isWithin(self) else { throw VaultError.reentrant(path) }
        try writerSemaphore.acquire()
        let permit = Permit(writerSemaphore)
        defer { permit.release() }
        return try performSnapshot(permit, nil, after: changes, body)
    }

    func readSnapshot<C, T: Sendable>(
        after changes: @escaping @Sendable (Connection) throws -> C,
        _ body: @escaping @Sendable (Connection, C) throws -> T
    ) async throws -> T {
        try await job(in: writerSemaphore) { cancellation, permit in
            try self.performSnapshot(permit, cancellation, after: changes, body)
        }
    }
}

extension ConnectionCoordinator {
    private struct Access {
        let activity: Activity
        /// Nil if it cannot be cancelled.
        let cancellation: Cancellation?

        /// Runs the closure of the access: cancelling its task or suspending the database ends it.
        ///
        /// - Parameter checksEnd: false if what the closure has done stays, even if the database was suspended meanwhile.
        func running<T>(on connection: Connection, checksEnd: Bool = true, _ body: (Connection) throws -> T) throws -> T
        {
            try activity.running(checksEnd: checksEnd) {
                guard let cancellation else { return try body(connection) }
                return try cancellation.running(on: connection) { try body(connection) }
            }
        }
    }

    private func accessing<T>(_ cancellation: Cancellation?, _ body: (Access) throws -> T) throws -> T {
        try CurrentAccess.within(self) {
            try suspension.running(whenIdle: { _ = closeIfSuspended() }) { activity in
                try body(Access(activity: activity, cancellation: cancellation))
            }
        }
    }

    private func perform<T>(_ kind: Kind, _ cancellation: Cancellation?, _ body: (Connection) throws -> T) throws -> T {
        try accessing(cancellation) { access in
            switch kind {
            case .read:
                guard readerSemaphore != nil else { return try readWithWriter(access, body) }
                return try withReader(access) { reader in
                    try inTransaction(.deferred, of: reader) { try access.running(on: reader, body) }
                }
            case .write: return try writeInTransaction(access, body)
            case .writeWithoutTransaction: return try writeFreely(access, body)
            case .barrier: return try drained(cancellation) { try writeFreely(access, body) }
            }
        }
    }

    /// Runs a body while there are no reads. The writer's semaphore has admitted it.
    ///
    /// - Throws: `CancellationError` when it was cancelled while waiting for readers; `VaultError` `suspended`, unless it is
    ///   always admitted.
    private func drained<T>(
        _ cancellation: Cancellation?, isAlwaysAdmitted: Bool = false, _ body: () throws -> T
    ) throws -> T {
        guard let readerSemaphore else { return try body() }
        var held = 0
        defer { for _ in 0..<held { readerSemaphore.release() } }
        while held < readerSemaphore.count {
            try readerSemaphore.acquire(unless: cancellation, isAlwaysAdmitted: isAlwaysAdmitted)
            held += 1
        }
        return try body()
    }

    /// Runs a body in a transaction. Nothing runs outside of it, even if the body catches the error that ended it.
    private func inTransaction<T>(
        _ mode: Connection.TransactionMode, of connection: Connection, _ body: () throws -> T
    ) throws -> T {
        do { return try connection.transaction(mode, block: body) } catch let error as DatabaseError
            where error.resultCode == .abortRollback
        { throw VaultError.transactionEnded(path) }
    }

    private func performSnapshot<C, T>(
        _ permit: Permit, _ cancellation: Cancellation?, after changes: (Connection) throws -> C,
        _ body: (Connection, C) throws -> T
    ) throws -> T {
        try accessing(cancellation) { access in
            let made = try writeInTransaction(access, changes)
            guard let readerSemaphore else { return try readWithWriter(access) { try body($0, made) } }
            try readerSemaphore.acquire(unless: cancellation)
            defer { readerSemaphore.release() }
            return try withReader(access) { reader in
                try inTransaction(.deferred, of: reader) {
                    // Reading the first page takes the snapshot.
                    try reader.runOnce("SELECT 1 FROM sqlite_master LIMIT 1")
                    permit.release()
                    return try access.running(on: reader) { try body($0, made) }
                }
            }
        }
    }

    private func writeInTransaction<T>(_ access: Access, _ body: (Connection) throws -> T) throws -> T {
        try withWriter(access) { writer in
            try inTransaction(configuration.writeMode, of: writer) { try access.running(on: writer, body) }
        }
    }

    private func writeFreely<T>(_ access: Access, _ body: (Connection) throws -> T) throws -> T {
        try withWriter(access) { writer in
            let result = try access.running(on: writer, checksEnd: false, body)
            guard !writer.isInTransaction else {
                try access.activity.check()
                throw VaultError.transactionLeftOpen(path)
            }
            return result
        }
    }

    /// Reads with the writer, which must not write meanwhile, like a reader.
    private func readWithWriter<T>(_ access: Access, _ body: (Connection) throws -> T) throws -> T {
        try withWriter(access) { writer in
            defer {
                // Neither an interrupt nor a statement that the closure left must keep the writer from writing again.
                access.activity.use(nil)
                _ = writer.becomeIdle()
                try? writer.execute("PRAGMA query_only = 0")
            }
            try writer.execute("PRAGMA query_only = 1")
            return try inTransaction(.deferred, of: writer) { try access.running(on: writer, body) }
        }
    }

    private func withWriter<T>(_ access: Access, _ body: (Connection) throws -> T) throws -> T {
        let writer = try connections.writer()
        let tracker = connections.tracker(of: writer, isWanted: broker.isObserved, schemaCache)
        access.activity.use(writer)
        defer {
            access.activity.use(nil)
            if !writer.becomeIdle() { connections.discard(writer) }
            if let tracker { broker.notify(tracker.takeCommitted()) }
        }
        return try body(writer)
    }

    private func withReader<T>(_ access: Access, _ body: (Connection) throws -> T) throws -> T {
        let reader = try connections.checkOutReader()
        access.activity.use(reader)
        defer {
            access.activity.use(nil)
            connections.checkIn(reader, isUsable: reader.becomeIdle())
        }
        return try body(reader)
    }
}

// MARK: Maintenance

extension ConnectionCoordinator {
    func releaseMemory() {
        connections.closeIdleReaders()
        guard !CurrentAccess.isWithin(self) else { return }
        writerSemaphore.enqueue(
            FairSemaphore.Job(
                refused: { _ in },
                run: { [weak self] in
                    self?.connections.releaseMemoryOfWriter()
                    return true
                }))
    }

    func register(_ setup: @escaping @Sendable (Connection) throws -> Void) throws {
        try sync(.barrier) { try connections.add(setup, to: $0) }
    }

    func close() throws {
        guard !CurrentAccess.isWithin(self) else { throw VaultError.reentrant(path) }
        try writerSemaphore.acquire(isAlwaysAdmitted: true)
        defer { writerSemaphore.release() }
        try drained(nil, isAlwaysAdmitted: true) { try closeFinally() }
    }

    func close() async throws {
        try await job(in: writerSemaphore, isAlwaysAdmitted: true) { cancellation, _ in
            try self.drained(cancellation, isAlwaysAdmitted: true) {
                try cancellation.check()
                try self.closeFinally()
            }
        }
    }

    /// Called while no connection is in use.
    private func closeFinally() throws {
        try connections.closeFinally()
        pressure.stop()
        // Whatever waits for the end of a suspension gets `closed` from now on.
        endSuspension()
    }

    /// Called in a barrier.
    func rekey(to key: DatabaseKey, _ progress: DatabaseFile.Progress.Report?) throws {
        guard source.isEncrypted else {
            return try source.rekey(to: key, lockTimeout: configuration.lockTimeout, progress)
        }
        try connections.closeAll()
        defer {
            // If this fails, the next access tries again.
            if !suspension.isActive { _ = try? connections.writer() }
        }
        try source.rekey(to: key, lockTimeout: configuration.lockTimeout, unlessSuspended(progress))
    }

    /// Called in a barrier.
    func vacuum(_ writer: Connection) throws {
        try writer.vacuum()
        if try writer.pragma(.journalMode) == .wal { _ = try writer.emptyLog() }
    }

    func backup(to destination: String, newKey: DatabaseKey?, _ progress: DatabaseFile.Progress.Report?) throws {
        guard !connections.isClosed else { throw VaultError.closed(path) }
        try suspension.running(whenIdle: { _ = closeIfSuspended() }) { _ in
            try source.backup(
                to: destination, newKey: newKey, lockTimeout: configuration.lockTimeout, unlessSuspended(progress))
        }
    }

    private func unlessSuspended(_ progress: DatabaseFile.Progress.Report?) -> DatabaseFile.Progress.Report {
        { step in
            try self.suspension.check()
            try progress?(step)
            try self.suspension.check()
        }
    }
}

extension Connection {
    /// Resets statements that a closure left in the middle of their rows, which would pin a snapshot, and rolls back an
    /// open transaction.
    ///
    /// - Returns: false if the connection cannot be used for another access.
    fileprivate func becomeIdle() -> Bool {
        guard let db = try? enter() else { return false }
        // Resetting the statement of an open blob would leave it with a cursor that is gone.
        closeBlobs()
        for statement in Self.busyStatements(of: db) { sqlite3_reset(statement) }
        // A rollback that was interrupted is repeated here.
        leave()
        let isIdle = try? withHandle { db in
            if sqlite3_get_autocommit(db) == 0 { try runOnce("ROLLBACK TRANSACTION") }
            return sqlite3_get_autocommit(db) != 0
        }
        return isIdle ?? false
    }
}

/// The databases that the current thread is accessing: closures are synchronous, so an access never changes its thread.
enum CurrentAccess {
    private struct Frame {
        let coordinator: ObjectIdentifier
        let outer: UnsafeMutableRawPointer?
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Runs a body as an access of `coordinator`.
    static func within<T>(_ coordinator: ConnectionCoordinator, _ body: () throws -> T) rethrows -> T {
        let outer = pthread_getspecific(key)
        var frame = Frame(coordinator: ObjectIdentifier(coordinator), outer: outer)
        return try withUnsafeMutablePointer(to: &frame) { pointer in
            pthread_setspecific(key, UnsafeMutableRawPointer(pointer))
            defer { pthread_setspecific(key, outer) }
            return try body()
        }
    }

    /// Whether this thread is inside an access of `coordinator`.
    static func isWithin(_ coordinator: ConnectionCoordinator) -> Bool {
        var next = pthread_getspecific(key)
        while let current = next {
            let frame = current.assumingMemoryBound(to: Frame.self).pointee
            if frame.coordinator == ObjectIdentifier(coordinator) { return true }
            next = frame.outer
        }
        return false
    }
}
