internal import LiteVaultQuoting
internal import LiteVaultSystem

/// systemd as it runs here, by its commands `systemctl` and `journalctl`.
package struct ServiceManager: Sendable {
    /// The directory of the administrator's units.
    static let directory = "/etc/systemd/system"
    /// The second line of a unit that 'schedule install' has written.
    package static let mark =
        "# Made by 'litevault schedule install', which replaces it: your own settings belong in a drop-in."

    /// How long one call of a command may take. Reading all units again takes longest: seconds, on a machine with very many.
    package var limit = Duration.seconds(60)
    /// The command that speaks to systemd.
    package var command = "systemctl"
    /// The call that runs, or was ended before it had answered: what it asked for may be done all the same.
    let unanswered = Locked<String?>(nil)

    package init() {}

    package struct Ending {
        /// systemd's word for it: `success`, `exit-code`, `signal`, `timeout`, …
        let result: String
        /// The exit status of its process; 0 if none has ended.
        let status: Int

        var members: Members { ["result": result, "status": status] }
        var isSuccess: Bool { result == "success" }
    }

    /// What systemd says of a unit.
    struct State {
        fileprivate let values: [String: String]

        var isActive: Bool { ["active", "reloading"].contains(values["ActiveState"] ?? "") && !isRestarting }
        /// Whether it is being started or stopped, or waits for another start.
        var isChanging: Bool { ["activating", "deactivating"].contains(values["ActiveState"] ?? "") }
        /// Whether something is to be done with it yet: it is being started or stopped, or waits for that.
        var isUnsettled: Bool {
            !["", "0"].contains(values["Job"] ?? "") || (isChanging && !isRestarting)
        }
        /// Whether its conditions were looked at since `before`, and one was not met.
        func lacksCondition(since before: State) -> Bool {
            let key = "ConditionTimestampMonotonic"
            return values["ConditionResult"] == "no" && values[key] != before.values[key]
        }
        var isRestarting: Bool { values["SubState"] == "auto-restart" }
        /// What tells one start from another; nil if it was never started.
        var invocation: String? { values["InvocationID"].flatMap { $0.isEmpty ? nil : $0 } }
        /// The file that it was read from; nil if there is none.
        var path: String? { values["FragmentPath"].flatMap { $0.isEmpty ? nil : $0 } }
        var ending: Ending {
            Ending(
                result: values["Result"] ?? "unknown", status: values["ExecMainStatus"].flatMap { Int($0) } ?? 0)
        }
    }

    /// Whether systemd has started this machine.
    static var isHere: Bool { FileManager.default.fileExists(atPath: "/run/systemd/system") }

    /// Has systemd read all units again, which also shows whether it runs here and obeys this user.
    ///
    /// - Throws: `unsupported` without systemd, or for a user whom it does not obey.
    package func reload() throws {
        let (ending, text) = try run("systemctl", ["daemon-reload"])
        // In a chroot it does nothing, and succeeds.
        guard ending == .status(0), Self.isHere else {
            let reason = ending == .status(0) ? "/run/systemd/system does not exist" : Self.reason(text)
            throw Failure(
                .unsupported, "systemd does not run here, or does not obey this user: \(reason)",
                remedy: geteuid() == 0
                    ? "'litevault schedule print-units' has a line for cron." : "Run this command as root: with sudo.")
        }
    }

    /// What systemd says of a unit, which need not exist.
    func state(of unit: String) throws -> State {
        let names =
            "ActiveState,SubState,Result,ExecMainStatus,InvocationID,FragmentPath,Job,ConditionResult,"
            + "ConditionTimestampMonotonic"
        let shown = try require(["show", "--property=\(names)"], unit)
        let pairs = Self.lines(shown).compactMap { line -> (String, String)? in
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
        }
        return State(values: Dictionary(pairs) { $1 })
    }

    /// Whether a unit runs, or is being started. One that cannot be asked about does not.
    func isActive(_ unit: String) -> Bool {
        (try? state(of: unit)).map { $0.isActive || $0.isChanging } ?? false
    }

    /// The text of an administrator's unit; nil if it does not exist.
    func text(of unit: String) throws -> String? {
        let path = "\(Self.directory)/\(unit)"
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return String(decoding: try InputFile(path: path).read(upTo: 1 << 16), as: UTF8.self)
    }

    /// Whether 'schedule install' has written a text.
    static func isOurs(_ text: String) -> Bool { lines(text).dropFirst().first == mark }

    /// Makes sure that a unit may be written: nothing else has its name.
    ///
    /// - Throws: `conflict`.
    func requireFree(_ unit: String) throws {
        if let present = try text(of: unit) {
            guard !Self.isOurs(present) else { return }
            throw Failure(
                .conflict, "is a unit that 'schedule install' has not written", path: "\(Self.directory)/\(unit)",
                remedy: "Remove it if nothing in it is needed, or choose other names with --name.")
        }
        guard let other = try state(of: unit).path, !other.starts(withText: Self.directory + "/") else { return }
        // That of the package is meant to be replaced.
        let text = (try? InputFile(path: other).read(upTo: 1 << 16)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        guard unit.hasPrefix("litevault-") || text.contains("LiteVault") else {
            throw Failure(
                .conflict, "is a unit of other software", path: other, remedy: "Choose other names with --name.")
        }
    }

    /// Enables a unit: it is started whenever the machine starts. A timer is started now, too.
    package func enable(_ unit: String) throws {
        try require(unit.hasSuffix(".timer") ? ["enable", "--now", "--quiet"] : ["enable", "--quiet"], unit)
    }

    /// Has a unit no longer started when the machine starts. One that runs is left alone.
    func disable(_ unit: String) throws { try require(["disable", "--quiet"], unit) }

    /// Stops and removes a unit that 'schedule install' has written for another configuration.
    func remove(_ unit: String) throws {
        try require(["disable", "--now", "--quiet"], unit)
        let path = "\(Self.directory)/\(unit)"
        guard unlink(path) == 0 || errno == ENOENT else {
            throw Failure(
                .inputOutput, "the unit cannot be removed: \(String(cString: strerror(errno)))", path: path)
        }
    }

    /// Starts a service, after a run of it that has begun before.
    ///
    /// - Parameters:
    ///   - runsOn: whether it is a service that follows logs, and does not end by itself. Another one has ended when this returns.
    ///   - accepted: called once systemd has taken the order to start it.
    /// - Returns: how it ended, or that it runs.
    /// - Throws: `job-failed` if systemd did not start it.
    package func start(_ unit: String, runsOn: Bool, accepted: () -> Void = {}) throws -> Ending {
        if !runsOn {
            let present = try state(of: unit)
            // It was one that follows logs.
            if present.isActive || present.isRestarting { try require(["stop", "--no-block"], unit) }
            // Its timer may have just started it, perhaps before it was changed.
            _ = try settled(unit)
        }
        let before = try state(of: unit)
        let (ending, text) = try run("systemctl", [runsOn ? "restart" : "start", "--no-block", "--quiet", "--", unit])
        if ending == .status(0) { accepted() }
        let after = try settled(unit)
        guard after.invocation != nil, after.invocation != before.invocation else {
            let reason =
                ending != .status(0)
                ? Self.reason(text)
                : after.lacksCondition(since: before) ? "a condition is not met" : "a unit that it needs has failed"
            throw Failure(
                .jobFailed, "systemd did not start the service: \(reason)",
                path: unit,
                remedy: "'systemctl status \(unit)' says more.")
        }
        return after.ending
    }

    /// Waits until systemd has done what it was asked to do with a unit. A service that runs jobs may take hours, and no call lasts as long.
    private func settled(_ unit: String) throws -> State {
        var pause = Backoff(0.05...0.5)
        while true {
            let shown = try state(of: unit)
            guard shown.isUnsettled else { return shown }
            SystemThread.sleep(seconds: pause.next())
        }
    }

    /// The last lines that a unit has logged since a time.
    func log(_ unit: String, since time: Date) -> [String] {
        let seconds = Int64(time.timeIntervalSince1970)
        let arguments = [
            "--unit", unit, "--since", "@\(seconds)", "--no-pager", "--output=cat", "--lines=20", "--quiet",
        ]
        guard let (ending, text) = try? run("journalctl", arguments), ending == .status(0) else { return [] }
        return Self.lines(text)
    }

    /// The instances of templates that run, or are being started.
    func activeInstances() throws -> [String] {
        let shown = try require(
            ["list-units", "--type=service,timer", "--plain", "--no-legend", "--no-pager", "--full"], "*@*")
        return Self.lines(shown).compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    /// Calls systemctl for a unit, and takes its failure for that of an operation on it.
    @discardableResult
    private func require(_ arguments: [String], _ unit: String) throws -> String {
        let (ending, text) = try run("systemctl", arguments + ["--", unit])
        guard ending == .status(0) else {
            throw Failure(
                .unsupported, "'systemctl \(arguments[0])' failed: \(Self.reason(text))", path: unit,
                remedy: "'systemctl status \(unit)' says more.")
        }
        return text
    }

    private func run(_ command: String, _ arguments: [String]) throws -> (ChildProcess.Ending, String) {
        let words = ([command == "systemctl" ? self.command : command] + arguments).map(Quoting.shellWordWhereNeeded)
        var shell = ShellCommand(words.joined(separator: " ") + " 2>&1")
        shell.variables = ["LC_ALL": "C", "SYSTEMD_COLORS": "0"]
        shell.input = .null
        let output: CommandOutput
        try Interruption.shared.check()
        unanswered.withLock { $0 = "\(command) \(arguments[0])" }
        do throws(SystemError) {
            output = try shell.collect(limit: limit) { Interruption.shared.watch(child: $0, finishing: true) }
        } catch { throw Failure(.internal, "'\(command)' cannot be started: \(error)") }
        // After a signal it is given a short time. What it has answered within that is true; the next call, or step, is not begun.
        if case .status? = output.ending, !output.wasLate {
            unanswered.withLock { $0 = nil }
        } else {
            try Interruption.shared.check()
        }
        guard !output.wasLate else {
            throw Failure(
                .inputOutput,
                "systemd does not respond: '\(command) \(arguments[0])' was stopped after \(Int(limit.seconds)) seconds",
                remedy: "'systemctl list-jobs' and 'journalctl --boot' may say what it waits for.")
        }
        let text = output.bytes.withBytes { String(decoding: $0, as: UTF8.self) }
        return (output.ending ?? .status(-1), text)
    }

    /// The last line of what a command has printed.
    private static func reason(_ text: String) -> String {
        Format.visible(lines(text).last ?? "it has printed nothing")
    }

    private static func lines(_ text: String) -> [String] {
        text.utf8.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }
}
