internal import DurableFile
internal import Foundation

/// Packs in the making, as temporary files: removed with this object, by a signal, or by the next run after a kill.
final class PackSpool {
    /// A file that becomes an object.
    struct Pack {
        let name: String
        let pack: PackID
        let file: ReplacementFile
        let size: Int64
    }

    let folder: String
    private(set) var packs: [Pack] = []

    init(folder: String) { self.folder = folder }

    /// Removes what runs that were killed have left: making a temporary file does it.
    static func sweep(_ folder: String) throws {
        try BackupError.about(folder) { try ReplacementFile(destination: folder + "/pack").discard() }
    }

    func create() throws -> (file: ReplacementFile, writer: LocalFile) {
        try BackupError.about(folder) {
            let file = try ReplacementFile(destination: folder + "/pack")
            return (file, try LocalFile(updating: file.path))
        }
    }

    func add(_ pack: Pack) { packs.append(pack) }

    var byteCount: Int64 { packs.reduce(0) { $0 + $1.size } }

    deinit { for pack in packs { pack.file.discard() } }
}
