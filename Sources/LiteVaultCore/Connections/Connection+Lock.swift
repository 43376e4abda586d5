internal import CEngineSupport
internal import Dispatch
internal import LiteVaultEngine
internal import LiteVaultSystem

extension Connection {
    /// Takes the lock. Balanced by `leave()`, unless it throws.
    ///
    /// - Throws: `SQLITE_MISUSE` on a closed connection and inside a callback that must not use it.
    @usableFromInline
    package func enter() throws -> OpaquePointer {
        lock.lock()
        if callbackDepth == 0, let db { return db }
        let message =
            db == nil
            ? "the connection is closed"
            : "the connection must not be used inside a hook, a busy handler, a trace or a collation"
        lock.unlock()
        throw DatabaseError(misuse: message)
    }

    /// Releases the lock, and does the deferred work: finalizes objects that were released meanwhile, repeats a rollback.
    @usableFromInline
    package func leave() {
        if deferred.isPending { performDeferred() }
        lock.unlock()
        // Items added in between found the lock taken, and no other thread may come for a long time.
        while deferred.isPending, lock.tryLock() {
            let isDone = performDeferred()
            lock.unlock()
            guard isDone else { return }
        }
    }

    /// Performs work for an object that is being deinitialized, now or when the lock is released.
    func deferring(_ work: DeferredWork.Item) {
        guard lock.tryLock() else {
            deferred.add(work)
            if lock.tryLock() { leave() }
            return
        }
        if callbackDepth == 0 { perform(work) } else { deferred.add(work) }
        leave()
    }

    /// Performs deferred work, unless this is a callback of the engine. Called under the lock.
    ///
    /// - Returns: false if there is nothing more to do before other statements have ended.
    @discardableResult
    func performDeferred() -> Bool {
        guard callbackDepth == 0 else { return false }
        for item in deferred.takeAll() { perform(item) }
        return interruptedRollback == nil
    }

    private func perform(_ work: DeferredWork.Item) {
        switch work {
        case .finalization(let statement): recycle(statement)
        // Unless another execution of it has begun since.
        case .endOfIteration(let statement, let iteration) where statement.execution == iteration:
            sqlite3_reset(statement.handle)
        case .endOfIteration: break
        case .blob(let blob): closeBlob(blob)
        case .session(let session): deleteSession(session)
        case .rollback: repeatRollback()
        }
    }

    /// Runs a block while no other thread uses the connection.
    ///
    /// - Throws: what the block throws, and `SQLITE_MISUSE` on a closed connection or inside a callback.
    @discardableResult
    package func withLock<T>(_ body: () throws -> T) throws -> T {
        _ = try enter()
        defer { leave() }
        return try body()
    }

    /// Runs a block with the `sqlite3` handle, while no other thread uses the connection.
    ///
    /// For calls of the C API that this library does not have. The handle must not leave the block.
    ///
    /// - Throws: what the block throws; `SQLITE_MISUSE` on a closed connection or inside a callback;
    ///   `SQLITE_ABORT_ROLLBACK` in the block of a transaction that has ended.
    @discardableResult
    public func withHandle<T>(_ body: (OpaquePointer) throws -> T) throws -> T {
        let db = try enter()
        defer { leave() }
        try requireRunnable()
        return try body(db)
    }

    /// The `sqlite3` handle, for calls of the C API that this library does not have.
    ///
    /// Nothing keeps other threads from using it at the same time: prefer ``withHandle(_:)``. On a closed connection
    /// this is the handle of an empty database in memory, so that C calls fail with an error instead of crashing.
    package var unguardedHandle: OpaquePointer {
        reading { $0 } ?? Self.placeholder
    }

    /// The value of `unguardedHandle` after `close()`. It is never closed, and has the engine's own mutex, so every thread may
    /// use it. Opening it fails only when memory is exhausted, where Swift itself ends the process.
    private nonisolated(unsafe) static let placeholder: OpaquePointer = {
        var db: OpaquePointer?
        sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_FULLMUTEX, nil)
        guard let db else { fatalError("no memory for a database in memory") }
        return db
    }()

    /// Runs one of the engine's callbacks that must not use the connection.
    func insideCallback<T>(_ body: () -> T) -> T {
        callbackDepth += 1
        defer { callbackDepth -= 1 }
        return body()
    }

    /// Throws unless the code means success. Called under the lock, in the same critical section as the call.
    package func check(_ code: Int32, sql: String? = nil) throws {
        switch code {
        case SQLITE_OK, SQLITE_ROW, SQLITE_DONE: return
        default:
            throw DatabaseError(db, code: code, sql: sql, extended: extendedErrors, namesFile: !isDropIn)
        }
    }
}

/// Deferred work for objects that were released while another thread held the connection, or inside one of its
/// callbacks: `deinit` must then neither wait nor touch the handle. The work is done when the connection is unlocked or
/// closed. A rollback that was interrupted waits for the statements around it.
final class DeferredWork: Sendable {
    enum Item {
        /// A statement lost its owner.
        case finalization(PreparedStatement)
        /// A loop over a statement was left early.
        case endOfIteration(PreparedStatement, UInt64)
        /// An open blob lost its owner.
        case blob(OpenBlob)
        /// A `sqlite3_session` lost its owner.
        case session(UnsafeMutableRawPointer)
        /// A rollback was interrupted.
        case rollback
    }

    private let pending = Locked<[Item]>([])
    private let flag = AtomicFlag()

    /// Whether there is deferred work. Cheap: checked at every unlock.
    var isPending: Bool { flag.isRaised }

    func add(_ item: Item) {
        pending.withLock { items in
            items.append(item)
            flag.set(true)
        }
    }

    func takeAll() -> [Item] {
        pending.withLock { items in
            flag.set(false)
            defer { items = [] }
            return items
        }
    }
}
