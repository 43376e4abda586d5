internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultFoundation
internal import LiteVaultSystem

extension Standby {
    /// Segments that are applied in one commit at most.
    private static let batch = 256
    /// Bytes of segments that are applied in one commit, unless a single one has more.
    private static let batchBytes: Int64 = 64 << 20

    /// The next segments behind one that was applied.
    func segments(behind last: StandbyPoint.Segment) async throws -> Step {
        let all = RepositoryFormat.sequences
        guard last.sequence < all.upperBound else { return .nothing }
        let names = try await repository.segments(state.database, (last.sequence + 1)...all.upperBound)
        guard !names.isEmpty else { return .nothing }
        var path = Self.path(names, [], behind: last.sequence)
        if path.isEmpty, let newest = names.map(\.sequence).max() {
            // What follows was joined, and removed. Or it was stored during the listing: one of a directory is not of one moment, but a second
            // one has all that is older than what the first one has.
            let all = try await repository.segments(state.database, (last.sequence + 1)...newest)
            let joined = try await repository.joinedSegments(state.database)
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
            } else if let found = joined.filter({ $0.first <= next && next <= $0.sequence }).max(by: {
                $0.sequence < $1.sequence
            }) {
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
    private func read(_ path: [[SegmentName]], behind last: StandbyPoint.Segment) async throws -> Step {
        let fetched = try FetchedSegments(of: state.database, in: repository)
        _ = try await fetched.fetch(path.flatMap(\.self))
        var last = last
        var elements: [FetchedSegment] = []
        for names in path {
            let others = try await next(names, fetched, &last, &elements)
            guard let others else { continue }
            if !elements.isEmpty { break }
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
        fetchedSegments = fetched
        return .segments(elements)
    }

    /// Adds the one of several objects that follows the last segment.
    ///
    /// - Returns: nil if one was added, or else what was found, failures first.
    private func next(
        _ names: [SegmentName], _ fetched: FetchedSegments, _ last: inout StandbyPoint.Segment,
        _ elements: inout [FetchedSegment]
    ) async throws -> [Result<SegmentRecord, VaultError>]? {
        var others: [Result<SegmentRecord, VaultError>] = []
        for name in names {
            do {
                let found = try await fetched.segment(name)
                guard follows(found.record, last) else {
                    others.append(.success(found.record))
                    continue
                }
                elements.append(found)
                last = StandbyPoint.Segment(found.record, link: found.link)
                return nil
            } catch let error as VaultError where error.isDamage {
                others.insert(.failure(error), at: 0)
            }
        }
        return others
    }

    /// Whether a segment is the next one after another, or a joined one that has the next one.
    private func follows(_ record: SegmentRecord, _ last: StandbyPoint.Segment) -> Bool {
        guard record.run == last.run, record.sequence > last.sequence else { return false }
        if record.first == last.sequence + 1 {
            return record.firstPlace == last.place &+ 1 && record.predecessor == last.link
        }
        // Numbers and places advance together.
        return record.joined != nil && record.first <= last.sequence
            && record.place &- last.place == UInt64(record.sequence - last.sequence)
    }

    /// The first segments behind a snapshot: all of them are one commit, as some may begin before it.
    func firstSegments(_ current: StandbyPoint) async throws -> Step {
        let all = RepositoryFormat.sequences
        let names = try await repository.segments(state.database, min(passed + 1, all.upperBound)...all.upperBound)
        guard let newest = names.map(\.sequence).max() else { return .nothing }
        let name = RepositoryFormat.snapshot(state.database, current.snapshot)
        let snapshot: Snapshot
        do {
            snapshot = try await repository.snapshot(name, database: state.database)
        } catch let error as VaultError where error.code == .missing {
            return .broken("its snapshot was removed by retention")
        }
        // Segments of the line before cannot be placed: a promoted database has a log of its own.
        let cut = snapshot.manifest.line == nil ? nil : try await repository.survey(state.database).cut(of: snapshot)
        let row = try await repository.segments(after: snapshot, among: [snapshot], until: nil, cut: cut)
        if let obstacle = row.obstacle { throw obstacle.error }
        passed = newest
        guard !row.segments.isEmpty else { return .nothing }
        fetchedSegments = row.fetched
        return .segments(row.segments)
    }

    /// Applies segments as one commit; those before a damaged one, if one is.
    func apply(_ elements: [FetchedSegment]) async throws -> StandbyUpdate {
        guard let fetched = fetchedSegments, let first = elements.first, let current = state.current else {
            return .unchanged
        }
        defer { fetchedSegments = nil }
        let database = try attach(pageSize: first.record.pageSize)
        // It may have turned out to have them.
        guard state.current?.segment == current.segment else { return .unchanged }
        var pages = NewestPages(pageSize: first.record.pageSize)
        var done: [FetchedSegment] = []
        var failure: (any Error)?
        for element in elements {
            do {
                let path = try await fetched.frames(of: element)
                try withErrorContext(path: element.name.object) {
                    if element.record.joined != nil {
                        try pages.add(JoinedSegmentFile(path, from: element.offset))
                    } else {
                        try pages.add(SegmentFile(path, from: element.offset))
                    }
                }
                done.append(element)
            } catch let error as VaultError where error.isDamage {
                // Those behind a snapshot only lead to a commit together.
                if done.isEmpty || current.segment == nil { throw error }
                failure = error
                break
            }
        }
        guard let last = done.last else { return .unchanged }
        var next = current
        next.segment = StandbyPoint.Segment(last.record, link: last.link)
        (next.time, next.isLogged, next.pageSize) = (last.name.date.milliseconds, true, last.record.pageSize)
        try commit(pages, as: next, to: database)
        if let failure { throw failure }
        return .applied(segments: done.count, pages: pages.count, until: next.date)
    }

    /// Commits pages, with the state that they lead to recorded before.
    func commit(_ pages: NewestPages, as point: StandbyPoint, to database: StandbyDatabase) throws {
        let after = try sum.after(pages, in: database)
        var next = point
        next.sum = after.hexadecimal
        var state = state
        try database.commit(pages) { position, sums in
            next.set(position, sums)
            state.next = next
            try state.write(destination)
        }
        sum = after
        (state.current, state.next) = (next, nil)
        self.state = state
        guard database.logBytes > options.logBytes, try database.checkpoint() else { return }
        self.state.file = database.fileStatus
        try self.state.write(destination)
    }
}
