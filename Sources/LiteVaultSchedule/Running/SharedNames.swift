internal import LiteVaultBackup
internal import LiteVaultFoundation
internal import LiteVaultQuoting

// Jobs that share a repository share the names in it: two files with one name would have one history, in which the retention of
// either job removes the other's snapshots.
extension SourceList {
    /// Expands the sources of a job of a schedule.
    ///
    /// Databases are left out, and are problems, whose name another job gives to another file in the same repository: the other job leaves
    /// out its own as well. One file in several jobs is one database.
    package init(_ job: BackupJob, among jobs: [BackupJob]) {
        self.init(job)
        let others = jobs.filter { $0.name != job.name && $0.repository.isSamePlace(as: job.repository) }
        var found: [ExactText: (path: String, job: String)] = [:]
        for other in others {
            for (path, name) in SourceList(other).databases {
                guard let own = self.path(named: name), found[ExactText(name)] == nil, !Self.isSameFile(own, path)
                else { continue }
                found[ExactText(name)] = (path, other.name)
            }
        }
        for (path, name) in databases {
            guard let (otherPath, other) = found[ExactText(name)] else { continue }
            let message =
                "of the job '\(job.name)' has the same name '\(name)' in the repository as \(otherPath) of the job '\(other)': "
                + "no snapshot of either is taken"
            refuse(
                path,
                .init(
                    source: path, step: "sources", code: VaultError.Code.config.rawValue, message: message,
                    remedy:
                        "Make the names unique (database: \"{parent}/{file}\", for example), or give one of the jobs another repository."
                ))
        }
    }

    /// Whether two paths lead to one file, through links of either kind.
    private static func isSameFile(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        if stat(one, &first) == 0, stat(other, &second) == 0 {
            return first.st_dev == second.st_dev && first.st_ino == second.st_ino
        }
        return isSameText(LocalDirectory.resolved(one), LocalDirectory.resolved(other))
    }
}

extension RepositoryReference {
    /// Whether both lead to one repository, however their locations are written: a directory may be behind links.
    fileprivate func isSamePlace(as other: RepositoryReference) -> Bool {
        isSameText(place, other.place) && (endpoint ?? "") == (other.endpoint ?? "")
    }

    private var place: String {
        guard !location.hasPrefix("/") else { return LocalDirectory.resolved(location) }
        var place = location[...]
        while place.hasSuffix("/") { place = place.dropLast() }
        return String(place)
    }
}
