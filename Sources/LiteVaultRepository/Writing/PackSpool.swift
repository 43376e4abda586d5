package import DurableFile
internal import Foundation
package import LiteVaultCapture

/// Packs in the making, as temporary files: removed with this object, by a signal, or by the next run after a kill.
package final class PackSpool {
    /// A file that becomes an object.
    struct Pack {
        let name: String
        let pack: PackID
        let file: ReplacementFile
        let size: Int64
    }

    package let folder: String
    private(set) var packs: [Pack] = []

    package init(folder: String) { self.folder = folder }

    /// Removes what runs that were killed have left: making a temporary file does it.
    package static func sweep(_ folder: String) throws {
        try BackupError.about(folder) { try ReplacementFile(destination: folder + "/pack").discard() }
    }

    package func create() throws -> (file: ReplacementFile, writer: LocalFile) {
        try BackupError.about(folder) {
            let file = try ReplacementFile(destination: folder + "/pack")
            return (file, try LocalFile(updating: file.path))
        }
    }

    func add(_ pack: Pack) { packs.append(pack) }

    var byteCount: Int64 { packs.reduce(0) { $0 + $1.size } }

    deinit { for pack in packs { pack.file.discard() } }
}
