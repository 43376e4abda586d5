internal import DurableFile
internal import Foundation
internal import LiteVaultCapture

/// What this machine remembers of the repository at one location: which it is, and below that the newest snapshots seen.
///
/// It is what tells a repository that was wiped or exchanged for another from one that is used for the first time. A secret
/// does not tell them apart: several repositories may have the same.
struct LocationMemory: Sendable {
    private struct Record: CheckedDocument {
        var version = 1
        /// For whoever looks into the folder.
        var location: String
        /// The repositories that belong there; several where that was said, as with disks that take turns.
        var repositories: [String]
        /// `repository.json` of the last of them: it never changes, and has no secret in it.
        var document: String

        // The document's text, with each of its quotes escaped, and a path.
        static let byteLimit = 4 * RepositoryFormat.documentBytes

        func check() throws(OutOfLimits) {
            for id in repositories { try require("repositories", id, digits: 32) }
        }
    }

    /// How many repositories may take turns at one location.
    private static let limit = 16

    private let folder: String
    private let location: String
    private var path: String { folder + "/repository.json" }

    /// Nil where nothing is to be remembered.
    init?(_ store: any ObjectStore, _ local: LocalFolders) {
        guard let state = local.state else { return nil }
        location = store.identity
        folder = "\(state)/locations/\(Hash256(of: Array(location.utf8)).hex.prefix(32))"
    }

    /// Where the newest snapshots of a repository at this location are remembered.
    func headFolder(_ repository: String) -> String { "\(folder)/\(repository)" }

    /// The identifiers of the repositories that belong there; none where it is not known.
    ///
    /// - Throws: ``BackupError`` `damaged` when the file says nothing, `io`.
    func repositories() throws -> [String] { try read()?.repositories ?? [] }

    /// `repository.json` as it was when the repository was used last; nil where none is remembered.
    func document() -> [UInt8]? { (try? read()).map { Array($0.document.utf8) } }

    /// Remembers that a repository belongs there, beside those that are known.
    func remember(_ repository: String, document: [UInt8]) throws {
        let known = (try? read())?.repositories ?? []
        if known.last == repository { return }
        let all = known.filter { $0 != repository } + [repository]
        let record = Record(
            location: location, repositories: Array(all.suffix(Self.limit)),
            document: String(decoding: document, as: UTF8.self))
        try Folder.create(folder)
        try BackupError.about(path) {
            let file = try ReplacementFile(destination: path)
            try LocalFile(updating: file.path).write(Decoding.bytes(record, path: path), at: 0)
            try file.publish(replacing: true)
        }
    }

    /// Forgets the newest snapshots of a repository: it is taken as it is now.
    func forgetHeads(_ repository: String) throws {
        for name in try Folder.names(headFolder(repository)) { unlink(headFolder(repository) + "/" + name) }
    }

    private func read() throws -> Record? {
        do {
            let bytes = try LocalFile(reading: path).contents(upTo: Record.byteLimit)
            return try Decoding.value(Record.self, from: bytes, path: path)
        } catch let error as BackupError where error.code == .missing {
            return nil
        } catch let error as BackupError where error.code == .damaged {
            throw BackupError(
                .damaged, "does not say which repository belongs to \(location)", path: path,
                remedy: "It is written again once this is seen to; without it an exchanged repository goes unnoticed.",
                cause: error)
        }
    }
}

extension Repository {
    /// Compares a repository with the one that this machine knew at its location, and remembers it.
    ///
    /// - Parameter accepts: whether another one than before, or an older state of it, is taken as it is.
    /// - Throws: ``BackupError`` `damaged` when it is another one.
    func recognised(_ document: [UInt8], accepts: Bool) throws -> Repository {
        guard let memory else { return self }
        var found = self
        do {
            let known = try memory.repositories()
            guard accepts || known.isEmpty || known.contains(config.id) else {
                throw BackupError(
                    .damaged,
                    "the repository is not the one that this machine knew here: it is \(config.id), and was "
                        + known.joined(separator: " or "), path: store.location,
                    remedy: "It was exchanged or made again. If that was meant, take it with --accept-repository.")
            }
        } catch let error as BackupError where error.path != store.location {
            found.notices.append(RepositoryWarning(error, store.location))
        }
        if accepts {
            try memory.forgetHeads(config.id)
            try forgetFormerHeads()
        }
        // Where this can not be written, the newest snapshot can not either, and that is told by whoever has to.
        try? memory.remember(config.id, document: document)
        return found
    }

    /// What there is to say where no repository is.
    ///
    /// - Throws: ``BackupError`` `damaged` when this machine knew one here.
    static func requireUnknown(_ store: any ObjectStore, _ local: LocalFolders) throws {
        guard let memory = LocationMemory(store, local), let known = (try? memory.repositories())?.last else { return }
        throw BackupError(
            .damaged, "the repository \(known) that this machine knew here is gone", path: store.location,
            remedy: "Mount its disk, or bring it back from a copy. If it was removed on purpose, --accept-repository "
                + "begins a new one.")
    }
}
