import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSystem
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
        let steps = Array(0..<Self.count)
        for (place, one) in try await Self.failures(of: steps).enumerated() {
            let shortest = place == 0 ? try await Self.shortened(one.seed, steps, one.failure) : (steps, one.failure)
            Issue.record("seed \(one.seed), \(shortest.0.count) of \(steps.count) steps: \(shortest.1)")
        }
    }

    /// The seeds that fail, in their order. Each core runs two at a time: one often waits for a thread.
    private static func failures(of steps: [Int]) async throws -> [(seed: UInt64, failure: String)] {
        let lanes = 2 * UInt64(ProcessInfo.processInfo.activeProcessorCount)
        return try await withThrowingTaskGroup { group in
            for lane in 0..<lanes {
                group.addTask {
                    var found: [(seed: UInt64, failure: String)] = []
                    for seed in seeds where seed % lanes == lane {
                        if let failure = try await run(seed, steps) { found.append((seed, failure)) }
                    }
                    return found
                }
            }
            var all: [(seed: UInt64, failure: String)] = []
            for try await found in group { all += found }
            return all.sorted { $0.seed < $1.seed }
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
        let host = try await SimulatedHost(
            isConditional: seed % 5 != 0, isLarge: seed % 2 == 0, key: seed % 4 == 3 ? SimulatedHost.key(0) : nil)
        let mix = EventMix(seed)
        do {
            // Each step has random numbers of its own: it stays what it is when others are left out.
            for number in steps {
                var random = Seeded(seed, step: number)
                try await mix.next(using: &random).action(host, &random)
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
}
