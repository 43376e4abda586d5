public import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSystem

extension WritableRepository {
    /// Joins the segments of followed logs, and removes those whose time is over.
    ///
    /// A damaged segment is not joined, nor removed; those beside it are. Segments are removed only after the joined one that has
    /// their pages was read back and matches its hash. Several compactions may run at the same time.
    ///
    /// - Parameters:
    ///   - policy: how long commits can be restored one by one.
    ///   - database: a database's name; nil for all databases.
    ///   - dryRun: whether to count only, without changing anything.
    ///   - progress: called regularly; an error that it throws cancels the operation.
    /// - Returns: what was joined and removed.
    /// - Throws: `VaultError` `busy` if another process removes from the repository: what was joined stays; `io`, `noSpace`.
    @discardableResult
    public func compact(
        _ policy: CompactionPolicy = .init(), database: String? = nil, dryRun: Bool = false,
        progress: @escaping BackupProgress.Report = { _ in }
    ) async throws -> CompactionResult {
        var result = CompactionResult()
        let ids = try await repository.databaseIDs(database)
        for (index, id) in ids.enumerated() {
            try progress(BackupProgress(.storing, Int64(index), of: Int64(ids.count)))
            let compaction = SegmentCompaction(self, id, policy, dryRun: dryRun, progress: progress)
            compaction.result = result
            try await compaction.run()
            result = compaction.result
        }
        return result
    }
}

/// A compaction of one database.
final class SegmentCompaction {
    private let writable: WritableRepository
    private let repository: Repository
    private let database: String
    private let policy: CompactionPolicy
    private let dryRun: Bool
    private let progress: BackupProgress.Report
    /// What was done, by compactions of other databases before it, too.
    var result = CompactionResult()
    /// What was tried to be joined: levels, and the first and the last segment. It is not tried again.
    var attempted: Set<String> = []
    /// The objects that damage was found in.
    private var damaged: Set<String> = []
    /// The newest segment, as far as it is known.
    private var newest: SegmentName?
    /// When the newest commit was made, whatever name has it.
    private var newestDate: Date?

    init(
        _ writable: WritableRepository, _ database: String, _ policy: CompactionPolicy, dryRun: Bool = false,
        progress: @escaping BackupProgress.Report = { _ in }
    ) {
        (self.writable, repository) = (writable, writable.repository)
        self.database = database
        self.policy = policy
        self.dryRun = dryRun
        self.progress = progress
    }

    /// Joins all that can be joined, and removes what is no longer needed.
    ///
    /// - Returns: the objects that later segments may still be joined with.
    @discardableResult
    func run() async throws -> [SegmentName] {
        let before = try await repository.segmentListing(database, in: .everything)
        (newest, newestDate) = (before.names.last, before.names.lazy.map(\.date).max())
        let rest = try await join(SegmentCover.of(before.names, before.joined))
        // What was stored just now is not old enough, unless nothing has to be.
        try await remove(policy.grace > .zero ? before.joined : nil)
        return rest
    }

    // MARK: Joining

    /// Joins the segments of each window that is over, level by level.
    ///
    /// - Parameter elements: segments and joined ones, in order and without an overlap.
    /// - Returns: those of the last window of the highest level.
    func join(_ elements: [SegmentName]) async throws -> [SegmentName] {
        var elements = elements
        for level in CompactionPolicy.levels {
            var (next, group): ([SegmentName], [SegmentName]) = ([], [])
            for element in elements {
                if let last = group.last, Self.window(last, level) != Self.window(element, level) {
                    next += try await join(group, level)
                    group = []
                }
                group.append(element)
            }
            // The last window may not be over.
            elements = next + group
        }
        guard let last = elements.last, let top = CompactionPolicy.levels.last else { return [] }
        return elements.filter { Self.window($0, top) == Self.window(last, top) }
    }

    private static func window(_ name: SegmentName, _ level: Int) -> Int64 { name.time / (Int64(level) * 1000) }

    /// Joins what can be joined of one window; the rest stays between.
    private func join(_ group: [SegmentName], _ level: Int) async throws -> [SegmentName] {
        var (done, part): ([SegmentName], [SegmentName]) = ([], [])
        func end() async throws {
            if part.count > 1, attempted.insert("\(level) \(part[0].first) \(part[part.count - 1].sequence)").inserted {
                part = try await joinPart(part, level)
            }
            done += part
            part = []
        }
        for (index, name) in group.enumerated() {
            // Of two with one number it is not known which one the next follows.
            let isTwin = [index - 1, index + 1].contains {
                group.indices.contains($0) && group[$0].sequence == name.sequence
            }
            if let last = part.last, name.first != last.sequence + 1 || isTwin { try await end() }
            if isTwin || name.level >= level {
                try await end()
                done.append(name)
            } else {
                part.append(name)
            }
        }
        try await end()
        return done
    }

    /// Joins segments whose numbers follow each other, as far as their documents do.
    private func joinPart(_ part: [SegmentName], _ level: Int) async throws -> [SegmentName] {
        if dryRun {
            guard let first = part.first, let last = part.last else { return part }
            result.joined += 1
            return [
                SegmentName(
                    database: database, joined: first.first...last.sequence,
                    snapshots: (first.firstSnapshot, last.snapshot), time: last.time, level: level)
            ]
        }
        var done: [SegmentName] = []
        var current = try JoinedObject(writable, database, level)
        let fetched = try FetchedSegments(of: database, in: repository)
        for start in stride(from: 0, to: part.count, by: 16) {
            let some = Array(part[start..<min(part.count, start + 16)])
            _ = try await fetched.fetch(some)
            for name in some {
                try progress(BackupProgress(.storing, 0, of: 1))
                do {
                    let element = try await fetched.segment(name)
                    let path = try await fetched.frames(of: element)
                    defer { unlink(path) }
                    if try current.append(element, path) { continue }
                    done += try await end(current)
                    current = try JoinedObject(writable, database, level)
                    _ = try current.append(element, path)
                } catch let error as VaultError where error.isDamage {
                    // Another compaction may have removed it. Otherwise a check reports it too.
                    if error.code != .missing, damaged.insert(name.object).inserted {
                        result.warnings.append(RepositoryWarning(error, name.object))
                    }
                    done += try await end(current) + [name]
                    current = try JoinedObject(writable, database, level)
                }
            }
        }
        return try await done + end(current)
    }

    /// Stores what was joined, if it is more than one segment.
    private func end(_ object: JoinedObject) async throws -> [SegmentName] {
        guard object.isUsable, object.elements.count > 1 else { return object.elements }
        do {
            let (name, size) = try await object.store()
            result.joined += 1
            result.joinedBytes = [result.joinedBytes, size].sum
            return [name]
        } catch let error as VaultError where error.isDamage {
            result.warnings.append(RepositoryWarning(error, error.path ?? database))
            return object.elements
        }
    }

    // MARK: Removing

    /// Removes what joined segments have, when its time is over.
    private func remove(_ known: [SegmentName]?) async throws {
        let found = try await removable(known)
        guard !found.isEmpty else { return }
        if dryRun { return count(found.map(\.name)) }
        do {
            try await writable.withLease("prune", for: "removing from the repository") { lease in
                // With the lease: what retention removes meanwhile must not be counted on.
                let going = try await removable()
                var intact: [String: Bool] = [:]
                for (index, (name, joined)) in going.enumerated() {
                    try progress(BackupProgress(.removing, Int64(index), of: Int64(going.count)))
                    if intact[joined.object] == nil {
                        intact[joined.object] = try await isIntact(joined)
                        try await lease.confirm()
                    }
                    guard intact[joined.object] == true else { continue }
                    if index % 100 == 0 { try await lease.confirm() }
                    try await repository.store.remove(name.object)
                    count([name])
                }
            }
        } catch let error as VaultError where error.code == .busy {
            result.warnings.append(RepositoryWarning(error, database))
        }
    }

    private func count(_ names: [SegmentName]) {
        result.removed += names.count
        result.removedBytes = [result.removedBytes, names.compactMap(\.size).sum].sum
    }

    /// What may be removed, and the joined segment that has it.
    ///
    /// - Parameter known: the joined segments; nil lists them.
    private func removable(
        _ known: [SegmentName]? = nil
    ) async throws -> [(name: SegmentName, joined: SegmentName)] {
        let joined = if let known { known } else { try await repository.joinedSegments(database) }
        let now = try await repository.store.now()
        // The earliest of three: it may keep too much, where a later one would remove too much. Later commits make a commit old, and not
        // a clock that is set forward.
        let time = min(repository.clock.time(), now, newestDate ?? now)
        let old = joined.filter { name in
            name.modified.map { $0.addingTimeInterval(policy.grace.seconds) <= now } ?? false
        }
        // Only what they have can be removed, if they begin before the time that is kept.
        let ends = old.filter { name in
            let age = time.timeIntervalSince1970 - Double(Self.window(name, name.level)) * Double(name.level)
            return name.level <= CompactionPolicy.minute && age > policy.fine.seconds
                || name.level <= CompactionPolicy.hour && age > max(policy.fine, policy.minutes).seconds
        }
        guard let first = ends.map(\.first).min(), let last = ends.map(\.sequence).max(), first <= last else {
            return []
        }
        let names = try await repository.segments(database, first...last)
        let byLevel = Dictionary(grouping: old, by: \.level)
        let counts = Dictionary(names.map { ($0.sequence, 1) }, uniquingKeysWith: +)
        // The newest one tells a follower where to continue.
        let end = max(newest?.sequence ?? 0, names.last?.sequence ?? 0)
        return (names + joined).compactMap { name in
            let age = time.timeIntervalSince(name.date)
            guard age > policy.fine.seconds, name.sequence != end || name.isJoined,
                name.isJoined || counts[name.sequence] == 1
            else { return nil }
            // The coarsest first: what it has may be removed by it, too.
            let coarsest = age > policy.minutes.seconds ? CompactionPolicy.hour : CompactionPolicy.minute
            for level in CompactionPolicy.levels.reversed() where level > name.level && level <= coarsest {
                if let found = byLevel[level]?.covering(name) { return (name, found) }
            }
            return nil
        }
    }

    /// Whether a joined segment can be read, and matches its hashes.
    private func isIntact(_ name: SegmentName) async throws -> Bool {
        do {
            try await repository.compare(repository.segment(name, database))
            return true
        } catch let error as VaultError where error.isDamage {
            result.warnings.append(RepositoryWarning(error, name.object))
            return false
        }
    }
}

extension [SegmentName] {
    /// The joined segment that has all of another; these are in the order of their first segments, without an overlap.
    fileprivate func covering(_ name: SegmentName) -> SegmentName? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].first <= name.first { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let found = self[low - 1]
        return name.sequence <= found.sequence && found.object != name.object ? found : nil
    }
}

/// How long commits of a followed log can be restored one by one, and how finely after that, counted back from the newest commit.
///
/// Commits are joined in windows of 10 seconds, a minute, 10 minutes, an hour, 6 hours and a day, each beside what was joined, so
/// that a restore reads few objects. What was joined is removed when its time here is over. Windows are those of UTC.
public struct CompactionPolicy: Sendable, Equatable {
    /// How long every commit that was read can be restored: 24 hours by default.
    public var fine: Duration = .seconds(86_400)
    /// How long the last commit of each minute can be restored: 30 days by default. After that it is the last one of each hour, as
    /// long as the snapshot that it continues exists.
    public var minutes: Duration = .seconds(30 * 86_400)
    /// How long a joined segment has to have existed before what was joined is removed, which running restores have to finish: an
    /// hour by default.
    public var grace: Duration = .seconds(3600)

    /// Creates the default policy.
    public init() {}

    /// The lengths of windows in seconds.
    static let levels = [10, 60, 600, 3600, 21_600, 86_400]
    /// The windows that remain when commits are no longer kept one by one, and when minutes no longer are.
    static let (minute, hour) = (60, 3600)
}

/// The result of a compaction.
public struct CompactionResult: Sendable {
    /// The number of joined segments that were stored.
    public internal(set) var joined = 0
    /// Their size in bytes.
    public internal(set) var joinedBytes: Int64 = 0
    /// The number of segments that were removed, because joined ones have their pages.
    public internal(set) var removed = 0
    /// Their size in bytes.
    public internal(set) var removedBytes: Int64 = 0
    /// What could not be joined or removed, and why. It stays as it was.
    public internal(set) var warnings: [RepositoryWarning] = []
}

/// A joined segment that is being made, in a file of the spool.
final class JoinedObject {
    private let repository: Repository
    private let database: String
    private let level: Int
    private let file: ReplacementFile
    private var joiner: SegmentJoiner
    private var records: (first: SegmentRecord, last: SegmentRecord, hash: String)?
    private var logs: [LogRange]? = []
    /// What was appended.
    private(set) var elements: [SegmentName] = []
    /// Whether it can be stored.
    private(set) var isUsable = true

    init(_ writable: WritableRepository, _ database: String, _ level: Int) throws {
        repository = writable.repository
        self.database = database
        self.level = level
        file = try PackSpool(directory: try repository.spoolDirectory()).create().file
        joiner = try SegmentJoiner(into: file.path, byteLimit: RepositoryFormat.segmentBytes)
    }

    deinit { file.discard() }

    /// Appends a segment whose file matches its hash.
    ///
    /// - Returns: whether it follows the previous one, and fits. If not, nothing was appended.
    /// - Throws: `VaultError` `damaged`.
    func append(_ element: FetchedSegment, _ path: String) throws -> Bool {
        let record = element.record
        if let (_, last, link) = records {
            guard record.first == last.sequence + 1, record.predecessor == link, record.run == last.run,
                record.firstPlace == last.place + 1, record.pageSize == last.pageSize
            else { return false }
        }
        // What it may add at most: a joiner that fails in the middle cannot be used.
        let pages = record.joined.map { Int($0.pages) } ?? Int(record.frames)
        guard joiner.pageCount + pages <= SegmentJoiner.pageLimit,
            JoinedSegment.byteCount(pages: UInt32(clamping: joiner.pageCount + pages), pageSize: record.pageSize)
                <= RepositoryFormat.segmentBytes
        else { return false }
        do { try joiner.append(element.opened(at: path)) } catch let error as VaultError where error.code == .conflict {
            return false
        } catch let error as VaultError where error.isDamage {
            // Its frames are wrong although its hash is right. What it overwrote is lost to this object.
            isUsable = false
            throw VaultError(.damaged, error.message, path: element.name.object, cause: error)
        }
        records = (records?.first ?? record, record, element.link)
        logs = logs.flatMap { logs in record.logs.flatMap { LogRange.joined(logs, $0) } }
        elements.append(element.name)
        return true
    }

    /// Stores it. The same segments make the same object, so that another compaction may have stored it.
    ///
    /// - Returns: its name and its size.
    /// - Throws: `VaultError` `damaged` if another object has its name.
    func store() async throws -> (SegmentName, Int64) {
        guard let (first, last, hash) = records, let segment = try joiner.finish() else {
            throw VaultError(.internalFailure, "nothing was joined")
        }
        let source = try LocalFile(reading: file.path)
        var record = last
        record.type = "joined"
        record.predecessor = first.predecessor
        (record.end, record.clock) = (nil, nil)
        record.payloadSize = segment.byteCount
        record.payloadHash = try source.hash()
        record.joined = SegmentRecord.Joined(
            first: first.first, firstSnapshot: first.joined?.firstSnapshot ?? first.snapshot, level: level, hash: hash,
            salts: first.joined?.salts ?? first.salts, firstFrame: first.joined?.firstFrame ?? first.firstFrame,
            pages: segment.pageCount, logs: logs)
        let name = record.name
        let (head, _) = try SealedDocument.seal(record, key: repository.key)
        let (object, writer) = try PackSpool(directory: try repository.spoolDirectory()).create()
        defer { object.discard() }
        try writer.write(head, at: 0)
        try source.forEachPiece { offset, bytes in try writer.write(bytes, at: Int64(head.count) + offset) }
        let size = Int64(head.count) + segment.byteCount
        // Joining takes no lease that a change of the key could wait for.
        try await repository.requireCurrentKey()
        do {
            let store = repository.store
            try await store.put(name.object, file: object.path, condition: store.whereAbsent())
        } catch let error as VaultError where error.code == .conflict {
            // Another compaction was first, or the response to the first attempt was lost.
            var stored = try await repository.segment(name, database).record
            // An older version lists no logs.
            stored.joined?.logs = logs
            guard stored == record else {
                throw VaultError(.damaged, "is not what its segments make", path: name.object)
            }
        }
        var stored = name
        stored.size = size
        return (stored, size)
    }
}
