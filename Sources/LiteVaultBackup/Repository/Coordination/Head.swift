internal import DurableFile
internal import Foundation

/// The newest snapshot of a database that this machine has seen. A repository that no longer has it was rolled back.
struct Head: CheckedDocument, Equatable {
    var sequence: Int
    var hash: String

    static let byteLimit = RepositoryFormat.documentBytes

    func check() throws(OutOfLimits) {
        try require("sequence", sequence, in: RepositoryFormat.sequences)
        try require("hash", hash, digits: 64)
    }
}

extension Repository {
    private func headPath(_ database: String) -> String? { local.state.map { "\($0)/\(config.id)/\(database).json" } }

    /// What is remembered; nil when nothing is.
    func head(_ database: String) throws -> Head? {
        guard let path = headPath(database) else { return nil }
        do {
            let bytes = try LocalFile(reading: path).contents(upTo: Head.byteLimit)
            return try Decoding.value(Head.self, from: bytes, path: path)
        } catch let error as BackupError where error.code == .missing {
            return nil
        } catch let error as BackupError where error.code == .damaged {
            throw BackupError(
                .damaged, "does not say which snapshot was the newest", path: path, remedy: "Remove the file.",
                cause: error)
        }
    }

    /// Remembers a snapshot as the newest, unless a newer one is remembered.
    func remember(_ head: Head, _ database: String) throws {
        guard let path = headPath(database) else { return }
        if let known = try self.head(database), known.sequence >= head.sequence { return }
        try Folder.create(Folder.parent(of: path))
        try BackupError.about(path) {
            let file = try ReplacementFile(destination: path)
            try LocalFile(updating: file.path).write(Decoding.bytes(head, path: path), at: 0)
            try file.publish(replacing: true)
        }
    }

    /// Compares what was remembered with what is there.
    ///
    /// - Parameters:
    ///   - head: what was remembered before the snapshots were listed: what another process of this machine stores
    ///     meanwhile is remembered, but not in the list.
    ///   - snapshots: all of the database, in order.
    /// - Throws: ``BackupError`` `damaged` when the repository is older than what was seen of it.
    func compare(_ head: Head?, _ database: String, _ snapshots: [Snapshot]) throws {
        guard let head else { return }
        let path = headPath(database)
        let remedy = "Somebody put an older state of the repository back. If that was meant, remove this file."
        if let same = snapshots.first(where: { $0.sequence == head.sequence }) {
            guard same.hash.hex != head.hash else { return }
            throw BackupError(
                .damaged,
                "snapshot \(head.sequence) is not the one that was seen before: the repository was rolled back",
                path: path, remedy: remedy)
        }
        guard (snapshots.last?.sequence ?? 0) < head.sequence else { return }
        throw BackupError(
            .damaged, "snapshot \(head.sequence) was there before, and is not any more: the repository was rolled back",
            path: path, remedy: remedy)
    }
}
