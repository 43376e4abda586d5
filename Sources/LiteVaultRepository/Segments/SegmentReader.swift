internal import LiteVaultCapture
internal import LiteVaultSystem

/// Where a copy of a database is in the followed log: at the end of the last segment that was applied to it.
///
/// A standby records it beside its copy, and continues from there with another process.
package struct SegmentPosition: CheckedDocument, Sendable, Equatable {
    /// The number of the segment.
    package let sequence: Int
    let run: String
    let place: UInt64
    /// The hash that the next segment has as its predecessor.
    let link: String
    /// Where it ends in the log of the original.
    let salts: String
    let lastFrame: UInt32
    /// The running checksum there; absent if it was not recorded.
    let checksum: String?

    init(_ record: SegmentRecord, link: String) {
        (sequence, run, place, self.link) = (record.sequence, record.run, record.place, link)
        (salts, lastFrame, checksum) = (record.salts, record.last.frame, record.end?.checksum)
    }

    package func check() throws(OutOfLimits) {
        try require("sequence", sequence, in: RepositoryFormat.sequences)
        try require("run", run, digits: 32)
        try require("place", place, in: 0...UInt64(RepositoryFormat.sequences.upperBound))
        try require("link", link, digits: 64)
        try require("checksum", checksum, digits: 16)
        try require("salts", salts, digits: 16)
    }

    /// Whether a snapshot has nothing more than this. A log with a lower counter came before.
    ///
    /// A power loss takes the end of a log, and what is committed afterwards has its frames and salts. A snapshot of that has another run, or was
    /// read when this segment was known to be stored.
    package func passes(_ snapshot: Snapshot) -> Bool {
        let manifest = snapshot.manifest
        guard let log = manifest.log, manifest.followed?.run.map({ $0 == run }) ?? true else { return false }
        if manifest.followed?.segment ?? 0 >= sequence {
            let isSame = checksum.flatMap { own in log.end?.checksum.map { $0 == own } } ?? true
            return log.salts == salts && log.frames == Int(lastFrame) && isSame
        }
        if log.salts == salts { return Int64(log.frames) <= Int64(lastFrame) }
        guard let old = UInt64(log.salts, radix: 16), let new = UInt64(salts, radix: 16) else { return false }
        return old.resets(to: new) != nil
    }

    /// Whether a segment is the next one, or a joined one that has the next one.
    func precedes(_ record: SegmentRecord) -> Bool {
        guard record.run == run, record.sequence > sequence else { return false }
        if record.first == sequence + 1 { return record.firstPlace == place &+ 1 && record.predecessor == link }
        // Numbers and places advance together.
        return record.joined != nil && record.first <= sequence
            && record.place &- place == UInt64(record.sequence - sequence)
    }
}

/// Reads the segments of a followed log that continue a copy of its database. It is the counterpart of ``SegmentWriter``: it takes no lease,
/// and remembers nothing.
package struct SegmentReader: Sendable {
    /// What is stored behind a state of the copy.
    package enum Continuation: Sendable {
        case nothing
        /// Segments without a gap; the files with their frames are removed with the last reference to the second value.
        case segments([FetchedSegment], FetchedSegments)
        /// The segments there do not continue the copy, for this reason.
        case broken(String)
        /// No segment will continue the copy, for this reason.
        case ended(String)
    }

    /// Segments that are read at a time at most.
    private static let batch = 256
    /// Bytes of segments that are read at a time, unless a single one has more.
    private static let batchBytes: Int64 = 64 << 20

    private let repository: Repository
    private let database: String

    /// - Parameter database: the identifier of the database.
    package init(_ repository: Repository, database: String) {
        self.repository = repository
        self.database = database
    }

    /// The highest number of a segment that is stored; 0 if none is.
    package func newest() async throws -> Int {
        try await repository.segments(database, RepositoryFormat.sequences).map(\.sequence).max() ?? 0
    }

    /// The first segments behind a snapshot. They are one commit, as some may begin before it.
    ///
    /// - Parameters:
    ///   - sequence: the number of the snapshot.
    ///   - passed: the highest number among the segments that are known not to continue it.
    /// - Returns: what continues it, and the highest number of a segment there; `passed` without one.
    /// - Throws: `VaultError` `damaged` if a segment between the snapshot and others is missing or damaged; what the store throws.
    package func segments(
        behindSnapshot sequence: Int, beyond passed: Int
    ) async throws -> (found: Continuation, newest: Int) {
        let all = RepositoryFormat.sequences
        let names = try await repository.segments(database, min(passed + 1, all.upperBound)...all.upperBound)
        guard let newest = names.map(\.sequence).max() else { return (.nothing, passed) }
        let name = RepositoryFormat.snapshot(database, sequence)
        let snapshot: Snapshot
        do {
            snapshot = try await repository.snapshot(name, database: database)
        } catch let error as VaultError where error.code == .missing {
            return (.broken("its snapshot was removed by retention"), newest)
        }
        // Segments of the line before cannot be placed: a promoted database has a log of its own.
        let cut = snapshot.line == nil ? nil : try await repository.survey(database).cut(of: snapshot)
        let row = try await repository.segments(after: snapshot, among: [snapshot], until: nil, cut: cut)
        guard try await repository.isStored(snapshot) else {
            return (.broken("its snapshot was removed by retention"), newest)
        }
        if let obstacle = row.obstacle { throw obstacle.error }
        guard let fetched = row.fetched, !row.segments.isEmpty else { return (.nothing, newest) }
        return (.segments(row.segments, fetched), newest)
    }

    /// The next segments behind one that was applied.
    ///
    /// - Throws: `VaultError` `damaged` for a segment that cannot be read, with its name as the path; what the store throws.
    package func segments(behind last: SegmentPosition) async throws -> Continuation {
        let all = RepositoryFormat.sequences
        guard last.sequence < all.upperBound else { return .nothing }
        let names = try await repository.segments(database, (last.sequence + 1)...all.upperBound)
        guard !names.isEmpty else { return .nothing }
        var path = Self.path(names, [], behind: last.sequence)
        if path.isEmpty, let newest = names.map(\.sequence).max() {
            // What follows was joined, and removed. Or it was stored during the listing: one of a directory is not of one moment, but a second
            // one has all that is older than what the first one has.
            let all = try await repository.segments(database, (last.sequence + 1)...newest)
            let joined = try await repository.joinedSegments(database)
            path = Self.path(all, joined, behind: last.sequence)
        }
        guard !path.isEmpty else {
            return .broken("segment \(last.sequence + 1) is missing, or was removed by retention")
        }
        return try await read(path, behind: last)
    }

    /// The objects that have the segments behind a number without a gap; several with one number if that was stored twice.
    private static func path(_ names: [SegmentName], _ joined: [SegmentName], behind last: Int) -> [[SegmentName]] {
        let fine = Dictionary(grouping: names, by: \.sequence)
        var path: [[SegmentName]] = []
        var next = last + 1
        var bytes: Int64 = 0
        while path.count < batch, bytes < batchBytes {
            // A joined one may begin before: what it has of pages that were applied already is newer, or the same.
            if let found = fine[next] {
                path.append(found)
                next += 1
            } else if let found = joined.filter({ $0.has(next) }).max(by: { $0.sequence < $1.sequence }) {
                path.append([found])
                next = found.sequence + 1
            } else {
                break
            }
            bytes += path.last?.first?.size ?? 0
        }
        return path
    }

    /// Reads the records of segments, as far as they follow each other.
    private func read(_ path: [[SegmentName]], behind last: SegmentPosition) async throws -> Continuation {
        let fetched = try FetchedSegments(of: database, in: repository)
        _ = try await fetched.fetch(path.flatMap(\.self))
        var last = last
        var segments: [FetchedSegment] = []
        for names in path {
            let (next, others) = try await following(last, names, fetched)
            if let next {
                segments.append(next)
                last = next.position
                continue
            }
            if !segments.isEmpty { break }
            // Removed since it was listed: the next look finds what it was joined into.
            if case .failure(let error)? = others.first, error.code == .missing { return .nothing }
            for other in others {
                let record = try other.get()
                guard record.run != last.run else {
                    throw VaultError(
                        .damaged, "does not follow the previous segment", path: names.first?.object,
                        advice: .check)
                }
            }
            return .ended("another run of the follower began, with a snapshot of its own")
        }
        return .segments(segments, fetched)
    }

    /// The one of several objects that follows a segment, or else what was found, failures first.
    private func following(
        _ last: SegmentPosition, _ names: [SegmentName], _ fetched: FetchedSegments
    ) async throws -> (segment: FetchedSegment?, others: [Result<SegmentRecord, VaultError>]) {
        var others: [Result<SegmentRecord, VaultError>] = []
        for name in names {
            do {
                let found = try await fetched.segment(name)
                if last.precedes(found.record) { return (found, []) }
                others.append(.success(found.record))
            } catch let error as VaultError where error.isDamage {
                others.insert(.failure(error), at: 0)
            }
        }
        return (nil, others)
    }
}
