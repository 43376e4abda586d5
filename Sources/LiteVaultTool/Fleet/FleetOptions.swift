internal import ArgumentParser
internal import LiteVault
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// The options of a command that works on many databases.
struct FleetOptions: ParsableArguments {
    @Option(
        help: .init("Also the files listed in LIST, one path per line.", valueName: "list"), completion: .file())
    var fromFile: String?

    @Option(help: .init("Also the files that match a pattern, such as 'data/*.db'.", valueName: "pattern"))
    var glob: [String] = []

    @Flag(help: "Each database has a keyring of its own beside it: DATABASE.keys.")
    var ownKeyrings = false

    @Option(help: .init("Databases processed at a time (default: the number of cores, 8 at most).", valueName: "n"))
    var jobs: Int?

    @Option(duration: "How long to keep retrying databases that are in use, after the others (default: 60s).")
    var wait: Duration = .seconds(60)

    @Option(path: "The journal of what is done (default: LIST.journal, or none).")
    var journal: String?

    @Flag(help: "Change nothing: show what would be done, and what would prevent it.")
    var dryRun = false

    func validate() throws {
        if let jobs, !(1...64).contains(jobs) { throw ValidationError("--jobs is 1 to 64") }
    }

    /// Whether the options ask for more than one database.
    var areGiven: Bool { fromFile != nil || !glob.isEmpty || ownKeyrings || dryRun || journal != nil }

    /// The number of databases that are worked on at a time.
    var width: Int { jobs ?? min(8, max(1, ProcessInfo.processInfo.activeProcessorCount)) }

    var journalPath: String? { journal ?? fromFile.map { $0 + ".journal" } }

    /// The files that the arguments, the list and the patterns name, each once, in this order.
    ///
    /// - Parameter leavesCompanionsOut: whether files that belong to a database are left out of what patterns match.
    /// - Throws: `no-input` for a list that cannot be read, `usage` for a pattern without a match or with one that is not UTF-8, or without
    ///   any file.
    func members(_ paths: [String], leavesCompanionsOut: Bool) throws -> [FleetMember] {
        var all = paths
        if let fromFile { all += try Self.lines(of: fromFile) }
        for pattern in glob { all += try Self.matches(of: pattern, leavesCompanionsOut) }
        var seen: Set<ExactText> = []
        // Two names of one file would be two changes of it.
        let members = all.map(FleetMember.init(path:)).filter { seen.insert(ExactText($0.id)).inserted }
        guard !members.isEmpty else {
            throw Failure(.usage, "no file is named", path: fromFile, remedy: "Name files, --from-file or --glob.")
        }
        return members
    }

    /// Opens the journal of a change, or creates it; nil for a dry run, or without one.
    func journal(of change: String) throws -> FleetJournal? {
        try dryRun ? nil : journalPath.map { try FleetJournal($0, of: change) }
    }

    private static func lines(of list: String) throws -> [String] {
        try Preflight.requireSource(list)
        guard let size = Preflight.size(list), size <= 1 << 26, let data = FileManager.default.contents(atPath: list)
        else { throw Failure(.inputOutput, "the list cannot be read", path: list, remedy: "Check its permissions.") }
        guard let text = String(data: data, encoding: .utf8), !text.contains("\0") else {
            throw Failure(.usage, "the list is not UTF-8 text", path: list, remedy: "Write one path a line.")
        }
        let (newline, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
        // By bytes: for Swift U+2028 ends a line, too, and the rest of a name would be that of a database that nobody listed.
        let lines = text.utf8.split(separator: newline).map { line in
            String(Substring(line.last == carriageReturn ? line.dropLast() : line))
        }
        let named = lines.filter { !$0.starts(withText: "#") && !$0.utf8.allSatisfy(Array(" \t".utf8).contains) }
        return named.map(PathArgument.literal)
    }

    private static func matches(of pattern: String, _ leavesCompanionsOut: Bool) throws -> [String] {
        guard let (paths, notUTF8) = PathPattern.matches(pattern) else {
            throw Failure(.usage, "nothing matches '\(pattern)'", remedy: "Check the pattern.")
        }
        if let path = notUTF8.first {
            throw Failure(
                .usage, "belongs to '\(pattern)', and is not UTF-8: nothing was changed", path: path,
                remedy: "Rename it.")
        }
        return paths.filter { leavesCompanionsOut ? !isCompanion($0) : !$0.ends(withText: ".lock") }
            .map(PathArgument.literal)
    }

    /// Whether a file is one of those that SQLite and LiteVault have beside a database.
    private static func isCompanion(_ path: String) -> Bool {
        let own = ["-wal", "-shm", "-journal", ".keys", ".keys.lock", ".keys.replaced"]
        if own.contains(where: { path.ends(withText: $0) }) { return true }
        // A database may have such a name itself: left out, it would keep its old key without a word.
        return [".standby", ".promoted"].contains { ending in
            path.ends(withText: ending)
                && Preflight.size(String(Substring(path.utf8.dropLast(ending.utf8.count)))) != nil
                && (try? DatabaseFile(path).kind()) == .notADatabase
        }
    }
}

/// One of the databases, or keyrings, of a fleet.
struct FleetMember: Sendable {
    /// The path as it was given.
    let path: String
    /// The path behind symbolic links: what the journal calls it.
    let id: String

    init(path: String) {
        self.path = path
        id = (try? FileMetadata.resolvedPath(path)) ?? path
    }
}
