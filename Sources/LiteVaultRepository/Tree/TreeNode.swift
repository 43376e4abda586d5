/// Where something is, and what it hashes to: a block in a data pack (`position` is its number there), or a node in a tree
/// pack (`position` is its offset there).
package struct TreeEntry: Hashable, Sendable {
    package let pack: PackID
    package let position: UInt32
    package let hash: Hash256

    package init(pack: PackID, position: UInt32, hash: Hash256) {
        self.pack = pack
        self.position = position
        self.hash = hash
    }
}

/// A node of a block map. A leaf (level 0) has an entry for each of up to 32 blocks; a node above has one for each of up
/// to 32 nodes of the level below. Which blocks a node covers follows from its place alone.
package struct TreeNode: Equatable, Sendable {
    package let level: Int
    package let entries: [TreeEntry]

    package init(level: Int, entries: [TreeEntry]) {
        self.level = level
        self.entries = entries
    }

    /// The most bytes that a node has.
    package static let limit = 8 + RepositoryFormat.fanOut * (16 + 38)

    /// level, 0, count of entries (2), count of packs (2), 0 (2); the packs' names; then for each entry: number of its
    /// pack in that list (2), position (4), hash (32).
    package var bytes: [UInt8] {
        var packs: [PackID] = []
        var slots: [PackID: UInt16] = [:]
        for entry in entries where slots[entry.pack] == nil {
            slots[entry.pack] = UInt16(packs.count)
            packs.append(entry.pack)
        }
        var bytes: [UInt8] = [UInt8(level), 0]
        bytes.reserveCapacity(Self.limit)
        bytes.append(bigEndian: UInt16(entries.count))
        bytes.append(bigEndian: UInt16(packs.count))
        bytes.append(bigEndian: UInt16(0))
        for pack in packs { bytes += pack.bytes }
        for entry in entries {
            bytes.append(bigEndian: slots[entry.pack] ?? 0)
            bytes.append(bigEndian: entry.position)
            bytes.append(entry.hash)
        }
        return bytes
    }

    /// How many of `bytes` the node at their start takes; nil if there is none.
    package static func length(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count >= 8, bytes[1] == 0, bytes[0] < 8, bytes.bigEndian16(6) == 0 else { return nil }
        let (count, packs) = (Int(bytes.bigEndian16(2)), Int(bytes.bigEndian16(4)))
        guard (1...RepositoryFormat.fanOut).contains(count), (1...count).contains(packs) else { return nil }
        let length = 8 + packs * 16 + count * 38
        return length <= bytes.count ? length : nil
    }

    /// Reads a node; nil if the bytes are none. The hash is to be checked before.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard Self.length(bytes) == bytes.count else { return nil }
        let (count, packCount) = (Int(bytes.bigEndian16(2)), Int(bytes.bigEndian16(4)))
        let packs = (0..<packCount).map { index in
            PackID(UnsafeRawBufferPointer(rebasing: bytes[(8 + index * 16)..<(24 + index * 16)]))
        }
        var entries: [TreeEntry] = []
        entries.reserveCapacity(count)
        var offset = 8 + packCount * 16
        for _ in 0..<count {
            let slot = Int(bytes.bigEndian16(offset))
            guard slot < packs.count,
                bytes[0] > 0 || bytes.bigEndian32(offset + 2) < UInt32(RepositoryFormat.packBlocks)
            else { return nil }
            entries.append(
                TreeEntry(
                    pack: packs[slot], position: bytes.bigEndian32(offset + 2),
                    hash: Hash256(UnsafeRawBufferPointer(rebasing: bytes[(offset + 6)..<(offset + 38)]))))
            offset += 38
        }
        level = Int(bytes[0])
        self.entries = entries
    }
}

/// The shape of a block map, which follows from the number of blocks.
package enum TreeShape {
    /// Levels, leaves included.
    package static func height(blocks: Int) -> Int {
        var height = 1
        var nodes = nodes(blocks: blocks, level: 0)
        while nodes > 1 {
            nodes = (nodes + RepositoryFormat.fanOut - 1) / RepositoryFormat.fanOut
            height += 1
        }
        return height
    }

    /// Nodes of a level.
    package static func nodes(blocks: Int, level: Int) -> Int {
        var count = blocks
        for _ in 0...level { count = (count + RepositoryFormat.fanOut - 1) / RepositoryFormat.fanOut }
        return count
    }

    /// Entries of the node `index` of a level.
    package static func entries(blocks: Int, level: Int, index: Int) -> Int {
        let below = level == 0 ? blocks : nodes(blocks: blocks, level: level - 1)
        return min(RepositoryFormat.fanOut, below - index * RepositoryFormat.fanOut)
    }
}
