internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSchedule
internal import LiteVaultSystem

/// Puts the units of a configuration in place, and has the service run its jobs.
package struct UnitInstallation: Sendable {
    package struct Unit {
        let path: String
        /// Whether its file is a new one, or has another text than before.
        let changed: Bool

        package init(path: String, changed: Bool) { (self.path, self.changed) = (path, changed) }

        var members: Members { ["path": path, "changed": changed] }
    }

    struct File {
        let path: String
        let text: String

        var members: Members { ["path": path, "text": text] }
    }

    let units: SystemdUnits
    private let configuration: ScheduleConfiguration
    let systemd = ServiceManager()
    /// How long a service that follows logs may take to follow all of them.
    private static let patience = Duration.seconds(60)

    private var service: String { "\(units.name).service" }
    private var stateDirectory: String {
        configuration.stateDirectory ?? StateFile.serviceDirectory(units.directoryName)
    }

    init(_ configuration: ScheduleConfiguration, _ options: UnitOptions) throws {
        self.configuration = configuration
        let present = try systemd.text(of: "\(options.name).service").flatMap { ServiceManager.isOurs($0) ? $0 : nil }
        units = try options.units(configuration, as: present)
    }

    /// Finds what would stop the installation. Nothing is written.
    ///
    /// - Returns: what could not be found out of other services.
    /// - Throws: `unsupported` without systemd; `no-input` for a user, program or credential that does not exist; `conflict` for units of
    ///   others.
    func require() throws -> [Doubt] {
        _ = try account
        guard access(units.tool, X_OK) == 0 else {
            throw Failure(.noInput, "is not a program", path: units.tool, remedy: "Name it with --tool.")
        }
        for name in SystemdUnits.credentials(configuration) {
            let path = "/etc/credstore.encrypted/\(name)"
            guard !FileManager.default.fileExists(atPath: path) else { continue }
            throw Failure(
                .noInput, "the credential that the configuration refers to does not exist", path: path,
                remedy: "Make it: systemd-creds encrypt --name=\(name) FILE \(path)")
        }
        let doubts = try requireAlone()
        try systemd.reload()
        for (unit, _) in units.files { try systemd.requireFree(unit) }
        return doubts
    }

    /// Something of another service that could not be found out.
    struct Doubt {
        let message: String
        let path: String?
    }

    /// Makes sure that no other service runs the configuration, and that none of another user has the same state.
    ///
    /// A service of a package, and an instance of a template, counts if it is enabled or runs: otherwise it is one to choose.
    ///
    /// - Returns: the services of which that cannot be said.
    /// - Throws: `conflict`.
    func requireAlone() throws -> [Doubt] {
        var doubts: [Doubt] = []
        var running: [String] = []
        do { running = try systemd.activeInstances() } catch {
            try Interruption.shared.check()
            // Without systemd, nothing runs.
            if ServiceManager.isHere {
                let message = "which instances of templates run cannot be found out: \(Failure(error).message)"
                doubts.append(Doubt(message: message, path: nil))
            }
        }
        let others = InstalledService.all(running: running).filter { ![$0.name, $0.target].contains(units.name) }
        if let other = others.first(where: { $0.runs(configuration.name) && isWanted($0) }) {
            throw Failure(
                .conflict,
                "the service \(other.name).service\(other.isOwn ? "" : " (\(other.path))") runs this configuration: "
                    + "a second one would run its jobs twice",
                path: configuration.name, remedy: Self.remedy(other))
        }
        for other in others where !other.doubts.isEmpty && isWanted(other) {
            doubts += other.doubts.map { reason in
                Doubt(
                    message: "whether \(other.name).service runs this configuration, too, cannot be found out: "
                        + reason,
                    path: other.path)
            }
        }
        let user = InstalledService.user(of: units.name, units.user)
        let sharing = others.first {
            $0.directoryName == units.directoryName && $0.user != user && isWanted($0)
        }
        guard let other = sharing else { return doubts }
        let isOther = units.name == SystemdUnits.standardName
        throw Failure(
            .conflict,
            "the services \(units.name).service of \(user) and \(other.name).service of \(other.user) would share the state in "
                + StateFile.serviceDirectory(units.directoryName),
            path: other.path,
            remedy:
                "Remove \(isOther ? "the other service" : "this service"), and install it again, which gives it a state directory of its "
                + "own: \(isOther ? other.removal : InstalledService.removal(of: units.name))")
    }

    /// What to do about a service that runs the configuration.
    private static func remedy(_ other: InstalledService) -> String {
        // A unit with a name of its own can be installed under that.
        let units = "\(other.isOwn ? "To change it" : "To have units in its place"), give --name \(other.name)."
        let removal =
            "To replace it, \(other.isOwn && !other.isInstance ? "remove" : "disable") it first: \(other.removal)"
        return SystemdUnitName("\(other.name).service").isInstance ? removal : "\(units) \(removal)"
    }

    private func isWanted(_ service: InstalledService) -> Bool {
        (service.isOwn && !service.isInstance) || service.isEnabled || service.units.contains(where: systemd.isActive)
    }

    /// The account of the service's user; nil for root.
    private var account: (user: uid_t, group: gid_t)? {
        get throws {
            guard let user = units.user else { return nil }
            guard let found = getpwnam(user) else {
                throw Failure(.noInput, "there is no user '\(user)' here", remedy: "Give --user another name.")
            }
            return (found.pointee.pw_uid, found.pointee.pw_gid)
        }
    }

    // MARK: Files

    /// The units as they are written: with the mark behind the line that names the file.
    var files: [File] {
        units.files.map { unit, text in
            let head = "# \(unit)\n"
            let rest = String(decoding: text.utf8.dropFirst(head.utf8.count), as: UTF8.self)
            return File(path: "\(ServiceManager.directory)/\(unit)", text: head + ServiceManager.mark + "\n" + rest)
        }
    }

    /// The directories that the service writes to and that do not exist. Its sandbox makes a directory writable, and cannot make it.
    ///
    /// That of a repository which was used before is missing for a reason: its disk may not be mounted.
    func missingDirectories() -> [String] {
        let local = LocalDirectories(state: stateDirectory, cache: stateDirectory)
        let repositories = configuration.jobs.map(\.repository.location).filter { location in
            !location.contains("://") && !local.remembersRepository(in: DirectoryStore(location))
        }
        let own = [configuration.stateDirectory, configuration.metrics.map { LocalDirectory.parent(of: $0) }]
        let all = Set((repositories + own.compactMap(\.self)).map { ExactText($0) }).map(\.text)
        return all.filter { !FileManager.default.fileExists(atPath: $0) }.sorted()
    }

    /// Creates them, for the service's user.
    func createDirectories(_ record: InstallationRecord) throws {
        for path in missingDirectories() {
            try Interruption.shared.check()
            // As administrators make them: the service of another user has to get through to its own.
            try PublicText.createParents(of: path)
            try LocalDirectory.create(path)
            if let (user, group) = try account {
                // Not by its path: the owner of the directory above could have put a link in its place.
                let directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                defer { if directory >= 0 { close(directory) } }
                guard directory >= 0, fchown(directory, user, group) == 0 else {
                    let error = VaultError(errno: errno, "fchown", path: path)
                    // The next installation would take it for one of the user's.
                    if rmdir(path) != 0 { record.note { $0.directories.append(path) } }
                    throw error
                }
            }
            record.note { $0.directories.append(path) }
        }
    }

    /// Writes the units. What a configuration had that followed logs, or did not yet, is taken back: its timer, or the start of its service
    /// with the machine.
    func write(_ record: InstallationRecord) throws {
        for file in files {
            try Interruption.shared.check()
            let isPresent = try PublicText.isWritten(file.text, at: file.path)
            do {
                if !isPresent { try PublicText.write(file.text, to: file.path, replacing: true) }
                record.note { $0.units.append(.init(path: file.path, changed: !isPresent)) }
            } catch {
                // It may have got its name, and then failed to be synced.
                if (try? PublicText.isWritten(file.text, at: file.path)) == true {
                    record.note { $0.units.append(.init(path: file.path, changed: true)) }
                }
                throw error
            }
        }
        if let timer = try removedTimer() {
            try systemd.remove("\(units.name).timer")
            record.note { $0.removed.append(timer) }
        }
        try systemd.reload()
        if units.timer != nil { try systemd.disable(service) }
    }

    /// The timer that is removed, as the service now follows logs; nil if there is none.
    func removedTimer() throws -> String? {
        guard units.timer == nil, try systemd.text(of: "\(units.name).timer").map(ServiceManager.isOurs) == true
        else { return nil }
        return "\(ServiceManager.directory)/\(units.name).timer"
    }

    /// Has the units started with the machine.
    func enable(_ record: InstallationRecord) throws {
        // It may have been enabled, and then not have answered in time.
        defer { if UnitFiles().isEnabled(units.starter) { record.note { $0.enabled = units.starter } } }
        try systemd.enable(units.starter)
    }

    /// The commands that remove the units; nil if none of them exists.
    var removal: String? {
        units.files.contains { FileManager.default.fileExists(atPath: "\(ServiceManager.directory)/\($0.unit)") }
            ? InstalledService.removal(of: units.name) : nil
    }

    // MARK: The first run

    /// What the jobs have done.
    struct Outcome {
        let ending: ServiceManager.Ending
        let jobs: [JobReport]
        let ran: Set<String>
        /// The end of the service's log, if that says more than the jobs.
        let log: [String]?
        /// Whether a service that follows logs follows all of them by now; true for any other.
        let isFollowing: Bool

        /// What went wrong.
        ///
        /// - Parameters:
        ///   - again: the command that repeats the installation.
        ///   - kept: what is true of the installation all the same: sentences.
        func failure(_ path: String, again: String, kept: String) -> Failure? {
            let failed = jobs.filter { ran.contains($0.job) && $0.isFailing }.map(\.job)
            let idle = jobs.filter { !ran.contains($0.job) }.map(\.job)
            let word = Quoting.shellWordWhereNeeded(path)
            let message: String
            let remedy: String
            if !failed.isEmpty || !ending.isSuccess {
                message =
                    failed.isEmpty
                    ? "the service failed (\(ending.result), status \(ending.status))"
                    : "\(Format.count(failed.count, "job")) failed: \(Format.list(failed))"
                remedy = "Fix what is listed above, then run '\(again)'."
            } else if !isFollowing {
                message = "the service runs, and does not follow all its databases yet"
                remedy = "'litevault schedule status \(word)' shows when it does."
            } else if !idle.isEmpty {
                message = "\(Format.count(idle.count, "job")) did not run: \(Format.list(idle))"
                remedy = "'litevault doctor \(word)' finds what keeps a job from running."
            } else {
                return nil
            }
            return Failure(.jobFailed, message, path: path, remedy: "\(remedy) \(kept)")
        }
    }

    /// Starts the service, waits for the jobs, and tells what they have done. A service that follows logs runs on.
    func run(_ record: InstallationRecord) throws -> Outcome {
        let before = try starts()
        try state().requestRun()
        let began = Date()
        let follows = units.timer == nil
        var ending = try systemd.start(service, runsOn: follows) { record.note { $0.started = service } }
        let deadline = Deadline(in: Self.patience)
        var isFollowing = !follows
        while follows, !deadline.isOver {
            let shown = try systemd.state(of: service)
            guard shown.isActive || (shown.isChanging && !shown.isRestarting) else {
                // A service that runs has no result yet.
                ending = shown.ending.isSuccess ? .init(result: "ended", status: shown.ending.status) : shown.ending
                break
            }
            isFollowing = try hasFollowedAll(since: before)
            if isFollowing { break }
            try Interruption.shared.check()
            SystemThread.sleep(seconds: 0.2)
        }
        let state = try state()
        let after = try starts()
        let ran = Set(configuration.jobs.map(\.name).filter { after[$0] != nil && after[$0] != before[$0] })
        let jobs = try JobReport.all(of: configuration, state, nil, configured: began)
        // The jobs say why they have failed; what kept them from running is in the log alone.
        let isExplained = jobs.contains { ran.contains($0.job) && !$0.failures.isEmpty }
        let log = ending.isSuccess || isExplained ? nil : systemd.log(service, since: began)
        return Outcome(ending: ending, jobs: jobs, ran: ran, log: log, isFollowing: isFollowing || !ending.isSuccess)
    }

    private func state() throws -> StateFile {
        try StateFile(directory: stateDirectory, configuration: configuration.name)
    }

    private func starts() throws -> [String: Double] {
        let state = try state()
        let pairs = configuration.jobs.compactMap { job in
            state.job(job.name)?.lastStart.map { (job.name, $0) }
        }
        return Dictionary(pairs) { $1 }
    }

    private func hasFollowedAll(since before: [String: Double]) throws -> Bool {
        let (state, starts) = (try state(), try starts())
        return configuration.jobs.allSatisfy { job in
            guard let start = starts[job.name], start != before[job.name] else { return false }
            guard job.follows else { return true }
            guard let following = state.job(job.name)?.following, following.isRunning == true else { return false }
            // A database that nobody has open has no log to follow, and waits.
            return following.databases.allSatisfy { ![.starting, .attached].contains($0.phase) || $0.isFailing }
        }
    }
}

/// What an installation has done so far. Each entry was observed: a step that failed adds only what it is known to have done.
package struct InstallationSteps {
    /// The path of the configuration that was written.
    package var configuration: String?
    package var directories: [String] = []
    /// The units, written or found up to date.
    package var units: [UnitInstallation.Unit] = []
    package var removed: [String] = []
    package var enabled: String?
    /// The service that systemd was asked to start.
    package var started: String?

    package init() {}

    private var written: [String] { [configuration].compactMap(\.self) + units.filter(\.changed).map(\.path) }

    /// What was done and found, as phrases.
    var phrases: [String] {
        var phrases: [String] = []
        func add(_ items: [String], _ verb: String) {
            guard !items.isEmpty else { return }
            phrases.append("\(Format.list(items)) \(items.count == 1 ? "was" : "were") \(verb)")
        }
        add(written, "written")
        add(units.filter { !$0.changed }.map(\.path), "up to date")
        add(directories, "created")
        add(removed, "removed")
        add([enabled].compactMap(\.self), "enabled")
        if let started { phrases.append("systemd was asked to start \(started)") }
        return phrases
    }

    /// The failure of a step, with what was done before it, how to complete the installation and how to remove it.
    ///
    /// - Parameters:
    ///   - again: the command that completes it.
    ///   - removal: the commands that remove the units; nil if none of them exists.
    package func completing(_ failure: Failure, again: String, removal: String?) -> Failure {
        guard !phrases.isEmpty else { return failure }
        var failure = failure
        let done = Format.list(phrases)
        // Or the path would count as named.
        if let path = failure.path, containsText(done, path), !containsText(failure.message, path) {
            failure.message = "\(path): \(failure.message)"
        }
        failure.message += "; before that, \(done)"
        let remedies = [
            failure.remedy, "To complete the installation, run '\(again)'.", self.removal(removal),
        ]
        failure.remedy = remedies.compactMap(\.self).joined(separator: " ")
        return failure
    }

    /// What was done before a signal asked for the end; nil if nothing was.
    ///
    /// - Parameters:
    ///   - unanswered: the call of systemd that was ended before it had answered, or runs.
    ///   - again: the command that completes the installation.
    ///   - status: the command that shows what the jobs do.
    ///   - removal: the commands that remove the units; nil if none of them exists.
    package func interruption(
        unanswered: String?, again: String, status: String, removal: String?
    ) -> (message: String, remedy: String)? {
        guard !phrases.isEmpty else { return nil }
        var message = "\(Format.list(phrases))"
        if let unanswered { message += "; '\(unanswered)' had not answered, and may take effect yet" }
        let next =
            started == nil
            ? "To complete the installation, run '\(again)'." : "Its jobs were not waited for: '\(status)' shows them."
        return (message, [next, self.removal(removal)].compactMap(\.self).joined(separator: " "))
    }

    /// How to remove the installation: its units, and the configuration if this run has written it.
    ///
    /// - Parameter units: the commands that remove the units; nil if none of them exists.
    func removal(_ units: String?) -> String? {
        let file = configuration.map(Quoting.shellWordWhereNeeded)
        let commands = [units, file.map { "rm \($0)" }].compactMap(\.self)
        return commands.isEmpty ? nil : "To remove it instead: \(commands.joined(separator: "; "))"
    }
}

/// The steps of an installation, which the thread of signals may show at any time.
package final class InstallationRecord: Sendable {
    private let state = Locked(InstallationSteps())
    private let isAnnounced = Locked(false)

    package init() {}

    /// What was done so far.
    var steps: InstallationSteps { state.value }

    /// Adds what was done, once that was observed.
    package func note(_ change: (inout InstallationSteps) -> Void) { state.withLock(change) }

    /// Shows what was done, once. Another thread that asks for it meanwhile waits until it was shown.
    package func announce(_ show: (InstallationSteps) -> Void) {
        isAnnounced.withLock { isAnnounced in
            guard !isAnnounced else { return }
            isAnnounced = true
            show(steps)
        }
    }
}
