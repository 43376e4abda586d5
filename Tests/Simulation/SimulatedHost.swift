import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSchedule
import LiteVaultScheduleFile
import LiteVaultSystem
import LiteVaultTestSupport
import Logging
import Testing

/// A host with a database in WAL mode, an application that writes to it, and a follower, on a clock and a store of the simulation.
///
/// The parts are those of ``DatabaseFollower``, called one after the other instead of by its tasks, so that a test decides what happens next.
/// The model knows every commit: each writes its number, and the sums of that state are noted.
final class SimulatedHost {
    /// What a state of the database is known by.
    struct State: Equatable, CustomStringConvertible {
        let number: Int64
        let rows: Int64
        let sum: Int64

        var description: String { "commit \(number) (\(rows) rows, sum \(sum))" }
    }

    /// A label that a command has reported as restorable, and the state that it had then.
    struct Acknowledged {
        let label: Int64
        let state: State
        /// Whether the label names this state alone. A snapshot by another process may have one that the follower gives to later commits, if
        /// the clock is set back in between.
        var isExact = true
    }

    private struct Session {
        let writer: SegmentWriter
        let follower: Follower
        let start: FollowerStart?
        let spool: SegmentSpool
        let pages: FollowedPages
        /// The run whose base snapshot is stored.
        var based: [UInt8]?
        /// The label of that snapshot: what was seen before is not restored from it.
        var baseLabel: Int64 = 0
        /// The states at the end of what is spooled.
        var read: [(run: [UInt8], place: UInt64, state: State)] = []
    }

    private let scratch = Scratch()
    var directory: String { scratch.directory }
    let clock: SimulatedClock
    let store: SimulatedStore
    /// The directory of this host's files.
    private(set) var place: String
    private(set) var repository: Repository
    /// The database: another file after a promotion.
    private(set) var path: String
    var connection: Connection
    /// The keys that the database has had, the last one its key of now; none if it is in plaintext.
    var keys: [DatabaseKey] = []
    /// What the log had when the database was made, or what the last power loss left: no power loss takes that.
    var synced: LogIndex?
    /// The number of the last commit, by any host.
    private var numbered: Int64 = 0
    private var session: Session?
    let elsewhere = Elsewhere()
    let retention = Retention()
    private var newest = 0
    private var label = Date(milliseconds: 0)
    /// Why the next base snapshot has a gap before it.
    private var gap: SnapshotGap?
    private(set) var states: [Int64: State] = [:]
    private(set) var acknowledged: [Acknowledged] = []
    /// The labels of stored segments, and the states that these lead to, whether or not a snapshot before them was reported.
    private var stored: [(label: Int64, state: State)] = []
    /// The label before which retention has left nothing.
    private var oldest: Int64 = 0
    /// The newest acknowledged state.
    private(set) var newestAcknowledged: State?
    private(set) var latest = State(number: 0, rows: 0, sum: 0)
    private(set) var events: [String] = []
    /// How often the clock was found behind.
    private(set) var remarks = 0

    /// - Parameters:
    ///   - isLarge: whether the database begins with many blocks of pages, of which later snapshots read few.
    ///   - key: the key of the database; nil for plaintext.
    init(isConditional: Bool = true, isLarge: Bool = false, key: DatabaseKey? = nil) async throws {
        clock = SimulatedClock()
        store = SimulatedStore(clock, isConditional: isConditional)
        place = scratch.directory
        var repository = try await WritableRepository.openOrCreate(store, local: Self.directories(scratch.directory)).repository
        repository.clock = clock.host
        self.repository = repository
        path = scratch.path("a.db")
        keys = key.map { [$0] } ?? []
        connection = try Self.opened(path, keys)
        try connection.execute(
            "CREATE TABLE t(a, filler); CREATE TABLE state(n); INSERT INTO state VALUES (0)")
        if isLarge {
            try connection.execute(
                "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 60) INSERT INTO t SELECT i, zeroblob(9000) FROM n"
            )
        }
        note(try Self.state(connection))
        synced = try logIndex()
    }

    /// A host whose database is followed, with a commit that is stored.
    static func followed() async throws -> SimulatedHost {
        let host = try await SimulatedHost()
        try await host.poll()
        try host.commit()
        try await host.poll()
        return host
    }

    static func directories(_ place: String) -> LocalDirectories {
        LocalDirectories(state: place + "/state", cache: place + "/cache", spool: place + "/spool")
    }

    private static let settings = "PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF; PRAGMA busy_timeout = 0"

    /// A connection of the application.
    private static func opened(_ path: String, _ keys: [DatabaseKey]) throws -> Connection {
        let connection = try keys.last.map { try Connection(path, key: $0) } ?? Connection(path)
        try connection.execute(settings)
        try connection.execute("PRAGMA journal_mode = WAL")
        return connection
    }

    /// Opens what was restored, with the key that it had then.
    func unlocked(_ path: String) throws -> Connection {
        for key in keys.dropFirst().reversed() {
            do { return try Connection(path, key: key, readonly: true) } catch let error as VaultError
                where error.code == .keyRejected
            {}
        }
        return try keys.first.map { try Connection(path, key: $0, readonly: true) } ?? Connection(path, readonly: true)
    }

    /// The application closes its connection, which removes the log unless a follower holds it, and opens another one.
    ///
    /// - Parameter change: what happens to the file in between.
    func reopen(_ change: () throws -> Void = {}) throws {
        try connection.close()
        defer { log("reopened") }
        defer { if let new = try? Self.opened(path, keys) { connection = new } }
        try change()
    }

    func log(_ event: String) { events.append("\(clock.shown % 100_000_000): \(event)") }

    static func state(_ db: Connection) throws -> State {
        State(
            number: try db.value("SELECT n FROM state", as: Int64.self),
            rows: try db.value("SELECT count(*) FROM t", as: Int64.self),
            sum: try db.value("SELECT coalesce(sum(a), 0) FROM t", as: Int64.self))
    }

    private func note(_ state: State) {
        states[state.number] = state
        latest = state
    }

    // MARK: The application

    /// One commit.
    ///
    /// - Parameter isFresh: by a connection that was just opened. It has reset no log itself, so that one that another one has reset gets random salts.
    func commit(_ sql: String? = nil, isFresh: Bool = false) throws {
        numbered += 1
        let number = numbered
        let writer = isFresh ? try Self.opened(path, keys) : connection
        defer { if isFresh { try? writer.close() } }
        try writer.execute(
            "BEGIN; UPDATE state SET n = \(number); \(sql ?? "INSERT INTO t VALUES (\(number * 7), zeroblob(300))"); COMMIT"
        )
        note(try Self.state(connection))
        log("commit \(number)\(isFresh ? " by another connection" : "")")
    }

    func checkpoint(_ mode: String) throws {
        _ = try connection.value("PRAGMA wal_checkpoint(\(sql: mode))", as: Int64.self)
        log("checkpoint \(mode)")
    }

    func vacuum() throws {
        try connection.execute("VACUUM")
        log("VACUUM")
    }

    /// The application writes to another file from now on, on another host, and nothing follows it yet.
    ///
    /// - Parameter isFormerWriting: whether the former host, which knows nothing of it, commits and tries to store that. A snapshot is
    ///   refused. A segment may be stored, but is not reported as stored, and is not part of the history.
    func move(to path: String, in place: String, isFormerWriting: Bool) async throws {
        if isFormerWriting {
            try commit()
            let number = latest.number
            do {
                try await snapshot()
                throw Wrong(what: "the former host's snapshot was stored, although a standby was promoted")
            } catch let error as VaultError where error.code == .promoted {}
            if session != nil {
                let before = stored.count
                try read()
                try await storeAll()
                guard stored.count == before else {
                    throw Wrong(what: "the former host reported a segment as stored, although a standby was promoted")
                }
            }
            states[number] = nil
        }
        try await restart { (self.path, self.place) = (path, place) }
    }

    /// Ends everything that runs on the host, and lets the application begin again.
    ///
    /// - Parameter change: what happens to the host's files in between.
    func restart(_ change: () throws -> Void) async throws {
        await kill()
        try connection.close()
        try change()
        repository = try await Repository.open(store, local: Self.directories(place))
        repository.clock = clock.host
        (newest, label, known, gap) = (0, Date(milliseconds: 0), Locked(0), nil)
        connection = try Self.opened(path, keys)
        latest = try Self.state(connection)
    }

    // MARK: The follower

    var isFollowing: Bool { session != nil }

    /// Starts a follower, as ``DatabaseFollower`` opens a session.
    func start() async throws {
        let writer = try await SegmentWriter.open(repository.writable(), database: "a.db", at: path)
        let database = repository.databaseID("a.db")
        newest = max(newest, try await repository.newestSequence(database))
        let resumption = try await writer.resumption()
        var start: FollowerStart?
        switch resumption {
        case .from(let found, _): start = found
        case .none(let reason):
            if let seen = await writer.seen {
                gap =
                    gap
                    ?? SnapshotGap(
                        since: seen, reason: "no follower was running" + (reason.map { ", and " + $0 } ?? ""))
            }
        }
        let pages = FollowedPages()
        let number = newest
        let known = Locked(number)
        session = Session(
            writer: writer,
            follower: Follower(
                path, from: start, after: await writer.newestLabel, clock: clock.host),
            start: start,
            spool: try SegmentSpool(
                directory: place + "/spool", allowsPlaintext: true, pages: pages, newestSnapshot: { known.value }),
            pages: pages)
        self.known = known
        log("follower starts\(start == nil ? "" : " where another one had been")")
    }
    private var known = Locked(0)

    /// Reads the log once.
    func read() throws {
        guard var session else { return }
        var spool = session.spool
        session.follower.advance(to: label)
        repository.newestLabel(repository.databaseID("a.db")).map(session.follower.advance(to:))
        let number = session.pages.beginPoll()
        let outcome = try session.follower.poll(into: &spool)
        if session.follower.behind >= 0.5 { remarks += 1 }
        switch outcome {
        case .resumed:
            (session.based, session.baseLabel) = (session.spool.run?.id, 0)
            gap = nil
            if let start = session.start { session.pages.resume(at: start.mark.position, after: start.sequence) }
            log("resumed")
        case .attached:
            if let reason = session.follower.discontinuity { gap = gap ?? SnapshotGap(since: nil, reason: reason) }
            log("attached")
        case .read(let frames):
            session.pages.completePoll(number)
            if frames > 0, let last = session.spool.last {
                session.read.append((last.segment.run, last.segment.sequence, latest))
                log("read \(latest.number)")
            }
        case .gap(let reason):
            self.session = session
            return endRun(reason)
        case .waiting(let reason): log("waiting: \(reason)")
        }
        self.session = session
    }

    /// The follower gives up the log, as it has grown beyond its limit.
    func loseLog() {
        session?.follower.stop()
        endRun("the log has more than its limit")
    }

    private func endRun(_ reason: String) {
        session?.pages.endRun()
        gap = gap ?? SnapshotGap(since: session?.follower.polled, reason: reason)
        session?.based = nil
        log("gap: \(reason)")
    }

    /// Takes the snapshot that the run needs, if it has none.
    func base() async throws {
        guard let run = session?.spool.run, session?.follower.isAttached == true, session?.based != run.id else {
            return
        }
        let snapshot = try await take(followed: session?.pages, gap: gap)
        session?.based = run.id
        session?.baseLabel = snapshot.time.milliseconds
        gap = nil
        log("base \(snapshot.sequence) of \(latest.number), dated \(snapshot.time.milliseconds)")
    }

    /// Stores what was read, and notes what has been acknowledged by that.
    func storeAll() async throws {
        while let waiting = session?.spool.first, let open = session {
            do {
                try await open.writer.append(
                    waiting.path, began: waiting.began, snapshot: newest, end: waiting.end, start: waiting.start)
            } catch let error as VaultError where error.code == .busy && open.writer.isLost {
                // By a promotion, also by one that was refused. A follower then begins another run.
                gap = gap ?? SnapshotGap(since: nil, reason: "another follower was running")
                log("the lease was taken over")
                return await kill()
            }
            open.spool.removeFirst()
            open.pages.didStore(waiting.segment)
            let label = Int64(clamping: waiting.segment.seen)
            let state = open.read.first { $0.run == waiting.segment.run && $0.place == waiting.segment.sequence }?.state
            if let state { stored.append((label, state)) }
            if let state, open.based == waiting.segment.run, label > max(open.baseLabel, oldest) {
                acknowledge(label, state)
            }
            log("stored \(state?.number ?? -1), dated \(label)")
        }
    }

    /// One round of the follower: what its tasks do when nothing fails.
    func poll() async throws {
        if session == nil { try await start() }
        try read()
        try await base()
        try await storeAll()
        clock.pass(20)
    }

    /// Ends the follower, after a last round.
    func stop() async throws {
        guard let open = session else { return }
        try read()
        try await storeAll()
        open.follower.stop()
        await open.writer.close()
        session = nil
        log("follower stopped")
    }

    /// Kills the follower: what was not stored is lost.
    func kill() async {
        guard let open = session else { return }
        open.spool.discardAll()
        open.follower.stop()
        await open.writer.close()
        session = nil
        log("follower killed")
    }

    // MARK: Snapshots

    private func take(
        followed: FollowedPages?, gap: SnapshotGap?, isStored: Bool = true, from stranger: Repository? = nil
    ) async throws -> Snapshot {
        var options = SnapshotOptions()
        options.allowsPlaintext = true
        (options.gap, options.followed) = (gap, followed)
        let state = latest
        // While the snapshot waits for it.
        if let followed, session?.follower.isAttached == true {
            followed.setPolled {}
            nonisolated(unsafe) let host = self
            clock.whileSleeping {
                try? host.read()
                if isStored { try? await host.storeAll() }
            }
        }
        defer {
            followed?.setPolled(nil)
            clock.whileSleeping(nil)
        }
        let snapshot = try await (stranger ?? repository).writable().snapshot(of: path, options: options).snapshot
        // A follower knows of its own ones alone.
        if followed != nil {
            newest = max(newest, snapshot.sequence)
            known.withLock { $0 = max($0, snapshot.sequence) }
            label = max(label, snapshot.time)
        }
        acknowledge(snapshot.time.milliseconds, state, isExact: followed != nil)
        retention.contents[snapshot.id] = state
        return snapshot
    }

    /// A snapshot by the follower's process, or by another one.
    ///
    /// - Parameter isStored: whether what the follower has read gets stored before the snapshot does.
    @discardableResult
    func snapshot(byFollower: Bool = false, isStored: Bool = true) async throws -> Snapshot {
        let snapshot = try await take(followed: byFollower ? session?.pages : nil, gap: nil, isStored: isStored)
        log("snapshot \(snapshot.sequence) of \(latest.number), dated \(snapshot.time.milliseconds)")
        return snapshot
    }

    /// A snapshot by another user of the host, who has a memory of the repository of their own: the follower does not know of its label.
    func snapshotByAnotherUser() async throws {
        let other = try await repository(of: store, in: place + "/other")
        do {
            let snapshot = try await take(followed: nil, gap: nil, from: other)
            log(
                "snapshot \(snapshot.sequence) of \(latest.number) by another user, dated \(snapshot.time.milliseconds)"
            )
        } catch let error as VaultError where error.code == .promoted {
            log("another user's snapshot is refused: the database was promoted")
        }
    }

    /// Makes a commit that the follower reads and stores, while the next snapshot is uploaded.
    ///
    /// - Parameters:
    ///   - isFresh: by a new connection, which gives an empty log random salts.
    ///   - endsRun: whether the follower then has a gap.
    func commitDuringUpload(isFresh: Bool = false, endsRun: Bool = false) {
        nonisolated(unsafe) let host = self
        store.onUpload {
            try host.commit(isFresh: isFresh)
            try host.read()
            try await host.storeAll()
            if endsRun { host.loseLog() }
        }
    }

    private func acknowledge(_ label: Int64, _ state: State, isExact: Bool = true) {
        acknowledged.append(Acknowledged(label: label, state: state, isExact: isExact))
        if state.number >= newestAcknowledged?.number ?? 0 { newestAcknowledged = state }
    }

    /// The schedule's jobs that are due are run, with the same tool and memory as everything else on this host.
    func runSchedule() async throws {
        let configuration = try ScheduleConfiguration(text: Self.schedule(path), path: directory + "/schedule.yml")
        var services = ScheduleServices(tool: "simulation", local: Self.directories(place))
        let store = store
        services.store = { _ in store }
        (services.clock, services.patience) = (clock.host, .zero)
        var logger = Logger(label: "simulation")
        logger.logLevel = .critical
        let state = try StateFile(directory: place + "/state", configuration: configuration.name)
        let runner = ScheduleRunner(
            ScheduleContext(
                configuration, state: state, services: services, log: logger, host: "host", clock: clock.host))
        let committed = latest
        for outcome in try await runner.runDue() {
            guard outcome.isSuccess else { throw Wrong(what: "the schedule failed: \(outcome.problems)") }
            for one in outcome.stored {
                let snapshot = try await repository.snapshots(database: "a.db").first { $0.id == one.id }
                guard let snapshot else { continue }
                acknowledge(snapshot.time.milliseconds, committed, isExact: false)
            }
            try await noteRetention()
            log(
                "the schedule stored \(outcome.stored.count), verified: \(outcome.verified.map(String.init) ?? "not due")"
            )
        }
    }

    private static func schedule(_ path: String) -> String {
        """
        repository: /memory
        jobs:
          - {name: nightly, sources: '\(path)', database: a.db, every: 1h, allow-plaintext: yes,
             retention: {last: 3, prune: yes, grace: 0s}, verify: {level: data, every: 6h}}

        """
    }

    /// What was acknowledged before the newest snapshot that retention has left no longer counts: the segments may be gone.
    func noteRetention() async throws {
        let left = try await repository.snapshots(database: "a.db")
        oldest = left.map { $0.time.milliseconds }.max() ?? 0
        acknowledged.removeAll { $0.label < oldest }
    }

    func compact() async throws {
        let result = try await repository.writable().compact()
        log("joined \(result.joined)")
    }

    // MARK: The model

    /// Restores a state, which has to be one that was committed.
    func restored(
        _ selection: SnapshotSelection, from other: Repository? = nil
    ) async throws -> (state: State, reached: Int64) {
        let repository = other ?? self.repository
        let destination = directory + "/restored-" + UUID().uuidString
        defer {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: destination + suffix) }
        }
        let result = try await repository.restore(selection, to: destination)
        let db = try unlocked(destination)
        defer { try? db.close() }
        let verdict = try db.value("PRAGMA integrity_check", as: String.self)
        guard verdict == "ok" else { throw Wrong(what: "\(selection): \(verdict)") }
        let state = try Self.state(db)
        guard states[state.number] == state else { throw Wrong(what: "\(selection): \(state) was never committed") }
        return (state, (result.segmentsUntil ?? result.snapshot.time).milliseconds)
    }

    /// What must hold at any moment.
    ///
    /// - Parameter count: how many of the acknowledged labels to restore, the newest and others by `choose`.
    func verify(_ count: Int = .max, choose: (Int) -> Int = { $0 - 1 }) async throws {
        guard let newestAcknowledged else { return }
        let found = try await restored(.latest)
        guard found.state.number >= newestAcknowledged.number else {
            throw Wrong(what: "latest is \(found.state), although \(newestAcknowledged) was stored")
        }
        var chosen = Set(acknowledged.indices)
        if acknowledged.count > count {
            chosen = Set((0..<count).map { _ in choose(acknowledged.count) })
        }
        for index in chosen.sorted() {
            let one = acknowledged[index]
            guard let found = try await restored(labelled: one) else { continue }
            // Another process may label a snapshot within the same millisecond. Of states with one label, the latest counts.
            let others = acknowledged.map { ($0.label, $0.state) } + stored
            let isLatest = others.allSatisfy { $0.0 != one.label || $0.1.number <= one.state.number }
            // A snapshot by another process may be labelled before commits that were made before it, if the clock was set back in between.
            let isAhead = acknowledged.contains {
                !$0.isExact && $0.label <= one.label && $0.state.number > one.state.number
            }
            let isRight =
                one.isExact && isLatest && !isAhead ? found.state == one.state : found.state.number >= one.state.number
            guard isRight, found.reached <= one.label else {
                throw Wrong(what: "at \(one.label) is \(found.state) of \(found.reached) instead of \(one.state)")
            }
        }
    }

    /// The state at a label; nil if it is refused, and is restored by its snapshot's identifier instead. That is so where the database was
    /// replaced, and a follower that had not found out yet stored its last segment while another process took the snapshot: neither tells the order.
    private func restored(labelled one: Acknowledged) async throws -> (state: State, reached: Int64)? {
        do { return try await restored(.at(Date(milliseconds: one.label))) } catch let error as VaultError
            where error.cause is BrokenLogError && elsewhere.replacements > 0 && !one.isExact
        {
            let snapshots = try await repository.snapshots(database: "a.db")
            guard let snapshot = snapshots.last(where: { $0.time.milliseconds == one.label }),
                try await restored(.id(snapshot.id)).state == one.state
            else { throw error }
            return nil
        }
    }

    struct Wrong: Error, CustomStringConvertible {
        let what: String
        var description: String { what }
    }
}
