internal import LiteVaultCapture
internal import LiteVaultCipher
package import LiteVaultSystem

/// Local directories for the files that a client of a repository keeps.
public struct LocalDirectories: Sendable {
    /// For the newest snapshot seen of each database, by which a rolled-back repository is detected. Nil keeps nothing.
    public var state: String?
    /// For cached block maps of remote stores. It can be removed at any time.
    public var cache: String
    /// For files waiting to be stored, and databases restored for a test. Nil uses the directory that the store
    /// prefers, or else `litevault-UID` in the system's temporary directory, which only this user can read.
    public var spool: String?
    /// Whether what was seen of repositories is written to ``state``. A program that must write nothing sets it to false:
    /// what other programs have remembered is compared all the same.
    package var remembers = true

    /// Creates a set of directories. They are created on disk when needed, with mode 0700.
    public init(state: String?, cache: String, spool: String? = nil) {
        self.state = state
        self.cache = cache
        self.spool = spool
    }

    /// `$STATE_DIRECTORY` and `$CACHE_DIRECTORY` (systemd), else `$XDG_STATE_HOME/litevault` and
    /// `$XDG_CACHE_HOME/litevault`, else `~/.local/state/litevault` and `~/.cache/litevault`. Without a `$HOME` that exists, the home directory is that of the
    /// password database, if it is this user's own.
    public static var standard: LocalDirectories {
        let environment = ProcessInfo.processInfo.environment
        func directory(_ systemd: String, _ xdg: String, _ home: String) -> String? {
            if let path = environment[systemd], let first = path.split(separator: ":").first { return String(first) }
            if let path = environment[xdg], path.starts(withText: "/") { return path + "/litevault" }
            return HomeDirectory.path(environment).map { $0 + home }
        }
        return LocalDirectories(
            state: directory("STATE_DIRECTORY", "XDG_STATE_HOME", "/.local/state/litevault"),
            cache: directory("CACHE_DIRECTORY", "XDG_CACHE_HOME", "/.cache/litevault")
                // Never a name that another user could have taken before.
                ?? ((try? temporary())
                    ?? FileManager.default.temporaryDirectory.path + "/litevault-" + UUID().uuidString) + "/cache")
    }
}

extension LocalDirectories {
    /// A directory for files that need not outlive the process, which only this user can read.
    package static func temporary() throws -> String {
        try withErrorContext(path: FileManager.default.temporaryDirectory.path) { try WorkDirectory.temporary() }
    }
}

extension Repository {
    /// The directory for files waiting to be stored.
    ///
    /// - Throws: where that is a directory of the repository itself, as ``requireIdentity()``: nothing is created in another one.
    package func spoolDirectory() throws -> String {
        if let spool = local.spool {
            try LocalDirectory.create(spool)
            return spool
        }
        _ = try requireLocalIdentity()
        return try store.spoolDirectory() ?? LocalDirectories.temporary()
    }

    /// The directory for temporary files: the spool directory or, if that is not writable because the repository is
    /// read-only, a private one in the system's temporary directory.
    func workDirectory() throws -> String {
        if local.spool != nil { return try spoolDirectory() }
        // It throws if the directory cannot be created.
        if let path = try? spoolDirectory(), access(path, W_OK) == 0 { return path }
        return try LocalDirectories.temporary()
    }

    /// The directory for copies of a database's block maps.
    func cacheDirectory(_ database: String) -> String { "\(local.cache)/\(config.id)/\(database)" }

    /// Removes cached tree packs that the store no longer has, and unfinished ones.
    ///
    /// - Parameter packs: all tree packs of the store.
    func sweepCache(_ packs: [ObjectAttributes]) throws {
        guard store.localPath("tree/any") == nil else { return }
        let present = Set(packs.compactMap { $0.name.split(separator: "/").last.map(String.init) })
        let root = "\(local.cache)/\(config.id)"
        for directory in try LocalDirectory.names(root) where directory != "check" {
            for name in try LocalDirectory.names("\(root)/\(directory)") where !present.contains(name) {
                var status = stat()
                let path = "\(root)/\(directory)/\(name)"
                // A younger copy may belong to a snapshot that is being stored or fetched.
                if stat(path, &status) == 0, Date().timeIntervalSince1970 - status.modified > 86_400 { unlink(path) }
            }
        }
    }

    func nodes(_ database: String) -> NodeSource { NodeSource(store: store, directory: cacheDirectory(database)) }
}

/// What this machine remembers about the repository at a location: its identity, and the newest snapshots seen.
///
/// It distinguishes a wiped or replaced repository from one that is used for the first time. A secret does not: several
/// repositories may share one.
struct LocationMemory: Sendable {
    private struct Record: CheckedDocument {
        var version = 1
        /// For people who inspect the directory.
        var location: String
        /// The repositories that belong there; several if that was accepted, such as for disks used in rotation.
        var repositories: [String]
        /// `repository.json` of the last of them, as of its last use. It contains no secret.
        var document: String
        /// The generation of its secrets; absent if that was not authenticated.
        var generation: Int?

        // The document's text, with its quotes escaped, and a path.
        static let byteLimit = 4 * RepositoryFormat.documentBytes

        func check() throws(OutOfLimits) {
            for id in repositories { try require("repositories", id, digits: 32) }
            try require("generation", generation, in: RepositoryFormat.generations)
        }
    }

    /// The maximum number of repositories used in rotation at one location.
    private static let limit = 16

    private let directory: String
    private let state: String
    private let location: String
    private let isWritten: Bool
    private var path: String { directory + "/repository.json" }

    /// Nil if nothing is to be remembered.
    init?(_ store: any ObjectStore, _ local: LocalDirectories) {
        guard let state = local.state else { return nil }
        self.state = state
        location = store.identity
        isWritten = local.remembers
        directory = "\(state)/locations/\(Hash256(of: Array(location.utf8)).hexadecimal.prefix(32))"
    }

    /// The directory of the newest snapshots seen of a repository here, and the one used before these belonged to a location.
    func headDirectories(_ repository: String) -> [String] { [directory, state].map { "\($0)/\(repository)" } }

    /// The identifiers of the repositories that belong there; empty if unknown.
    ///
    /// - Throws: `VaultError` `damaged` if the file is not valid, `io`.
    func repositories() throws -> [String] { try read()?.repositories ?? [] }

    /// `repository.json` as of the last use of the repository; nil if none is remembered.
    func document() -> [UInt8]? { (try? read()).map { Array($0.document.utf8) } }

    /// The last repository, and the newest generation of its secrets that was authenticated.
    func secrets() -> (repository: String, generation: Int)? {
        guard let record = try? read(), let last = record.repositories.last, let generation = record.generation else {
            return nil
        }
        return (last, generation)
    }

    /// Remembers that a repository belongs there, in addition to known ones.
    ///
    /// - Parameter generation: that of its secrets; nil if it is not authenticated.
    func remember(_ repository: String, document: [UInt8], generation: Int?) throws {
        guard isWritten else { return }
        let record = try? read()
        let known = record?.repositories ?? []
        let text = String(decoding: document, as: UTF8.self)
        if known.last == repository, record?.document == text, record?.generation == generation { return }
        let all = known.filter { $0 != repository } + [repository]
        let new = Record(
            location: location, repositories: Array(all.suffix(Self.limit)), document: text, generation: generation)
        try LocalDirectory.create(directory)
        try new.store(at: path)
    }

    private func read() throws -> Record? {
        try Record.stored(
            at: path,
            damage: (
                "does not name the repository at \(location)",
                "It is rewritten once this is fixed; until then a replaced repository goes unnoticed."
            ))
    }
}

extension LocalDirectories {
    /// Whether a repository in this place was used before. A record that cannot be read says so, too.
    package func remembersRepository(in store: any ObjectStore) -> Bool {
        guard let memory = LocationMemory(store, self) else { return false }
        return (try? memory.repositories().isEmpty) != true
    }
}

extension RepositoryIdentity {
    /// Compares a repository with the one that this machine used at its location, and remembers it.
    ///
    /// - Returns: what was noticed so far.
    /// - Throws: `VaultError` `damaged` if it is another one, or an older state of it.
    func recognised() throws -> [RepositoryWarning] {
        var notices = notices
        let (location, acceptsReplacement) = (opening.store.location, opening.acceptsReplacement)
        guard let memory = opening.memory else { return notices }
        do {
            let known = try memory.repositories()
            guard acceptsReplacement || known.isEmpty || known.contains(config.id) else {
                throw VaultError(
                    .damaged,
                    "the repository is not the one that this machine used here: it is \(config.id), and was "
                        + known.joined(separator: " or "), path: location,
                    advice: .all([.text("It was replaced or created again."), .acceptReplacement]))
            }
        } catch let error as VaultError where error.path != location {
            notices.append(RepositoryWarning(error, location))
        }
        if acceptsReplacement {
            // The current state of the repository is accepted: the newest snapshots seen are forgotten.
            for directory in memory.headDirectories(config.id) {
                for name in try LocalDirectory.names(directory) { unlink(directory + "/" + name) }
            }
        }
        let generation = config.generation ?? 1
        // Whatever the key: a repository of before its key was changed is an older one, too.
        if let before, before.repository == config.id, before.generation > generation, !acceptsReplacement {
            throw VaultError(
                .damaged, "the secrets of the repository are older than those seen earlier: it was rolled back",
                path: "\(location)/\(RepositoryFormat.config)",
                advice: .all([
                    .text("A secret that was removed may open it again, and one that was added no longer."),
                    .acceptReplacement,
                ]))
        }
        // Without the secret nobody can tell whether a document is a newer one or a forged one. With it, another process may have
        // seen a newer one meanwhile.
        let now = memory.secrets()
        let isNewer = now.map { $0.repository == config.id && $0.generation > generation } ?? false
        let isKnown = key == nil && memory.document().flatMap(RepositoryConfig.identifier(in:)) == config.id
        if !acceptsReplacement, key == nil ? isKnown : isNewer { return notices }
        // If this cannot be written, neither can the newest snapshot, and storing that reports it.
        try? memory.remember(config.id, document: document, generation: key == nil ? nil : generation)
        return notices
    }
}

extension Repository {
    /// Checks that this machine never used a repository at a location that has none.
    ///
    /// - Throws: `VaultError` `damaged` if this machine has used one here.
    static func requireUnknown(_ store: any ObjectStore, _ local: LocalDirectories) async throws {
        guard let memory = LocationMemory(store, local), let known = (try? memory.repositories())?.last else { return }
        // A repair by a `repository.json` that was not theirs may have set all of its snapshots aside.
        let isSetAside = (try? await store.list("damaged/snapshots/").isEmpty) == false
        let advice: Remedy = isSetAside ? .all([.restoreIdentity, .acceptLoss]) : .acceptLoss
        throw VaultError(
            .damaged, "the repository \(known) that this machine used here is gone", path: store.location,
            advice: advice)
    }
}

/// The newest snapshot of a database that this machine has seen. A repository without it was rolled back.
struct Head: CheckedDocument, Equatable {
    var sequence: Int
    var hash: String
    /// Its label, in milliseconds since 1970; absent if an older version wrote this.
    var label: Int64?

    init(_ snapshot: Snapshot) {
        (sequence, hash, label) = (snapshot.sequence, snapshot.hash.hexadecimal, snapshot.time.milliseconds)
    }

    func check() throws(OutOfLimits) {
        try require("sequence", sequence, in: RepositoryFormat.sequences)
        try require("hash", hash, digits: 64)
        try require("label", label: label)
    }
}

extension Repository {
    /// Those of this repository at its location; empty if nothing is to be remembered.
    var headDirectories: [String] { memory?.headDirectories(config.id) ?? [] }

    /// Remembers the newest snapshot of a survey without findings. If that cannot be written, only the memory is lost.
    ///
    /// The process that stored the snapshot may have been killed before it synced the directory: it is made durable first, as a power
    /// failure would otherwise take it away and leave the memory, by which the repository was rolled back.
    func rememberNewest(_ survey: DatabaseSurvey) {
        guard local.remembers, survey.rollback == nil, let last = survey.snapshots.last,
            last.sequence > survey.remembered, (try? store.settle([last.object])) != nil
        else { return }
        try? remember(Head(last), survey.database)
    }

    /// The remembered snapshot; nil if there is none.
    func head(_ database: String) throws -> Head? {
        for directory in headDirectories {
            let head = try Head.stored(
                at: "\(directory)/\(database).json",
                damage: (
                    "does not name the newest snapshot",
                    "The next snapshot rewrites it; until then a repository that was rolled back goes unnoticed."
                ))
            if let head { return head }
        }
        return nil
    }

    /// The label of the newest snapshot of a database that any process of this machine has stored or seen; nil if none is remembered.
    package func newestLabel(_ database: String) -> Date? {
        (try? head(database))?.flatMap(\.label).map(Date.init(milliseconds:))
    }

    /// Remembers a snapshot as the newest, unless a newer one is remembered.
    func remember(_ head: Head, _ database: String) throws {
        guard local.remembers, let directory = headDirectories.first else { return }
        func isKnown() -> Bool {
            // A damaged one is rewritten.
            guard let known = try? self.head(database) else { return false }
            return known.sequence >= head.sequence
        }
        guard !isKnown() else { return }
        try changingMemory(database, in: directory) {
            if !isKnown() { try head.store(at: "\(directory)/\(database).json") }
        }
    }

    /// Replaces what is remembered of a database while no other process or thread does: a follower, a snapshot and a concurrent listing may each
    /// have read the former file, and none may replace what another one remembers with something older.
    ///
    /// - Parameter directory: that of the files. It is created.
    func changingMemory(_ database: String, in directory: String, _ body: () throws -> Void) throws {
        try LocalDirectory.create(directory)
        // Without a lock, as some network file systems have none, or if the file is another user's, it is written all the same.
        let lock = try? LocalFile.openingOrCreating("\(directory)/\(database).segments.lock")
        // Each holds the lock only while it writes a file.
        for _ in 0..<100 {
            guard let lock, (try? lock.tryLock()) == false else { break }
            SystemThread.sleep(seconds: 0.01)
        }
        defer { withExtendedLifetime(lock) {} }
        try body()
    }

    /// Compares the remembered snapshot with the existing ones.
    ///
    /// - Parameters:
    ///   - head: the snapshot remembered before the snapshots were listed: one that another process of this machine
    ///     stores
    ///     meanwhile is remembered, but not listed.
    ///   - survey: the existing snapshots.
    /// - Throws: `VaultError` `damaged` if the repository is older than the remembered state.
    func compare(_ head: Head?, _ database: String, _ survey: DatabaseSurvey) throws {
        guard let head else { return }
        let advice = Remedy.all([.text("An older state of the repository was restored."), .acceptReplacement])
        if let same = survey.snapshots.first(where: { $0.sequence == head.sequence }) {
            guard same.hash.hexadecimal != head.hash else { return }
            throw VaultError(
                .damaged,
                "snapshot \(head.sequence) is not the one seen earlier: the repository was rolled back",
                path: same.object, advice: advice)
        }
        // A snapshot that cannot be read still exists; its damage is reported elsewhere.
        guard survey.newestSequence < head.sequence else { return }
        throw VaultError(
            .damaged, "snapshot \(head.sequence), seen earlier, is missing: the repository was rolled back",
            path: RepositoryFormat.snapshot(database, head.sequence), advice: advice)
    }
}
