package import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// The databases that a job's sources match.
package struct SourceList: Sendable {
    /// The paths of the databases and their names in the repository, sorted by path.
    package private(set) var databases: [(path: String, name: String)] = []
    /// Sources without a match, files that cannot be named, and colliding names.
    package private(set) var problems: [JobState.Problem] = []
    /// The directories and files that cannot be looked at: nothing is known of databases there. Each is a problem.
    private var unseen: [String] = []

    package init(_ job: BackupJob) {
        var found: Set<ExactText> = []
        for source in job.sources {
            let isPattern = Self.isPattern(source)
            let passedOver = Self.passedOver(source)
            let dangling = passedOver.dangling.filter { !Self.isExcluded($0, job.exclude) }
            for link in dangling where !Self.isCompanion(link) {
                problems.append(
                    JobState.Problem(
                        source: link, .noInput,
                        "belongs to the pattern '\(source)' and is a link to '\(Self.target(link))', which does not exist",
                        remedy: "Mount or restore what it leads to, or add the link to 'exclude'."))
            }
            func isMeant(_ path: String) -> Bool { !Self.isCompanion(path) && !Self.isExcluded(path, job.exclude) }
            let before = problems.count
            // Not its files: what is in a directory that cannot be read would be missing without a word (H-JOB-44).
            for (path, code) in passedOver.unreadable where !Self.isExcluded(path, job.exclude) {
                note(unseen: path, "is a directory of the pattern '\(source)'", code)
            }
            let (matches, notUTF8) = Self.matches(source)
            var files: [String] = []
            for path in matches where isMeant(path) {
                do throws(DurableFileError) { if try Self.isFile(path) { files.append(path) } } catch {
                    note(unseen: path, isPattern ? "belongs to the pattern '\(source)'" : "is in 'sources'", error.code)
                }
            }
            let unnamed = notUTF8.filter(isMeant)
            for path in unnamed {
                problems.append(
                    JobState.Problem(
                        source: path, .noInput,
                        "belongs to the pattern '\(source)', and its name or that of a directory is not UTF-8",
                        remedy: "Rename it, or exclude it."))
            }
            found.formUnion(files.map { ExactText($0) })
            // A missing file, or a pattern without a match, is most likely a mistake.
            if files.isEmpty, dangling.isEmpty, problems.count == before, !(isPattern && job.allowsNone) {
                problems.append(
                    JobState.Problem(
                        source: source, .noInput,
                        isPattern ? "no database matches the pattern" : "no such file",
                        remedy: isPattern
                            ? "Set 'allow-none: true' if that is intended." : "Check the path in 'sources'."))
            }
        }
        // The path of each name.
        var names: [ExactText: String] = [:]
        for path in found.map(\.text).sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let name = Self.name(job.database, path)
            if let other = names[ExactText(name)] {
                problems.append(
                    JobState.Problem(
                        source: path, .config, "has the same name '\(name)' in the repository as \(other)",
                        remedy: "Make the names unique: database: \"{parent}/{file}\"."))
                continue
            }
            names[ExactText(name)] = path
            databases.append((path, name))
        }
    }

    private mutating func note(unseen path: String, _ reason: String, _ code: Int32) {
        unseen.append(path)
        problems.append(
            JobState.Problem(
                source: path, .noInput, "\(reason), and cannot be read: \(SystemError(code: code))",
                remedy: "Let this user read it, or add it to 'exclude'."))
    }

    /// Whether it is unknown if there is a database: a directory above it, or the file itself, cannot be looked at.
    func hides(_ path: String) -> Bool {
        unseen.contains { isSameText($0, path) || path.starts(withText: $0 + "/") }
    }

    /// Whether a run of the job is to say at once that names collide.
    var hasCollisions: Bool { problems.contains { $0.code == VaultError.Code.config.rawValue } }

    mutating func refuse(_ path: String, _ problem: JobState.Problem) {
        databases.removeAll { isSameText($0.path, path) }
        problems.append(problem)
    }

    /// Whether a snapshot is that of a database of a job: backed up from a path that the job's sources match, under the name that the
    /// job gives it. The database need not exist any more.
    package static func matches(_ job: BackupJob, _ snapshot: Snapshot) -> Bool {
        func isNamed(_ path: String) -> Bool {
            !isExcluded(path, job.exclude) && isSameText(name(job.database, path), snapshot.database)
        }
        return job.sources.contains { source in
            let isFound = paths(of: snapshot.source, below: source).contains { path in
                // As `glob` does: a wildcard matches no slash, and no dot at the start of a name.
                (isSameText(source, path) || fnmatch(source, path, FNM_PATHNAME | FNM_PERIOD) == 0) && isNamed(path)
            }
            // A link to a file has its own name, and what is recorded is the file.
            return isFound || links(source).contains { isNamed($0) }
        }
    }

    /// The symbolic links to files that a source names. One that names no pattern may be gone with its disk, and may have been one.
    private static func links(_ source: String) -> [String] {
        let isPattern = isPattern(source)
        return matches(source).paths.filter { path in
            (try? FileMetadata(path: path)).map { $0.kind == .symbolicLink } ?? !isPattern
        }
    }

    /// The directories of the files that a source names, links to files resolved. Only what exists now is known of a pattern.
    static func directories(of source: String) -> [String] {
        // Of a pattern, the directory before its first wildcard as well: more may match later.
        let start = Substring(source.utf8.prefix { !wildcards.utf8.contains($0) })
        let files = isPattern(source) ? matches(source).paths.filter { (try? isFile($0)) == true } : [source]
        return Set(
            ([String(start)] + files.map { LocalDirectory.resolved($0) }).map { path in
                ExactText(LocalDirectory.resolved(path.ends(withText: "/") ? path : LocalDirectory.parent(of: path)))
            }
        ).map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// A path as recorded in a snapshot, and as it reads where a directory of the source is a symbolic link: links are resolved there.
    private static func paths(of recorded: String, below source: String) -> [String] {
        let parts = source.pathNames.prefix { !isPattern($0) }
        var found = [recorded]
        for count in 1..<max(2, parts.count + 1) {
            let directory = "/" + parts.prefix(count).joined(separator: "/")
            guard let resolved = realpath(directory, nil) else { break }
            defer { free(resolved) }
            let text = String(cString: resolved)
            if isSameText(text, recorded) { found.append(directory) }
            guard recorded.starts(withText: text + "/") else { continue }
            found.append(directory + Substring(recorded.utf8.dropFirst(text.utf8.count)))
        }
        return found
    }

    /// Expands the template of a database's name for the database at `path`.
    package static func name(_ template: String, _ path: String) -> String {
        let parts = path.pathNames.map(String.init)
        let file = parts.last ?? path
        let point = file.utf8.lastIndex(of: UInt8(ascii: "."))
        let stem = point.map { $0 == file.startIndex ? file : String(file[..<$0]) } ?? file
        let values = [
            "{file}": file, "{stem}": stem, "{parent}": parts.dropLast().last ?? "",
            "{path}": parts.joined(separator: "/"),
        ]
        var name = ""
        var rest = template[...]
        while let first = rest.first {
            if let (mark, value) = values.first(where: { rest.hasPrefix($0.key) }) {
                name += value
                rest = rest.dropFirst(mark.count)
            } else {
                name.append(first)
                rest = rest.dropFirst()
            }
        }
        return name
    }

    private static let wildcards = "*?["

    private static func isPattern(_ text: some StringProtocol) -> Bool {
        text.utf8.contains { wildcards.utf8.contains($0) }
    }

    /// What a pattern matches; of any other text, that itself.
    private static func matches(_ source: String) -> (paths: [String], notUTF8: [String]) {
        guard isPattern(source) else { return ([source], []) }
        return PathPattern.matches(source, flags: GLOB_NOSORT) ?? (paths: [], notUTF8: [])
    }

    /// What `glob` passes over without a word among what a pattern matches, or its directories, whether they have wildcards or not:
    /// symbolic links that lead nowhere, of an unmounted volume, say, and directories that cannot be read, with the error.
    private static func passedOver(
        _ pattern: String
    ) -> (dangling: [String], unreadable: [(path: String, code: Int32)]) {
        guard isPattern(pattern) else { return ([], []) }
        let parts = pattern.pathNames
        var dangling: [String] = []
        var unreadable: [(path: String, code: Int32)] = []
        for index in parts.indices {
            let start = (pattern.starts(withText: "/") ? "/" : "") + parts[...index].joined(separator: "/")
            let isDirectory = index + 1 < parts.count
            // Before the first wildcard, a directory is what it is called.
            guard isPattern(start) || isDirectory else { continue }
            // Names are looked for in it, or only one.
            let rights = isDirectory && isPattern(parts[index + 1]) ? R_OK | X_OK : X_OK
            for path in matches(start).paths {
                var status = stat()
                var code: Int32 = 0
                if stat(path, &status) != 0 {
                    code = errno
                } else if isDirectory, status.st_mode & S_IFMT == S_IFDIR, access(path, rights) != 0 {
                    code = errno
                }
                if code == ENOENT, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
                    dangling.append(path)
                } else if isDirectory, ![0, ENOENT, ENOTDIR, ENAMETOOLONG].contains(code),
                    // What `fsck` has found on a file system belongs to root.
                    !path.ends(withText: "/lost+found"),
                    !unreadable.contains(where: { path.starts(withText: $0.path + "/") })
                {
                    unreadable.append((path, code))
                }
            }
        }
        return (dangling.sorted(), unreadable)
    }

    private static func target(_ link: String) -> String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) ?? "?"
    }

    private static func isCompanion(_ path: String) -> Bool {
        ["-wal", "-shm", "-journal"].contains { path.ends(withText: $0) }
    }

    private static func isExcluded(_ path: String, _ patterns: [String]) -> Bool {
        let file = path.pathNames.last.map(String.init) ?? path
        return patterns.contains { fnmatch($0, file, 0) == 0 || fnmatch($0, path, 0) == 0 }
    }

    /// False if nothing is there. Throws if that cannot be seen.
    private static func isFile(_ path: String) throws(DurableFileError) -> Bool {
        try FileMetadata.ifExists(path: path, followingLinks: true)?.kind == .regular
    }
}

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
            list.refuse(
                path,
                JobState.Problem(
                    source: path, .config,
                    "of the job '\(job.name)' has the same name '\(name)' in the repository as \(other.path) of the job '\(other.job)': "
                        + "no snapshot of either is taken",
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
        (try? FileMetadata.isSameFile(one, other)) == true
            || isSameText(LocalDirectory.resolved(one), LocalDirectory.resolved(other))
    }
}

extension JobState.Problem {
    fileprivate init(source: String, _ code: VaultError.Code, _ message: String, remedy: String) {
        self.init(source: source, step: "sources", code: code.rawValue, message: message, remedy: remedy)
    }
}

extension RepositoryReference {
    /// The same for all references to one repository, however their locations are written: a directory may be behind links.
    fileprivate var sharedPlace: String {
        guard !location.starts(withText: "/") else {
            return LocalDirectory.resolved(location) + "\n" + (endpoint ?? "")
        }
        var place = location[...]
        while place.hasSuffix("/") { place = place.dropLast() }
        return place + "\n" + (endpoint ?? "")
    }
}
