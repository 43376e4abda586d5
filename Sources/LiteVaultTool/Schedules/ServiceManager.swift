internal import LiteVaultFoundation
internal import LiteVaultQuoting
internal import LiteVaultSupport

/// systemd as it runs here, by its commands `systemctl` and `journalctl`.
struct ServiceManager {
    /// The directory of the administrator's units.
    static let folder = "/etc/systemd/system"

    /// How a service ended.
    struct Ending: Encodable {
        /// systemd's word for it: `success`, `exit-code`, `signal`, `timeout`, …
        let result: String
        /// The exit status of its process; 0 if none has ended.
        let status: Int

        var isSuccess: Bool { result == "success" }
    }

    /// Has systemd read all units again, which also shows whether it runs here and obeys this user.
    ///
    /// - Throws: `unsupported` without systemd, or for a user whom it does not obey.
    func reload() throws {
        let (ending, text) = try run("systemctl", ["daemon-reload"])
        guard ending == .status(0) else {
            throw Failure(
                .unsupported, "systemd does not run here, or does not obey this user: \(Self.reason(text))",
                remedy: geteuid() == 0
                    ? "'litevault schedule print-units' has a line for cron."
                    : "Run this command as root: with sudo."
            )
        }
    }

    /// Writes a unit.
    ///
    /// - Returns: whether the file was changed: one with the same text is left alone.
    /// - Throws: `conflict` for a file that this program has not written; `VaultError`.
    func write(_ text: String, unit: String) throws -> Bool {
        let path = "\(Self.folder)/\(unit)"
        let present = FileManager.default.fileExists(atPath: path) ? try InputFile(path: path).read(upTo: 1 << 16) : nil
        if present == Array(text.utf8) { return false }
        guard present.map({ $0.starts(with: "# \(unit)\n".utf8) }) ?? true else {
            throw Failure(
                .conflict, "is a unit that 'schedule install' has not written", path: path,
                remedy: "Choose other names with --name, or remove it.")
        }
        try PublicText.write(text, to: path, replacing: true)
        return true
    }

    /// Enables a unit: it is started whenever the machine starts. A timer is started now, too.
    func enable(_ unit: String) throws {
        let isTimer = unit.hasSuffix(".timer")
        try require("systemctl", (isTimer ? ["enable", "--now"] : ["enable"]) + ["--quiet", unit], unit)
    }

    /// Starts a service. One of type `oneshot` has ended when this returns; if its timer has just started it, this waits for that run.
    ///
    /// - Parameter again: whether a service that runs is stopped before, so that it reads its configuration.
    /// - Returns: how it ended, or that it runs.
    func start(_ unit: String, again: Bool) throws -> Ending {
        // Its status is that of the job that starts the unit; the unit itself says more.
        _ = try run("systemctl", [again ? "restart" : "start", "--quiet", unit])
        let shown = try require("systemctl", ["show", "--property=Result,ExecMainStatus", unit], unit)
        let values = Dictionary(
            Self.lines(shown).compactMap { line -> (String, String)? in
                let parts = line.split(separator: "=", maxSplits: 1)
                return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
            }
        ) { $1 }
        return Ending(result: values["Result"] ?? "unknown", status: values["ExecMainStatus"].flatMap { Int($0) } ?? 0)
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

    /// Runs a command, and takes its failure for that of an operation on a unit.
    @discardableResult
    private func require(_ command: String, _ arguments: [String], _ unit: String) throws -> String {
        let (ending, text) = try run(command, arguments)
        guard ending == .status(0) else {
            throw Failure(
                .unsupported, "'\(command) \(arguments[0])' failed: \(Self.reason(text))", path: unit,
                remedy: "'systemctl status \(unit)' says more.")
        }
        return text
    }

    private func run(_ command: String, _ arguments: [String]) throws -> (ChildProcess.Ending, String) {
        let words = ([command] + arguments).map(Quoting.shellWordWhereNeeded)
        var shell = ShellCommand(words.joined(separator: " ") + " 2>&1")
        shell.variables = ["LC_ALL": "C", "SYSTEMD_COLORS": "0"]
        shell.input = .null
        let output: CommandOutput
        do throws(SpawnError) {
            output = try shell.collect(limit: nil) { child in
                Interruption.shared.watch(child: child)
                return { Interruption.shared.unwatch(child: child) }
            }
        } catch { throw Failure(.internal, "'\(command)' cannot be started: \(error)") }
        try Interruption.shared.check()
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
