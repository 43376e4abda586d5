internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultSystem

/// Examines a repository and its store. Nothing is written to either, and nothing is remembered about them.
struct RepositoryExamination {
    /// How long a store may be silent or return errors.
    static let timeLimit = Duration.seconds(30)
    /// The difference between two clocks that needs attention: object stores refuse requests that are 15 minutes off.
    private static let clockTolerance = 300.0

    let store: any ObjectStore
    let secret: RepositorySecret?
    let local: LocalDirectories
    /// Whether it may not exist yet, because a first run creates it.
    let mayBeAbsent: Bool
    /// Words the remedy of an error, where that is not an option of a command.
    var remedy: (VaultError) -> String? = { $0.commandLineRemedy }
    let now = Date()

    struct Examined {
        /// Nil if they cannot be read.
        var snapshots: SnapshotList?
        /// Whether everything that is stored is encrypted; nil if the repository cannot be opened.
        var isSealed: Bool?
    }

    /// Opens it, and examines everything that does not belong to one database.
    func examine(into findings: inout Findings) -> Examined {
        var quiet = local
        quiet.remembers = false
        let (store, secret, directories) = (store, secret, quiet)
        let repository: Repository
        do {
            repository = try runBlocking { try await Repository.open(store, secret: secret, local: directories) }
        } catch let error as VaultError where error.code == .noInput && mayBeAbsent {
            absent(into: &findings)
            return Examined()
        } catch {
            var failure = Failure(error)
            if let error = error as? VaultError { failure.remedy = remedy(error) }
            findings.problem(failure.code == .keyRejected ? .secret : .repository, failure, path: store.location)
            return Examined()
        }
        if repository.hasSecret, !repository.isAuthenticated {
            findings.problem(
                .secret, "the repository has a secret, but none was given: it cannot be written to",
                path: store.location,
                remedy: Remedy.provideSecret.commandLineText + " In a configuration, set 'repository-secret-file'.")
        } else {
            findings.ok(
                .repository, secret == nil ? "responds, and has no secret" : "responds, and its secret opens it",
                path: store.location)
        }
        do {
            let clock = try inspectStore(into: &findings)
            return Examined(
                snapshots: try objects(of: repository, clock: clock, into: &findings), isSealed: repository.isSealed)
        } catch {
            findings.problem(.repository, error, path: store.location)
            return Examined(isSealed: repository.isSealed)
        }
    }

    private func absent(into findings: inout Findings) {
        let parent = FileExamination.existingParent(store.location)
        if store.localPath("any") != nil, access(parent, W_OK | X_OK) != 0 {
            findings.problem(
                .repository, "does not exist, and this user may not create it in \(parent)", path: store.location,
                remedy: "Create the directory for the user that runs the backups.")
        } else {
            findings.warning(
                .repository, "does not exist yet", path: store.location,
                remedy: "The first run creates it. If there should be one, check the location.")
        }
    }

    // MARK: The store

    /// Examines what the store says about itself.
    ///
    /// - Returns: the time by its clock, as far as that is known.
    private func inspectStore(into findings: inout Findings) throws -> Date {
        guard let store = store as? any InspectableStore else { return now }
        let asked = Date()
        let found = try runBlocking { try await store.inspect() }
        let middle = asked.addingTimeInterval(Date().timeIntervalSince(asked) / 2)
        if found.isWritable == false {
            findings.problem(
                .repository, "this user may not write to it", path: store.location,
                remedy: "Run backups as its owner, or mount its file system for writing. Restores only read it.")
        }
        switch found.conditionalWrites {
        case true?: findings.ok(.conditionalWrites, "two writers are kept apart", path: store.location)
        case false?:
            findings.warning(
                .conditionalWrites, "the store ignores conditions, so two writers are not kept apart",
                path: store.location, remedy: "Let one process at a time write to it, or use another store.")
        case nil:
            findings.ok(
                .conditionalWrites, "not known on this machine: the next writer tries them", path: store.location)
        }
        if let lock = found.lock { findings.problem(.lock, lock) }
        guard let clock = found.clock else { return now }
        let ahead = clock.timeIntervalSince(middle)
        let text = "\(Format.duration(abs(ahead))) \(ahead < 0 ? "behind" : "ahead of") this machine's"
        if abs(ahead) > Self.clockTolerance {
            findings.problem(
                .clock, "the store's clock is \(text)", path: store.location,
                remedy:
                    "Set the clock that is wrong (timedatectl): requests are refused, and snapshots get wrong times.")
        } else {
            findings.ok(.clock, "the store's clock is \(text)", path: store.location)
        }
        return clock
    }

    // MARK: The objects

    /// Examines the directories of packs and of the spool, which nothing else here enters, where the repository is in a local directory.
    ///
    /// - Returns: whether they are as a repository needs them.
    private func packs(haveSnapshots: Bool, into findings: inout Findings) -> Bool {
        guard store.localPath("any") != nil else { return true }
        var isWhole = true
        let store = store
        for prefix in ["data/", "tree/"] {
            do {
                guard haveSnapshots, try runBlocking({ try await store.list(prefix) }).isEmpty else { continue }
                findings.problem(
                    .objects, "there are snapshots, and no packs of them here", path: "\(store.location)/\(prefix)",
                    remedy: "Mount what was moved, or restore the directory from a copy of the repository.")
            } catch {
                findings.problem(.objects, error, path: "\(store.location)/\(prefix)")
            }
            isWhole = false
        }
        if (try? FileMetadata(path: store.location + "/.spool"))?.kind == .symbolicLink {
            findings.problem(
                .spool, "is a link; a repository has none below its root", path: store.location + "/.spool",
                remedy: "Find out who made it, and remove it: the next snapshot makes a directory.")
        }
        return isWhole
    }

    private func objects(
        of repository: Repository, clock: Date, into findings: inout Findings
    ) throws -> SnapshotList {
        let location = store.location
        let list = try runBlocking { try await repository.snapshots() }
        let logs = try runBlocking { try await repository.followed(Array(list)) }
        let unrestorable = list.unrestorable
        let warnings = list.warnings + logs.warnings + unrestorable.compactMap(\.warning)
        for warning in warnings { add(warning, into: &findings) }
        for one in unrestorable where one.warning == nil {
            findings.warning(
                .objects, one.message, path: "\(location)/\(one.snapshot.object)",
                remedy: "Newer snapshots are not affected. 'litevault forget --snapshot \(one.snapshot.id)' removes it."
            )
        }
        if packs(haveSnapshots: !list.isEmpty, into: &findings), !warnings.contains(where: { $0.severity == .damage }) {
            findings.ok(.objects, "\(Format.count(list.count, "snapshot")) can be read", path: location)
        }
        for snapshots in list.byDatabase {
            guard let ahead = snapshots.last(where: { $0.wasAhead(of: now) }) else { continue }
            let text = "snapshot \(ahead.id) of '\(ahead.database)' is dated \(Format.time(ahead.time))"
            if snapshots.last?.id == ahead.id {
                findings.problem(
                    .clock, text, path: location, remedy: "Set the clock of \(ahead.host), or this machine's.")
            } else {
                findings.warning(
                    .clock, text + "; the clock has been set right since", path: location,
                    remedy:
                        "Those after it are dated behind it, and 'restore --at' finds them by these times only: use "
                        + "--snapshot.")
            }
        }
        for lease in try runBlocking({ try await repository.heldLeases(now: clock) }) {
            let name = list.first { repository.databaseID($0.database) == lease.database }?.database
            add(lease, name, clock, into: &findings)
        }
        do {
            if let (count, since) = try runBlocking({ try await repository.scheduledDeletions() }) {
                findings.ok(
                    .deletions, "\(Format.count(count, "pack")) to be deleted, the first since \(Format.time(since))",
                    path: location)
            }
        } catch {
            findings.problem(.deletions, error, path: location)
        }
        for snapshots in list.byDatabase {
            let database = snapshots[0].database
            guard let last = snapshots.last(where: { $0.gap != nil }), let gap = last.gap else { continue }
            findings.warning(
                .gap,
                "'\(database)': commits \(gap.since.map { "between \(Format.time($0)) and" } ?? "before") "
                    + "\(Format.time(last.time)) cannot be restored: \(gap.reason)", path: location,
                remedy:
                    "Every commit since \(Format.time(last.time)) can. 'litevault schedule status' shows whether it is "
                    + "followed now.")
        }
        return list
    }

    private func add(_ warning: RepositoryWarning, into findings: inout Findings) {
        let path = warning.path.starts(withText: "/") ? warning.path : "\(store.location)/\(warning.path)"
        let remedy = warning.advice.commandLineText
        switch (warning.severity, warning.advice) {
        case (.damage, _): findings.problem(.objects, warning.message, path: path, remedy: remedy)
        case (.notice, .completeRotation): findings.warning(.rotation, warning.message, path: path, remedy: remedy)
        case (.notice, _): findings.warning(.objects, warning.message, path: path, remedy: remedy)
        }
    }

    private func add(_ lease: HeldLease, _ database: String?, _ clock: Date, into findings: inout Findings) {
        let subject =
            if lease.isPruning {
                "removing from the repository"
            } else {
                (lease.isFollower ? "following" : "writing snapshots of") + " '\(database ?? "a new database")'"
            }
        let process = "process \(lease.process) on \(lease.host)"
        let age = Format.duration(max(0, clock.timeIntervalSince(lease.renewed)))
        let path = "\(store.location)/\(lease.object)"
        switch lease.holder {
        case .alive, .remote: findings.ok(.lease, "\(subject): \(process), renewed \(age) ago", path: path)
        case .stopped:
            findings.problem(
                .lease, "\(subject): \(process), which is stopped", path: path,
                remedy: "Resume it (kill -CONT \(lease.process)) or terminate it: others wait for its lease.")
        case .dead:
            findings.warning(
                .lease, "\(subject): \(process), which has ended without releasing its lease", path: path,
                remedy:
                    "The next writer on this machine takes it over; one on another machine 10 minutes after its last "
                    + "renewal.")
        case .expired:
            findings.warning(
                .lease, "\(subject): \(process), renewed \(age) ago", path: path,
                remedy: "The next writer takes it over. Find out why that process does not renew it.")
        }
    }
}
