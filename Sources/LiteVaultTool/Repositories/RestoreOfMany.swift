internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// What `restore-all` and `schedule restore` restore, and how.
struct RestoreOfManyOptions: ParsableArguments {
    @Option(
        help: .init(
            "The moment: UTC without a zone, local time with 'local' after it, 'latest' (default), or "
                + "'latest-reachable'.",
            valueName: "time"),
        transform: TimeArgument.selection(parsing:))
    var at: SnapshotSelection?

    @Flag(help: "Skip existing databases, to continue an interrupted restore.")
    var ifMissing = false

    @Flag(help: "Restore nothing: show what would be restored.")
    var dryRun = false

    @Flag(help: "Do not restore keyrings.")
    var noKeyring = false

    @OptionGroup var ownership: OwnerOption
}

struct OwnerOption: ParsableArguments {
    @Option(
        help: .init("Owner of the restored files (as root; default: root).", valueName: "user"))
    var owner: String?

    /// - Throws: `no-input` if there is no such user: before anything is restored.
    func check() throws(Failure) { _ = try fileOwner() }

    /// The owner that was named; nil if none was.
    ///
    /// - Throws: `no-input` if there is no such user.
    func fileOwner() throws(Failure) -> FileOwner? {
        guard let owner else { return nil }
        return try UserIdentity(owner).fileOwner
    }
}

/// Restores several databases of a repository as they were at one moment, for `restore-all` and `schedule restore`.
///
/// The failure of one does not keep the others from being restored.
struct RestoreOfMany {
    /// Where the databases go, under their names in the repository; nil restores each to the path it was backed up from.
    let directory: String?
    /// The repository, for messages.
    let location: String
    let options: RestoreOfManyOptions
    /// Names and patterns of which each must match a database.
    var wanted: [String] = []
    /// Whether a database that is not chosen should have been: it is named in a warning.
    var isStray: (Snapshot) -> Bool = { _ in false }
    /// The message if no database is chosen.
    var nothingChosen = "no database has such a name"

    private enum State: String { case restored, ready, present, absent, failed }

    private struct Item {
        let database: String
        let state: State
        var destination: String?
        var found: RestoreResult?
        var failure: Failure?

        var reached: String? { found.map { Format.exactTime($0.segmentsUntil ?? $0.snapshot.time) } }

        var members: Members {
            [
                "database": database, "state": state.rawValue, "destination": destination,
                "snapshot": found?.snapshot.id, "time": found.map { Format.exactTime($0.snapshot.time) },
                "reached": reached, "segments": found?.segments.count, "image_size": found?.snapshot.size,
                "code": failure?.code.rawValue, "message": failure?.message, "remedy": failure?.remedy,
            ]
        }
    }

    private var selection: SnapshotSelection { options.at ?? .latest }

    /// Rejects a directory that is not empty, unless existing databases are skipped.
    ///
    /// - Throws: `cannot-create`.
    func checkDirectory() throws(Failure) {
        try options.ownership.check()
        guard let directory, !options.ifMissing else { return }
        guard let content = try? FileManager.default.contentsOfDirectory(atPath: directory) else {
            return try Preflight.requireAbsent(directory)
        }
        guard content.isEmpty else {
            throw Failure(
                .cannotCreate, "is not empty", path: directory,
                remedy: "Name another directory, or use --if-missing to restore only what is not there.")
        }
    }

    static func matches(_ name: String, _ snapshot: Snapshot) -> Bool {
        isSameText(name, snapshot.database) || fnmatch(name, snapshot.database, 0) == 0
    }

    /// Restores the chosen databases.
    ///
    /// - Parameter isChosen: decides by a database's newest snapshot.
    /// - Returns: the report, which has a failure if a database could not be restored.
    /// - Throws: `no-input` if no database is chosen, `no-space`, and what ends the command at a signal. What has its name then is
    ///   complete.
    func run(_ opened: Repository, _ session: Session, _ isChosen: (Snapshot) -> Bool) throws -> Report {
        let warnings = WarningList()
        let found = try runBlocking { try await opened.snapshots() }
        found.warnings.forEach(warnings.add)
        let newest = found.byDatabase.compactMap { $0.max { $0.sequence < $1.sequence } }
        let chosen = newest.filter(isChosen)
        for one in newest where isStray(one) {
            session.reporter.warning(
                "the database '\(Format.visible(one.database))', backed up from \(Format.visible(one.source)), belongs to no job of the "
                    + "configuration and is left out: name it in 'sources', if it was found through a link that is gone",
                path: location)
        }
        guard !chosen.isEmpty else {
            throw Failure(
                .noInput, newest.isEmpty ? "the repository has no snapshot" : nothingChosen, path: location,
                remedy: "See 'litevault snapshots --repository \(location)'.")
        }
        if let unknown = wanted.first(where: { name in !chosen.contains { Self.matches(name, $0) } }) {
            throw Failure(
                .noInput, "no database is called '\(unknown)'", path: location,
                remedy: "See 'litevault snapshots --repository \(location)'.")
        }
        var items: [Item] = []
        for snapshot in chosen {
            try Interruption.shared.check()
            items.append(try restore(snapshot, from: opened, warnings, session))
        }
        return report(items, opened, warnings, session)
    }

    /// Restores one database. Its failure is part of the result, unless it would be that of all others, too.
    ///
    /// - Throws: `no-space`, and what ends the command at a signal.
    private func restore(
        _ newest: Snapshot, from opened: Repository, _ warnings: WarningList, _ session: Session
    ) throws -> Item {
        let name = newest.database
        do {
            let destination = try destination(of: newest)
            if options.ifMissing, try Preflight.isPresent(destination) {
                return Item(database: name, state: .present, destination: destination)
            }
            var restoreOptions = RestoreOptions()
            restoreOptions.keyring = options.noKeyring ? .none : .besideDatabase
            restoreOptions.progress = session.backupProgress
            restoreOptions.owner = try options.ownership.fileOwner()
            if !options.dryRun {
                let parent = LocalDirectory.parent(of: destination)
                try Self.createDirectory(parent)
                // To where it was backed up from, it goes to whom the directory belongs to: root's file would be of no use there.
                if directory == nil, restoreOptions.owner == nil, UserIdentity.isRoot {
                    restoreOptions.owner = UserIdentity(ownerOf: parent)?.fileOwner
                }
            }
            let (chosen, isDry, selection) = (restoreOptions, options.dryRun, selection)
            let found = try runBlocking {
                if isDry { return try await opened.planRestore(selection, database: name, warning: warnings.add) }
                return try await opened.restore(
                    selection, database: name, to: destination, options: chosen, warning: warnings.add)
            }
            // After the plan, as the restore does: it refuses the same.
            if isDry { try Preflight.requireAbsent(destination) }
            return Item(
                database: name, state: isDry ? .ready : .restored, destination: destination, found: found)
        } catch {
            try Interruption.shared.check()
            var failure = Failure(error)
            // The next one would find no space, either.
            if failure.code == .noSpace { throw failure }
            if case .at = selection, failure.code == .noInput {
                return Item(database: name, state: .absent)
            }
            // The object that is damaged or missing, say; the database has its line.
            let path = failure.path.flatMap { isSameText($0, name) || isSameText($0, location) ? nil : $0 }
            if let path { failure.message = "\(path): \(failure.message)" }
            return Item(database: name, state: .failed, failure: failure)
        }
    }

    private static func createDirectory(_ path: String) throws {
        do { try LocalDirectory.create(path) } catch let error as VaultError where error.code != .noSpace {
            throw Failure(
                .cannotCreate, "the directory cannot be created: \(error.message)", path: path,
                remedy: "Name another directory.")
        }
    }

    private func destination(of newest: Snapshot) throws(Failure) -> String {
        guard let directory else {
            // Of a manifest, which anybody may have written who can write to the repository.
            guard newest.source.starts(withText: "/"), !newest.source.utf8.contains(0) else {
                throw Failure(
                    .cannotCreate, "was not backed up from an absolute path", path: newest.database,
                    remedy: "Restore it with 'litevault restore', to a path of your choice.")
            }
            return newest.source
        }
        let name = newest.database
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            Substring($0)
        }
        guard !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." || $0.utf8.contains(0) }) else {
            throw Failure(
                .cannotCreate, "the name leads out of the directory", path: name,
                remedy: "Restore it with 'litevault restore', to a path of your choice.")
        }
        guard !["-wal", "-shm", "-journal"].contains(where: { name.ends(withText: $0) }) else {
            throw Failure(
                .cannotCreate, "SQLite would take it for a part of the database beside it", path: name,
                remedy: "Restore it with 'litevault restore', under another name.")
        }
        return directory + "/" + name
    }

    /// What to do about failures: what they say themselves if they agree, and nothing about others if there are none.
    private func remedy(_ items: [Item]) -> String {
        let own = Set(items.filter { $0.state == .failed }.map(\.failure?.remedy))
        let what = own.count == 1 ? own.first.flatMap { $0 } : nil
        // Neither an existing file nor a database without a snapshot of that time counts.
        let done = items.count { $0.state == .restored || $0.state == .ready }
        let rest = done > 0 ? "The others \(options.dryRun ? "can be" : "are"). " : ""
        return rest + (what ?? "'litevault check' examines the repository.")
    }

    private func report(
        _ items: [Item], _ opened: Repository, _ warnings: WarningList, _ session: Session
    ) -> Report {
        func count(_ state: State) -> Int { items.count { $0.state == state } }
        let (done, failed) = (count(.restored) + count(.ready), count(.failed))
        var report = Report([
            "repository": location, "authenticated": opened.isAuthenticated, "directory": Nullable(directory),
            "wanted": selection.wanted(nil), "dry_run": options.dryRun, "total": items.count,
            "restored": count(.restored), "present": count(.present), "absent": count(.absent), "failed": failed,
            "seconds": session.elapsed, "items": items.map(\.members),
        ])
        for item in items {
            let text =
                switch item.state {
                case .restored, .ready: "\(item.reached ?? ""), \(Format.size(item.found?.snapshot.size ?? 0))"
                case .present: "is there already"
                case .absent: "had no snapshot yet"
                case .failed: "failed: \(Format.visible(item.failure?.message ?? ""))"
                }
            report.appendLine("  \(Format.visible(item.database)): \(text)")
        }
        let left = [
            (count(.present), "there already"), (count(.absent), "without a snapshot then"), (failed, "failed"),
        ]
        .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let counts = left.joined(separator: ", ")
        if done == 0 {
            report.appendLine("Nothing \(options.dryRun ? "would be" : "was") restored: \(counts).")
        } else {
            report.appendLine(
                "\(options.dryRun ? "Would restore" : "Restored") \(Format.count(done, "database")) to "
                    + (directory.map(Format.visible) ?? (done == 1 ? "its path" : "their paths"))
                    + (left.isEmpty ? "." : "; \(counts)."))
        }
        let reached = items.compactMap(\.reached).sorted()
        if let first = reached.first, let last = reached.last, first != last {
            report.appendLine("Their states are from \(first) to \(last).")
        }
        // A database all of whose snapshots are damaged is not in the list.
        session.add(
            warnings.all, of: location, after: Format.count(done, "database") + " can be restored", to: &report)
        if failed > 0 {
            let codes = Set(items.compactMap(\.failure?.code))
            report.failure = Failure(
                (codes.count == 1 ? codes.first : nil) ?? .jobFailed,
                "\(failed) of \(Format.count(items.count, "database")) cannot be restored", path: location,
                remedy: remedy(items))
        }
        return report
    }
}
