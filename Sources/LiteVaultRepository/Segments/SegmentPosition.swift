internal import LiteVaultCapture

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
