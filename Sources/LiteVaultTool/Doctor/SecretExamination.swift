internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultKeyring
internal import LiteVaultSchedule
internal import LiteVaultSystem

/// Reads the keys and secrets of a configuration as a run does, without a person.
struct SecretExamination {
    private let keys: ScheduleKeys

    init(_ session: Session) {
        // What the reader would warn of becomes a finding.
        let silent = Reporter(
            terminal: session.terminal, printsJSON: true, logsJSON: true, quiet: true, meter: nil)
        keys = ScheduleKeys(Session(silent))
    }

    /// Removes the variables of all references from the environment, before any command runs.
    func reserveSources(of configuration: ScheduleConfiguration, into findings: inout Findings) {
        for job in configuration.jobs {
            for (check, reference) in [(Finding.Check.secret, job.repository.secret), (.key, job.verification?.key)] {
                guard let reference else { continue }
                findings.job = job.name
                // Reading it reports that it is missing.
                try? keys.reserveSource(of: reference)
                if case .file(let path) = reference.source {
                    FileExamination.privacy(path, check, forbidding: 0o066, into: &findings)
                }
            }
        }
        findings.job = nil
    }

    /// Reads the secret of a repository; nil if it cannot be read.
    func secret(_ reference: KeyReference, into findings: inout Findings) -> RepositorySecret? {
        do {
            let secret = try keys.secret(reference)
            findings.ok(.secret, "\(ScheduleKeys.source(reference).description) has a secret")
            return secret
        } catch {
            problem(.secret, error, reference, into: &findings)
            return nil
        }
    }

    /// Reads the databases' key, or opens their keyring, as a verification does.
    func databaseKey(_ reference: KeyReference, into findings: inout Findings) {
        let source = ScheduleKeys.source(reference).description
        do {
            let found = try keys.keys(reference)
            if let keyring = reference.keyring {
                findings.ok(.key, "\(source) opens it (\(Format.count(found.count, "key")))", path: keyring)
            } else {
                findings.ok(.key, "\(source) has a key")
            }
        } catch {
            problem(.key, error, reference, into: &findings)
        }
    }

    private func problem(
        _ check: Finding.Check, _ error: any Error, _ reference: KeyReference, into findings: inout Findings
    ) {
        let failure = Failure(error)
        switch reference.source {
        case .environment, .credential:
            // They exist only in the service's environment.
            findings.problem(
                check, failure.message, path: failure.path,
                remedy: "Run doctor where the backups run, with the environment and credentials of that service."
                    + (failure.remedy.map { " \($0)" } ?? ""))
        case .file, .command: findings.problem(check, failure, path: reference.keyring)
        }
    }
}

/// Examines the hooks of a job without running them.
enum HookExamination {
    static func examine(_ hooks: BackupJob.Hooks, into findings: inout Findings) {
        for (key, command) in [("before", hooks.before), ("after", hooks.after), ("failed", hooks.failed)] {
            guard let command else { continue }
            if let message = problem(command) {
                findings.problem(
                    .hook, "'\(key)': \(message)", remedy: "Correct 'hooks' of the job, or install the command.")
            } else {
                findings.ok(.hook, "'\(key)' can be run")
            }
        }
    }

    private static func problem(_ command: String) -> String? {
        guard let parsed = status(of: "exec /bin/sh -n -c \"$HOOK\"", command) else {
            return "the shell cannot be started"
        }
        guard parsed == 0 else { return "the shell does not understand the command" }
        // A word that is not plain stands for something that only running it would show.
        let word = String(command.drop(while: \.isWhitespace).prefix { !$0.isWhitespace && $0 != ";" })
        let isPlain = !word.isEmpty && word.allSatisfy { $0.isLetter || $0.isNumber || "._+-/".contains($0) }
        guard isPlain else { return nil }
        if word.contains("/") {
            guard let file = try? FileMetadata(path: word, followingLinks: true) else {
                return "\(word) does not exist"
            }
            return file.kind == .regular && access(word, X_OK) == 0 ? nil : "\(word) is not an executable file"
        }
        return status(of: "command -v \"$HOOK\"", word) == 0 ? nil : "there is no command '\(word)'"
    }

    /// The exit status of a shell that examines the text in the variable HOOK, and runs nothing of it; nil if it cannot be started.
    private static func status(of examination: String, _ text: String) -> Int32? {
        var shell = ShellCommand(examination)
        shell.variables = ["HOOK": text]
        (shell.input, shell.output, shell.error) = (.null, .null, .null)
        guard case .status(let code)? = try? shell.spawn().wait() else { return nil }
        return code
    }
}
