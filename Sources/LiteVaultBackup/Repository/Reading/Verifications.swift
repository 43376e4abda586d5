internal import Foundation

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
    func verifications(_ database: String) async throws -> Verifications {
        let none = Verifications(repository: config.id, database: database, results: [:])
        do {
            let (found, _) = try await document(RepositoryFormat.verified(database), Verifications.self)
            guard found.repository == config.id, found.database == database else {
                throw BackupError(
                    .damaged, "belongs to another place: objects were swapped",
                    path: RepositoryFormat.verified(database))
            }
            return found
        } catch let error as BackupError where error.code == .missing {
            return none
        }
    }

    /// Keeps results: a later one of a snapshot replaces an earlier one, unless that looked deeper and both passed.
    func record(_ results: [String: SnapshotVerification], _ database: String) async throws {
        guard !results.isEmpty else { return }
        var all = try await verifications(database)
        let present = Set(try await manifests(database).map(\.hash.hex))
        for (hash, result) in results {
            if let old = all.results[hash], old.passed, result.passed, old.level > result.level { continue }
            all.results[hash] = result
        }
        all.results = all.results.filter { present.contains($0.key) }
        try await put(all, as: RepositoryFormat.verified(database), condition: .none)
    }
}
