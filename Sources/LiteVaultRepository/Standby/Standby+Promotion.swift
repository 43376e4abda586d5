internal import LiteVaultSystem
public import LiteVaultCapture
public import LiteVaultFoundation

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
}

extension Repository {
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
        try requireWritable()
        let request = try HandOverRequest(destination)
        defer { withExtendedLifetime(request) {} }
        let lock = try await StandbyLock.wait(destination, patience: options.patience)
        var state = try StandbyState.read(destination)
        if let state { try require(state, database, destination) }
        if let own = try PromotedDatabase.read(destination), state == nil || state?.promotion == own.line {
            guard own.repository == config.id, database.map({ databaseID($0) == own.database }) ?? true else {
                throw VaultError(
                    .cannotCreate, "was promoted as '\(own.name)', perhaps of another repository", path: destination)
            }
            return try await complete(own, destination, options)
        }
        if let line = state?.promotion, let known = state {
            let survey = try await survey(known.database)
            if survey.promotions.contains(where: { $0.promotion.line == line }) {
                return try await complete(
                    PromotedDatabase(known, line: line, isFenced: true), destination, options)
            }
            if survey.line.line != known.current?.line {
                state?.promotion = nil
                try state?.write(destination)
            }
        }
        var standbyOptions = StandbyOptions()
        standbyOptions.progress = options.progress
        let standby = try await standby(of: database, at: destination, options: standbyOptions, lock)
        return try await standby.promote(options)
    }

    /// Completes a promotion that was interrupted, or made without the repository.
    private func complete(
        _ promoted: PromotedDatabase, _ destination: String, _ options: PromotionOptions
    ) async throws -> PromotionResult {
        var own = promoted
        let wasPromoted = try own.isFenced && PromotedDatabase.read(destination) == own
        if own.isFenced {
            let line = try await newestObjects(own.database).line
            guard line.line == own.line else { throw elsewhere(line, own.name, destination) }
        } else {
            own = try await withTakenLeases(of: own.database, own.name) { confirm in
                try await record(own, nil, destination, options, confirm)
            }
        }
        if !wasPromoted { try own.write(destination) }
        try StandbyState.remove(destination)
        return PromotionResult(
            database: own.name, reached: own.date, isFenced: true, wasPromoted: wasPromoted)
    }

    /// Runs `body` with the leases of a database's writers, taken from the processes that have them.
    fileprivate func withTakenLeases<T>(
        of database: String, _ name: String, isolation: isolated (any Actor)? = #isolation,
        _ body: (_ confirm: @escaping @Sendable () async throws -> Void) async throws -> T
    ) async throws -> T {
        let snapshots = try await takeOver(
            database, for: "the database '\(name)' of the repository", fence: { try await self.fence($0, database) })
        do {
            let segments = try await takeOver(
                Lease.follower + database, for: "following the database '\(name)'", fence: nil)
            do {
                try await requireCurrentKey()
                let result = try await body {
                    try await snapshots.confirm()
                    try await segments.confirm()
                }
                await segments.release()
                await snapshots.release()
                return result
            } catch {
                await segments.release()
                throw error
            }
        } catch {
            await snapshots.release()
            throw error
        }
    }

    private func takeOver(
        _ short: String, for purpose: String, fence: ((Lease.Record) async throws -> Void)?
    ) async throws -> Lease {
        // Its holder may renew it between two requests.
        for _ in 0..<8 {
            do {
                return try await Lease.take(short, of: self, for: purpose, fence: fence, takesOver: true)
            } catch let error as VaultError where error.code == .busy {
                try await Task.sleep(nanoseconds: 100_000_000)
            }
        }
        return try await Lease.take(short, of: self, for: purpose, fence: fence, takesOver: true)
    }

    /// Stores the fence that begins a line of history, unless it is there.
    ///
    /// - Parameters:
    ///   - newest: the highest number of a segment that was stored by then; nil if that is not known.
    ///   - confirm: confirms the leases.
    /// - Returns: the same, recorded.
    fileprivate func record(
        _ promoted: PromotedDatabase, _ newest: Int?, _ destination: String, _ options: PromotionOptions,
        _ confirm: @Sendable () async throws -> Void
    ) async throws -> PromotedDatabase {
        var own = promoted
        own.isFenced = true
        let database = own.database
        let source = try FileMetadata.resolvedPath(destination)
        let supportsConditionalWrites = try await store.supportsConditionalWrites()
        for _ in 0..<8 {
            let survey = try await survey(database)
            if survey.promotions.contains(where: { $0.promotion.line == own.line }) {
                guard survey.line.line == own.line else { throw elsewhere(survey.line, own.name, source) }
                return own
            }
            guard survey.line.line == own.before || options.isForced else {
                throw elsewhere(survey.line, own.name, source)
            }
            let highest = max(
                survey.newestSequence, survey.fences.last ?? 0, try await advisories(survey).newestForgotten)
            let fence = Fence(
                repository: config.id, database: database, sequence: highest + 1,
                promotion: Promotion(
                    line: own.line, host: ProcessInfo.processInfo.hostName, source: source,
                    time: Timestamp.text(clock.time()), state: own.state, segment: own.segment,
                    newest: own.segment == nil ? newest : nil))
            let name = RepositoryFormat.snapshot(database, highest + 1)
            try await confirm()
            if !supportsConditionalWrites, try await store.attributes(name) != nil { continue }
            do {
                try await put(fence, as: name, condition: supportsConditionalWrites ? .absent : .none)
                return own
            } catch let error as VaultError where error.code == .conflict {
                // A lost response, another promotion, or the last snapshot of the old line.
                continue
            }
        }
        throw VaultError(
            .busy, "others keep storing snapshots of the database '\(own.name)'", path: destination,
            remedy: "Try again.")
    }
}

extension Standby {
    /// Promotes the destination; the standby has ended afterwards.
    fileprivate func promote(_ options: PromotionOptions) async throws -> PromotionResult {
        defer { end() }
        var missing: String?
        let name = state.name
        // Most of what is stored is applied, and a promotion is refused, while the primary still has its leases.
        if !options.isForced {
            try await catchUp()
            let line = try await repository.newestObjects(state.database).line
            guard line.line == state.current?.line else {
                throw repository.elsewhere(line, name, try FileMetadata.resolvedPath(destination))
            }
        }
        let promoted = try await repository.withTakenLeases(of: state.database, name) { confirm in
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
            try await confirm()
            // Known before the repository may know of it: whatever happens then, the promotion can be completed.
            let line = state.promotion ?? PackID().hexadecimal
            state.promotion = line
            try state.write(destination)
            do {
                return try await repository.record(
                    PromotedDatabase(state, line: line, isFenced: false), passed, destination, options, confirm)
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
    /// is not applied. The promoted database cannot be backed up under its name until ``Repository/promote(_:database:options:)`` was
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
        let promoted = PromotedDatabase(known, line: known.promotion ?? PackID().hexadecimal, isFenced: false)
        try promoted.write(destination)
        database?.finish()
        database = nil
        try StandbyState.remove(destination)
        return PromotionResult(database: promoted.name, reached: promoted.date, isFenced: false, wasPromoted: false)
    }
}

extension PromotedDatabase {
    /// A standby that becomes the database.
    fileprivate init(_ state: StandbyState, line: String, isFenced: Bool) {
        self.init(
            repository: state.repository, database: state.database, name: state.name, line: line,
            before: state.current?.line, isFenced: isFenced, state: state.current?.time ?? 0,
            segment: state.current?.segment?.sequence)
    }

    fileprivate var date: Date { Date(timeIntervalSince1970: Double(state) / 1000) }
}

extension StandbyState {
    /// Removes what only a standby has beside it.
    fileprivate static func remove(_ destination: String) throws {
        for ending in ["", "-new", "-lock"] { unlink(path(destination) + ending) }
        try LocalDirectory.sync(LocalDirectory.parent(of: destination))
    }
}
