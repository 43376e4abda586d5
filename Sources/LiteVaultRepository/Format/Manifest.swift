internal import LiteVaultCapture

/// The description of a snapshot: together with the packs that its block map refers to, enough to restore it.
struct Manifest: CheckedDocument, Sendable, Equatable {
    /// A node in a tree pack.
    struct Root: Codable, Sendable, Equatable {
        var pack: String
        var offset: UInt32
        var hash: String
    }

    /// The position in the write-ahead log at which the image ends; absent in rollback-journal mode.
    struct LogPosition: Codable, Sendable, Equatable {
        /// Both salts of the log's header, 16 hexadecimal digits.
        var salts: String
        /// The number of its frames in the image.
        var frames: Int
        /// What lets a follower continue from there; absent in manifests of older versions.
        var end: LogEnd?

        /// Where a follower or another snapshot may continue; nil if it was not recorded.
        var mark: LogMark? {
            guard let end, let salts = UInt64(salts, radix: 16), let frame = UInt32(exactly: frames),
                (frame > 0) == (end.checksum != nil)
            else { return nil }
            return LogMark(position: .init(salts: salts, frame: frame), end: end)
        }
    }

    /// A period that the follower of the log missed before this snapshot, which closes the gap.
    struct Gap: Codable, Sendable, Equatable {
        /// When it last polled; absent if unknown.
        var since: String?
        var reason: String
    }

    /// What was known about the image when it was read.
    struct Followed: Codable, Sendable, Equatable {
        /// The newest segment that was known to be stored before: it and all before it are in the image. Absent without one.
        var segment: Int?
        /// The run of the follower in the same process; absent if there was none.
        var run: String?
        /// How many segments of that run end at or before the end of the image; absent if that was not known.
        var places: Int?
        /// The run that this follower had ended, if all of it is in the image, or precedes it, and was not stored yet; absent without one.
        var ended: String?
        /// The first of the snapshots, up to this one, that have the same state of the same log; absent if the one before it has another one.
        var unchangedSince: Int?
    }

    var type = "snapshot"
    var format = RepositoryFormat.unsealedVersion
    /// Identifiers of the repository and of the database in it.
    var repository: String
    var database: String
    /// The database's name.
    var name: String
    /// The number that orders snapshots, from 1.
    var sequence: Int
    /// The hash of the newest manifest that its writer could read; absent for the first.
    var predecessor: String?
    /// The number of the newest manifest, if its writer could not read it; else absent.
    var unread: Int?
    /// Incremented whenever nearly all blocks changed at once: by a rekey or a VACUUM.
    var epoch: Int
    /// Whether no block was reused from the predecessor.
    var base: Bool
    /// Whether nearly all blocks differ from the predecessor's.
    var rewritten: Bool
    var time: String
    var host: String
    /// The path of the database on that machine.
    var source: String
    var tool: String
    /// The first 16 bytes of the image, 32 hexadecimal digits: the salt of an encrypted database.
    var salt: String
    /// Whether the first page is not encrypted.
    var plaintext: Bool
    /// The image's size in bytes; its number of 4096-byte blocks, the last of which may be padded with zeros.
    var size: Int64
    var blocks: Int
    var root: Root
    var log: LogPosition?
    /// Its place among the segments of a followed log, so far as that was known; absent in manifests of older versions.
    var followed: Followed?
    /// What the clock said, if ``time`` is later: the clock had been ahead before.
    var clock: String?
    /// The database file, by which the next snapshot recognises it as unchanged; absent if the image was not the file alone, or
    /// the file was changed in the two seconds before.
    var file: SourceState?
    /// When all blocks of the file were last read; absent if they were for this snapshot.
    var wholeRead: String?
    var gap: Gap?
    /// The line of history that it continues, which a promotion began; absent without one.
    var line: String?
    /// The newest segment stored before it, as far as its machine knew; absent if the log was not followed.
    var newestSegment: SegmentMark?
    /// The number of blocks that differ from the predecessor's, and the bytes of the packs that were written.
    var changedBlocks: Int
    var dataBytes: Int64
    var treeBytes: Int64
    /// The content of the database's keyring, which is ciphertext; absent without one, and in manifests of older versions.
    var keyring: String?

    func check() throws(OutOfLimits) {
        try require("format", format, in: RepositoryFormat.unsealedVersion...RepositoryFormat.unsealedVersion)
        try require("sequence", sequence, in: RepositoryFormat.sequences)
        try require("predecessor", predecessor, digits: 64)
        try require("unread", unread, in: 1...max(1, sequence - 1))
        try require("epoch", epoch, in: RepositoryFormat.sequences)
        try require("time", time: time)
        try require("gap", time: gap?.since)
        try require("line", line, digits: 32)
        try newestSegment?.check()
        try require("size", size, in: 1...RepositoryFormat.imageBytes)
        try require("blocks", Int64(blocks), in: Self.blocks(size)...Self.blocks(size))
        try require("pack", root.pack, digits: 32)
        try require("hash", root.hash, digits: 64)
        try require("salts", log?.salts, digits: 16)
        try require("frames", log?.frames, in: 0...Int(UInt32.max))
        try require(log?.end)
        try require("segment", followed?.segment, in: RepositoryFormat.sequences)
        try require("run", followed?.run, digits: 32)
        try require("places", followed?.places, in: 0...RepositoryFormat.sequences.upperBound)
        try require("ended", followed?.ended, digits: 32)
        try require("unchanged_since", followed?.unchangedSince, in: 1...max(1, sequence - 1))
        try require("clock", time: clock)
        try require("file", file?.status, digits: 32)
        try require("modified", file?.modified, digits: 16)
        try require("whole_read", time: wholeRead)
        try require("changed_blocks", changedBlocks, in: 0...blocks)
        // Packs are slightly larger than their blocks.
        try require("data_bytes", dataBytes, in: 0...(2 * RepositoryFormat.imageBytes))
        try require("tree_bytes", treeBytes, in: 0...RepositoryFormat.imageBytes)
        try require("length of keyring", keyring?.utf8.count, in: 1...RepositoryFormat.keyringBytes)
    }

    /// The number of blocks of an image of that size.
    private static func blocks(_ size: Int64) -> Int64 { (size + Int64(blockSize) - 1) / Int64(blockSize) }

    /// The root node of the block map.
    func rootEntry(_ name: String) throws -> TreeEntry {
        guard let pack = PackID(hexadecimal: root.pack), let hash = Hash256(hexadecimal: root.hash) else {
            throw VaultError(.damaged, "has an invalid root of the block map", path: name)
        }
        return TreeEntry(pack: pack, position: root.offset, hash: hash)
    }
}
