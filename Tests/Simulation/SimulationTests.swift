import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSupport
import Testing

/// Followers, snapshots, restores, retention and compaction on a clock and a store of the simulation. A seed decides what happens.
///
/// `LITEVAULT_SEEDS=FIRST-LAST` runs others, and `LITEVAULT_EVENTS` more events of each. A seed that fails prints its events.
@Suite struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment

    private static var seeds: ClosedRange<UInt64> {
        let ends = (environment["LITEVAULT_SEEDS"] ?? "").split(separator: "-").compactMap { UInt64($0) }
        guard let first = ends.first, let last = ends.last, first <= last else { return 1...60 }
        return first...last
    }

    private static var count: Int { Int(environment["LITEVAULT_EVENTS"] ?? "") ?? 60 }

    @Test func `H-CLOCK-11 whatever is reported as stored is restored, whatever the clock does`() async throws {
        for seed in Self.seeds {
            if let failure = try await Self.run(seed) { Issue.record("seed \(seed): \(failure)") }
        }
    }

    /// What is wrong, with the events that led there.
    private static func run(_ seed: UInt64) async throws -> String? {
        var random = Seeded(seed)
        let host = try await SimulatedHost(isConditional: seed % 5 != 0)
        do {
            for _ in 0..<count { try await step(host, &random) }
            host.store.recover()
            try await host.poll()
            try await host.verify(12) { Int.random(in: 0..<$0, using: &random) }
            let report = try await host.repository.check(CheckOptions())
            guard report.problems.isEmpty else { throw SimulatedHost.Wrong(what: "\(report.problems)") }
            return nil
        } catch {
            return "\(error)\n  " + host.events.joined(separator: "\n  ")
        }
    }

    private static func step(_ host: SimulatedHost, _ random: inout Seeded) async throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<22: try host.commit()
        case 22..<28: try host.commit(isFresh: true)
        case 28: try await host.copy { Int.random(in: 0..<$0, using: &random) }
        case 29: if Int.random(in: 0..<4, using: &random) == 0 { await host.endStandby() } else { try await host.updateStandby() }
        case 30..<33: try host.commit("DELETE FROM t WHERE rowid % 3 = \(Int.random(in: 0..<3, using: &random))")
        case 33..<35: try host.commit("INSERT INTO t SELECT a, zeroblob(900) FROM t LIMIT 40")
        case 35..<58: try await host.poll()
        case 58..<61:
            if Bool.random(using: &random) { host.commitDuringUpload() }
            try await host.snapshot(byFollower: true, isStored: Bool.random(using: &random))
            host.store.onUpload(nil)
        case 61..<64: try await host.snapshot()
        case 64..<72:
            let steps: [Int64] = [-1, -999, -1000, -2000, -7_200_000, -86_400_000, 1000, 7_200_000]
            let step = steps.randomElement(using: &random) ?? 0
            host.clock.step(step)
            host.log("clock \(step)")
        case 72..<75: host.clock.pass(Int64.random(in: 1...40_000, using: &random))
        case 75..<82:
            try host.checkpoint(["PASSIVE", "FULL", "RESTART", "TRUNCATE"].randomElement(using: &random) ?? "FULL")
        case 82..<84: try host.vacuum()
        case 84..<86: try host.reopen()
        case 86..<89: try await host.stop()
        case 89..<92: await host.kill()
        case 92..<94: try await host.compact()
        case 94: try await host.forget(keeping: Int.random(in: 1...2, using: &random))
        case 95..<97:
            // What a follower does then: it tries again, with the same bytes.
            host.store.fail(Bool.random(using: &random) ? .lostAnswer : .lostRequest)
            host.log("the store fails once")
            do {
                if host.isFollowing, Bool.random(using: &random) {
                    try await host.snapshot(byFollower: true)
                } else {
                    try await host.poll()
                }
            } catch let error as VaultError where error.code == .io {
                host.log("failed")
            }
            host.store.recover()
        default: try await host.verify(2) { Int.random(in: 0..<$0, using: &random) }
        }
    }
}
