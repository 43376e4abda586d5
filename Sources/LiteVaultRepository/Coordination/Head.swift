internal import DurableFile
internal import Foundation
internal import LiteVaultCapture

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
    /// Where the newest snapshots are remembered, and where they were before they belonged to a location.
    var headFolders: [String] {
        [memory?.headFolder(config.id), local.state.map { "\($0)/\(config.id)" }].compactMap(\.self)
    }

    private func headPath(_ database: String) -> String? { headFolders.first.map { "\($0)/\(database).json" } }

    /// Forgets what was remembered before memories belonged to a location.
    func forgetFormerHeads() throws {
        for folder in headFolders.dropFirst() {
            for name in try Folder.names(folder) { unlink(folder + "/" + name) }
        }
    }

    /// Remembers the newest snapshot of a survey in which nothing speaks against it. Where that can not be written nothing is
    /// lost but the memory.
    func rememberNewest(_ survey: DatabaseSurvey) {
        guard survey.rollback == nil, let last = survey.snapshots.last else { return }
        try? remember(Head(sequence: last.sequence, hash: last.hash.hex), survey.database)
    }

    /// What is remembered; nil when nothing is.
    func head(_ database: String) throws -> Head? {
        for folder in headFolders {
            if let head = try head(at: "\(folder)/\(database).json") { return head }
        }
        return nil
    }

    private func head(at path: String) throws -> Head? {
        do {
            let bytes = try LocalFile(reading: path).contents(upTo: Head.byteLimit)
            return try Decoding.value(Head.self, from: bytes, path: path)
        } catch let error as BackupError where error.code == .missing {
            return nil
        } catch let error as BackupError where error.code == .damaged {
            throw BackupError(
                .damaged, "does not say which snapshot was the newest", path: path,
                remedy:
                    "The next snapshot writes it again; until then a repository that was rolled back goes unnoticed.",
                cause: error)
        }
    }

    /// Remembers a snapshot as the newest, unless a newer one is remembered.
    func remember(_ head: Head, _ database: String) throws {
        guard let path = headPath(database) else { return }
        // One that is damaged is written again.
        if let known = try? self.head(database), known.sequence >= head.sequence { return }
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
    ///   - survey: what is there.
    /// - Throws: ``BackupError`` `damaged` when the repository is older than what was seen of it.
    func compare(_ head: Head?, _ database: String, _ survey: DatabaseSurvey) throws {
        guard let head else { return }
        let remedy =
            "Somebody put an older state of the repository back. If that was meant, --accept-repository takes it."
        if let same = survey.snapshots.first(where: { $0.sequence == head.sequence }) {
            guard same.hash.hex != head.hash else { return }
            throw BackupError(
                .damaged,
                "snapshot \(head.sequence) is not the one that was seen before: the repository was rolled back",
                path: same.object, remedy: remedy)
        }
        // One that can not be read is there: what is wrong with it is told.
        guard survey.newestSequence < head.sequence else { return }
        throw BackupError(
            .damaged, "snapshot \(head.sequence) was there before, and is not any more: the repository was rolled back",
            path: RepositoryFormat.snapshot(database, head.sequence), remedy: remedy)
    }
}
