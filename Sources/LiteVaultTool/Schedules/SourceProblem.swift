internal import LiteVaultBackup
internal import LiteVaultCipher
internal import LiteVaultSchedule
internal import LiteVaultSystem

/// Something of a job's sources that the job refuses, seen before it runs.
struct SourceProblem {
    let job: String
    /// A database, or a pattern.
    let path: String
    let message: String
    let remedy: String
    /// Whether the job will fail: another user than root may not see all files, and what a repository is shows when it is opened.
    let isCertain: Bool

    var members: Members {
        ["job": job, "path": path, "message": message, "remedy": remedy, "is_certain": isCertain]
    }

    /// What is wrong with a database without encryption, where that is not allowed.
    static let notEncrypted = "is not encrypted, and plaintext is not allowed"
    /// What is wrong with a file without a byte.
    static let isEmpty = "is empty (0 bytes), and no backup of it can be made"

    /// What the files themselves show. Nothing is written, and no repository is opened.
    static func all(of configuration: ScheduleConfiguration) -> [SourceProblem] {
        let names = SharedNames(configuration.jobs)
        return configuration.jobs.flatMap { job in
            let list = names.list(job)
            let unmatched = list.problems.map { problem in
                SourceProblem(
                    job: job.name, path: problem.source ?? job.sources.first ?? "", message: problem.message,
                    remedy: problem.remedy ?? "", isCertain: geteuid() == 0)
            }
            return unmatched + list.databases.compactMap { SourceProblem(job, $0.path) }
        }
    }
}

extension SourceProblem {
    /// Nil if the file shows none, or cannot be read.
    private init?(_ job: BackupJob, _ path: String) {
        guard let kind = try? DatabaseFile(path).kind() else { return nil }
        func problem(_ message: String, _ remedy: String, isCertain: Bool = true) -> SourceProblem {
            SourceProblem(job: job.name, path: path, message: message, remedy: remedy, isCertain: isCertain)
        }
        switch kind {
        case .encryptedOrUnknown, .plaintextHeader: return nil
        case .plain:
            if job.allowsPlaintext || job.repository.isSealed { return nil }
            // A sealed repository, which takes it, has a secret.
            self = problem(
                Self.notEncrypted,
                "Encrypt it ('litevault encrypt'), have everything that is stored encrypted (--repository-secret-file, or "
                    + "'repository-sealed: yes' in the configuration), or allow it (--allow-plaintext, or 'allow-plaintext: yes' of the job).",
                isCertain: job.repository.secret == nil)
        case .empty:
            self = problem(Self.isEmpty, "Restore, remove or exclude it.")
        case .notADatabase:
            self = problem("is not a database", "Exclude it ('exclude' of the job).")
        }
    }
}
