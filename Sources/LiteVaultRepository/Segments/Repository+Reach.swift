public import struct Foundation.Date
internal import LiteVaultCapture

/// What the followed logs of a repository add to its snapshots.
public struct FollowedLogs: Sendable {
    /// Until when every point in time after a snapshot can be restored, by the snapshots' ids; without those that nothing
    /// continues.
    public internal(set) var until: [String: Date] = [:]
    /// Segments that are missing or damaged: what was committed in them can not be restored, other points in time can.
    public internal(set) var warnings: [RepositoryWarning] = []
}

extension Repository {
    /// Until when every point in time after each snapshot can be restored, by the segments that continue it, and which
    /// segments are missing: at the end, in the middle, or all.
    ///
    /// Reads the starts of a few segments for each run of a follower, however many segments there are. What is missing is
    /// told by the segments' numbers, and compared with what this machine, the follower's lease and the manifests remember.
    public func followed(_ snapshots: [Snapshot]) async throws -> FollowedLogs {
        var result = FollowedLogs()
        for (database, snapshots) in Dictionary(grouping: snapshots, by: \.manifest.database).sorted(by: {
            $0.key < $1.key
        }) {
            var log = try await segmentLog(database, snapshots)
            var records: [String: SegmentRecord?] = [:]
            // One that can not be read ends what can be reached.
            func record(_ index: Int) async throws -> SegmentRecord? {
                let name = log.names[index]
                if let known = records[name.object] { return known }
                do {
                    let (record, head) = try await segment(name, database)
                    records[name.object] = record
                    log.learn(record)
                    if index == log.names.count - 1, name.sequence >= log.newest?.mark.sequence ?? 0 {
                        try? remember(SegmentMark(record, head.document.hash), database)
                    }
                    return record
                } catch let error as BackupError where error.isDamage {
                    records[name.object] = .some(nil)
                    result.warnings.append(RepositoryWarning(error, name.object))
                    return nil
                }
            }
            if !log.names.isEmpty { _ = try await record(log.names.count - 1) }
            for snapshot in snapshots {
                // As a restore chooses them.
                let exact = snapshot.time.addingTimeInterval(-0.002)
                guard let first = log.names.firstIndex(where: { $0.date >= exact }),
                    let start = try await record(first),
                    let began = Timestamp.date(start.began), began <= snapshot.time,
                    log.missing(before: start, snapshot) == nil
                else { continue }
                // The last one that is of that run, with none missing in between: both only become untrue once.
                var (low, high) = (first, log.names.count - 1)
                while low < high {
                    let middle = (low + high + 1) / 2
                    let isWhole = log.names[middle].sequence - log.names[first].sequence == middle - first
                    let goesOn = isWhole ? try await record(middle)?.run == start.run : false
                    if goesOn { low = middle } else { high = middle - 1 }
                }
                result.until[snapshot.id] = log.names[low].date
            }
            result.warnings += log.warnings
        }
        return result
    }
}
