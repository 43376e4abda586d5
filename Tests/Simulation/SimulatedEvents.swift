import LiteVault
import LiteVaultBackup

/// What may happen in one step of a run.
struct SimulatedEvent {
    typealias Action = (SimulatedHost, inout Seeded) async throws -> Void

    /// How often it happens, relative to the others.
    let weight: Int
    let action: Action

    init(_ weight: Int, _ action: @escaping Action) { (self.weight, self.action) = (weight, action) }
}

/// The events of a seed's run, and how often each of them happens: some four times as often as in others, some a quarter as often. A long
/// series of the same few events leads where an even mixture rarely does.
struct EventMix {
    private let events: [(event: SimulatedEvent, end: Int)]

    init(_ seed: UInt64) {
        var random = Seeded(seed)
        var end = 0
        events = SimulatedEvent.all.map { event in
            let factor = [1, 4, 4, 16].randomElement(using: &random) ?? 4
            end += event.weight * factor
            return (event, end)
        }
    }

    func next(using random: inout Seeded) -> SimulatedEvent {
        let place = Int.random(in: 0..<(events.last?.end ?? 1), using: &random)
        // `place` lies before the last end.
        // swift-format-ignore: NeverForceUnwrap
        return events.first { place < $0.end }!.event
    }
}

extension SimulatedEvent {
    static var all: [SimulatedEvent] { ofApplication + ofFollower + ofRepository + ofMachine }

    // MARK: The application

    private static var ofApplication: [SimulatedEvent] {
        [
            SimulatedEvent(22) { host, _ in try host.commit() },
            SimulatedEvent(6) { host, _ in try host.commit(isFresh: true) },
            SimulatedEvent(3) { host, random in
                try host.commit("DELETE FROM t WHERE rowid % 3 = \(Int.random(in: 0..<3, using: &random))")
            },
            // Pages of most blocks, in one commit.
            SimulatedEvent(3) { host, random in
                try host.commit("UPDATE t SET a = a + 1 WHERE rowid % 7 = \(Int.random(in: 0..<7, using: &random))")
            },
            SimulatedEvent(2) { host, random in
                let length = [900, 9000].randomElement(using: &random) ?? 900
                try host.commit("INSERT INTO t SELECT a, zeroblob(\(length)) FROM t LIMIT 40")
            },
            SimulatedEvent(7) { host, random in
                try host.checkpoint(["PASSIVE", "FULL", "RESTART", "TRUNCATE"].randomElement(using: &random) ?? "FULL")
            },
            // What gives the log new salts that the follower does not know.
            SimulatedEvent(2) { host, _ in
                try host.checkpoint("FULL")
                try host.commit(isFresh: true)
            },
            SimulatedEvent(2) { host, _ in try host.vacuum() },
            SimulatedEvent(2) { host, _ in try host.reopen() },
            SimulatedEvent(1) { host, random in
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1: try host.replace()
                case 2, 3: try host.changePageSize(to: [512, 1024, 4096, 8192].randomElement(using: &random) ?? 1024)
                default: try host.changeKey()
                }
            },
        ]
    }

    // MARK: The follower

    private static var ofFollower: [SimulatedEvent] {
        [
            SimulatedEvent(23) { host, _ in try await host.poll() },
            SimulatedEvent(4) { host, random in
                if Bool.random(using: &random) { host.commitDuringUpload() }
                try await host.snapshot(byFollower: true, isStored: Bool.random(using: &random))
                host.store.onUpload(nil)
            },
            // What it has read and not stored is read again, with what was committed since, by the one that takes its place.
            SimulatedEvent(1) { host, _ in
                guard host.isFollowing else { return }
                try host.commit()
                try await host.snapshot(byFollower: true, isStored: false)
                await host.kill()
                try host.commit()
            },
            SimulatedEvent(2) { host, _ in try await host.stop() },
            SimulatedEvent(3) { host, _ in await host.kill() },
            SimulatedEvent(2) { host, random in
                // What a follower does then: it tries again, with the same bytes.
                host.store.fail([.lostAnswer, .lostRequest, .full].randomElement(using: &random) ?? .full)
                host.log("the store fails once")
                do {
                    if host.isFollowing, Bool.random(using: &random) {
                        try await host.snapshot(byFollower: true)
                    } else {
                        try await host.poll()
                    }
                } catch let error as VaultError where error.code == .io || error.code == .noSpace {
                    host.log("failed")
                }
                host.store.recover()
            },
            SimulatedEvent(1) { host, random in
                if Int.random(in: 0..<4, using: &random) == 0 {
                    await host.endStandby()
                } else {
                    try await host.updateStandby()
                }
            },
        ]
    }

    // MARK: The repository

    private static var ofRepository: [SimulatedEvent] {
        [
            SimulatedEvent(2) { host, _ in try await host.snapshot() },
            SimulatedEvent(1) { host, _ in try await host.snapshotByAnotherUser() },
            SimulatedEvent(1) { host, random in try await host.copy { Int.random(in: 0..<$0, using: &random) } },
            SimulatedEvent(1) { host, random in
                if Bool.random(using: &random) {
                    try await host.damage { Int.random(in: 0..<$0, using: &random) }
                } else {
                    let steps: [Int64] = [-7_200_000, -1000, 0, 1000, 7_200_000]
                    try await host.promote(
                        clock: steps.randomElement(using: &random) ?? 0, isFormerWriting: Bool.random(using: &random),
                        endsStandby: Bool.random(using: &random))
                }
            },
            SimulatedEvent(1) { host, random in
                if Bool.random(using: &random) { try await host.compact() } else { try await host.runSchedule() }
            },
            SimulatedEvent(1) { host, random in
                let policy = RetentionPolicy.random(using: &random)
                try await host.forget(by: policy) { Int.random(in: 0..<$0, using: &random) }
            },
            SimulatedEvent(3) { host, random in try await host.verify(2) { Int.random(in: 0..<$0, using: &random) } },
        ]
    }

    // MARK: The machine

    private static var ofMachine: [SimulatedEvent] {
        [
            SimulatedEvent(8) { host, random in
                let steps: [Int64] = [-1, -999, -1000, -2000, -7_200_000, -86_400_000, 1000, 7_200_000]
                let step = steps.randomElement(using: &random) ?? 0
                host.clock.step(step)
                host.log("clock \(step)")
            },
            SimulatedEvent(3) { host, random in
                let most: Int64 = Int.random(in: 0..<4, using: &random) == 0 ? 40_000_000 : 40_000
                host.clock.pass(Int64.random(in: 1...most, using: &random))
            },
            SimulatedEvent(1) { host, random in
                if Int.random(in: 0..<4, using: &random) == 0 {
                    try await host.loseState()
                } else {
                    try await host.losePower { Int.random(in: 0..<$0, using: &random) }
                }
            },
        ]
    }
}
