internal import LiteVaultCapture
package import LiteVaultCipher
public import LiteVaultCore
public import LiteVaultSystem

/// A database in a repository, open for reading without a restore: a `SELECT` fetches the blocks that it needs, and no others.
///
/// ```swift
/// let repository = try await Repository.open(DirectoryStore("/backup/vaults"))
/// let database = try await repository.openDatabase(.latest, database: "vault.db", key: key)
/// let title = try await database.read { connection in
///     try connection.value("SELECT title FROM note WHERE id = 42", as: String.self)
/// }
/// ```
///
/// Blocks are kept in memory, up to ``ReadingOptions/memoryLimit``, and checked against their hashes before a byte of them is used.
/// Those of an encrypted database are ciphertext there, as in the repository. Nothing is written to disk, except with a followed log:
/// see ``Repository/openDatabase(_:database:key:settings:options:warning:)``.
///
/// Sorting and temporary tables take memory, not files. The connection is closed with the last reference to this object.
public final class SnapshotDatabase: Sendable {
    private let image: SnapshotImage
    private let key: DatabaseKey?
    private let settings: CipherSettings
    /// A reader holds the lock while it reads.
    private let database: Locked<SourcedDatabase>

    /// Opens the database on the calling thread, which must not be one of Swift's pool.
    ///
    /// - Throws: `VaultError`, as for opening a file; the engine's error where reading failed, see
    ///   ``SnapshotImage/explanation(of:)``.
    package init(_ image: SnapshotImage, key: DatabaseKey?, settings: CipherSettings) throws {
        (self.image, self.key, self.settings) = (image, key, settings)
        database = Locked(try Self.open(image, key, settings))
    }

    private static func open(
        _ image: SnapshotImage, _ key: DatabaseKey?, _ settings: CipherSettings
    ) throws -> SourcedDatabase {
        do {
            return try SourcedDatabase(image, path: image.name, key: key, settings: settings)
        } catch {
            throw image.cause(of: error)
        }
    }

    // What is fetched ahead is not needed any more, and closing must not wait for anything.
    deinit { image.cancel() }

    /// The snapshot that is read.
    public var snapshot: Snapshot { image.snapshot }

    /// The time that segments of a followed log reach beyond the snapshot; nil if none is read.
    public var segmentsUntil: Date? { image.segmentsUntil }

    /// The size of the database in bytes.
    public var size: Int64 { image.byteCount }

    /// What was fetched so far.
    public var statistics: ReadingStatistics { image.statistics }

    /// Runs `body` with a connection to the database, on a thread of its own.
    ///
    /// Calls run one after the other. Where a server reads with several connections, it opens the database several times; each has its
    /// own thread while it reads, so that their number may exceed that of the processors.
    ///
    /// When the task is cancelled, the statement is interrupted and what it waits for is given up. The database can be read
    /// again afterwards.
    ///
    /// - Parameter body: must not keep the connection or a statement. The connection refuses to write.
    /// - Throws: `VaultError` `damaged` that names the block or object if a block is missing or does not match its hash; `missing`
    ///   if the snapshot was removed from the repository; what the store throws, such as `io`; `CancellationError`; what `body` throws.
    public func read<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        let call = ReadingCall(image)
        do {
            return try await withTaskCancellationHandler {
                try await Self.onThread { try self.run(call, body) }
            } onCancel: {
                call.cancel()
            }
        } catch {
            throw await image.explanation(of: error)
        }
    }

    /// As ``read(_:)``, on the calling thread, which must not be one of Swift's pool.
    ///
    /// - Throws: as `body`; the engine's error where reading failed, see ``SnapshotImage/explanation(of:)``.
    package func readOnThisThread<T>(_ body: (Connection) throws -> T) throws -> T {
        try run(ReadingCall(image), body)
    }

    private func run<T>(_ call: ReadingCall, _ body: (Connection) throws -> T) throws -> T {
        try database.withLock { database in
            let hasFailed = image.hasFailed
            try call.begin()
            let result = Result {
                // A connection of SQLCipher 4.19 that could not read a page reports every later one as damaged.
                if hasFailed { database = try Self.open(image, key, settings) }
                call.attach(database.connection)
                return try body(database.connection)
            }
            guard call.end() || (try? result.get()) != nil else { throw CancellationError() }
            return try result.get()
        }
    }

    /// Runs `body` on a new thread, for work that blocks it.
    package static func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            SystemThread.start { continuation.resume(with: Result { try body() }) }
        }
    }
}

/// A call of ``SnapshotDatabase/read(_:)``, which may be cancelled before it begins, and while it runs.
private final class ReadingCall: Sendable {
    private enum State {
        case waiting
        case running(Connection?)
        case cancelled
        case ended
    }

    private let image: SnapshotImage
    private let state = Locked(State.waiting)

    init(_ image: SnapshotImage) { self.image = image }

    /// - Throws: `CancellationError` if it was cancelled.
    func begin() throws {
        try state.withLock { state in
            guard case .waiting = state else { throw CancellationError() }
            image.resume()
            state = .running(nil)
        }
    }

    /// Names the connection that a cancellation interrupts.
    func attach(_ connection: Connection) {
        state.withLock { state in
            if case .running = state { state = .running(connection) }
        }
    }

    /// - Returns: false if it was cancelled.
    func end() -> Bool {
        state.withLock { state in
            defer { state = .ended }
            if case .cancelled = state { return false }
            return true
        }
    }

    func cancel() {
        state.withLock { state in
            if case .running(let connection) = state {
                image.cancel()
                connection?.interrupt()
            }
            if case .ended = state { return }
            state = .cancelled
        }
    }
}
