public import LiteVaultCapture
public import LiteVaultRepository
public import LiteVaultSystem

/// A copy of a database that is kept up to date from a repository, without the database's key, while readers have it open.
///
/// Create one with ``Repository/standby(of:at:options:)``, call ``update()`` regularly, and ``end()`` at last. Readers open the
/// destination with SQLite and the key, as any database in WAL mode. They see commits only: what segments have is written to the
/// destination's log under SQLite's locks, and appears at once. They cannot write to it, nor checkpoint.
///
/// Beside the destination there are its log (`-wal`, `-shm`), the keyring that the newest snapshot carries (`.keys`), `.standby`, which says where
/// to continue, and `.standby-lock`. A keyring that the standby has not put there stays: ``takeWarnings()`` reports it. After the end of a standby, or of its
/// process at any moment, the destination has exactly a commit of the original, and another standby continues from there. If anything
/// else has changed the destination, that is refused.
public actor Standby {
    /// The repository.
    public nonisolated let repository: Repository
    /// The path of the copy.
    public nonisolated let destination: String
    let options: StandbyOptions
    let reader: SegmentReader
    /// Keeps other standbys away.
    private var lock: StandbyLock?
    var state: StandbyState
    /// The destination, once its page size is known.
    var database: StandbyDatabase?
    /// The sum of what it has.
    var sum = ContentSum()
    /// The highest number among the segments that were found not to continue its snapshot.
    var passed = 0
    /// Why no segment will continue it.
    var ended: String?
    /// When snapshots were last listed, by a clock that is not set, and the newest one that does not need to be restored.
    var polledForSnapshots: ContinuousClock.Instant?
    /// When a promotion was last looked for, and the last segment before one that was found.
    var polledForPromotion: ContinuousClock.Instant?
    var lineEnd: (segment: Int, reason: String)?
    var considered = 0
    /// The time of the state that the destination had when there was a newer snapshot that segments might still have led to.
    var suspected: Int64?
    /// Set by ``end()``, also while an update waits for the store.
    let isEnded = Locked(false)
    /// Whether a newer state could not be put in place, because somebody has the destination open.
    var isInUse = false
    /// What needs attention, since it was last taken.
    var warnings: [RepositoryWarning] = []
    /// The hash of the keyring that was last reported as not put in its place.
    var reportedKeyring: String?
    /// Whether an update is under way: it waits for the store several times.
    private var isUpdating = false
    /// Calls of ``end()`` that wait until it is over.
    private var ending: [CheckedContinuation<Void, Never>] = []

    init(
        _ repository: Repository, _ destination: String, _ options: StandbyOptions, _ lock: StandbyLock,
        _ state: StandbyState
    ) {
        (self.repository, self.destination, self.options) = (repository, destination, options)
        (self.lock, self.state) = (lock, state)
        reader = SegmentReader(repository, database: state.database)
    }

    /// The time of the state that the destination has.
    public var reached: Date { state.current?.date ?? Date(timeIntervalSince1970: 0) }

    /// Looks once for new segments and snapshots, and applies them.
    ///
    /// It costs one LIST request when nothing is new, and another one for snapshots in each ``StandbyOptions/snapshotInterval``. A promotion of
    /// another standby is noticed within that time: segments that the old primary stores until then are still applied.
    ///
    /// - Returns: what was done.
    /// - Throws: `VaultError` `damaged` for a segment or snapshot that cannot be used, with its name as the path; what a store throws;
    ///   `noSpace`, `io`; `usage` after ``end()``, or while another update is under way.
    ///   The destination has the last commit before it then, and the next call tries again.
    public func update() async throws -> StandbyUpdate {
        guard !isUpdating else { throw VaultError(.usage, "another update is under way", path: destination) }
        try requireNotEnded()
        isUpdating = true
        defer {
            isUpdating = false
            for one in ending { one.resume() }
            ending = []
        }
        guard let current = state.current else { return try await restoreWhole() }
        if let ended { return try await renew(ended) }
        let found: SegmentReader.Continuation
        if let last = current.segment {
            found = try await reader.segments(behind: last)
        } else {
            let next = try await reader.segments(behindSnapshot: current.snapshot, beyond: passed)
            found = next.found
            // Others are still to be applied, which may fail.
            if case .nothing = found { passed = next.newest }
        }
        switch found {
        case .segments(let segments, let fetched):
            // The old primary may store segments until it learns that it is no longer the primary.
            guard let end = try await endOfLine(current) else { return try await apply(segments, fetched) }
            let before = segments.prefix { $0.sequence <= end.segment }
            if !before.isEmpty { return try await apply(Array(before), fetched) }
            ended = end.reason
            return try await renew(end.reason)
        case .broken(let reason): return try await renew(reason)
        case .ended(let reason):
            ended = reason
            return try await renew(reason)
        case .nothing: break
        }
        if let reason = try await newerSnapshot(current) { return try await renew(reason) }
        return .unchanged
    }

    /// What needs attention and does not stop the updates, such as a keyring beside the copy that is not the standby's. Each warning is
    /// returned once.
    public func takeWarnings() -> [RepositoryWarning] {
        defer { warnings = [] }
        return warnings
    }

    /// Releases the destination: it can be written to then, and is no longer kept up to date.
    ///
    /// An update that is under way fails with `usage`; it changes the destination only if it has begun to. This returns when that update is
    /// over, which may take as long as the store takes to respond.
    public func end() async {
        isEnded.withLock { $0 = true }
        if isUpdating { await withCheckedContinuation { ending.append($0) } }
        release()
    }

    /// Releases the destination, while no update is under way.
    func release() {
        isEnded.withLock { $0 = true }
        (database, lock) = (nil, nil)
    }

    func requireNotEnded() throws {
        if isEnded.value { throw Self.endedError(destination) }
    }

    /// The error of an update after the end.
    static func endedError(_ destination: String) -> VaultError {
        VaultError(.usage, "the standby was ended", path: destination)
    }

    /// Opens the destination for writing, if that is possible yet.
    ///
    /// - Throws: `cannotCreate` if it has neither the recorded state nor the one after it.
    func attach(pageSize: Int) throws -> StandbyDatabase {
        try requireNotEnded()
        if let database { return database }
        let found = try StandbyDatabase(destination, pageSize: pageSize)
        guard var current = state.current, let known = ContentSum(hexadecimal: current.sum) else {
            throw VaultError(.internalFailure, "the destination is not restored", path: destination)
        }
        let position = found.position
        let isUntouched = found.fileStatus == state.file
        if isUntouched, current.isAt(position.log, position.sums) {
            sum = known
        } else if isUntouched, let next = state.next, next.isAt(position.log, position.sums),
            let known = ContentSum(hexadecimal: next.sum)
        {
            (current, sum) = (next, known)
        } else {
            // A checkpoint by a connection that has the key, or a crash: the content decides.
            sum = try ContentSum(found)
            if sum.hexadecimal == state.next?.sum, let next = state.next {
                current = next
            } else if sum != known {
                throw changed()
            }
        }
        current.pageSize = pageSize
        current.set(position.log, position.sums)
        (state.current, state.next, state.file) = (current, nil, found.fileStatus)
        try state.write(destination)
        database = found
        return found
    }

    /// The error for a destination that something else has written to.
    func changed() -> VaultError {
        VaultError(
            .cannotCreate,
            "was changed by something other than its standby: no segment can continue it",
            path: destination,
            remedy: "Keep it as a database of its own, under another name; or remove it with its -wal and -shm, "
                + "and start the standby again: it restores the database.")
    }
}

/// Options of a standby.
public struct StandbyOptions: Sendable {
    /// Seconds between looks for newer snapshots that no segment leads to: for databases that are not followed, and after gaps.
    public var snapshotInterval: Double = 60
    /// Bytes of the destination's log beyond which it is copied into the database file, as soon as no reader needs an earlier state.
    public var logBytes: Int64 = 4 << 20
    /// Called regularly during a restore; an error that it throws cancels it.
    public var progress: BackupProgress.Report = { _ in }

    /// Creates the default options.
    public init() {}
}

/// What ``Standby/update()`` has done.
public enum StandbyUpdate: Sendable, Equatable {
    /// Nothing is new.
    case unchanged
    /// Segments were applied, as one commit: their number, that of the pages, and the time that was reached.
    case applied(segments: Int, pages: Int, until: Date)
    /// A newer state was restored as a whole, for this reason. Readers see it as one commit, unless the destination did not exist.
    case restored(reason: String, until: Date)
    /// A newer state cannot be restored yet, for this reason.
    case waiting(String)
}

extension Repository {
    /// Begins to keep a copy of a database current: restores its newest state, unless the destination is a standby's already.
    ///
    /// - Parameters:
    ///   - database: the database's name; required if the repository has several.
    ///   - destination: the path of the copy: a new file, or one that a standby of this database has left.
    ///   - options: how often to look, and progress.
    /// - Returns: a standby whose destination has a commit of the original. Call ``Standby/update()`` to continue.
    /// - Throws: `VaultError` `cannotCreate` if there is a file that is not a standby's, something else has changed it, or
    ///   it belongs to another database; `busy` if another standby keeps it, or a connection writes to it; as ``restore(_:database:to:options:warning:)``.
    public func standby(
        of database: String? = nil, at destination: String, options: StandbyOptions = .init()
    ) async throws -> Standby {
        try requireStandby(destination)
        let lock = try StandbyLock(destination)
        let state = try StandbyState.read(destination)
        guard state?.promotion == nil else {
            throw VaultError(
                .cannotCreate, "is being promoted, and that was interrupted", path: destination,
                advice: .promoteAgain)
        }
        return try await standby(of: database, at: destination, options: options, lock)
    }

    /// Requires that a file is a standby's, or does not exist.
    private func requireStandby(_ destination: String) throws {
        guard access(destination, F_OK) == 0, try StandbyState.read(destination) == nil else { return }
        let isPromoted = try PromotedDatabase.read(destination) != nil
        throw VaultError(
            .cannotCreate,
            isPromoted
                ? "was promoted: it is a database of its own"
                : "the destination already exists, and is not a standby's",
            path: destination, remedy: "Choose another name, or remove the file.")
    }

    /// As ``standby(of:at:options:)``, with the lock.
    func standby(
        of database: String?, at destination: String, options: StandbyOptions, _ lock: StandbyLock
    ) async throws -> Standby {
        try requireStandby(destination)
        var state: StandbyState
        if let known = try StandbyState.read(destination) {
            try require(known, database, destination)
            state = known
        } else {
            let snapshot = try await snapshot(.latest, database: database)
            state = StandbyState(
                repository: identifier, database: databaseID(snapshot.database), name: snapshot.database)
        }
        if access(destination, F_OK) != 0 {
            (state.current, state.next, state.file) = (nil, nil, nil)
            // That of another database, which had the name before.
            unlink(PromotedDatabase.path(destination))
        }
        let standby = Standby(self, destination, options, lock, state)
        try await standby.begin()
        return standby
    }

    /// Requires that a standby is one of a database of this repository.
    func require(_ known: StandbyState, _ database: String?, _ destination: String) throws {
        guard known.repository == identifier, database.map({ databaseID($0) == known.database }) ?? true else {
            throw VaultError(
                .cannotCreate, "is a standby of '\(known.name)', perhaps of another repository", path: destination,
                remedy: "Choose another name for this one.")
        }
    }
}

extension Standby {
    /// Makes the destination what its state says, or restores it.
    fileprivate func begin() async throws {
        unlink(destination + ".standby-new")
        // A restore that was to replace the copy, and may have.
        if try isUnfinished() { (state.current, state.file) = (nil, nil) }
        guard let current = state.current else {
            _ = try await restoreWhole()
            return
        }
        if let size = current.pageSize {
            _ = try attach(pageSize: size)
        } else {
            try requireUntouched()
        }
    }
}

extension Standby {
    /// Applies segments as one commit; those before a damaged one, if one is.
    func apply(_ segments: [FetchedSegment], _ fetched: FetchedSegments) async throws -> StandbyUpdate {
        guard let first = segments.first, let current = state.current else { return .unchanged }
        // Its files are read until the pages are written.
        defer { withExtendedLifetime(fetched) {} }
        let database = try attach(pageSize: first.pageSize)
        // It may have turned out to have them.
        guard state.current?.segment == current.segment else { return .unchanged }
        var pages = NewestPages(pageSize: first.pageSize)
        var done: [FetchedSegment] = []
        var failure: (any Error)?
        for segment in segments {
            do {
                try await fetched.add(segment, to: &pages)
                done.append(segment)
            } catch let error as VaultError where error.isDamage {
                // Those behind a snapshot only lead to a commit together.
                if done.isEmpty || current.segment == nil { throw error }
                failure = error
                break
            }
        }
        guard let last = done.last else { return .unchanged }
        var next = current
        next.segment = last.position
        (next.time, next.isLogged, next.pageSize) = (last.date.milliseconds, true, last.pageSize)
        try commit(pages, as: next, to: database)
        if let failure { throw failure }
        return .applied(segments: done.count, pages: pages.count, until: next.date)
    }

    /// Commits pages, with the state that they lead to recorded before.
    func commit(_ pages: NewestPages, as point: StandbyPoint, to database: StandbyDatabase) throws {
        try requireNotEnded()
        let after = try sum.after(pages, in: database)
        var next = point
        next.sum = after.hexadecimal
        var state = state
        try database.commit(pages) { position, sums in
            next.set(position, sums)
            state.next = next
            try state.write(destination)
        }
        sum = after
        (state.current, state.next) = (next, nil)
        self.state = state
        guard database.logBytes > options.logBytes, try database.checkpoint() else { return }
        self.state.file = database.fileStatus
        try self.state.write(destination)
    }
}
