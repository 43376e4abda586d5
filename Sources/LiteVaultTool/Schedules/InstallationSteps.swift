internal import LiteVaultQuoting
internal import LiteVaultSystem

/// What an installation has done so far. Each entry was observed: a step that failed adds only what it is known to have done.
struct InstallationSteps {
    /// The path of the configuration that was written.
    var configuration: String?
    /// The directories that were created.
    var directories: [String] = []
    /// The units, written or found up to date.
    var units: [UnitInstallation.Unit] = []
    /// The units that were removed.
    var removed: [String] = []
    /// The unit that systemd has enabled.
    var enabled: String?
    /// The service that systemd was asked to start.
    var started: String?

    /// The files that were written.
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
    func completing(_ failure: Failure, again: String, removal: String?) -> Failure {
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
    func interruption(
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
final class InstallationRecord: Sendable {
    private let state = Locked(InstallationSteps())
    private let isAnnounced = Locked(false)

    /// What was done so far.
    var steps: InstallationSteps { state.value }

    /// Adds what was done, once that was observed.
    func note(_ change: (inout InstallationSteps) -> Void) { state.withLock(change) }

    /// Shows what was done, once. Another thread that asks for it meanwhile waits until it was shown.
    func announce(_ show: (InstallationSteps) -> Void) {
        isAnnounced.withLock { isAnnounced in
            guard !isAnnounced else { return }
            isAnnounced = true
            show(steps)
        }
    }
}
