import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSystem

/// Retention by rules. The model knows what each snapshot contains, and what the rules promise where clocks were right.
extension SimulatedHost {
    /// What is known of snapshots.
    final class Retention {
        /// What each snapshot contains by itself, without the segments behind it.
        var contents: [String: State] = [:]
    }

    /// Forgets by rules, and prunes. What the rules promise is left, and each of a sample of what is left is restored as it was.
    func forget(by policy: RetentionPolicy, choose: (Int) -> Int) async throws {
        let before = try await repository.snapshots(database: "a.db")
        guard !before.isEmpty else { return }
        let planned = try await kept(by: policy)
        // No rule reads the clock of now.
        for step: Int64 in [-400 * Self.day, 400 * Self.day] {
            clock.step(step)
            let other = try await kept(by: policy)
            clock.step(-step)
            guard other == planned else { throw Wrong(what: "with the clock at \(step), \(policy) keeps \(other) instead of \(planned)") }
        }
        _ = try await repository.writable().forget(policy)
        _ = try await repository.writable().prune(grace: .zero)
        let left = try await repository.snapshots(database: "a.db")
        guard left.map(\.id) == planned else { throw Wrong(what: "\(policy) was to keep \(planned), and left \(left.map(\.id))") }
        let missing = Self.promised(by: policy, of: Array(before)).subtracting(planned)
        guard missing.isEmpty else {
            throw Wrong(what: "\(policy) removed \(missing.sorted()) of \(before.map { ($0.id, $0.taken.milliseconds) })")
        }
        try await noteRetention()
        log("forgot all but \(left.count) of \(before.count) by \(policy)")
        guard try await kept(by: policy).count == left.count else { throw Wrong(what: "\(policy) removes more the second time") }
        let known = left.filter { retention.contents[$0.id] != nil }
        for _ in 0..<min(2, known.count) {
            let one = known[choose(known.count)]
            let found = try await restored(.id(one.id)).state
            guard found == retention.contents[one.id] else {
                throw Wrong(what: "snapshot \(one.sequence) has \(found) after \(policy)")
            }
        }
    }

    /// Forgets all but the newest snapshots.
    func forget(keeping last: Int) async throws {
        var policy = RetentionPolicy()
        policy.last = last
        try await forget(by: policy) { $0 - 1 }
    }

    private func kept(by policy: RetentionPolicy) async throws -> [String] {
        try await repository.writable().forget(policy, dryRun: true).filter(\.keeps).map(\.snapshot.id)
    }

    private static let day: Int64 = 86_400_000

    /// The snapshots that must be left, written down a second time: the rules of periods and ages only where no clock was set back.
    private static func promised(by policy: RetentionPolicy, of snapshots: [Snapshot]) -> Set<String> {
        let times = snapshots.map(\.taken.milliseconds)
        guard let newest = times.last else { return [] }
        var promised = Set(snapshots.suffix(max(1, policy.last ?? 0)).map(\.id))
        guard zip(times, times.dropFirst()).allSatisfy({ $0 <= $1 }) else { return promised }
        for (count, length, shift) in [(policy.hourly, day / 24, 0), (policy.daily, day, 0), (policy.weekly, 7 * day, 3 * day)] {
            // 1970 began on a Thursday, and weeks begin on Mondays.
            let last = Dictionary(zip(times, snapshots).map { (($0 + shift) / length, $1.id) }) { $1 }
            promised.formUnion(last.sorted { $0.key > $1.key }.prefix(count ?? 0).map(\.value))
        }
        if let within = policy.within {
            promised.formUnion(zip(times, snapshots).filter { newest - $0.0 <= Int64(within / .milliseconds(1)) }.map(\.1.id))
        }
        return promised
    }
}

extension RetentionPolicy {
    /// Some rules that keep little, so that much is removed.
    static func random(using random: inout Seeded) -> RetentionPolicy {
        var policy = RetentionPolicy()
        switch Int.random(in: 0..<6, using: &random) {
        case 0: policy.hourly = Int.random(in: 1...3, using: &random)
        case 1: policy.daily = Int.random(in: 1...3, using: &random)
        case 2: (policy.hourly, policy.weekly) = (2, 2)
        case 3: policy.within = .seconds([60, 7200, 86_400].randomElement(using: &random) ?? 60)
        default: policy.last = Int.random(in: 1...2, using: &random)
        }
        return policy
    }
}
