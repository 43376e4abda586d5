internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// The names that the jobs of a schedule give to databases in their repositories.
///
/// Jobs that share a repository share the names in it: two files with one name would have one history, in which the retention of
/// either job removes the other's snapshots. The sources of the jobs of a repository are expanded once for many that run at about the
/// same time. Those of other repositories are not: a volume of theirs may hang.
package final class SharedNames: Sendable {
    /// How long the expanded sources count, apart from those of the job that is asked for.
    private static let lifetime = Duration.seconds(5)

    private struct Index {
        let made: ContinuousClock.Instant
        /// In the order of the jobs, by name.
        var owners: [ExactText: [(job: String, path: String)]] = [:]
    }

    private let jobs: [BackupJob]
    private let expand: @Sendable (BackupJob) -> SourceList
    /// Each by the place of a repository, with a lock of its own, which is held while sources are expanded.
    private let indexes = Locked<[ExactText: Locked<Index?>]>([:])

    /// - Parameters:
    ///   - jobs: all jobs of the schedule.
    ///   - expand: expands the sources of one.
    package init(_ jobs: [BackupJob], expand: @escaping @Sendable (BackupJob) -> SourceList = { SourceList($0) }) {
        (self.jobs, self.expand) = (jobs, expand)
    }

    /// Expands the sources of a job.
    ///
    /// Databases are left out, and are problems, whose name another job gives to another file in the same repository: the other job leaves
    /// out its own as well. One file in several jobs is one database.
    package func list(_ job: BackupJob) -> SourceList {
        var list = expand(job)
        let place = job.repository.sharedPlace
        let index = self.index(with: list, of: job, in: place)
        for (path, name) in list.databases {
            let owners = index.owners[ExactText(name)] ?? []
            guard let other = owners.first(where: { $0.job != job.name && !Self.isSameFile($0.path, path) }) else {
                continue
            }
            let message =
                "of the job '\(job.name)' has the same name '\(name)' in the repository as \(other.path) of the job '\(other.job)': "
                + "no snapshot of either is taken"
            list.refuse(
                path,
                .init(
                    source: path, step: "sources", code: VaultError.Code.config.rawValue, message: message,
                    remedy:
                        "Make the names unique (database: \"{parent}/{file}\", for example), or give one of the jobs another repository."
                ))
        }
        return list
    }

    /// The index, which is made again if it is old, or if a database of the job is newer: the other jobs may have new ones, too.
    private func index(with list: SourceList, of job: BackupJob, in place: String) -> Index {
        let shared = indexes.withLock { indexes in
            let shared = indexes[ExactText(place)] ?? Locked(nil)
            indexes[ExactText(place)] = shared
            return shared
        }
        return shared.withLock { index in
            if let known = index, .now - known.made < Self.lifetime,
                list.databases.allSatisfy({ path, name in
                    known.owners[ExactText(name)]?.contains { $0.job == job.name && isSameText($0.path, path) } ?? false
                })
            {
                return known
            }
            var new = Index(made: .now)
            for one in jobs where isSameText(one.repository.sharedPlace, place) {
                for (path, name) in one.name == job.name ? list.databases : expand(one).databases {
                    new.owners[ExactText(name), default: []].append((one.name, path))
                }
            }
            index = new
            return new
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

extension SourceList {
    /// Expands the sources of a job of a schedule, as ``SharedNames/list(_:)``.
    package init(_ job: BackupJob, among jobs: [BackupJob]) { self = SharedNames(jobs).list(job) }
}

extension RepositoryReference {
    /// The same for all references to one repository, however their locations are written: a directory may be behind links.
    fileprivate var sharedPlace: String {
        guard !location.hasPrefix("/") else { return LocalDirectory.resolved(location) + "\n" + (endpoint ?? "") }
        var place = location[...]
        while place.hasSuffix("/") { place = place.dropLast() }
        return place + "\n" + (endpoint ?? "")
    }
}
