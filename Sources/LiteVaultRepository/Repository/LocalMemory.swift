internal import DurableFile
internal import Foundation
internal import LiteVaultCapture
internal import LiteVaultCipher

/// What this machine remembers of the repository at one location: which it is, and below that the newest snapshots seen.
///
/// It distinguishes a repository that was wiped or replaced from one that is used for the first time. A secret does not: several
/// repositories may have the same one.
struct LocationMemory: Sendable {
    private struct Record: CheckedDocument {
        var version = 1
        /// For whoever looks into the directory.
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

    private let directory: String
    private let location: String
    private var path: String { directory + "/repository.json" }

    /// Nil where nothing is to be remembered.
    init?(_ store: any ObjectStore, _ local: LocalDirectories) {
        guard let state = local.state else { return nil }
        location = store.identity
        directory = "\(state)/locations/\(Hash256(of: Array(location.utf8)).hexadecimal.prefix(32))"
    }

    /// Where the newest snapshots of a repository at this location are remembered.
    func headDirectory(_ repository: String) -> String { "\(directory)/\(repository)" }

    /// The identifiers of the repositories that belong there; none where it is not known.
    ///
    /// - Throws: `VaultError` `damaged` when the file says nothing, `io`.
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
        try LocalDirectory.create(directory)
        try withErrorContext(path: path) {
            let file = try ReplacementFile(destination: path)
            try LocalFile(updating: file.path).write(Decoding.bytes(record, path: path), at: 0)
            try file.publish(replacing: true)
        }
    }

    /// Forgets the newest snapshots of a repository: it is taken as it is now.
    func forgetHeads(_ repository: String) throws {
        for name in try LocalDirectory.names(headDirectory(repository)) {
            unlink(headDirectory(repository) + "/" + name)
        }
    }

    private func read() throws -> Record? {
        do {
            let bytes = try LocalFile(reading: path).contents(upTo: Record.byteLimit)
            return try Decoding.value(Record.self, from: bytes, path: path)
        } catch let error as VaultError where error.code == .missing {
            return nil
        } catch let error as VaultError where error.code == .damaged {
            throw VaultError(
                .damaged, "does not say which repository belongs to \(location)", path: path,
                remedy: "It is rewritten once this is fixed; until then a replaced repository goes unnoticed.",
                cause: error)
        }
    }
}

extension Repository {
    /// Compares a repository with the one that this machine used at its location, and remembers it.
    ///
    /// - Parameter acceptsReplacement: whether another one than before, or an older state of it, is taken as it is.
    /// - Throws: `VaultError` `damaged` when it is another one.
    func recognised(_ document: [UInt8], acceptsReplacement: Bool) throws -> Repository {
        guard let memory else { return self }
        var found = self
        do {
            let known = try memory.repositories()
            guard acceptsReplacement || known.isEmpty || known.contains(config.id) else {
                throw VaultError(
                    .damaged,
                    "the repository is not the one that this machine used here: it is \(config.id), and was "
                        + known.joined(separator: " or "), path: store.location,
                    advice: .all([.text("It was replaced or created again."), .acceptReplacement]))
            }
        } catch let error as VaultError where error.path != store.location {
            found.notices.append(RepositoryWarning(error, store.location))
        }
        if acceptsReplacement {
            try memory.forgetHeads(config.id)
            try forgetFormerHeads()
        }
        // If this cannot be written, neither can the newest snapshot, and storing that reports it.
        try? memory.remember(config.id, document: document)
        return found
    }

    /// Checks that this machine never used a repository at a location that has none.
    ///
    /// - Throws: `VaultError` `damaged` when this machine knew one here.
    static func requireUnknown(_ store: any ObjectStore, _ local: LocalDirectories) throws {
        guard let memory = LocationMemory(store, local), let known = (try? memory.repositories())?.last else { return }
        throw VaultError(
            .damaged, "the repository \(known) that this machine used here is gone", path: store.location,
            advice: .acceptLoss)
    }
}

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
    var headDirectories: [String] {
        [memory?.headDirectory(config.id), local.state.map { "\($0)/\(config.id)" }].compactMap(\.self)
    }

    private func headPath(_ database: String) -> String? { headDirectories.first.map { "\($0)/\(database).json" } }

    /// Forgets what was remembered before memories belonged to a location.
    func forgetFormerHeads() throws {
        for directory in headDirectories.dropFirst() {
            for name in try LocalDirectory.names(directory) { unlink(directory + "/" + name) }
        }
    }

    /// Remembers the newest snapshot of a survey in which nothing speaks against it. Where that cannot be written nothing is
    /// lost but the memory.
    func rememberNewest(_ survey: DatabaseSurvey) {
        guard survey.rollback == nil, let last = survey.snapshots.last else { return }
        try? remember(Head(sequence: last.sequence, hash: last.hash.hexadecimal), survey.database)
    }

    /// What is remembered; nil when nothing is.
    func head(_ database: String) throws -> Head? {
        for directory in headDirectories {
            if let head = try head(at: "\(directory)/\(database).json") { return head }
        }
        return nil
    }

    private func head(at path: String) throws -> Head? {
        do {
            let bytes = try LocalFile(reading: path).contents(upTo: Head.byteLimit)
            return try Decoding.value(Head.self, from: bytes, path: path)
        } catch let error as VaultError where error.code == .missing {
            return nil
        } catch let error as VaultError where error.code == .damaged {
            throw VaultError(
                .damaged, "does not say which snapshot was the newest", path: path,
                remedy:
                    "The next snapshot rewrites it; until then a repository that was rolled back goes unnoticed.",
                cause: error)
        }
    }

    /// Remembers a snapshot as the newest, unless a newer one is remembered.
    func remember(_ head: Head, _ database: String) throws {
        guard let path = headPath(database) else { return }
        // One that is damaged is written again.
        if let known = try? self.head(database), known.sequence >= head.sequence { return }
        try LocalDirectory.create(LocalDirectory.parent(of: path))
        try withErrorContext(path: path) {
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
    /// - Throws: `VaultError` `damaged` when the repository is older than what was seen of it.
    func compare(_ head: Head?, _ database: String, _ survey: DatabaseSurvey) throws {
        guard let head else { return }
        let advice = Remedy.all([.text("An older state of the repository was put back."), .acceptReplacement])
        if let same = survey.snapshots.first(where: { $0.sequence == head.sequence }) {
            guard same.hash.hexadecimal != head.hash else { return }
            throw VaultError(
                .damaged,
                "snapshot \(head.sequence) is not the one seen earlier: the repository was rolled back",
                path: same.object, advice: advice)
        }
        // One that cannot be read still exists; its damage is reported elsewhere.
        guard survey.newestSequence < head.sequence else { return }
        throw VaultError(
            .damaged, "snapshot \(head.sequence), seen earlier, is missing: the repository was rolled back",
            path: RepositoryFormat.snapshot(database, head.sequence), advice: advice)
    }
}
