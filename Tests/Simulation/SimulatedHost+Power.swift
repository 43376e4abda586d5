import Foundation
import LiteVault

/// What a power loss leaves: of the log, the commits that were synced, and some of those that were not; of local files, what was synced.
extension SimulatedHost {
    /// The power fails and comes back. Commits are lost that the follower may have stored; the application continues without them.
    ///
    /// The log loses its end, but nothing that a checkpoint has copied: that was synced before. Files of the cache are not synced.
    func losePower(choose: (Int) -> Int) async throws {
        let (path, before) = (path, latest)
        let pages = try Self.bytes(path)
        var log = try Self.bytes(path + "-wal")
        if let index = try logIndex(), log.count > 32 {
            let least = index.salts == synced?.salts ? synced?.frames ?? 0 : 0
            let first = max(index.copied, least)
            let end = 32 + (first + choose(max(index.frames - first, 0) + 1)) * (24 + index.pageSize)
            if choose(2) == 0 {
                log.removeSubrange(min(end, log.count)...)
            } else if end < log.count {
                log.replaceSubrange(end..., with: [UInt8](repeating: 0, count: log.count - end))
            }
        }
        try await restart {
            try Data(pages).write(to: URL(fileURLWithPath: path))
            try Data(log).write(to: URL(fileURLWithPath: path + "-wal"))
            try? FileManager.default.removeItem(atPath: path + "-shm")
            if choose(2) == 0 { try? FileManager.default.removeItem(atPath: self.place + "/cache") }
        }
        // What is left is on the disk. The index that was just made again does not know how much of it had been copied.
        synced = try logIndex()
        self.log("power loss: after \(before.number) follows \(latest.number)")
        guard states[latest.number] == latest else {
            throw Wrong(what: "the model of a power loss made \(latest), which was never committed")
        }
        // Whatever is stored from now on has a higher number than what was lost.
        try commit()
    }

    /// The host is installed again, or from an image of itself: its memory of the repository is gone.
    func loseState() async throws {
        try await restart { try? FileManager.default.removeItem(atPath: self.place + "/state") }
        log("the state directory is lost")
    }

    /// What the index of the log says: https://sqlite.org/walformat.html.
    struct LogIndex {
        let salts: [UInt8]
        let pageSize: Int
        /// How many frames are valid, and how many of them a checkpoint has copied.
        let frames: Int
        let copied: Int
    }

    /// Nil without a log, or for one that was never written to.
    func logIndex() throws -> LogIndex? {
        let (log, index) = (try Self.bytes(path + "-wal"), try Self.bytes(path + "-shm"))
        guard log.count > 32, index.count >= 136 else { return nil }
        return LogIndex(
            salts: Array(log[16..<24]), pageSize: log[8..<12].reduce(0) { $0 << 8 | Int($1) },
            frames: Self.number(index, at: 16), copied: Self.number(index, at: 96))
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        FileManager.default.fileExists(atPath: path) ? [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) : []
    }

    private static func number(_ bytes: [UInt8], at place: Int) -> Int {
        bytes[place..<place + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
