internal import LiteVaultCapture
internal import LiteVaultRepository
internal import LiteVaultSystem

/// What a standby's destination has, in a file beside it (`.standby` after its name): where to continue after a restart.
///
/// It is written before each commit, with the state before and after: whichever of them the destination turns out to have after a
/// crash is known exactly.
struct StandbyState: CheckedDocument, Sendable {
    var version = 1
    var repository: String
    /// The database's identifier, and its name.
    var database: String
    var name: String
    /// What the destination has; absent before its first restore is complete.
    var current: StandbyPoint?
    /// What it has if the commit that was under way came to its end.
    var next: StandbyPoint?
    /// The inode and the last change of the database file, after the last checkpoint.
    var file: String?
    /// The line of history that its promotion begins, which was begun and may be recorded in the repository.
    var promotion: String?
    /// The hash of the keyring that a standby has put beside the destination; absent without one.
    var keyring: String?
    /// The hash of the one that has replaced it, if the replacement that was under way was completed.
    var nextKeyring: String?

    func check() throws(OutOfLimits) {
        try require("version", version, in: 1...1)
        try require("repository", repository, digits: 32)
        try require("file", file, digits: 32)
        try require("promotion", promotion, digits: 32)
        try require("keyring", keyring, digits: 64)
        try require("next_keyring", nextKeyring, digits: 64)
        for point in [current, next].compactMap(\.self) { try point.check() }
    }

    static func path(_ destination: String) -> String { destination + ".standby" }

    /// Nil if there is none.
    static func read(_ destination: String) throws -> StandbyState? { try stored(at: path(destination)) }

    func write(_ destination: String) throws { try store(at: Self.path(destination)) }
}

/// A state of the repository that a standby can have: a snapshot, and the last segment that was applied to it.
struct StandbyPoint: CheckedDocument, Sendable, Equatable {
    /// The newest snapshot that it has; 0 while a restore is under way.
    var snapshot: Int
    /// The first bytes of the database, which do not change while it is the same.
    var salt: String
    /// Whether the database is in WAL mode.
    var isLogged: Bool
    /// The line of history that it has a state of; absent if the database was never promoted.
    var line: String?
    /// The last segment that was applied to the snapshot.
    var segment: SegmentPosition?
    /// The time of the state, in milliseconds since 1970.
    var time: Int64
    /// Bytes in a page; absent before the first segment.
    var pageSize: Int?
    /// The sum of the content.
    var sum: String
    /// The salts, frames and checksum of the destination's own log; absent without one.
    var salts: String?
    var frame: UInt32?
    var checksum: String?

    func check() throws(OutOfLimits) {
        try require("snapshot", snapshot, in: 0...RepositoryFormat.sequences.upperBound)
        try require("time", label: time)
        try require("line", line, digits: 32)
        try require("page_size", pageSize, in: 512...65536)
        try require("sum", sum, digits: 64)
        try require("salts", salts, digits: 16)
        try require("checksum", checksum, digits: 16)
        try segment?.check()
    }

    var date: Date { Date(milliseconds: time) }

    /// What a restore has written.
    init(_ result: RestoreResult, sum: ContentSum) {
        let restored = result.snapshot
        (snapshot, salt, isLogged, line) = (
            restored.sequence, restored.salt.hexadecimal, restored.isLogged, restored.line
        )
        segment = result.last?.position
        time = (result.segmentsUntil ?? restored.time).milliseconds
        pageSize = result.last?.pageSize
        if segment != nil { isLogged = true }
        self.sum = sum.hexadecimal
    }

    /// A restore that is under way.
    init(unfinished sum: ContentSum) {
        (snapshot, salt, isLogged, time, self.sum) = (0, "", false, 0, sum.hexadecimal)
    }

    /// Sets the position in the destination's own log.
    mutating func set(_ position: LogPosition, _ sums: [UInt32]) {
        guard position.frame > 0, sums.count == 2 else { return (salts, frame, checksum) = (nil, nil, nil) }
        salts = position.salts.hexadecimal
        frame = position.frame
        checksum = (UInt64(sums[0]) << 32 | UInt64(sums[1])).hexadecimal
    }

    /// Whether the destination's log ends here.
    func isAt(_ position: LogPosition, _ sums: [UInt32]) -> Bool {
        var other = self
        other.set(position, sums)
        return self == other
    }
}

/// Keeps other standbys and promotions away from a destination, as long as it exists.
final class StandbyLock: Sendable {
    private let file: LocalFile

    /// Takes the lock.
    ///
    /// - Throws: `VaultError` `busy`.
    init(_ destination: String) throws {
        file = try LocalFile.openingOrCreating(Self.path(destination))
        guard try file.tryLock() else {
            throw VaultError(
                .busy, "another standby keeps it current", path: destination, remedy: "End that one first.")
        }
    }

    /// Takes the lock, when the process that has it has ended.
    ///
    /// - Parameter patience: how many seconds to wait.
    /// - Throws: `VaultError` `busy`.
    static func wait(_ destination: String, patience: Double) async throws -> StandbyLock {
        let deadline = Deadline(seconds: patience)
        while true {
            do {
                return try StandbyLock(destination)
            } catch let error as VaultError where error.code == .busy && !deadline.isOver {
                try await Task.sleep(nanoseconds: 20_000_000)
            }
        }
    }

    static func path(_ destination: String) -> String { destination + ".standby-lock" }
}

/// Asks the process that keeps a standby current to end, because the standby is about to be promoted.
///
/// It is a file beside the destination that the promoting process has locked: what a killed one leaves asks for nothing.
final class HandOverRequest {
    private let file: LocalFile

    fileprivate static func path(_ destination: String) -> String { destination + ".standby-promote" }

    /// Makes the request.
    ///
    /// - Throws: `VaultError` `busy` if another process promotes it.
    init(_ destination: String) throws {
        file = try LocalFile.openingOrCreating(Self.path(destination))
        // A standby that looks whether it is locked takes the lock for a moment.
        for attempt in 0..<50 {
            if try file.tryLock() { return }
            if attempt < 49 { SystemThread.sleep(seconds: 0.01) }
        }
        throw VaultError(.busy, "another process is promoting it", path: destination, remedy: "Wait for that one.")
    }

    deinit { unlink(file.path) }
}

extension Standby {
    /// Whether another process is about to promote a destination, and waits for its standby to end. For those that call ``update()`` in a loop
    /// of their own.
    public static func isHandOverRequested(for destination: String) -> Bool {
        let path = HandOverRequest.path(destination)
        guard access(path, F_OK) == 0, let file = try? LocalFile(updating: path) else { return false }
        return (try? file.tryLock()) == false
    }
}
