internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSystem

/// Reads nodes from tree packs that are local files: objects of a directory store in place, those of other stores from
/// cached copies. Every node is checked against its hash in its parent.
package final class NodeSource: Sendable {
    private let store: any ObjectStore
    private let directory: String
    private let files = Locked(Files())

    private struct Files {
        var open = RecentValues<PackID, LocalFile>(limit: 64)
        /// Copies that were compared with their hashes.
        var whole: Set<PackID> = []
    }

    /// - Parameter directory: where copies are cached; they stay until they are removed.
    package init(store: any ObjectStore, directory: String) {
        self.store = store
        self.directory = directory
    }

    /// The node that `entry` refers to.
    ///
    /// - Throws: `VaultError` `damaged` if it does not have that hash or level, `missing` if its pack was not made
    ///   available by ``prepare(_:)``.
    package func node(_ entry: TreeEntry, level: Int) throws -> TreeNode {
        let file = try file(entry.pack)
        let bytes = try [UInt8](unsafeUninitializedCapacity: TreeNode.limit) { buffer, count in
            count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: Int64(entry.position))
        }
        return try bytes.withUnsafeBytes { try entry.node(in: $0, level: level) }
    }

    /// The node that `entry` refers to, at a place in the map of an image of `blocks` blocks.
    ///
    /// - Throws: as ``node(_:level:)``; `damaged` if it has more or fewer entries than that place needs.
    func node(_ entry: TreeEntry, level: Int, index: Int, blocks: Int) throws -> TreeNode {
        let node = try node(entry, level: level)
        guard node.entries.count == TreeShape.entries(blocks: blocks, level: level, index: index) else {
            throw entry.misplaced
        }
        return node
    }

    /// Makes the pack available to ``node(_:level:)``.
    ///
    /// A copy is compared with its hash before its first use, and fetched again if it differs: copies are not synced,
    /// and nothing else protects them.
    package func prepare(_ pack: PackID) async throws {
        let name = RepositoryFormat.tree(pack)
        let path = path(pack)
        guard store.localPath(name) == nil else {
            guard access(path, R_OK) == 0 else { throw VaultError(.missing, "is missing", path: name) }
            return
        }
        if isCompared(pack) { return }
        if PackFile.isWhole(path, pack) { return compared(pack) }
        try LocalDirectory.create(directory)
        let temporary = path + "." + PackID().hexadecimal
        do {
            try await store.fetch(name, into: temporary, upTo: Int64(RepositoryFormat.wholeTreePack))
            // Anything may be at that path.
            if rename(temporary, path) != 0 {
                OwnedTree.remove(path)
                guard rename(temporary, path) == 0 else { throw VaultError(errno: errno, "rename", path: path) }
            }
        } catch let error as VaultError where error.isDamage {
            unlink(temporary)
            // By its name, under which the damage is recorded; a store may name its place.
            throw VaultError(error.code, error.message, path: name, cause: error)
        } catch {
            unlink(temporary)
            throw error
        }
        // If it is damaged now, it is damaged in the store. Its nodes are checked one by one.
        compared(pack)
    }

    private func isCompared(_ pack: PackID) -> Bool { files.withLock { $0.whole.contains(pack) } }

    private func compared(_ pack: PackID) {
        files.withLock { files in
            files.whole.insert(pack)
            files.open.remove(pack)
        }
    }

    /// The block map of a snapshot, every pack of which it makes available.
    ///
    /// - Parameter name: the manifest's.
    func map(of manifest: Manifest, _ name: String) async throws -> BlockMap {
        let root = try manifest.rootEntry(name)
        try await prepare(root: root, blocks: manifest.blocks)
        return BlockMap(root: root, blocks: manifest.blocks, source: self)
    }

    /// Makes every pack of a block map available.
    package func prepare(root: TreeEntry, blocks: Int) async throws {
        // Level by level, each node once: the number of distinct nodes is bounded by the size of the packs, however
        // many paths lead to them.
        var level = TreeShape.height(blocks: blocks) - 1
        var nodes: Set<TreeEntry> = [root]
        while true {
            for pack in Set(nodes.map(\.pack)).sorted() { try await prepare(pack) }
            if level == 0 { return }
            if level == 1 {
                // Many leaves are in few packs.
                var packs: Set<PackID> = []
                for entry in nodes { packs.formUnion(try node(entry, level: level).entries.map(\.pack)) }
                for pack in packs.sorted() { try await prepare(pack) }
                return
            }
            var below: Set<TreeEntry> = []
            for entry in nodes { below.formUnion(try node(entry, level: level).entries) }
            (nodes, level) = (below, level - 1)
        }
    }

    /// The path of the pack's file, whether or not it exists.
    package func path(_ pack: PackID) -> String {
        store.localPath(RepositoryFormat.tree(pack)) ?? directory + "/" + pack.hexadecimal
    }

    private func file(_ pack: PackID) throws -> LocalFile {
        try files.withLock { files in
            if let file = files.open[pack] { return file }
            let file: LocalFile
            do {
                file = try LocalFile(reading: path(pack))
            } catch let error as VaultError where error.code == .missing {
                throw VaultError(.damaged, "is missing", path: RepositoryFormat.tree(pack))
            }
            files.open.insert(file, for: pack)
            return file
        }
    }
}

/// Reads block maps from the store during a check. Copies cached on this machine prove nothing about what another
/// machine would restore from, so a check reads into a temporary directory of its own, removed with this object.
final class UncachedNodes {
    let source: NodeSource
    /// Nil if the store's own files are read.
    private let directory: WorkDirectory?

    /// - Parameter directory: the parent of the temporary directory, for remote stores.
    init(_ store: any ObjectStore, directory parent: String) throws {
        guard store.localPath("tree/any") == nil else {
            source = NodeSource(store: store, directory: parent)
            directory = nil
            return
        }
        try LocalDirectory.create(parent)
        let work = try withErrorContext(path: parent) { try WorkDirectory(for: "nodes", in: parent) }
        source = NodeSource(store: store, directory: work.path)
        directory = work
    }

    /// Whether a tree pack in the store is intact. ``source`` reads what was compared here.
    ///
    /// - Parameter repository: the repository's identifier.
    /// - Throws: `VaultError` `missing` if there is no such object, `damaged` if it is larger than any tree pack.
    func isIntact(_ pack: PackID, of repository: [UInt8]) async throws -> Bool {
        try await source.prepare(pack)
        return try PackFile.isIntact(source.path(pack), pack, of: repository)
    }
}

extension TreeEntry {
    /// The error for a node that belongs to another place in a map.
    var misplaced: VaultError {
        VaultError(.damaged, "a node has the wrong number of entries for its place", path: RepositoryFormat.tree(pack))
    }

    /// The node that this entry refers to.
    ///
    /// - Parameter buffer: starts with the node.
    /// - Throws: `VaultError` `damaged` if it does not have that hash or level.
    func node(in buffer: UnsafeRawBufferPointer, level: Int) throws -> TreeNode {
        let name = RepositoryFormat.tree(pack)
        guard let length = TreeNode.length(buffer) else {
            throw VaultError(.damaged, "has no node at \(position)", path: name)
        }
        let own = UnsafeRawBufferPointer(rebasing: buffer[..<length])
        guard Hash256(of: own) == hash, let node = TreeNode(own), node.level == level else {
            throw VaultError(.damaged, "the node at \(position) does not match its hash", path: name)
        }
        return node
    }
}
