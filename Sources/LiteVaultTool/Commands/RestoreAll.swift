internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultFoundation

/// `litevault restore-all`: restores the databases of a repository as they were at one moment.
struct RestoreAll: VaultCommand {
    static let configuration = configured(
        "restore-all", "Restore all databases of a repository, as they were at one moment.",
        """
        Restores each database into the directory DIR, under its name in the repository, as 'restore' does: its newest \
        state, or with --at the last one before that time. Needs no database key. A database of which there was no \
        snapshot yet at that time is left out. DIR must be empty or absent. Databases that cannot be restored do not \
        keep others from being restored; the exit status is that of their failure. Only a full disk or a signal ends \
        the command: what has its name then is complete, and the same command with --if-missing restores the rest.
        """,
        examples: [
            "litevault restore-all --repository /backup/vaults restored",
            "litevault restore-all --repository r --at 2026-11-21T12:30:00Z restored",
            "litevault restore-all --repository r --database 'users/*' restored",
        ])

    @Argument(help: "The directory for the databases.", completion: .directory, transform: PathArgument.literal)
    var dir: String

    @OptionGroup(title: "Repository") var repository: RepositoryOptions

    @Option(
        help: .init(
            "Only databases with this name; * and ? match any text and character. Can be repeated.", valueName: "name"))
    var database: [String] = []

    @Option(
        help: .init(
            "The moment: UTC without a zone, local time with 'local' behind it, 'latest' (default), or "
                + "'latest-reachable'.",
            valueName: "time"),
        transform: TimeArgument.selection(parsing:))
    var at: SnapshotSelection?

    @Flag(help: "Skip databases that are in DIR already: continues a restore that was interrupted.")
    var ifMissing = false

    @Flag(help: "Restore nothing: show what would be restored.")
    var dryRun = false

    @Flag(help: "Do not restore keyrings.")
    var noKeyring = false

    @OptionGroup(title: "Output") var output: OutputOptions

    private enum State: String, Encodable { case restored, ready, present, absent, failed }

    private struct Item: Encodable {
        let database: String
        let state: State
        let destination: String?
        var snapshot: String?
        var time: String?
        var reached: String?
        var segments: Int?
        var imageSize: Int64?
        var code: String?
        var message: String?
        var remedy: String?
    }

    private struct Result: Encodable {
        let repository: String
        let authenticated: Bool
        let directory: String
        let wanted: String
        let dryRun: Bool
        let total: Int
        let restored: Int
        let present: Int
        let absent: Int
        let failed: Int
        let seconds: Double
        let items: [Item]
    }

    func validate() throws {
        // Otherwise the databases would be restored to the root directory.
        if dir.isEmpty { throw ValidationError("DIR is empty") }
    }

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(repository.secret)
        if !ifMissing { try requireEmpty() }
        let opened = try session.repository(repository)
        let warnings = WarningList()
        let names = try runBlocking {
            let found = try await opened.snapshots()
            found.warnings.forEach(warnings.add)
            return Set(found.map(\.database)).sorted()
        }
        let chosen = names.filter(isChosen)
        guard !chosen.isEmpty else {
            throw Failure(
                .noInput, database.isEmpty ? "the repository has no snapshot" : "no database has such a name",
                path: repository.location, remedy: "See 'litevault snapshots --repository \(repository.location)'.")
        }
        var items: [Item] = []
        for name in chosen {
            try Interruption.shared.check()
            items.append(try restore(name, from: opened, warnings, session))
        }
        return report(items, opened, warnings, session)
    }

    private func requireEmpty() throws(Failure) {
        guard let content = try? FileManager.default.contentsOfDirectory(atPath: dir) else {
            return try Preflight.requireAbsent(dir)
        }
        guard content.isEmpty else {
            throw Failure(
                .cannotCreate, "is not empty", path: dir,
                remedy: "Name another directory, or use --if-missing to restore only what is not there.")
        }
    }

    private func isChosen(_ name: String) -> Bool {
        database.isEmpty || database.contains { $0 == name || fnmatch($0, name, 0) == 0 }
    }

    /// Restores one database. Its failure is part of the result, unless it would be that of all others, too.
    ///
    /// - Throws: `no-space`, and what ends the command at a signal.
    private func restore(
        _ name: String, from opened: Repository, _ warnings: WarningList, _ session: Session
    ) throws -> Item {
        let selection = at ?? .latest
        do {
            let destination = try destination(of: name)
            if ifMissing, Preflight.size(destination) != nil {
                return Item(database: name, state: .present, destination: destination)
            }
            var options = RestoreOptions()
            options.keyring = noKeyring ? .none : .besideDatabase
            options.progress = session.backupProgress
            let (chosen, isDry) = (options, dryRun)
            let found = try runBlocking {
                if isDry { return try await opened.planRestore(selection, database: name, warning: warnings.add) }
                try Self.createDirectory(LocalDirectory.parent(of: destination))
                return try await opened.restore(
                    selection, database: name, to: destination, options: chosen, warning: warnings.add)
            }
            var item = Item(database: name, state: dryRun ? .ready : .restored, destination: destination)
            item.snapshot = found.snapshot.id
            item.time = Format.exactTime(found.snapshot.time)
            item.reached = Format.exactTime(found.segmentsUntil ?? found.snapshot.time)
            item.segments = found.segments.count
            item.imageSize = found.snapshot.size
            return item
        } catch {
            try Interruption.shared.check()
            let failure = Failure(error)
            // The next one would find no space, either.
            if failure.code == .noSpace { throw failure }
            if case .at = selection, failure.code == .noInput {
                return Item(database: name, state: .absent, destination: nil)
            }
            var item = Item(database: name, state: .failed, destination: nil)
            (item.code, item.message, item.remedy) = (failure.code.rawValue, failure.message, failure.remedy)
            return item
        }
    }

    private static func createDirectory(_ path: String) throws {
        do { try LocalDirectory.create(path) } catch let error as VaultError where error.code != .noSpace {
            throw Failure(
                .cannotCreate, "the directory cannot be created: \(error.message)", path: path,
                remedy: "Name another directory.")
        }
    }

    /// The path of a database in the directory.
    private func destination(of name: String) throws(Failure) -> String {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." || $0.utf8.contains(0) }) else {
            throw Failure(
                .cannotCreate, "the name leads out of the directory", path: name,
                remedy: "Restore it with 'litevault restore', to a path of your choice.")
        }
        guard !["-wal", "-shm", "-journal"].contains(where: name.hasSuffix) else {
            throw Failure(
                .cannotCreate, "SQLite would take it for a part of the database beside it", path: name,
                remedy: "Restore it with 'litevault restore', under another name.")
        }
        return dir + "/" + name
    }

    private func report(
        _ items: [Item], _ opened: Repository, _ warnings: WarningList, _ session: Session
    ) -> Report {
        func count(_ state: State) -> Int { items.count { $0.state == state } }
        let (done, failed) = (count(.restored) + count(.ready), count(.failed))
        let wanted: String =
            switch at {
            case .at(let time): Format.exactTime(time)
            case .latestReachable: "latest-reachable"
            default: "latest"
            }
        var report = Report(
            Result(
                repository: repository.location, authenticated: opened.isAuthenticated, directory: dir, wanted: wanted,
                dryRun: dryRun, total: items.count, restored: count(.restored), present: count(.present),
                absent: count(.absent), failed: failed, seconds: session.elapsed, items: items))
        for item in items {
            let text =
                switch item.state {
                case .restored, .ready: "\(item.reached ?? ""), \(Format.size(item.imageSize ?? 0))"
                case .present: "is there already"
                case .absent: "had no snapshot yet"
                case .failed: "failed: \(Format.visible(item.message ?? ""))"
                }
            report.appendLine("  \(Format.visible(item.database)): \(text)")
        }
        let left = [
            (count(.present), "there already"), (count(.absent), "without a snapshot then"), (failed, "failed"),
        ]
        .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        report.appendLine(
            "\(dryRun ? "Would restore" : "Restored") \(Format.count(done, "database")) to \(Format.visible(dir))"
                + (left.isEmpty ? "." : "; \(left.joined(separator: ", "))."))
        let reached = items.compactMap(\.reached).sorted()
        if let first = reached.first, let last = reached.last, first != last {
            report.appendLine("Their states are from \(first) to \(last).")
        }
        // A database all of whose snapshots are damaged is not in the list.
        session.add(
            warnings.all, of: repository.location, after: Format.count(done, "database") + " can be restored",
            to: &report)
        if failed > 0 {
            let codes = Set(items.compactMap(\.code))
            report.failure = Failure(
                (codes.count == 1 ? codes.first.flatMap(FailureCode.init(rawValue:)) : nil) ?? .jobFailed,
                "\(failed) of \(Format.count(items.count, "database")) cannot be restored", path: repository.location,
                remedy: "The others \(dryRun ? "can be" : "are"). 'litevault check' examines the repository.")
        }
        return report
    }
}
