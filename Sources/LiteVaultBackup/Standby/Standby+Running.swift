public import LiteVaultCapture
public import LiteVaultRepository
public import LiteVaultSystem

/// What ``Repository/keepStandby(of:at:options:every:report:)`` reports.
public enum StandbyEvent: Sendable {
    /// The copy has another state than before, or has to wait for one; with the time of the state that it has.
    case updated(StandbyUpdate, reached: Date)
    /// An update failed for a reason that may be gone later. The copy has the state it had, and the next attempt follows after the pause.
    case failed(VaultError, pause: Duration)
    /// Something needs attention that does not keep the copy from being updated: a keyring beside it that is not the standby's, for instance.
    case warning(RepositoryWarning)
}

/// Another process promotes the copy, and waits for its standby to end.
private struct HandedOver: Error {}

extension Standby {
    /// Updates until another process promotes the copy; without an interval, until nothing newer is stored.
    ///
    /// - Throws: `HandedOver` when it is promoted; what is not temporary, and everything without an interval.
    fileprivate func follow(every interval: Duration?, _ report: @Sendable (StandbyEvent) throws -> Void) async throws {
        var pause = Backoff(1...60)
        var waiting: StandbyUpdate?
        var idle = 0
        while true {
            let update: StandbyUpdate
            do {
                try requireNoHandOver()
                update = try await self.update()
            } catch let error as VaultError where error.isTemporary && interval != nil {
                // A store that was cancelled may have thrown it.
                try Task.checkCancellation()
                let seconds = pause.next()
                try report(.failed(error, pause: Duration(seconds: seconds)))
                try await rest(seconds)
                continue
            }
            pause.reset()
            for warning in takeWarnings() { try report(.warning(warning)) }
            switch update {
            case .applied, .restored:
                // There may be more.
                idle = 0
                try report(.updated(update, reached: reached))
            case .unchanged, .waiting:
                idle += 1
                if let interval {
                    if case .waiting = update, update != waiting { try report(.updated(update, reached: reached)) }
                    waiting = update
                    try await rest(interval.seconds)
                } else if idle == 2 {
                    // The first one left a newer snapshot to the segments that may lead to it.
                    return try report(.updated(update, reached: reached))
                }
            }
        }
    }

    /// Sleeps, and wakes up when the task is cancelled or another process promotes the copy.
    private func rest(_ seconds: Double) async throws {
        let clock = repository.clock
        let end = clock.now() + seconds
        while true {
            try Task.checkCancellation()
            try requireNoHandOver()
            let left = end - clock.now()
            guard left > 0 else { return }
            await clock.sleep(min(left, 0.1))
        }
    }

    private func requireNoHandOver() throws {
        if Self.isHandOverRequested(for: destination) { throw HandedOver() }
    }
}

extension Repository {
    /// Keeps a copy of a database current, until the task is cancelled or another process promotes the copy.
    ///
    /// It polls the repository, and tries again when a store does not answer, a disk is full or a connection is in the way, after pauses from 1
    /// to 60 seconds. This is the loop of a service; ``Standby`` has its single steps.
    ///
    /// ```swift
    /// let copy = Task {
    ///     try await repository.keepStandby(of: "notes.db", at: "/srv/standby/notes.db") { event in
    ///         if case .failed(let error, _) = event { log.warning("\(error)") }
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - database: the database's name; required if the repository has several.
    ///   - destination: the path of the copy: a new file, or one that a standby of this database has left.
    ///   - options: how often to look for snapshots, and progress.
    ///   - interval: the time between polls that find nothing; 1 second by default, at least 0.1. With nil it ends when nothing newer is stored,
    ///     and at the first failure.
    ///   - report: called with each new state and each failure, first with the state that the copy begins with. An error that it throws ends
    ///     the loop.
    /// - Returns: false if it ended because another process promotes the copy.
    /// - Throws: `CancellationError` when the task is cancelled; as ``standby(of:at:options:)`` and ``Standby/update()`` for what is not
    ///   temporary. The copy is released then, too, and has a commit of the original.
    @discardableResult
    public func keepStandby(
        of database: String? = nil, at destination: String, options: StandbyOptions = .init(),
        every interval: Duration? = .seconds(1), report: @Sendable (StandbyEvent) throws -> Void = { _ in }
    ) async throws -> Bool {
        var options = options
        let progress = options.progress
        options.progress = { state in
            if Standby.isHandOverRequested(for: destination) { throw HandedOver() }
            try progress(state)
        }
        do {
            let standby = try await standby(of: database, at: destination, options: options)
            do {
                let reached = await standby.reached
                try report(.updated(.restored(reason: "started", until: reached), reached: reached))
                try await standby.follow(every: interval.map { max($0, .milliseconds(100)) }, report)
                await standby.end()
                return true
            } catch {
                await standby.end()
                throw error
            }
        } catch is HandedOver { return false }
    }
}

extension VaultError {
    /// Whether it may be gone at the next attempt.
    fileprivate var isTemporary: Bool { code == .io || code == .noSpace || code == .busy }
}
