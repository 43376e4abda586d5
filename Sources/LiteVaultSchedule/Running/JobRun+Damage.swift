package import LiteVaultBackup
internal import LiteVaultSystem
internal import Logging

extension UnrestorableSnapshot {
    /// Whether the next snapshot of its database stores what is damaged again, even if the database is unchanged.
    var isStoredAgain: Bool { isNewest && (verification.level < .pages || verification.lostBlocks != nil) }
}

/// What is known not to be restorable, from verifications by anybody.
extension JobRun {
    /// Documents that are remembered as harmless; those of more databases are read again.
    private static let examinedLimit = 10_000

    /// Finds the snapshots of databases that failed a verification.
    ///
    /// - Parameter examined: the versions of documents that are known to name none.
    /// - Returns: nil if the repository does not tell.
    func damage(
        _ names: [String], _ repository: Repository, examined: [String: String]?, _ outcome: inout JobOutcome
    ) async -> [UnrestorableSnapshot]? {
        do {
            let found = try await repository.unrestorable(names, examined: examined ?? [:])
            outcome.examined = found.examined.count <= Self.examinedLimit ? found.examined : nil
            outcome.unrestorable = JobState.unrestorable(found.snapshots)
            return found.snapshots
        } catch {
            // The steps that need the repository report that it does not respond. What was known stands.
            warn("the results of verifications cannot be read", error)
            return nil
        }
    }

    /// Records what cannot be restored and needs attention: a failure of the run, even if all of its own steps succeeded.
    ///
    /// - Parameters:
    ///   - known: what was known before this run.
    ///   - time: when its verification began, which has reported what it found itself.
    func recordDamage(
        _ names: [String], _ repository: Repository, _ known: [UnrestorableSnapshot]?, verifiedSince time: Date,
        _ outcome: inout JobOutcome
    ) async {
        var all = known ?? []
        // A new snapshot, retention and the verification may have changed it.
        if outcome.verified != nil || !all.isEmpty {
            all = await damage(names, repository, examined: outcome.examined, &outcome) ?? all
        }
        for one in all {
            if let warning = one.warning, outcome.verified == nil || one.verification.time < time - 0.01 {
                record(warning, &outcome)
            }
        }
    }
}

extension JobOutcome {
    /// Counts the snapshots that the run's retention has removed. What the run has found before does not send anybody to them.
    mutating func note(removed snapshots: [Snapshot]) {
        removed += snapshots.count
        for id in snapshots.map(\.id) {
            problems = problems.map { $0.noting(removed: id) }
            warnings = warnings.map { $0.noting(removed: id) }
        }
    }
}

extension JobState.Problem {
    /// As it is once a snapshot was removed: the message says so, and no remedy names it.
    func noting(removed id: String) -> JobState.Problem {
        var problem = self
        let isInRemedy = remedy?.contains(id) == true
        guard isInRemedy || message.contains(id) else { return self }
        problem.message += "; retention has removed snapshot \(id) since"
        if isInRemedy {
            problem.remedy = "There is nothing to do about that snapshot. The next run reports what is left."
        }
        return problem
    }

    /// Damage in a repository.
    package init(_ warning: RepositoryWarning, _ reference: RepositoryReference, _ services: ScheduleServices) {
        let error = VaultError(warning.code, warning.message, path: warning.path, advice: warning.advice)
        self.init(
            source: warning.path, step: "repository", code: warning.code.rawValue,
            message: "\(warning.path): \(warning.message)", remedy: services.remedy(error, reference))
    }
}
