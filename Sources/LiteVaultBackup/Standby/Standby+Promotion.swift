public import LiteVaultCapture
public import LiteVaultRepository
public import LiteVaultSystem

/// Options of a promotion.
public struct PromotionOptions: Sendable {
    /// Whether to promote also what is not current, and what another standby was promoted before: commits that cannot be read from
    /// the repository, and those of the other promoted database, are not in this one.
    public var isForced = false
    /// Seconds to wait until the process that keeps the standby current has ended, which it is asked to.
    public var patience: Double = 30
    /// Called regularly during a restore; an error that it throws cancels the promotion before it is recorded.
    public var progress: BackupProgress.Report = { _ in }

    /// Creates the default options.
    public init() {}
}

/// The outcome of a promotion.
public struct PromotionResult: Sendable {
    /// The database's name in the repository.
    public let database: String
    /// The time of the state that the promoted database has.
    public let reached: Date
    /// Whether the repository knows of it: if not, the old writers continue, and the promoted database cannot be backed up under its name.
    public let isFenced: Bool
    /// Whether it had been promoted before, so that there was nothing to do.
    public let wasPromoted: Bool
    /// What it lacks, and why, if it was forced.
    public var missing: String?
    /// What needs attention: a keyring beside it that is not that of the newest snapshot, for instance.
    public internal(set) var warnings: [RepositoryWarning] = []
}

extension WritableRepository {
    /// Makes a standby the database: a file that can be written to, and the only one that is backed up under its name from now on.
    ///
    /// The leases of the database's snapshots and of its follower are taken from the processes that have them; all that is stored is applied;
    /// a fence in the repository ends the old line of history, and begins that of the destination; then the destination is left
    /// as an ordinary database. A file `.promoted` beside it shows that it has the line, and has to stay with it. A process that
    /// keeps the standby current is asked to end.
    ///
    /// After a kill at any moment the destination is either a standby, whose promotion can be repeated, or promoted. Of two promotions
    /// one succeeds.
    ///
    /// - Parameters:
    ///   - destination: the standby, a database that was promoted while the repository did not respond, or a new file.
    ///   - database: the database's name; required for a new file if the repository has several.
    ///   - options: whether it is forced, and progress.
    /// - Throws: `VaultError` `promoted` if another standby was promoted; `busy` if another process promotes it, keeps it current and
    ///   does not end, or reads what has to be replaced; as ``Standby/update()``. The destination is a standby then. After a failure
    ///   to store the fence it may be recorded already: only a repeated promotion can tell.
    public func promote(
        _ destination: String, database: String? = nil, options: PromotionOptions = .init()
    ) async throws -> PromotionResult {
        let request = try HandOverRequest(destination)
        defer { withExtendedLifetime(request) {} }
        let lock = try await StandbyLock.wait(destination, patience: options.patience)
        var state = try StandbyState.read(destination)
        if let state { try repository.require(state, database, destination) }
        if let own = try PromotedDatabase.read(destination), state == nil || state?.promotion == own.line {
            guard own.repository == repository.identifier,
                database.map({ repository.databaseID($0) == own.database }) ?? true
            else {
                throw VaultError(
                    .cannotCreate, "was promoted as '\(own.name)', perhaps of another repository", path: destination)
            }
            return try await complete(own, of: state, destination, options)
        }
        if let line = state?.promotion, let known = state {
            let lines = try await repository.lines(of: known.database)
            if lines.begun.contains(line) {
                var own = PromotedDatabase(known, line: line)
                own.isFenced = true
                return try await complete(own, of: state, destination, options)
            }
            if lines.current != known.current?.line {
                state?.promotion = nil
                try state?.write(destination)
            }
        }
        var standbyOptions = StandbyOptions()
        standbyOptions.progress = options.progress
        let standby = try await repository.standby(of: database, at: destination, options: standbyOptions, lock)
        return try await standby.promote(options, in: self)
    }

    /// Completes a promotion that was interrupted, or made without the repository.
    ///
    /// - Parameter state: that of the standby; nil if all that was left to do was in the repository.
    private func complete(
        _ promoted: PromotedDatabase, of state: StandbyState?, _ destination: String, _ options: PromotionOptions
    ) async throws -> PromotionResult {
        var own = promoted
        let wasPromoted = try own.isFenced && PromotedDatabase.read(destination) == own
        if own.isFenced {
            try await repository.requireCurrent(line: own.line, of: own.database, own.name, at: destination)
        } else {
            own = try await withTakenLeases(of: own.database, own.name) { leases in
                try await leases.record(promoted, newest: nil, at: destination, isForced: options.isForced)
            }
        }
        // The keyring is in its place since before the promotion was begun. Whether another one stayed there is known from the two alone.
        let warning = try await repository.keyringWarning(state, destination)
        if !wasPromoted { try own.write(destination) }
        try StandbyState.remove(destination)
        var result = PromotionResult(
            database: own.name, reached: own.date, isFenced: true, wasPromoted: wasPromoted)
        result.warnings = [warning].compactMap(\.self)
        return result
    }
}

extension Standby {
    /// Promotes the destination; the standby has ended afterwards.
    fileprivate func promote(
        _ options: PromotionOptions, in writable: WritableRepository
    ) async throws -> PromotionResult {
        defer { release() }
        var missing: String?
        let name = state.name
        // Most of what is stored is applied, and a promotion is refused, while the primary still has its leases.
        if !options.isForced {
            try await catchUp()
            try await repository.requireCurrent(
                line: state.current?.line, of: state.database, name, at: FileMetadata.resolvedPath(destination))
        }
        let promoted = try await writable.withTakenLeases(of: state.database, name) { leases in
            do {
                try await catchUp()
            } catch let error as VaultError where options.isForced && error.isDamage {
                missing = "\(error.path.map { $0 + ": " } ?? "")\(error.message)"
            }
            if isInUse {
                guard options.isForced else {
                    throw VaultError(
                        .busy, "a newer state has to replace it, and somebody has it open", path: destination,
                        remedy: "Close the connections that read it, then promote it again.")
                }
                missing = "a newer state could not replace it, because somebody has it open"
            }
            try await settleKeyring()
            try await leases.confirm()
            // Known before the repository may know of it: whatever happens then, the promotion can be completed.
            let line = state.promotion ?? PackID().hexadecimal
            state.promotion = line
            try state.write(destination)
            do {
                let newest = state.current?.segment == nil ? try await reader.newest() : nil
                return try await leases.record(
                    PromotedDatabase(state, line: line), newest: newest, at: destination, isForced: options.isForced)
            } catch let error as VaultError where error.code == .promoted {
                state.promotion = nil
                try state.write(destination)
                throw error
            }
        }
        try promoted.write(destination)
        // What is left to do is to tidy up: it is promoted.
        database?.finish()
        database = nil
        try StandbyState.remove(destination)
        var result = PromotionResult(database: name, reached: promoted.date, isFenced: true, wasPromoted: false)
        result.missing = missing
        result.warnings = takeWarnings()
        return result
    }

    /// Applies all that is stored.
    private func catchUp() async throws {
        var quiet = 0
        // Segments that lead to a newer snapshot are awaited for one look.
        while quiet < 2 {
            (polledForSnapshots, polledForPromotion) = (nil, nil)
            switch try await update() {
            case .applied, .restored: quiet = 0
            case .unchanged, .waiting: quiet += 1
            }
        }
    }

    /// Promotes a standby while its repository does not respond. The old writers are not stopped, and what is stored beyond its state
    /// is not applied. The promoted database cannot be backed up under its name until ``WritableRepository/promote(_:database:options:)`` was
    /// called for it.
    ///
    /// - Parameters:
    ///   - destination: the standby.
    ///   - patience: seconds to wait until the process that keeps it current has ended, which it is asked to.
    /// - Throws: `VaultError` `cannotCreate` if it is not a standby with a complete state; `busy`; `io`.
    public static func promoteAlone(_ destination: String, patience: Double = 30) async throws -> PromotionResult {
        let request = try HandOverRequest(destination)
        defer { withExtendedLifetime(request) {} }
        let lock = try await StandbyLock.wait(destination, patience: patience)
        defer { withExtendedLifetime(lock) {} }
        var state = try StandbyState.read(destination)
        if let own = try PromotedDatabase.read(destination), state == nil || state?.promotion == own.line {
            try StandbyState.remove(destination)
            return PromotionResult(
                database: own.name, reached: own.date, isFenced: own.isFenced, wasPromoted: true)
        }
        guard let current = state?.current, current.snapshot > 0, access(destination, F_OK) == 0 else {
            throw VaultError(
                .cannotCreate, "is not a standby with a complete state", path: destination,
                remedy: "Only a standby can be promoted.")
        }
        var database: StandbyDatabase?
        if let size = current.pageSize ?? state?.next?.pageSize {
            let found = try StandbyDatabase(destination, pageSize: size)
            let (log, sums) = found.position
            if let next = state?.next, next.isAt(log, sums) { state?.current = next }
            database = found
        }
        guard let known = state else { throw VaultError(.internalFailure, "has no state", path: destination) }
        let promoted = PromotedDatabase(known, line: known.promotion ?? PackID().hexadecimal)
        try promoted.write(destination)
        database?.finish()
        database = nil
        try StandbyState.remove(destination)
        return PromotionResult(database: promoted.name, reached: promoted.date, isFenced: false, wasPromoted: false)
    }
}

extension PromotedDatabase {
    /// A standby that becomes the database.
    fileprivate init(_ state: StandbyState, line: String) {
        self.init(
            repository: state.repository, database: state.database, name: state.name, line: line,
            before: state.current?.line,
            reached: (state.current?.time ?? 0, state.current?.segment?.sequence))
    }
}

extension StandbyState {
    /// Removes what only a standby has beside it.
    fileprivate static func remove(_ destination: String) throws {
        for ending in ["", "-new", "-lock"] { unlink(path(destination) + ending) }
        try LocalDirectory.sync(LocalDirectory.parent(of: destination))
    }
}
