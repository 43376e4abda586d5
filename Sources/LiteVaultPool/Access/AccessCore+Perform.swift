internal import LiteVaultCore
internal import LiteVaultEngine

extension AccessCore {
    /// Does an access. The gate has let it in.
    func perform<T>(_ kind: Kind, _ cancellation: Cancellation?, _ body: (Connection) throws -> T) throws -> T {
        try CurrentAccess.within(self) {
            switch kind {
            case .read:
                guard readerGate != nil else { return try readWithWriter(cancellation, body) }
                return try withReader { reader in
                    try inTransaction(.deferred, of: reader) { try interruptible(cancellation, reader, body) }
                }
            case .write: return try writeInTransaction(cancellation, body)
            case .writeWithoutTransaction: return try writeFreely(cancellation, body)
            case .barrier: return try drained(cancellation) { try writeFreely(cancellation, body) }
            }
        }
    }

    /// Runs a body while nobody reads. The writer's gate has let it in.
    ///
    /// - Throws: `CancellationError` when it was cancelled while it waited for readers.
    func drained<T>(_ cancellation: Cancellation?, _ body: () throws -> T) throws -> T {
        guard let readerGate else { return try body() }
        var held = 0
        defer { for _ in 0..<held { readerGate.release() } }
        while held < readerGate.count {
            try readerGate.acquire(unless: cancellation)
            held += 1
        }
        return try body()
    }

    /// Runs a body in a transaction, out of which nothing is done, whatever errors the body keeps to itself.
    private func inTransaction<T>(
        _ mode: Connection.TransactionMode, of connection: Connection, _ body: () throws -> T
    ) throws -> T {
        do { return try connection.transaction(mode, block: body) } catch let error as DatabaseError
            where error.resultCode == .abortRollback
        { throw AccessError.transactionEnded(path) }
    }

    func performSnapshot<C, T>(
        _ permit: Permit, _ cancellation: Cancellation?, after changes: (Connection) throws -> C,
        _ body: (Connection, C) throws -> T
    ) throws -> T {
        try CurrentAccess.within(self) {
            let made = try writeInTransaction(cancellation, changes)
            guard let readerGate else { return try readWithWriter(cancellation) { try body($0, made) } }
            try readerGate.acquire(unless: cancellation)
            defer { readerGate.release() }
            return try withReader { reader in
                try inTransaction(.deferred, of: reader) {
                    // The snapshot is taken by the first page that is read.
                    try reader.runOnce("SELECT 1 FROM sqlite_master LIMIT 1")
                    permit.release()
                    return try interruptible(cancellation, reader) { try body($0, made) }
                }
            }
        }
    }

    private func interruptible<T>(
        _ cancellation: Cancellation?, _ connection: Connection, _ body: (Connection) throws -> T
    ) throws -> T {
        guard let cancellation else { return try body(connection) }
        return try cancellation.running(on: connection) { try body(connection) }
    }

    private func writeInTransaction<T>(
        _ cancellation: Cancellation?, _ body: (Connection) throws -> T
    ) throws -> T {
        try withWriter { writer in
            try inTransaction(configuration.writeMode, of: writer) { try interruptible(cancellation, writer, body) }
        }
    }

    private func writeFreely<T>(_ cancellation: Cancellation?, _ body: (Connection) throws -> T) throws -> T {
        try withWriter { writer in
            let result = try interruptible(cancellation, writer, body)
            guard !writer.isInTransaction else { throw AccessError.transactionLeftOpen(path) }
            return result
        }
    }

    /// What may not be written through a reader may not be written here.
    private func readWithWriter<T>(_ cancellation: Cancellation?, _ body: (Connection) throws -> T) throws -> T {
        try withWriter { writer in
            try writer.execute("PRAGMA query_only = 1")
            defer { try? writer.execute("PRAGMA query_only = 0") }
            return try inTransaction(.deferred, of: writer) { try interruptible(cancellation, writer, body) }
        }
    }

    func withWriter<T>(_ body: (Connection) throws -> T) throws -> T {
        let writer = try openedWriter()
        let tracker = tracker(for: writer)
        defer {
            if !writer.becomeIdle() { discard(writer) }
            if let tracker { broker.notify(tracker.takeCommitted()) }
        }
        return try body(writer)
    }

    private func withReader<T>(_ body: (Connection) throws -> T) throws -> T {
        let reader = try takeReader()
        defer { giveBack(reader, isUsable: reader.becomeIdle()) }
        return try body(reader)
    }

    /// The writer, opened when there is none.
    func openedWriter() throws -> Connection {
        let (writer, setups) = try state.withLock { state in
            guard !state.isClosed else { throw AccessError.closed(path) }
            return (state.writer, state.setups)
        }
        if let writer { return writer }
        let opened = try source.openWriter(configuration, usesWAL: readerGate != nil)
        for setup in setups { try setup(opened) }
        try guardCheckpoints(of: opened)
        state.withLock { state in
            state.writer = opened
            state.tracker = nil
        }
        return opened
    }

    /// Changes are taken down only while somebody observes them.
    private func tracker(for writer: Connection) -> ChangeTracker? {
        let isWanted = broker.isObserved
        let present = state.withLock { $0.tracker }
        guard isWanted != (present != nil) else { return present }
        let tracker = isWanted ? ChangeTracker(writer, knowledge) : nil
        writer.setObserver(tracker)
        state.withLock { $0.tracker = tracker }
        return tracker
    }

    private func discard(_ writer: Connection) {
        state.withLock { state in
            // A barrier may have opened another one.
            if state.writer === writer { (state.writer, state.tracker) = (nil, nil) }
        }
        try? writer.close()
    }
}

extension Connection {
    /// Ends what a closure left behind: statements in the middle of their rows, which would pin a snapshot, and a
    /// transaction. False: the connection is not fit for another access.
    fileprivate func becomeIdle() -> Bool {
        (try? withHandle { db in
            var statement = sqlite3_next_stmt(db, nil)
            while let current = statement {
                if sqlite3_stmt_busy(current) != 0 { sqlite3_reset(current) }
                statement = sqlite3_next_stmt(db, current)
            }
            if sqlite3_get_autocommit(db) == 0 { try runOnce("ROLLBACK TRANSACTION") }
            return sqlite3_get_autocommit(db) != 0
        }) ?? false
    }
}
