internal import ArgumentParser
internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultKeyring
internal import LiteVaultSystem

/// A command of the tool. It returns a report; `Main` prints it and handles failures.
protocol VaultCommand: ParsableCommand {
    /// `--json`, `--quiet`, `--progress`.
    var output: OutputOptions { get }
    /// Whether messages on standard error are JSON even without `--json`.
    var logsJSON: Bool { get }
    func perform(_ session: Session) throws -> Report
}

extension VaultCommand {
    /// The name on the command line and in JSON output.
    static var name: String { _commandName }

    var logsJSON: Bool { false }

    /// Creates a configuration whose help ends with examples, and says where the exit statuses are.
    static func configured(
        _ name: String, _ abstract: String, _ discussion: String, examples: [String], usage: String? = nil
    ) -> CommandConfiguration {
        let lines = ["EXAMPLES:"] + examples.map { "  " + $0 }
        return CommandConfiguration(
            commandName: name, abstract: abstract, usage: usage,
            discussion: [discussion, lines.joined(separator: "\n"), ExitStatus.helpPointer].joined(separator: "\n\n"))
    }
}

/// The surroundings of a running command: terminal, reporter, keys and clock.
struct Session {
    let reporter: Reporter
    let keys: KeyReader
    /// When the command began, or a person last answered, by the system's uptime.
    private let start = Locked(ProcessInfo.processInfo.systemUptime)
    private let weakKeys = Locked<[Members]>([])
    /// The option that a passphrase with the form of a raw key lacks, if it is one.
    private let missingFormat = Locked<String?>(nil)

    init(_ reporter: Reporter) { (self.reporter, keys) = (reporter, KeyReader(reporter)) }

    var terminal: Terminal { reporter.terminal }

    /// The running time of the command in seconds, to the millisecond. Time spent waiting for a person does not count.
    var elapsed: Double { ((ProcessInfo.processInfo.systemUptime - start.value) * 1000).rounded() / 1000 }

    private func restartClock() { start.withLock { $0 = ProcessInfo.processInfo.systemUptime } }

    // MARK: Keys

    /// Removes keys from the environment before anything else runs, and finds conflicting options.
    func reserveKeySources<each Role: KeyRole>(_ options: repeat KeyOptions<each Role>) throws {
        repeat try keys.reserve((each options).source())
    }

    /// The key that the options name, or that a person types.
    ///
    /// - Parameters:
    ///   - settings: those that an existing database is encrypted with: they are needed to find out which key of a keyring it has.
    ///   - confirms: whether the key is about to be set, and has to be typed twice.
    ///   - trusted: the fingerprints of keyrings that are trusted for a key that is about to be set.
    /// - Throws: `usage` for more than one source, `key-rejected` without a key, and for a keyring that is not proven.
    func key<Role>(
        _ options: KeyOptions<Role>, for path: String, settings: CipherSettings = CipherSettings(),
        confirms: Bool = false, trusted: [KeyringFingerprint] = []
    ) throws -> DatabaseKey {
        if let key = try keyIfGiven(options, for: path, settings: settings, confirms: confirms, trusted: trusted) {
            return key
        }
        guard terminal.inputIsTerminal else {
            let names = ["file PATH", "fd N", "env NAME", "command CMD", "credential NAME"].map {
                "--\(Role.option)-\($0)"
            }
            let keyring = Keyring.path(beside: path)
            let isBeside = Role.Keyring.self != NoKeyring.self && (try? Keyring(keyring).slots()) != nil
            throw Failure(
                .keyRejected, "no \(Role.noun) given, and standard input is not a terminal",
                remedy: "Use " + names.dropLast().joined(separator: ", ") + " or \(names[4])."
                    + (isBeside ? " With --\(Role.prefix)keyring '\(keyring)', they give what opens that." : ""))
        }
        return try read(.prompt, options, path, confirms)
    }

    /// The key that the options name; nil if they name none. A person is not asked.
    func keyIfGiven<Role>(
        _ options: KeyOptions<Role>, for path: String, settings: CipherSettings = CipherSettings(),
        confirms: Bool = false, trusted: [KeyringFingerprint] = []
    ) throws -> DatabaseKey? {
        if options.keyring.path != nil || options.keyring.method != nil {
            return try keyringKey(options, for: path, settings, isNew: confirms, trusted: trusted)
        }
        return try options.source().map { try read($0, options, path, confirms) }
    }

    /// The key of a database that may be plaintext; nil if it is.
    ///
    /// - Parameter settings: those of the options, which are read once: the salt may come through a pipe.
    /// - Throws: `wrong-kind` if a key is given for a plaintext database or an empty file, `no-encryption` if the database is encrypted and the
    ///   engine does not encrypt.
    func keyIfEncrypted<Name>(
        _ database: DatabaseOptions<Name>, settings: CipherSettings
    ) throws -> DatabaseKey? {
        try keyIfEncrypted(database.key, for: database.path, DatabaseFile(database.path).kind(), settings: settings)
    }

    /// The key of a database that may be plaintext, by what its bytes show.
    ///
    /// - Parameters:
    ///   - settings: those that it is encrypted with.
    ///   - other: its key if the options name none; nil to ask for it.
    func keyIfEncrypted<Role>(
        _ options: KeyOptions<Role>, for path: String, _ kind: FileKind, settings: CipherSettings,
        or other: DatabaseKey? = nil
    ) throws -> DatabaseKey? {
        switch kind {
        case .plain, .empty:
            guard try !options.isGiven else { throw kind == .empty ? Failure.isEmpty(path) : .notEncrypted(path) }
            return nil
        case .notADatabase:
            // With a key it may turn out to be a database whose first page is damaged.
            guard let key = try keyIfGiven(options, for: path, settings: settings) else {
                throw Failure.notADatabase(path)
            }
            return key
        case .encryptedOrUnknown, .plaintextHeader:
            try Preflight.requireEncryption()
            guard let other else { return try key(options, for: path, settings: settings) }
            return try keyIfGiven(options, for: path, settings: settings) ?? other
        }
    }

    private func read<Role>(
        _ source: KeySource, _ options: KeyOptions<Role>, _ path: String, _ confirms: Bool
    ) throws -> DatabaseKey {
        let buffer = try readSecret(source, options, path, confirms: confirms)
        if options.format == .passphrase {
            if confirms { buffer.withBytes { warnIfWeak($0, path) } }
            let isRawKey = try buffer.withHexadecimal { $0.count == 32 || $0.count == 48 } ?? false
            if isRawKey { missingFormat.withLock { $0 = "--\(Role.option)-format hex" } }
        }
        return try buffer.databaseKey(options.format, from: source)
    }

    /// Adds to a rejected key's remedy that it has the form of a raw key, of whose format no option said anything.
    func nameFormat(in failure: inout Failure) {
        guard failure.code == .keyRejected, let option = missingFormat.value else { return }
        let hint = "The passphrase has the digits of a raw key: if it is one, add \(option)."
        failure.remedy = [failure.remedy, hint].compactMap(\.self).joined(separator: " ")
    }

    /// Warns of a passphrase about to be set that can be guessed. It is set all the same.
    private func warnIfWeak(_ passphrase: UnsafeRawBufferPointer, _ path: String) {
        guard !PassphraseRule.isMet(passphrase) else { return }
        let seconds = PassphraseRule.exhaustion(passphrase, rate: 10_000)
        let estimate: String? =
            switch seconds {
            case ..<3600: Format.count(max(1, Int((seconds / 60).rounded())), "minute")
            case ..<86_400: Format.count(Int((seconds / 3600).rounded()), "hour")
            case ..<31_536_000: Format.count(Int((seconds / 86_400).rounded()), "day")
            default: nil
            }
        let time = estimate.map { ": 10,000 guesses a second find it in \($0) at most" } ?? ""
        let (message, remedy) = ("the passphrase is weak\(time)", "Better: \(PassphraseRule.text)")
        reporter.warning("\(message). \(remedy)")
        let warning: Members = [
            "severity": "notice", "code": "weak-passphrase", "path": path, "message": message, "remedy": remedy,
        ]
        weakKeys.withLock { $0.append(warning) }
    }

    /// Adds the warnings of the keys that were set to a report. They were printed when the keys were read.
    func addKeyWarnings(to report: inout Report) { report.add(["warnings": weakKeys.value]) }

    /// The repository's secret that the options name; nil if they name none.
    func repositorySecret(
        _ options: KeyOptions<RepositorySecretRole>, for location: String
    ) throws -> RepositorySecret? {
        try options.source().map { source in
            try readSecret(source, options, location, confirms: false).repositorySecret(options.format)
        }
    }

    /// Reads the bytes of a key or secret. Time spent waiting for a person does not count.
    func readSecret<Role>(
        _ source: KeySource, _ options: KeyOptions<Role>, _ subject: String, confirms: Bool, noun: String? = nil
    ) throws -> SecretBuffer {
        let prompt = KeyPrompt(
            subject: "for \(Format.visible(subject))", confirms: confirms, terminal: terminal, noun: noun)
        defer { restartClock() }
        return try keys.read(source, format: options.format, prompt: prompt)
    }

    // MARK: Questions and progress

    /// Asks a person to confirm.
    ///
    /// - Parameter consented: whether `--yes` was given, and nothing is asked.
    /// - Throws: `usage` if there is nobody to ask, or the answer is negative.
    func confirm(_ question: String, consented: Bool) throws(Failure) {
        if consented { return }
        guard terminal.inputIsTerminal else {
            throw Failure(
                .usage, "confirmation required, but standard input is not a terminal",
                remedy: "Add --yes to confirm.")
        }
        let console = Console.open()
        defer { console.close() }
        // While it waits for a person, only the signal thread can end the process.
        let token = Interruption.shared.onEnd(immediately: true) {}
        defer { Interruption.shared.remove(token) }
        console.show(question + " [y/N] ")
        defer { restartClock() }
        let answer = console.readLine()?.trimmed.lowercased() ?? ""
        guard answer == "y" || answer == "yes" else {
            throw Failure(.usage, "not confirmed; nothing was changed")
        }
    }

    /// The progress handler of operations on databases. It stops them after a signal.
    var progress: DatabaseFile.Progress.Report {
        let reporter = reporter
        return { state in
            try Interruption.shared.check()
            reporter.progress(
                ProgressState(phase: state.phase.rawValue, done: state.completed, total: state.total ?? 0))
        }
    }

    /// The progress handler of operations on repositories. It stops them after a signal.
    var backupProgress: BackupProgress.Report {
        let (reporter, clock) = (reporter, ProgressClock())
        return { state in
            try Interruption.shared.check()
            let (phase, total) = (state.phase.rawValue, state.total ?? 0)
            let isBytes = [.capturing, .storing, .restoring].contains(state.phase)
            reporter.progress(
                ProgressState(
                    phase: phase, done: state.completed, total: total,
                    pace: isBytes ? clock.pace(phase, state.completed, of: total) : nil))
        }
    }
}

/// The members of a result about a file that a command wrote.
struct WrittenFile {
    private let size: Int64?
    private let seconds: Double
    /// Whether the file was read back and checked before it got its name.
    private let verified: Bool

    init(_ path: String, _ session: Session, verified: Bool = true) {
        size = Preflight.size(path)
        seconds = session.elapsed
        self.verified = verified
    }

    var members: Members { ["size": Nullable(size), "seconds": seconds, "verified": verified] }

    /// `8.4 MB in 0.91 s`.
    var summary: String {
        let size = size.map { "\(Format.size($0)) " } ?? ""
        return "\(size)in \(Format.duration(seconds))"
    }

    static let comparison = "Verified: the new file was read back and compared with the source, schema and every row."
}
