import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSupport
import Testing

/// Followers, snapshots, schedules, restores, retention, compaction, copies, standbys, promotions, repairs and power loss on a clock and a store
/// of the simulation. A seed decides what happens.
///
/// `LITEVAULT_SEEDS=FIRST-LAST` runs others, and `LITEVAULT_EVENTS` more events of each. The first seed that fails prints the events of the
/// shortest run found that still fails, the others all of theirs.
@Suite struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment

    private static var seeds: ClosedRange<UInt64> {
        let ends = (environment["LITEVAULT_SEEDS"] ?? "").split(separator: "-").compactMap { UInt64($0) }
        guard let first = ends.first, let last = ends.last, first <= last else { return 1...60 }
        return first...last
    }

    private static var count: Int { Int(environment["LITEVAULT_EVENTS"] ?? "") ?? 60 }

    @Test func `H-CLOCK-11 whatever is reported as stored is restored, whatever the clock does`() async throws {
        var isFirst = true
        for seed in Self.seeds {
            let steps = Array(0..<Self.count)
            guard let failure = try await Self.run(seed, steps) else { continue }
            let shortest = isFirst ? try await Self.shortened(seed, steps, failure) : (steps, failure)
            isFirst = false
            Issue.record("seed \(seed), \(shortest.0.count) of \(steps.count) steps: \(shortest.1)")
        }
    }

    @Test func `a run that fails is shortened to the steps that it needs`() async throws {
        let found = try await Self.shortened(Array(0..<60), "all") { steps in
            Set([7, 8, 41]).isSubset(of: steps) ? "\(steps)" : nil
        }
        #expect(found == ([7, 8, 41], "[7, 8, 41]"))
    }

    /// What is wrong with a run of these steps of a seed, and the events that led there; nil if nothing is.
    private static func run(_ seed: UInt64, _ steps: [Int]) async throws -> String? {
        let host = try await SimulatedHost(isConditional: seed % 5 != 0)
        do {
            // Each step has random numbers of its own: it stays what it is when others are left out.
            for number in steps {
                var random = Seeded(seed, step: number)
                try await step(host, &random)
            }
            var random = Seeded(seed, step: .max)
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

    private static func shortened(
        _ seed: UInt64, _ steps: [Int], _ failure: String
    ) async throws -> (steps: [Int], failure: String) {
        try await shortened(steps, failure) { try await run(seed, $0) }
    }

    /// Leaves out steps, halves first and single ones last, as long as the run fails.
    private static func shortened(
        _ steps: [Int], _ failure: String, _ run: ([Int]) async throws -> String?
    ) async throws -> (steps: [Int], failure: String) {
        var (kept, shown, runs) = (steps, failure, 0)
        var length = max(kept.count / 2, 1)
        while runs < 100 {
            var (start, isShorter) = (0, false)
            while start < kept.count, runs < 100 {
                var candidate = kept
                candidate.removeSubrange(start..<min(start + length, kept.count))
                runs += 1
                if let failure = try await run(candidate) {
                    (kept, shown, isShorter) = (candidate, failure, true)
                } else {
                    start += length
                }
            }
            if length == 1, !isShorter { break }
            length = max(length / 2, 1)
        }
        return (kept, shown)
    }

    private static func step(_ host: SimulatedHost, _ random: inout Seeded) async throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<22: try host.commit()
        case 22..<28: try host.commit(isFresh: true)
        case 28: try await host.copy { Int.random(in: 0..<$0, using: &random) }
        case 29:
            if Int.random(in: 0..<4, using: &random) == 0 {
                await host.endStandby()
            } else {
                try await host.updateStandby()
            }
        case 30..<33: try host.commit("DELETE FROM t WHERE rowid % 3 = \(Int.random(in: 0..<3, using: &random))")
        case 33..<35: try host.commit("INSERT INTO t SELECT a, zeroblob(900) FROM t LIMIT 40")
        case 35..<58: try await host.poll()
        case 58..<61:
            if Bool.random(using: &random) { host.commitDuringUpload() }
            try await host.snapshot(byFollower: true, isStored: Bool.random(using: &random))
            host.store.onUpload(nil)
        case 61, 62: try await host.snapshot()
        case 63:
            if Bool.random(using: &random) {
                try await host.damage { Int.random(in: 0..<$0, using: &random) }
            } else {
                let steps: [Int64] = [-7_200_000, -1000, 0, 1000, 7_200_000]
                try await host.promote(
                    clock: steps.randomElement(using: &random) ?? 0, isFormerWriting: Bool.random(using: &random),
                    endsStandby: Bool.random(using: &random))
            }
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
        case 86, 87: try await host.stop()
        case 88:
            if Int.random(in: 0..<4, using: &random) == 0 {
                try await host.loseState()
            } else {
                try await host.losePower { Int.random(in: 0..<$0, using: &random) }
            }
        case 89..<92: await host.kill()
        case 92: try await host.compact()
        case 93:
            if Bool.random(using: &random) { try await host.compact() } else { try await host.runSchedule() }
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
