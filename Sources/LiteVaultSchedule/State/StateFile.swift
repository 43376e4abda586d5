internal import Crypto
internal import LiteVaultBackup
internal import LiteVaultSystem

/// The state file of a configuration, replaced with each change, and the lock beside it that a process holds while it runs
/// jobs.
package final class StateFile: Sendable {
    package let path: String
    private let state: Locked<ScheduleState>
    /// The lock file, once ``lock()`` has locked it.
    private let held = Locked<LockFile?>(nil)

    /// Reads the state of the configuration at path `configuration` from a directory.
    ///
    /// - Throws: `VaultError` `damaged` if the file is not a state file.
    package init(directory: String, configuration: String) throws {
        path = Self.path(directory, configuration)
        state = Locked(try Self.read(path))
    }

    private static func path(_ directory: String, _ configuration: String) -> String {
        "\(directory)/schedule-\(digest(configuration)).json"
    }

    private static func digest(_ text: String) -> String {
        Array(SHA256.hash(data: Array(text.utf8)).prefix(8)).hexadecimal
    }

    /// The directory of the state of a service whose unit has `StateDirectory=NAME`.
    package static func serviceDirectory(_ name: String) -> String { "\(stateRoot)/\(name)" }

    /// The directories of the services' states, by the names that units have which are printed, installed and packaged.
    package static var serviceDirectories: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: stateRoot)) ?? []
        return names.filter { $0 == "litevault" || $0.hasPrefix("litevault-") }.map(serviceDirectory)
    }

    private static let stateRoot = "/var/lib"

    /// The directory that has the newest state of a configuration: a service and a person who looks at it have one each by default.
    ///
    /// - Returns: the first of `directories` if none of them has one.
    package static func newest(of configuration: String, in directories: [String]) -> String? {
        func time(_ directory: String) -> Double? {
            var status = stat()
            return stat(path(directory, configuration), &status) == 0 ? status.modified : nil
        }
        return directories.max { (time($0) ?? -.infinity) < (time($1) ?? -.infinity) }
            .flatMap { time($0) == nil ? directories.first : $0 }
    }

    private static func read(_ path: String) throws -> ScheduleState {
        try ScheduleState.stored(
            at: path,
            damage: (
                "the state file of the schedule is damaged",
                "Remove it: the times of the last backups are then read from the repositories."
            )) ?? ScheduleState()
    }

    /// Locks the schedule, until the process ends, so that no other process runs its jobs.
    ///
    /// - Throws: `VaultError` `busy` if another process runs them.
    package func lock() throws {
        try LocalDirectory.create(LocalDirectory.parent(of: path))
        let lockPath = path + ".lock"
        let lock: LockFile
        do throws(LockFile.Failure) {
            // ``runner`` holds it for a moment.
            lock = try LockFile(lockPath, timeout: .milliseconds(100))
        } catch {
            switch error {
            case .busy:
                throw VaultError(
                    .busy, "another process is running the jobs of this configuration", path: lockPath,
                    typedRemedy: ScheduleRemedy.waitForRun)
            case .notRegular:
                throw VaultError(
                    .damaged, "is not a regular file", path: lockPath,
                    remedy: "Find out what replaced it, and remove it: the next run creates it again.")
            case .cannotOpen(let cause): throw VaultError(errno: cause.code, "open", path: lockPath)
            case .cannotLock(let cause): throw VaultError(errno: cause.code, "flock", path: lockPath)
            }
        }
        held.withLock { $0 = lock }
        let card = Self.card()
        _ = pwrite(lock.descriptor, card, card.count, 0)
        // Another process may have run between reading and locking.
        let fresh = try Self.read(path)
        state.withLock { $0 = fresh }
    }

    /// The process that runs the jobs.
    package enum Runner: Sendable, Equatable {
        case none
        /// A process; nil if it cannot be identified here.
        case process(Int32?)
    }

    /// Whether a process runs the jobs. Nothing is written.
    ///
    /// - Throws: `VaultError` `io` if the lock file cannot be opened, `damaged` if it is not a regular file.
    package func runner() throws -> Runner {
        let file: LocalFile
        do { file = try LocalFile(reading: path + ".lock") } catch let error as VaultError
            where error.code == .missing
        { return .none }
        if try file.tryLock(isShared: true) { return .none }
        // Another process than the one that is named may hold it by now, or one of an earlier version, which names none.
        let card = try file.read(at: 0, count: Int(min(64, file.size())))
        let words = String(decoding: card, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 4, let process = Int32(words[0]), let start = UInt64(words[1]),
            let boot = UInt32(words[2]), let namespace = UInt32(words[3])
        else { return .process(nil) }
        let named = ProcessIdentity(process: process, start: start, boot: boot, namespace: namespace)
        return .process(named.state == .alive ? process : nil)
    }

    /// The identity of this process, always of the same length. For ``runner()`` only: the lock itself decides.
    private static func card() -> [UInt8] {
        let own = ProcessIdentity.current
        let text = "\(own.process) \(own.start) \(own.boot) \(own.namespace)"
        return Array(text.utf8.prefix(63)) + [UInt8](repeating: 32, count: max(0, 63 - text.utf8.count)) + [10]
    }

    /// Asks the process that runs the jobs next to run all of them at once, whether they are due or not.
    package func requestRun() throws {
        try LocalDirectory.create(LocalDirectory.parent(of: requestPath))
        try LocalFile.replace(requestPath, with: [])
    }

    /// Whether that was asked for. It is forgotten before the jobs run, so that a run that is killed repeats nothing.
    func takeRunRequest() -> Bool { unlink(requestPath) == 0 }

    private var requestPath: String { path + ".run" }

    /// The file that remembers which databases of a job are unchanged.
    func unchangedPath(_ job: String) -> String {
        "\(path.dropLast(".json".count))-\(Self.digest(job)).unchanged"
    }

    package func job(_ name: String) -> JobState? { state.withLock { $0.jobs[name] } }

    /// Whether the service that runs now has read another text of the configuration. Nothing is written.
    ///
    /// - Parameter configuration: as its file is now.
    /// - Throws: as ``runner()``.
    package func isOutdated(_ configuration: ScheduleConfiguration) throws -> Bool {
        guard let loaded = state.withLock({ $0.loadedDigest }), let text = configuration.text else { return false }
        return try loaded != Self.digest(text) && runner() != .none
    }

    /// Notes which configuration the process that holds the lock has read.
    package func noteLoaded(_ configuration: ScheduleConfiguration) throws {
        try change { $0.loadedDigest = configuration.text.map(Self.digest) }
    }

    package func update(_ name: String, _ change: (inout JobState) -> Void) throws {
        try self.change { change(&$0.jobs[name, default: JobState()]) }
    }

    private func change(_ change: (inout ScheduleState) -> Void) throws {
        try state.withLock { state in
            change(&state)
            try LocalDirectory.create(LocalDirectory.parent(of: path))
            try state.store(at: path)
        }
    }
}
