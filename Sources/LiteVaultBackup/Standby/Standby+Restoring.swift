internal import LiteVaultCapture
internal import LiteVaultRepository
internal import LiteVaultSystem

extension Standby {
    /// Seconds until snapshots are looked at again, when there is one that segments may still lead to.
    private static let secondLook = 5.0

    /// The reason to restore a newer snapshot that no segment leads to; nil if there is none.
    func newerSnapshot(_ current: StandbyPoint) async throws -> String? {
        let now = ContinuousClock.now
        let interval = suspected == nil ? options.snapshotInterval : min(options.snapshotInterval, Self.secondLook)
        if let last = polledForSnapshots, (now - last).seconds < interval { return nil }
        polledForSnapshots = now
        let newest = try await repository.newestSequence(state.database)
        guard newest > max(current.snapshot, considered) else { return nil }
        let found: Snapshot
        switch try await repository.numberedObject(newest, of: state.database) {
        case .snapshot(let snapshot): found = snapshot
        case .fence: return nil
        case .promotion:
            // Segments that the old primary may still store are not of the new line.
            ended = Self.promotedWithoutSnapshot
            return ended
        }
        if found.line != current.line { return Self.promoted }
        if let segment = current.segment, segment.passes(found) {
            // A slot may have been added or removed. Another key comes with another salt.
            if found.salt.hexadecimal == current.salt { try keepKeyring(of: found) }
            (considered, suspected) = (newest, nil)
            return nil
        }
        // Segments that lead to it may be about to be stored. If none was applied by the next look, none leads to this one or a newer one.
        if found.isFollowed, suspected != current.time {
            suspected = current.time
            return nil
        }
        return "there is a newer snapshot, which no segment leads to"
    }

    /// The last segment of the destination's line of history, if another standby was promoted; nil if none was, or it is not yet time to
    /// look again.
    func endOfLine(_ current: StandbyPoint) async throws -> (segment: Int, reason: String)? {
        if let lineEnd { return lineEnd }
        let now = ContinuousClock.now
        if let last = polledForPromotion, (now - last).seconds < options.snapshotInterval { return nil }
        polledForPromotion = now
        let newest = try await repository.newestSequence(state.database)
        guard newest > current.snapshot else { return nil }
        do {
            switch try await repository.numberedObject(newest, of: state.database) {
            case .snapshot(let snapshot):
                if snapshot.line != current.line { lineEnd = (0, Self.promoted) }
            case .fence: break
            case .promotion(let lastSegment): lineEnd = (lastSegment, Self.promotedWithoutSnapshot)
            }
        } catch let error as VaultError where error.isDamage || error.code == .missing {
            // Segments do not depend on it.
        }
        return lineEnd
    }

    private static let promoted = "the database was promoted from another standby"
    private static let promotedWithoutSnapshot = "another standby was promoted, which has stored no snapshot yet"

    /// Restores the newest state, when segments do not lead to it. Readers of a database in WAL mode see it as one commit.
    func renew(_ reason: String) async throws -> StandbyUpdate {
        guard let current = state.current else { return try await restoreWhole() }
        // The snapshot that another run begins with may not be stored yet.
        guard try await repository.newestSequence(state.database) > current.snapshot else { return .waiting(reason) }
        let plan = try await repository.planRestore(.latest, database: state.name)
        // A fence does not count.
        guard plan.snapshot.sequence > current.snapshot else { return .waiting(reason) }
        guard current.isLogged, plan.snapshot.isLogged, plan.snapshot.salt.hexadecimal == current.salt,
            let size = current.pageSize
        else {
            return try await replace(reason)
        }
        let path = destination + ".standby-new"
        unlink(path)
        defer { unlink(path) }
        var options = RestoreOptions()
        options.keyring = .none
        options.progress = self.options.progress
        let result = try await repository.restore(.latest, database: state.name, to: path, options: options)
        guard result.last.map({ $0.pageSize == size }) ?? true, try Self.mayHavePages(of: size, path) else {
            return try await replace(reason)
        }
        let database = try attach(pageSize: size)
        try keepKeyring(of: result.snapshot)
        var pages = NewestPages(pageSize: size)
        try pages.add(differencesOf: path, from: database)
        var next = StandbyPoint(result, sum: sum)
        next.pageSize = size
        try commit(pages, as: next, to: database)
        (considered, suspected, ended, lineEnd) = (result.snapshot.sequence, nil, nil, nil)
        passed = 0
        return .restored(reason: reason, until: next.date)
    }

    /// Whether the pages of a file may have this size. The header of an encrypted database does not tell; another page size comes with another
    /// salt there.
    private static func mayHavePages(of size: Int, _ path: String) throws -> Bool {
        let file = try LocalFile(reading: path)
        guard try file.size() >= 18 else { return true }
        let header = try file.read(at: 0, count: 18)
        guard header.starts(with: "SQLite format 3\0".utf8) else { return true }
        // 1 stands for 65,536: https://sqlite.org/fileformat2.html#page_size
        let shown = Int(header[16]) << 8 | Int(header[17])
        return size == (shown == 1 ? 65_536 : shown)
    }

    /// Replaces the destination, which nobody may have open: another salt, another page size or a database that is not in WAL mode
    /// cannot be put in place beside readers.
    private func replace(_ reason: String) async throws -> StandbyUpdate {
        let size = state.current?.pageSize
        // By the content if it has a log: the standby's own, once segments were applied.
        if let size { _ = try attach(pageSize: size) } else { try requireUntouched() }
        database = nil
        do {
            return try await restoreWhole(reason)
        } catch let error as VaultError where error.code == .busy {
            if let size { _ = try attach(pageSize: size) }
            isInUse = true
            return .waiting("\(reason); it can replace the database when nobody has that open")
        } catch {
            // It is what it was, unless it was replaced by then, and nobody else may write to it. The next attempt needs it, too.
            if let size, state.current != nil { _ = try? attach(pageSize: size) }
            throw error
        }
    }

    /// Restores the newest state to the destination, which does not exist or is replaced in one step.
    func restoreWhole(_ reason: String = "there was no copy yet") async throws -> StandbyUpdate {
        let exists = access(destination, F_OK) == 0
        if exists, state.current == nil, try !isUnfinished() { throw changed() }
        var options = RestoreOptions()
        options.replacesExisting = exists
        options.reusesExisting = exists
        // An older one of the standby's own would stay.
        options.keyring = .none
        options.progress = self.options.progress
        isInUse = false
        let (before, destination, isEnded) = (state, destination, isEnded)
        // Recorded before it gets its name: whatever has it after a crash is known.
        options.verify = { path in
            if isEnded.value { throw Self.endedError(destination) }
            var state = before
            state.next = StandbyPoint(unfinished: try ContentSum(file: path))
            try state.write(destination)
        }
        let result = try await repository.restore(.latest, database: state.name, to: destination, options: options)
        guard let found = try StandbyState.read(destination)?.next, let sum = ContentSum(hexadecimal: found.sum) else {
            throw VaultError(.io, "was removed during the restore", path: StandbyState.path(destination))
        }
        // The copy is not complete without its keyring: after a crash, or a full disk, it is restored again.
        (state.current, state.next) = (nil, found)
        try keepKeyring(of: result.snapshot)
        let point = StandbyPoint(result, sum: sum)
        (state.current, state.next, state.file) = (point, nil, LogEnd.status(destination))
        try state.write(destination)
        (self.sum, database, ended, lineEnd) = (sum, nil, nil, nil)
        passed = 0
        if let size = point.pageSize { _ = try attach(pageSize: size) }
        return .restored(reason: reason, until: point.date)
    }

    /// Whether the destination is what an interrupted restore has put in place.
    func isUnfinished() throws -> Bool {
        guard let next = state.next, next.snapshot == 0, hasNoLog else { return false }
        return try next.sum == ContentSum(file: destination).hexadecimal
    }

    /// Requires that nothing has written to a destination whose page size is not known yet.
    func requireUntouched() throws {
        guard LogEnd.status(destination) == state.file, hasNoLog else { throw changed() }
    }

    /// Whether the log and the journal beside the destination have nothing, or do not exist.
    private var hasNoLog: Bool { ["-wal", "-journal"].allSatisfy { LocalFile.size(destination + $0) == 0 } }
}
