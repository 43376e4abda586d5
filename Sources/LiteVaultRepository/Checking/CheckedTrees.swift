internal import Foundation
internal import LiteVaultCapture

/// The block maps as they are in the store while it is checked. Copies that this machine has from before say nothing of what
/// somebody else would restore from, so what a check reads goes into a folder of its own, which goes with this object.
final class CheckedTrees {
    let source: NodeSource
    /// Nil where the store's own files are read.
    private let folder: String?

    /// - Parameter folder: where the folder is made, for stores that are not of this machine.
    init(_ store: any ObjectStore, folder parent: String) throws {
        guard store.localPath("tree/any") == nil else {
            source = NodeSource(store: store, folder: parent)
            folder = nil
            return
        }
        try Folder.create(parent)
        // What a check that was killed has left; one that is still at work is not so old.
        for name in try Folder.names(parent) {
            var status = stat()
            let path = parent + "/" + name
            if stat(path, &status) == 0, Date().timeIntervalSince1970 - status.modified > 86_400 {
                try? FileManager.default.removeItem(atPath: path)
            }
        }
        let path = parent + "/" + PackID().hex
        try Folder.create(path)
        source = NodeSource(store: store, folder: path)
        folder = path
    }

    deinit { if let folder { try? FileManager.default.removeItem(atPath: folder) } }

    /// Keeps a pack that was read, so that it need not be read again.
    func keep(_ pack: PackID, _ bytes: [UInt8]) throws {
        if folder != nil { try LocalFile(creating: source.path(pack)).write(bytes, at: 0) }
    }
}
