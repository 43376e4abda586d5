internal import LiteVaultCapture
public import LiteVaultFoundation

/// The result of verifying a snapshot.
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

    /// How thorough the verification was.
    public let level: Level
    /// Whether it found no problem.
    public let passed: Bool
    /// When it was made, by the verifying machine's clock.
    public let time: Date
}

/// The last verification of each snapshot of a database.
struct Verifications: CheckedDocument {
    var type = "verifications"
    var repository: String
    var database: String
    /// By the full hash of the manifest.
    var results: [String: SnapshotVerification]

    static let byteLimit = RepositoryFormat.listBytes

    func check() throws(OutOfLimits) {
        for hash in results.keys { try require("results", hash, digits: 64) }
    }
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

    /// Records results: a later result of a snapshot replaces an earlier one, unless that was more thorough and both
    /// passed.
    func record(_ results: [String: SnapshotVerification], _ database: String) async throws {
        guard !results.isEmpty else { return }
        var all: Verifications
        do {
            all = try await verifications(database)
        } catch let error as VaultError where error.code == .damaged {
            // The document only records results of checks, and this is one.
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
