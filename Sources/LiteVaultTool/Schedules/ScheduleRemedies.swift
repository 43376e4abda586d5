internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSchedule

/// Remedies for the repository of a schedule. The commands that run jobs have no options for it, so each remedy is a whole command
/// that can be run as it is, by the user of the jobs.
struct ScheduleRemedies: Sendable {
    let local: LocalDirectories

    func text(_ error: VaultError, _ reference: RepositoryReference) -> String? {
        guard let advice = error.advice else { return error.commandLineRemedy }
        if case .returnOrRestart = advice {
            let isGone = (error.cause as? ExchangedRepositoryError)?.isGone == true
            return
                "Bring the former one back: nothing was written to this one. If it was replaced on purpose, stop the service, accept the "
                + "other one, and start the service again: "
                + (isGone ? creating(reference) : acceptingPresent(reference))
        }
        return text(advice, reference)
    }

    func text(_ remedy: Remedy, _ reference: RepositoryReference) -> String {
        switch remedy {
        case .all(let remedies):
            return remedies.map { text($0, reference) }.joined(separator: " ")
        case .acceptReplacement:
            return "If that was intended, this accepts the repository as it is: \(acceptingPresent(reference))"
        case .acceptLoss:
            return
                "Mount its disk, or restore it from a copy. If it was removed on purpose, this creates a new one: "
                + creating(reference)
        case .encryptOrAllowPlaintext:
            return
                "Encrypt it ('litevault encrypt'), have everything that is stored encrypted ('repository-sealed: yes'), or allow it "
                + "('allow-plaintext: yes' of the job)."
        case .provideSecret:
            return "Name its source beside 'repository' in the configuration: 'repository-secret-file' or another one."
        default:
            return remedy.commandLineText
        }
    }

    /// The command that accepts what is in the place of a repository.
    private func acceptingPresent(_ reference: RepositoryReference) -> String {
        "litevault snapshots --accept-repository \(options(reference))"
    }

    private func creating(_ reference: RepositoryReference) -> String {
        "litevault init --accept-repository \(reference.isSealed ? "--sealed " : "")\(options(reference))"
    }

    /// The options that lead to the repository with the state of the jobs.
    private func options(_ reference: RepositoryReference) -> String {
        var words = ["--repository", reference.location]
        if let state = local.state { words += ["--state-directory", state] }
        if let endpoint = reference.endpoint { words += ["--s3-endpoint", endpoint] }
        if let region = reference.region { words += ["--s3-region", region] }
        if reference.usesPathStyle { words.append("--s3-path-style") }
        if let command = reference.sftpCommand { words += ["--sftp-command", command] }
        switch reference.secret?.source {
        case .file(let path)?: words += ["--repository-secret-file", path]
        case .environment(let name)?: words += ["--repository-secret-env", name]
        case .command(let text)?: words += ["--repository-secret-command", text]
        case .credential(let name)?: words += ["--repository-secret-credential", name]
        case nil: break
        }
        if let secret = reference.secret, secret.format != .passphrase {
            words += ["--repository-secret-format", secret.format.rawValue]
        }
        return words.map(Quoting.shellWordWhereNeeded).joined(separator: " ")
    }
}
