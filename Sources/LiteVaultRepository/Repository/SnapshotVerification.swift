public import Foundation
internal import LiteVaultCapture

/// What a verification of a snapshot found.
public struct SnapshotVerification: Sendable, Equatable, Codable {
    /// How deep it looked.
    public enum Level: String, Sendable, Codable, CaseIterable, Comparable {
        /// The block map, and that every block is where it says.
        case structure
        /// Every byte of it, against the hashes.
        case data
        /// Every page, against its authentication code.
        case pages
        /// Restored, and checked as a database.
        case restore

        /// Deeper is more.
        public static func < (left: Level, right: Level) -> Bool { left.depth < right.depth }

        private var depth: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// How deep it looked.
    public let level: Level
    /// Whether all was well.
    public let passed: Bool
    /// When, by the clock of the machine that looked.
    public let time: Date
}

/// The last verification of each snapshot of a database.
struct Verifications: CheckedDocument {
    var type = "verifications"
    var repository: String
    var database: String
    /// By the manifest's whole hash.
    var results: [String: SnapshotVerification]

    static let byteLimit = RepositoryFormat.listBytes

    func check() throws(OutOfLimits) {
        for hash in results.keys { try require("results", hash, digits: 64) }
    }
}

extension Repository {
    /// The document of a database of which no snapshot was verified.
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

    /// Keeps results: a later one of a snapshot replaces an earlier one, unless that looked deeper and both passed.
    func record(_ results: [String: SnapshotVerification], _ database: String) async throws {
        guard !results.isEmpty else { return }
        var all: Verifications
        do {
            all = try await verifications(database)
        } catch let error as VaultError where error.code == .damaged {
            // It only tells what checks have found, and this is the result of one.
            all = noVerifications(database)
        }
        let present = Set(try await survey(database).snapshots.map(\.hash.hexadecimal))
        for (hash, result) in results {
            if let old = all.results[hash], old.passed, result.passed, old.level > result.level { continue }
            all.results[hash] = result
        }
        all.results = all.results.filter { present.contains($0.key) }
        try await put(all, as: RepositoryFormat.verified(database), condition: .none)
    }
}
