internal import LiteVaultCapture
public import LiteVaultFoundation

/// What is known about a snapshot from verifications: the last result, unless an earlier one says more.
///
/// A failure stands until a verification that is at least as thorough passes. A less thorough one that passes does not replace it, and neither
/// does time.
public struct SnapshotVerification: Sendable, Equatable, Codable {
    /// How thorough the verification was.
    public enum Level: String, Sendable, Codable, CaseIterable, Comparable {
        /// The block map, and that every block exists where it says.
        case structure
        /// Every byte, compared with the hashes.
        case data
        /// Every page, by its authentication code.
        case pages
        /// Restored, and checked as a database.
        case restore

        /// Compares levels: the more thorough one is greater.
        public static func < (left: Level, right: Level) -> Bool { left.depth < right.depth }

        private var depth: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// A verification that passed.
    public struct Pass: Sendable, Equatable, Codable {
        /// How thorough it was.
        public let level: Level
        /// When it was made, by the verifying machine's clock.
        public let time: Date
    }

    /// How thorough the verification was.
    public let level: Level
    /// Whether it found no problem.
    public let passed: Bool
    /// When it was made, by the verifying machine's clock.
    public let time: Date
    /// When the snapshot first failed; nil if it passed.
    public private(set) var failedSince: Date?
    /// The most thorough verification that it passed before it failed; nil if there was none, or if it passed.
    public private(set) var lastPass: Pass?
    /// The number of its blocks that a repair found lost; nil if it passed, or no repair has looked for them since it failed.
    public private(set) var lostBlocks: Int?

    init(level: Level, passed: Bool, time: Date, lostBlocks: Int? = nil) {
        (self.level, self.passed, self.time) = (level, passed, time)
        (failedSince, self.lostBlocks) = passed ? (nil, nil) : (time, lostBlocks)
    }

    /// What is known once there is another result.
    func followed(by new: SnapshotVerification) -> SnapshotVerification {
        guard !new.passed else {
            if passed { return level > new.level ? self : new }
            guard new.level >= level else { return new.level >= .data ? withoutLoss : self }
            // What failed was the store, which has recovered: the content is what it was when it passed.
            return lastPass.map { $0.level > new.level ? .init($0) : new } ?? new
        }
        var result = SnapshotVerification(
            level: passed ? new.level : max(level, new.level), passed: false, time: new.time,
            lostBlocks: new.lostBlocks ?? lostBlocks)
        result.failedSince = passed ? new.time : failedSince ?? time
        result.lastPass = passed ? Pass(level: level, time: time) : lastPass
        return result
    }

    /// What is known once every block was read and compared: nothing is lost. Whether it is an intact database, that does not tell.
    private var withoutLoss: SnapshotVerification {
        var result = self
        result.lostBlocks = nil
        return result
    }

    /// What is known if the failure turns out not to concern this snapshot; nil if it never passed.
    var withoutFailure: SnapshotVerification? { passed ? self : lastPass.map(Self.init) }

    private init(_ pass: Pass) { self.init(level: pass.level, passed: true, time: pass.time) }
}

/// What verifications say about the snapshots of a database.
struct Verifications: CheckedDocument {
    var type = "verifications"
    var repository: String
    var database: String
    /// By the full hash of the manifest.
    var results: [String: SnapshotVerification]
    /// The packs in which checks found blocks or nodes damaged or missing that snapshots of the database need. Writers do not
    /// share them. Absent if there are none.
    var damaged: [String]?

    static let byteLimit = RepositoryFormat.listBytes

    func check() throws(OutOfLimits) {
        for (hash, result) in results {
            try require("results", hash, digits: 64)
            try require("lost_blocks", result.lostBlocks, in: 0...Int(RepositoryFormat.imageBytes / Int64(blockSize)))
        }
        try require("damaged", damaged?.count, in: 0...RepositoryFormat.listedPacks)
    }

    /// The packs whose blocks and nodes writers must not share.
    var damagedPacks: Set<PackID> { Set((damaged ?? []).compactMap(RepositoryFormat.pack)) }
}

/// What a check or a repair has found about the snapshots of a database.
struct VerificationResults {
    /// By the full hash of the manifest.
    var results: [String: SnapshotVerification] = [:]
    /// Snapshots whose failure does not concern them: all of their blocks were read.
    var cleared: Set<String> = []
    /// Packs that are damaged or missing.
    var damaged: Set<String> = []
    /// Whether all packs were read as a whole, so that the others are intact.
    var isComplete = false
}

extension Repository {
    /// The document for a database without verified snapshots.
    func noVerifications(_ database: String) -> Verifications {
        Verifications(repository: config.id, database: database, results: [:])
    }

    func verifications(_ database: String) async throws -> Verifications {
        do {
            let (found, _) = try await document(RepositoryFormat.verified(database), Verifications.self)
            guard found.repository == config.id, found.database == database else {
                throw VaultError(
                    .damaged, "is stored under the wrong name: objects were swapped",
                    path: RepositoryFormat.verified(database))
            }
            return found
        } catch let error as VaultError where error.code == .missing {
            return noVerifications(database)
        }
    }

    /// Adds results to what is known, and returns that.
    @discardableResult
    func record(_ found: VerificationResults, _ database: String) async throws -> Verifications {
        var all: Verifications
        do {
            all = try await verifications(database)
        } catch let error as VaultError where error.code == .damaged {
            // The document only records results of checks, and this is one.
            all = noVerifications(database)
        }
        let present = Set(try await survey(database).snapshots.map(\.hash.hexadecimal))
        for (hash, result) in found.results { all.results[hash] = all.results[hash]?.followed(by: result) ?? result }
        for hash in found.cleared { all.results[hash] = all.results[hash]?.withoutFailure }
        all.results = all.results.filter { present.contains($0.key) }
        // A check that did not read them does not tell that packs found damaged before are intact.
        let damaged = found.damaged.union(found.isComplete ? [] : all.damaged ?? [])
        all.damaged = damaged.isEmpty ? nil : Array(damaged.sorted().prefix(RepositoryFormat.listedPacks))
        try await put(all, as: RepositoryFormat.verified(database), condition: .none)
        return all
    }
}
