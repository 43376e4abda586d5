package import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// The databases that a job's sources match.
package struct SourceList: Sendable, Equatable {
    /// The paths of the databases and their names in the repository, sorted by path.
    package private(set) var databases: [(path: String, name: String)] = []
    /// Sources without a match, and colliding names.
    package private(set) var problems: [JobState.Problem] = []
    /// The path of each name.
    private var names: [ExactText: String] = [:]

    /// Expands the sources of a job.
    package init(_ job: BackupJob) {
        var found: Set<ExactText> = []
        for source in job.sources {
            let isPattern = source.contains(where: { "*?[".contains($0) })
            let paths = isPattern ? Self.matches(source) : [source]
            let dangling = isPattern ? Self.danglingLinks(source).filter { !Self.isExcluded($0, job.exclude) } : []
            for link in dangling where !Self.isCompanion(link) {
                problems.append(
                    .init(
                        source: link, step: "sources", code: VaultError.Code.noInput.rawValue,
                        message:
                            "belongs to the pattern '\(source)' and is a link to '\(Self.target(link))', which does not exist",
                        remedy: "Mount or restore what it leads to, or add the link to 'exclude'."))
            }
            let files = paths.filter { !Self.isCompanion($0) && !Self.isExcluded($0, job.exclude) && Self.isFile($0) }
            found.formUnion(files.map { ExactText($0) })
            // A missing file, or a pattern without a match, is most likely a mistake.
            if files.isEmpty, dangling.isEmpty, !(isPattern && job.allowsNone) {
                problems.append(
                    .init(
                        source: source, step: "sources", code: VaultError.Code.noInput.rawValue,
                        message: isPattern ? "no database matches the pattern" : "no such file",
                        remedy: isPattern
                            ? "Set 'allow-none: true' if that is intended." : "Check the path in 'sources'."))
            }
        }
        for path in found.map(\.text).sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let name = Self.name(job.database, path)
            if let other = names[ExactText(name)] {
                problems.append(
                    .init(
                        source: path, step: "sources", code: VaultError.Code.config.rawValue,
                        message: "has the same name '\(name)' in the repository as \(other)",
                        remedy: "Make the names unique: database: \"{parent}/{file}\"."))
                continue
            }
            names[ExactText(name)] = path
            databases.append((path, name))
        }
    }

    /// The database of a name in the repository.
    func path(named name: String) -> String? { names[ExactText(name)] }

    /// Whether a run of the job is to say at once that names collide.
    var hasCollisions: Bool { problems.contains { $0.code == VaultError.Code.config.rawValue } }

    /// Leaves out a database, for a reason.
    mutating func refuse(_ path: String, _ problem: JobState.Problem) {
        databases.removeAll { isSameText($0.path, path) }
        problems.append(problem)
    }

    package static func == (left: SourceList, right: SourceList) -> Bool {
        left.databases.map { ExactText($0.path) } == right.databases.map { ExactText($0.path) }
            && left.databases.map { ExactText($0.name) } == right.databases.map { ExactText($0.name) }
            && left.problems == right.problems
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
        let isPattern = source.contains(where: { "*?[".contains($0) })
        return (isPattern ? matches(source) : [source]).filter { path in
            (try? FileMetadata(path: path)).map { $0.kind == .symbolicLink } ?? !isPattern
        }
    }

    /// The directories of the files that a source names, links to files resolved. Only what exists now is known of a pattern.
    static func directories(of source: String) -> [String] {
        let isPattern = source.contains(where: { "*?[".contains($0) })
        // Of a pattern, the directory before its first wildcard as well: more may match later.
        let start = source.prefix { !"*?[".contains($0) }
        let files = isPattern ? matches(source).filter(isFile) : [source]
        return Set(
            ([String(start)] + files.map { LocalDirectory.resolved($0) }).map { path in
                ExactText(LocalDirectory.resolved(path.hasSuffix("/") ? path : LocalDirectory.parent(of: path)))
            }
        ).map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// A path as recorded in a snapshot, and as it reads where a directory of the source is a symbolic link: links are resolved there.
    private static func paths(of recorded: String, below source: String) -> [String] {
        let parts = source.split(separator: "/").prefix { part in !part.contains(where: { "*?[".contains($0) }) }
        var found = [recorded]
        for count in 1..<max(2, parts.count + 1) {
            let directory = "/" + parts.prefix(count).joined(separator: "/")
            guard let resolved = realpath(directory, nil) else { break }
            defer { free(resolved) }
            let text = String(cString: resolved)
            if isSameText(text, recorded) { found.append(directory) }
            if recorded.hasPrefix(text + "/") { found.append(directory + recorded.dropFirst(text.count)) }
        }
        return found
    }

    /// Expands the template of a database's name for the database at `path`.
    package static func name(_ template: String, _ path: String) -> String {
        let parts = path.split(separator: "/").map(String.init)
        let file = parts.last ?? path
        let stem = file.lastIndex(of: ".").map { $0 == file.startIndex ? file : String(file[..<$0]) } ?? file
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

    private static func matches(_ pattern: String) -> [String] {
        PathPattern.matches(pattern, flags: GLOB_NOSORT) ?? []
    }

    /// The symbolic links that lead nowhere among what a pattern matches, or its directories, whether they have wildcards or not: of an
    /// unmounted volume, say. `glob` passes over them without a word.
    private static func danglingLinks(_ pattern: String) -> [String] {
        let parts = pattern.split(separator: "/")
        var found: [String] = []
        for index in parts.indices {
            let start = (pattern.hasPrefix("/") ? "/" : "") + parts[...index].joined(separator: "/")
            // Before the first wildcard, a directory is what it is called.
            let isPattern = parts[...index].contains { $0.contains(where: { "*?[".contains($0) }) }
            guard isPattern || index + 1 < parts.count else { continue }
            found += (isPattern ? matches(start) : [start]).filter { path in
                var status = stat()
                return stat(path, &status) != 0 && errno == ENOENT && lstat(path, &status) == 0
                    && status.st_mode & S_IFMT == S_IFLNK
            }
        }
        return found.sorted()
    }

    private static func target(_ link: String) -> String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) ?? "?"
    }

    private static func isCompanion(_ path: String) -> Bool {
        ["-wal", "-shm", "-journal"].contains { path.hasSuffix($0) }
    }

    private static func isExcluded(_ path: String, _ patterns: [String]) -> Bool {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        return patterns.contains { fnmatch($0, file, 0) == 0 || fnmatch($0, path, 0) == 0 }
    }

    private static func isFile(_ path: String) -> Bool {
        (try? FileMetadata(path: path, followingLinks: true))?.kind == .regular
    }
}
