internal import LiteVaultCapture
public import LiteVaultSystem

/// The points in time that followed logs add to a repository's snapshots.
public struct FollowedLogs: Sendable {
    /// For each snapshot that segments continue, by its identifier: the time up to which every point in time can be restored.
    public internal(set) var until: [String: Date] = [:]
    /// Missing or damaged segments. Their commits cannot be restored; other points in time can.
    public internal(set) var warnings: [RepositoryWarning] = []
}

extension Repository {
    /// Finds the time up to which segments continue each snapshot without a gap, and the segments that are missing.
    ///
    /// It reads the headers of only a few segments for each run of a follower. Missing segments are found by their sequence
    /// numbers, and by the newest segment that this machine, the follower's lease and the manifests remember.
    ///
    /// - Parameter snapshots: snapshots of this repository.
    /// - Throws: `VaultError` if the store cannot be read. Damage is part of the result.
    public func followed(_ snapshots: [Snapshot]) async throws -> FollowedLogs {
        var result = FollowedLogs()
        for (database, snapshots) in Dictionary(grouping: snapshots, by: \.manifest.database).sorted(by: {
            $0.key < $1.key
        }) {
            // What was listed may be gone before it is read. A new listing tells whether retention or compaction removed it, or it is lost.
            for listing in 1...Self.listings {
                let found = try await followed(snapshots, of: database, isLast: listing == Self.listings)
                guard let found else { continue }
                result.until.merge(found.until) { $1 }
                result.warnings += found.warnings
                break
            }
        }
        return result
    }

    /// - Parameter isLast: whether what is listed and does not exist is damage.
    /// - Returns: nil, unless `isLast`, if a segment does not exist that was listed.
    private func followed(
        _ snapshots: [Snapshot], of database: String, isLast: Bool
    ) async throws -> FollowedLogs? {
        var result = FollowedLogs()
        var isOutdated = false
        var log = try await segmentLog(database, snapshots, in: .everything)
        var records: [String: SegmentRecord?] = [:]
        let path = SegmentCover.of(log.names, log.joined)
        // The number of places without a segment before each.
        let breaks = path.indices.reduce(into: [Int]()) { breaks, index in
            let follows = index == 0 || path[index].first == path[index - 1].sequence + 1
            breaks.append((breaks.last ?? 0) + (follows ? 0 : 1))
        }
        // A segment that cannot be read ends the reachable range.
        func record(_ index: Int) async throws -> SegmentRecord? {
            let name = path[index]
            if let known = records[name.object] { return known }
            do {
                let found = try await segment(name, database)
                records[name.object] = found.record
                log.learn(found.record)
                if index == path.count - 1, !name.isJoined, name.sequence >= log.newest?.mark.sequence ?? 0 {
                    rememberFound(found.mark, database)
                }
                return found.record
            } catch let error as VaultError where error.isDamage {
                isOutdated = isOutdated || (error.code == .missing && !isLast)
                records[name.object] = .some(nil)
                result.warnings.append(RepositoryWarning(error, name.object))
                return nil
            }
        }
        if !path.isEmpty { _ = try await record(path.count - 1) }
        let ordered = snapshots.sorted { $0.sequence < $1.sequence }
        let isStepped = path.step != nil || zip(ordered, ordered.dropFirst()).contains { $1.time < $0.time }
        // The segment that continues the next snapshot: those behind it are not in this one, either.
        var bound = path.count - 1
        for (number, snapshot) in ordered.enumerated().reversed() {
            let position = ImagePosition(snapshot, previous: number > 0 ? ordered[number - 1] : nil)
            let last = path.lastIndex { snapshot.cut?.contains($0) ?? true } ?? -1
            // As a restore finds the first one.
            var order = LogOrder(position, isStepped: isStepped)
            var found: (index: Int, record: SegmentRecord)?
            // From the last one that it has.
            var index = path.firstIndex { $0.sequence >= position.known } ?? path.count
            search: while index <= min(bound, last) {
                guard let record = try await record(index) else {
                    guard position.contains(path[index], newest: snapshot.manifest.newestSegment) else { break }
                    index += 1
                    continue
                }
                switch order.place(of: record) {
                case .continues:
                    found = (index, record)
                    break search
                case .lacking: break search
                case .contained, .foreign, .unknown: index += 1
                }
            }
            // What the image itself has, a restore reports as well.
            let image = Date(milliseconds: order.imageUntil)
            if image > snapshot.time { result.until[snapshot.id] = image }
            guard let (first, start) = found else { continue }
            bound = first
            // The last segment of that run without a gap before it: both conditions become false only once.
            var (low, high) = (first, last)
            while low < high {
                let middle = (low + high + 1) / 2
                let isWhole = breaks[middle] == breaks[first]
                let goesOn = isWhole ? try await record(middle)?.run == start.run : false
                if goesOn { low = middle } else { high = middle - 1 }
            }
            result.until[snapshot.id] = max(snapshot.time, path[low].date)
        }
        result.warnings += log.warnings
        return isOutdated ? nil : result
    }
}
