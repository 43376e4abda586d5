internal import Crypto
internal import Foundation
internal import LiteVaultCapture
internal import LiteVaultSupport

/// Reads nodes out of tree packs that are files of this machine: objects of a directory where they lie, of other stores as
/// copies in a directory. Every node is checked against the hash that its parent has of it.
package final class NodeSource: Sendable {
    private let store: any ObjectStore
    private let directory: String
    private let files = Locked(Files())

    private struct Files {
        var open: [PackID: LocalFile] = [:]
        /// Those that are open, in the order in which they were opened.
        var order: [PackID] = []
        /// Copies that were compared with their hashes.
        var whole: Set<PackID> = []
    }

    /// - Parameter directory: where copies are kept; they stay until somebody removes them.
    package init(store: any ObjectStore, directory: String) {
        self.store = store
        self.directory = directory
    }

    /// Files that are open at a time.
    private static let limit = 64

    /// The node that `entry` names.
    ///
    /// - Throws: `VaultError` `damaged` when it is not the one of that hash or of that level, `missing` when its pack
    ///   was not made available by ``prepare(_:)``.
    package func node(_ entry: TreeEntry, level: Int) throws -> TreeNode {
        let name = RepositoryFormat.tree(entry.pack)
        let file = try file(entry.pack)
        let bytes = try [UInt8](unsafeUninitializedCapacity: TreeNode.limit) { buffer, count in
            count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: Int64(entry.position))
        }
        return try bytes.withUnsafeBytes { buffer in
            guard let length = TreeNode.length(buffer) else {
                throw VaultError(.damaged, "has no node at \(entry.position)", path: name)
            }
            let own = UnsafeRawBufferPointer(rebasing: buffer[..<length])
            guard Hash256(of: own) == entry.hash, let node = TreeNode(own), node.level == level else {
                throw VaultError(.damaged, "the node at \(entry.position) is not the one that was stored", path: name)
            }
            return node
        }
    }

    /// Makes the pack available to ``node(_:level:)``.
    ///
    /// A copy is compared with its hash before it is used for the first time, and fetched again where it is not the one that
    /// was stored: it was not synced when it was made, and nobody else watches over it.
    package func prepare(_ pack: PackID) async throws {
        let name = RepositoryFormat.tree(pack)
        let path = path(pack)
        guard store.localPath(name) == nil else {
            guard access(path, R_OK) == 0 else { throw VaultError(.missing, "is missing", path: name) }
            return
        }
        if isCompared(pack) { return }
        if Self.isWhole(path, pack) { return compared(pack) }
        try LocalDirectory.create(directory)
        let temporary = path + "." + PackID().hexadecimal
        do {
            try await store.fetch(name, into: temporary, upTo: Int64(RepositoryFormat.wholeTreePack))
            // What lies there under the name may be anything.
            if rename(temporary, path) != 0 {
                try? FileManager.default.removeItem(atPath: path)
                guard rename(temporary, path) == 0 else { throw VaultError(errno: errno, "rename", path: path) }
            }
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
            files.open[pack] = nil
            files.order.removeAll { $0 == pack }
        }
    }

    /// Whether a file is the tree pack of that name, by the hash at its end.
    private static func isWhole(_ path: String, _ pack: PackID) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        do {
            let file = try LocalFile(reading: path)
            let content = try file.size() - Int64(RepositoryFormat.hashBytes)
            guard content > Int64(RepositoryFormat.packHeader) else { return false }
            let header = try file.read(at: 0, count: RepositoryFormat.packHeader)
            guard header.starts(with: RepositoryFormat.treeMagic), Array(header[24..<40]) == pack.bytes else {
                return false
            }
            var digest = SHA256()
            try file.forEachPiece { offset, bytes in
                let count = min(Int64(bytes.count), max(0, content - offset))
                digest.update(bufferPointer: UnsafeRawBufferPointer(rebasing: bytes[..<Int(count)]))
            }
            return try Array(digest.finalize()) == file.read(at: content, count: RepositoryFormat.hashBytes)
        } catch {
            return false
        }
    }

    /// Makes every pack of a block map available.
    package func prepare(root: TreeEntry, blocks: Int) async throws {
        // Level by level, each node once: a map whose nodes are shared by others of the same map has no more of them than
        // its packs can hold, whatever number of ways leads to them.
        var level = TreeShape.height(blocks: blocks) - 1
        var nodes: Set<TreeEntry> = [root]
        while true {
            for pack in Set(nodes.map(\.pack)).sorted() { try await prepare(pack) }
            if level == 0 { return }
            if level == 1 {
                // There are many leaves, and few packs that hold them.
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

    /// The file that holds the pack, whether it is there or not.
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
            if files.order.count >= Self.limit { files.open[files.order.removeFirst()] = nil }
            files.open[pack] = file
            files.order.append(pack)
            return file
        }
    }
}

/// The block maps as they are in the store while it is checked. Copies that this machine has from before say nothing of what
/// somebody else would restore from, so what a check reads goes into a directory of its own, which goes with this object.
final class UncachedNodes {
    let source: NodeSource
    /// Nil where the store's own files are read.
    private let directory: String?

    /// - Parameter directory: the parent of the temporary directory, for remote stores.
    init(_ store: any ObjectStore, directory parent: String) throws {
        guard store.localPath("tree/any") == nil else {
            source = NodeSource(store: store, directory: parent)
            directory = nil
            return
        }
        try LocalDirectory.create(parent)
        // What a check that was killed has left; one that is still at work is not so old.
        for name in try LocalDirectory.names(parent) {
            var status = stat()
            let path = parent + "/" + name
            if stat(path, &status) == 0, Date().timeIntervalSince1970 - status.modified > 86_400 {
                try? FileManager.default.removeItem(atPath: path)
            }
        }
        let path = parent + "/" + PackID().hexadecimal
        try LocalDirectory.create(path)
        source = NodeSource(store: store, directory: path)
        directory = path
    }

    deinit { if let directory { try? FileManager.default.removeItem(atPath: directory) } }

    /// Keeps a pack that was read, so that it need not be read again.
    func keep(_ pack: PackID, _ bytes: [UInt8]) throws {
        if directory != nil { try LocalFile(creating: source.path(pack)).write(bytes, at: 0) }
    }
}
