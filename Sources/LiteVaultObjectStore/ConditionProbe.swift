internal import Foundation
internal import LiteVaultBackup

/// Asks once, however many want to know.
actor ConditionProbe {
    private var known: Bool?
    private var asking: Task<Bool, any Error>?

    func answer(_ ask: @escaping @Sendable () async throws -> Bool) async throws -> Bool {
        if let known { return known }
        let task = asking ?? Task { try await ask() }
        asking = task
        defer { asking = nil }
        let found = try await task.value
        known = found
        return found
    }
}

extension S3Store {
    /// Writes an object that must be new, then once more, then in place of a version that never was.
    func probeConditions() async throws -> Bool {
        let name = "probe/\(UUID().uuidString.lowercased())"
        do {
            try await put(name, bytes: [0], condition: .absent)
        } catch let error as BackupError where error.code == .unsupported {
            return false
        }
        for condition in [PutCondition.absent, .unchanged(ObjectTag("00000000000000000000000000000000"))] {
            do {
                try await put(name, bytes: [1], condition: condition)
                try? await remove(name)
                return false
            } catch let error as BackupError where error.code == .conflict {
                continue
            } catch let error as BackupError where error.code == .unsupported {
                try? await remove(name)
                return false
            }
        }
        try await remove(name)
        return true
    }
}
