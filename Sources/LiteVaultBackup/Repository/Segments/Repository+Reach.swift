public import struct Foundation.Date

extension Repository {
    /// Until when every point in time after a snapshot can be restored, by the segments that continue it; by the snapshots'
    /// ids, without those that nothing continues.
    ///
    /// Reads the starts of a few segments for each run of a follower, however many segments there are.
    ///
    /// - Throws: ``BackupError`` `damaged` for a segment whose start is not whole or not authentic.
    public func followedUntil(_ snapshots: [Snapshot]) async throws -> [String: Date] {
        var result: [String: Date] = [:]
        var names: [String: [SegmentName]] = [:]
        var runs: [String: String] = [:]
        for snapshot in snapshots {
            let database = snapshot.manifest.database
            if names[database] == nil { names[database] = try await segments(database) }
            let present = names[database] ?? []
            // As a restore chooses them.
            guard let first = present.firstIndex(where: { $0.date >= snapshot.time.addingTimeInterval(-0.002) }) else {
                continue
            }
            func run(_ index: Int) async throws -> String {
                let name = present[index]
                if let known = runs[name.object] { return known }
                let (record, _) = try await segment(name, database)
                runs[name.object] = record.run
                return record.run
            }
            let (record, _) = try await segment(present[first], database)
            guard let began = Timestamp.date(record.began), began <= snapshot.time else { continue }
            // The last one that is of that run, with none missing in between: both only become untrue once.
            var (low, high) = (first, present.count - 1)
            while low < high {
                let middle = (low + high + 1) / 2
                let isWhole = present[middle].sequence - present[first].sequence == middle - first
                let goesOn = isWhole ? try await run(middle) == record.run : false
                if goesOn { low = middle } else { high = middle - 1 }
            }
            result[snapshot.id] = present[low].date
        }
        return result
    }
}
