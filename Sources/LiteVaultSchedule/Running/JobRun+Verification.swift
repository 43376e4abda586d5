internal import Foundation
internal import LiteVaultBackup
internal import LiteVaultCipher

extension JobRun {
    /// Whether a verification is due: it is a part of the first run after its time.
    var isVerificationDue: Bool {
        guard let verification = job.verification else { return false }
        guard let last = state?.lastVerification else { return true }
        // What failed is looked at again with each run, until it is well.
        // One of the future was dated by a clock that was wrong, and says nothing.
        let age = start.timeIntervalSince1970 - last
        return state?.lastVerificationPassed == false || age < 0 || age >= verification.interval
    }

    /// Looks at what the job has stored, as deep as it says.
    func verification(_ names: [String], _ repository: Repository, _ outcome: inout JobOutcome) async {
        guard let verification = job.verification, isVerificationDue, !names.isEmpty else { return }
        do {
            var options = CheckOptions()
            options.readsData = verification.level >= .data
            options.authenticates = verification.level == .pages
            options.restores = verification.level == .restore
            options.assertions = verification.assertions
            options.key = try verification.key.map(services.key)
            let check = services.check
            options.progress = { _ in try check() }
            var passed = true
            // Databases of other jobs have other keys.
            options.databases = Set(names)
            let report = try await repository.check(options)
            for problem in report.problems {
                passed = false
                note(
                    BackupError(.damaged, problem.message, path: problem.path), "verification", problem.path, &outcome)
            }
            outcome.verified = passed
            log.info("verified", metadata: ["job": "\(job.name)", "level": "\(verification.level.rawValue)"])
        } catch {
            note(error, "verification", nil, &outcome)
            if !outcome.isInterrupted { outcome.verified = false }
        }
    }
}
