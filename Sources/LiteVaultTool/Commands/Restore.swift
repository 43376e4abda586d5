internal import ArgumentParser
internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultSystem

struct Restore: VaultCommand {
    static let configuration = configured(
        "restore", "Restore a database from a repository.",
        """
        Needs no database key. Restores the newest snapshot, the one with a given ID, or the state at a given time. \
        Every block is checked against its hash, and DEST appears only when it is complete. It has the key that the \
        database had at that time. If segments of the followed log that are needed for that time are missing or \
        damaged, nothing is restored, the exit status is 65, and the newest time that can be restored is shown. \
        With --in-place, DEST is replaced in one step, unless a process has it open; until then it stays complete and unchanged.
        A keyring that the snapshot carries is restored beside DEST (DEST.keys), and opens with the slots of its time. \
        An existing keyring stays, unless --replace-keyring is given.
        """,
        examples: [
            "litevault restore --repository /backup/vaults --database vault.db new.db",
            "litevault restore --repository /backup/vaults --snapshot 3f2a90c1 new.db",
            "litevault restore --repository r --at 2026-11-21T12:30:00Z new.db",
            "litevault restore --repository s3://b/v --if-missing --if-backed-up app.db",
            "litevault restore --repository r --at '2026-11-21 13:30 local' --in-place \\",
            "    --delta --keep-original old.db vault.db",
        ])

    @Argument(path: "The file to create. It must not exist, except with --in-place and --if-missing.")
    var dest: String?

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(name: .shortAndLong, help: .init("The database, if the repository has several.", valueName: "name"))
    var database: String?

    @Option(help: .init("The snapshot: the start of its ID, or 'latest' (default).", valueName: "id"))
    var snapshot: String?

    @Option(
        help: .init(
            "Restore the state at this time: UTC without a zone, local time with 'local' after it, 'latest', or "
                + "'latest-reachable', the newest without missing segments.",
            valueName: "time"),
        transform: TimeArgument.selection(parsing:))
    var at: SnapshotSelection?

    @Flag(help: "Replace DEST, in one step. No process may have it open.")
    var inPlace = false

    @Option(path: "With --in-place: keep the replaced database here, on the same file system.")
    var keepOriginal: String?

    @Flag(help: "With --in-place: fetch only the blocks that differ from those of DEST.")
    var delta = false

    @Flag(help: "Succeed without doing anything if DEST exists (for container start-up).")
    var ifMissing = false

    @Flag(
        help: .init(
            "Succeed without doing anything if the repository has no snapshot of the database, or does not exist yet (for "
                + "the first start of a container)."))
    var ifBackedUp = false

    @Option(
        help: .init(
            "Maximum number of concurrent requests to the store (default: as many as 32 MiB of blocks take; 16 for manifests and segments).",
            valueName: "n"))
    var parallel: Int?

    @Flag(help: "Restore nothing: show what would be restored.")
    var dryRun = false

    @Flag(help: "Write the database to standard output, instead of to DEST.")
    var toStdout = false

    @Flag(
        help: "Replace the keyring beside DEST with that of the snapshot; the other one is kept as DEST.keys.replaced.")
    var replaceKeyring = false

    @Option(path: "Write the keyring of the snapshot to this new file, not beside DEST.")
    var keyringTo: String?

    @Flag(help: "Do not restore a keyring.")
    var noKeyring = false

    @OptionGroup var ownership: OwnerOption

    @Flag(help: "Verify the restored database with its key before it appears as DEST.")
    var verifyWithKey = false

    @OptionGroup(title: "Key of the database (with --verify-with-key)") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "Cipher settings of the database") var read: CipherOptions<ReadSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if at != nil, snapshot != nil { throw ValidationError("--snapshot cannot be combined with --at") }
        if delta || keepOriginal != nil, !inPlace {
            throw ValidationError("--delta and --keep-original require --in-place")
        }
        if [replaceKeyring, keyringTo != nil, noKeyring].count(where: { $0 }) > 1 {
            throw ValidationError("--replace-keyring, --keyring-to and --no-keyring exclude each other")
        }
        if replaceKeyring, toStdout { throw ValidationError("--to-stdout goes with --keyring-to only") }
        if ifBackedUp, snapshot != nil { throw ValidationError("--if-backed-up cannot be combined with --snapshot") }
        if let parallel, parallel < 1 { throw ValidationError("--parallel needs a number of 1 or more") }
        if inPlace, ifMissing { throw ValidationError("--in-place cannot be combined with --if-missing") }
        if toStdout {
            if ownership.owner != nil, keyringTo == nil {
                throw ValidationError("with --to-stdout, --owner is for the file of --keyring-to")
            }
            if dest != nil { throw ValidationError("--to-stdout takes no DEST") }
            // An empty standard output would look like an empty database.
            if output.json || inPlace || ifMissing || ifBackedUp || dryRun {
                throw ValidationError(
                    "--to-stdout cannot be combined with --json, --in-place, --if-missing, --if-backed-up or --dry-run")
            }
        } else if dest == nil, !dryRun {
            throw ValidationError("missing argument DEST")
        }
    }

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret, key)
        try ownership.check()
        if ifMissing, let dest, try Preflight.isPresent(dest) {
            return unneeded("destination-exists", "\(Format.visible(dest)) exists")
        }
        if let dest, !inPlace, !dryRun { try Preflight.requireAbsent(dest) }
        try Preflight.requireDistinct([
            ("DEST", dest), ("--keep-original", keepOriginal), ("--keyring-to", keyringTo),
        ])
        do { return try restore(session) } catch let error as VaultError
            where error.cause is NoSnapshotError && ifBackedUp
        {
            return unneeded("no-snapshot", error.message.prefix(1).uppercased() + error.message.dropFirst())
        }
    }

    /// The result of a restore that had nothing to do.
    private func unneeded(_ reason: String, _ text: String) -> Report {
        var report = Report([
            "repository": repository.location, "destination": dest, "restored": false, "reason": reason,
        ])
        report.appendLine("\(text): nothing was restored.")
        return report
    }

    private func restore(_ session: Session) throws -> Report {
        let opened = try session.repository(repository, parallel: parallel)
        let warnings = WarningList()
        let (name, selection) = (database, at ?? SnapshotSelection(id: snapshot))
        if dryRun {
            let found = try runBlocking {
                try await opened.planRestore(selection, database: name, warning: warnings.add)
            }
            return report(found, opened, selection, warnings, session)
        }
        var options = RestoreOptions()
        options.replacesExisting = inPlace
        options.originalPath = keepOriginal
        options.reusesExisting = delta
        // Standard output has no place beside it.
        options.keyring =
            keyringTo.map { .file($0) }
            ?? (replaceKeyring ? .replacing : noKeyring || toStdout ? .none : .besideDatabase)
        options.owner = try ownership.fileOwner()
        options.progress = session.backupProgress
        if verifyWithKey {
            let keys = try verificationKeys(session) {
                try runBlocking { try await opened.planRestore(selection, database: name) }.snapshot.isPlaintext
            }
            options.verify = try verification(keys, session)
        }
        let chosen = options
        let temporary = try toStdout ? TemporaryRestore(in: repository.stores.directories.spool) : nil
        let path = temporary?.file ?? dest ?? ""
        let found = try runBlocking {
            try await opened.restore(selection, database: name, to: path, options: chosen, warning: warnings.add)
        }
        guard let temporary else {
            return report(found, opened, selection, warnings, session)
        }
        try temporary.write(to: session.terminal)
        var report = report(found, opened, selection, warnings, session)
        // Standard output has the database.
        for line in report.takeLines() where !output.quiet { session.terminal.printMessage(line) }
        return report
    }

    /// The keys that the options name, or the one that a person types: before a restore that may take hours.
    ///
    /// - Parameter isPlaintext: whether the chosen snapshot is: it needs no key. Called only without a key.
    /// - Throws: `key-rejected` without a key.
    private func verificationKeys(_ session: Session, isPlaintext: () throws -> Bool) throws -> [DatabaseKey] {
        let subject = database ?? dest ?? repository.location
        let keys = try session.keysIfGiven(key, for: subject)
        if keys.isEmpty, try isPlaintext() { return [] }
        try Preflight.requireEncryption()
        return keys.isEmpty ? [try session.key(key, for: subject)] : keys
    }

    /// Verifies a file with the first of the keys that opens it.
    private func verification(
        _ keys: [DatabaseKey], _ session: Session
    ) throws -> @Sendable (String) throws -> Void {
        let settings = try read.settings()
        let name = dest ?? database ?? repository.location
        let reporter = session.reporter
        return { path in
            let file = DatabaseFile(path)
            let isPlain = try file.kind() == .plain
            guard isPlain || !keys.isEmpty else {
                throw Failure(.keyRejected, "no key given to verify the database with", remedy: "Use --key-file PATH.")
            }
            let found: DatabaseFile.VerificationReport
            do { found = try Self.verify(file, isPlain ? [] : keys, settings) } catch let error as VaultError {
                // It has its temporary name, which nobody else knows.
                throw error.code == .keyRejected && !keys.isEmpty ? error.olderKey(name) : error.at(name)
            }
            if let problem = found.problems.first {
                throw Failure(
                    .damaged, "the restored database is damaged, and was discarded: \(problem.message)",
                    remedy: "Restore another snapshot, or run 'litevault check --read-data'.")
            }
            for one in found.unchecked.prefix(20) { reporter.warning("not verified: \(one.message)", path: name) }
        }
    }

    /// Verifies with the first of the keys that opens the file.
    private static func verify(
        _ file: DatabaseFile, _ keys: [DatabaseKey], _ settings: CipherSettings
    ) throws -> DatabaseFile.VerificationReport {
        let progress: DatabaseFile.Progress.Report = { _ in try Interruption.shared.check() }
        for key in keys.dropLast() {
            do { return try file.verify(key: key, settings: settings, progress: progress) } catch let error
                as VaultError where error.code == .keyRejected
            {
                continue
            }
        }
        return try file.verify(key: keys.last, settings: settings, progress: progress)
    }

    private func report(
        _ found: RestoreResult, _ opened: Repository, _ selection: SnapshotSelection, _ warnings: WarningList,
        _ session: Session
    ) -> Report {
        let (snapshot, logUntil) = (found.snapshot, found.segmentsUntil)
        let state = logUntil ?? snapshot.time
        let keyring = found.keyring.map { RestoredKeyringResult($0, of: snapshot) }
        let members: Members = [
            "repository": repository.location, "authenticated": opened.isAuthenticated, "snapshot": snapshot.id,
            "database": snapshot.database, "time": Format.exactTime(snapshot.time),
            "log_until": logUntil.map(Format.exactTime), "wanted": selection.wanted(snapshot),
            "reached": Format.exactTime(state), "joined_seconds": found.granularity?.seconds,
            "next_reachable": (found.granularity?.until).map(Format.exactTime), "destination": dest,
            "dry_run": dryRun, "restored": !dryRun, "replaced": found.replaced,
            "original": found.replaced ? keepOriginal : nil, "segments": found.segments.count,
            "segment_bytes": found.segments.bytes, "fetched": found.fetched, "reused": found.reused,
            "image_size": snapshot.size, "keyring": Nullable(keyring?.members),
        ]
        let what =
            "snapshot \(snapshot.id) of '\(Format.visible(snapshot.database))', taken \(Format.exactTime(snapshot.time))"
        var report: Report
        if dryRun {
            report = Report(members)
            report.appendLine("Would restore \(what): \(Format.size(snapshot.size)).")
        } else if let dest {
            let file = WrittenFile(dest, session)
            report = Report(members, file.members)
            report.appendLine("Restored \(what), to \(Format.visible(dest)): \(file.summary).")
        } else {
            report = Report(members)
            report.appendLine("Restored \(what), to standard output.")
        }
        if found.replaced, let keepOriginal {
            report.appendLine("The replaced database is \(Format.visible(keepOriginal)).")
        }
        if delta {
            report.appendLine("Fetched \(Format.size(found.fetched)); \(Format.size(found.reused)) were there already.")
        }
        if let logUntil {
            report.appendLine(
                "The followed log \(dryRun ? "leads" : "was applied until") \(dryRun ? "to " : "")"
                    + "\(Format.exactTime(logUntil)): \(Format.count(found.segments.count, "segment")).")
        }
        if case .at(let time) = selection {
            report.appendLine(
                "Wanted: \(Format.exactTime(time)). Restored: \(Format.exactTime(state))"
                    + (time > state ? ", the last state dated before it in the repository." : "."))
        }
        if let joined = found.granularity {
            report.appendLine(
                "The commits from there until \(Format.exactTime(joined.until)) are joined "
                    + "(\(joined.seconds) s): they can no longer be restored one by one.")
        }
        keyring?.add(to: &report, session)
        // Warnings concern other objects: this snapshot is intact.
        session.add(warnings.all, of: repository.location, after: nil, to: &report)
        if !dryRun { report.appendLine("Every block matches its hash; \(SnapshotSummary.protection(opened)).") }
        return report
    }
}

/// A directory for one restored file, removed with this object.
private final class TemporaryRestore: Sendable {
    private let directory: WorkDirectory
    var file: String { directory.path + "/restored.db" }

    init(in parent: String?) throws {
        do {
            if let parent { try LocalDirectory.create(parent) }
            directory = try WorkDirectory(for: "restored", in: parent ?? LocalDirectories.temporary())
        } catch {
            let path = parent ?? FileManager.default.temporaryDirectory.path
            throw Failure(
                .cannotCreate, "no directory can be created in it", path: path, remedy: "Use --spool-directory.")
        }
    }

    /// Writes the file to standard output.
    ///
    /// - Throws: `io` or `no-space`, also if the reader closes the pipe: it did not get all.
    func write(to terminal: Terminal) throws {
        let file = try InputFile(path: self.file)
        while case let bytes = try file.read(upTo: 1 << 20), !bytes.isEmpty {
            try Interruption.shared.check()
            guard try bytes.withUnsafeBytes({ try terminal.writeResult($0) }) else {
                throw Failure(.inputOutput, "the reader of standard output has closed it before the end")
            }
        }
    }
}
