import Foundation
import LiteVaultSystem

/// The clock of a host of the simulation: only the test advances and sets it.
final class SimulatedClock: Sendable {
    /// Milliseconds since 1970 that the clock shows, and milliseconds that have really passed.
    private let state = Locked((shown: Int64(1_800_000_000_000), passed: Int64(0)))

    /// What happens while somebody sleeps.
    private let meanwhile = Locked<(@Sendable () async -> Void)?>(nil)

    /// Lets something happen each time that somebody sleeps, until the next call.
    func whileSleeping(_ body: (@Sendable () async -> Void)?) { meanwhile.withLock { $0 = body } }

    /// What the clock shows.
    var shown: Int64 { state.withLock { $0.shown } }

    /// Time passes.
    func pass(_ milliseconds: Int64) {
        state.withLock {
            $0.shown += milliseconds
            $0.passed += milliseconds
        }
    }

    /// Somebody sets the clock, by this much.
    func step(_ milliseconds: Int64) { state.withLock { $0.shown += milliseconds } }

    var host: HostClock {
        HostClock(
            time: { Date(milliseconds: self.shown) },
            now: { Double(self.state.withLock { $0.passed }) / 1000 },
            sleep: { seconds in
                self.pass(Int64(seconds * 1000))
                await self.meanwhile.value?()
                await Task.yield()
            })
    }
}

/// SplitMix64: the same numbers for the same seed, on every system.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    /// Seeds next to each other begin far from each other: what follows is the same stream for all.
    init(_ seed: UInt64) {
        state = seed
        state = next() ^ (seed << 32)
    }

    /// The numbers of one step of a seed's run.
    init(_ seed: UInt64, step: Int) { self.init(seed &* 1_000_003 ^ UInt64(step) &* 0xD134_2543_DE82_EF95) }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
