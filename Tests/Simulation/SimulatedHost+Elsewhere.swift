import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSystem

/// What is kept of the database elsewhere: a copy of the repository, and a standby.
extension SimulatedHost {
    /// What is elsewhere, and the newest state that was seen there.
    final class Elsewhere {
        var store: SimulatedStore?
        var standby: Standby?
        var standbyNumber: Int64 = 0
        /// How many standbys were promoted, and how many repositories damaged.
        var promotions = 0
        /// The fence of the last promotion.
        var fence: String?
        var damages = 0
    }

    /// Copies the repository. Another machine restores from the copy whatever was stored before.
    func copy(choose: (Int) -> Int) async throws {
        let copy = elsewhere.store ?? SimulatedStore(clock, name: "copy")
        elsewhere.store = copy
        let before = (newest: newestAcknowledged, all: acknowledged.filter(\.isExact))
        let result = try await repository.writable().copy(to: copy)
        guard result.warnings.isEmpty else { throw Wrong(what: "copy: \(result.warnings)") }
        log("copied \(result.snapshots) snapshots")
        guard let newest = before.newest else { return }
        let other = try await repository(of: copy, in: directory + "/elsewhere")
        let found = try await restored(.latest, from: other)
        guard found.state.number >= newest.number else {
            throw Wrong(what: "the copy's latest is \(found.state), although \(newest) was stored before")
        }
        guard !before.all.isEmpty else { return }
        let one = before.all[choose(before.all.count)]
        let (here, there) = (
            try await restored(.at(Date(milliseconds: one.label))),
            try await restored(.at(Date(milliseconds: one.label)), from: other)
        )
        guard there.state == here.state else {
            throw Wrong(what: "at \(one.label) the copy has \(there.state) instead of \(here.state)")
        }
    }

    /// Keeps a standby current. Its readers see a committed state, never an older one than before, and what was stored unless it says that it waits.
    func updateStandby() async throws {
        guard let newest = newestAcknowledged else { return }
        var options = StandbyOptions()
        options.snapshotInterval = 0
        let standby: Standby
        if let known = elsewhere.standby {
            standby = known
        } else {
            standby = try await repository.standby(of: "a.db", at: directory + "/standby.db", options: options)
            elsewhere.standby = standby
        }
        // A whole restore, then the segments behind it. Where segments may still lead to a newer snapshot, it looks twice before it restores that.
        var (update, unchanged) = (StandbyUpdate.unchanged, 0)
        while unchanged < 3 {
            update = try await standby.update()
            if case .waiting(let reason) = update {
                log("the standby waits: \(reason)")
                break
            }
            unchanged = update == .unchanged ? unchanged + 1 : 0
        }
        let db = try unlocked(directory + "/standby.db")
        defer { try? db.close() }
        guard try db.value("PRAGMA integrity_check", as: String.self) == "ok" else {
            throw Wrong(what: "the standby is damaged")
        }
        let state = try Self.state(db)
        guard states[state.number] == state else { throw Wrong(what: "the standby's \(state) was never committed") }
        guard state.number >= elsewhere.standbyNumber else {
            throw Wrong(what: "the standby went back from \(elsewhere.standbyNumber) to \(state.number)")
        }
        guard update != .unchanged || state.number >= newest.number else {
            throw Wrong(what: "the standby has \(state), although \(newest) was stored")
        }
        elsewhere.standbyNumber = state.number
        log("the standby has \(state.number)")
    }

    /// Ends the standby. Another one continues from what it has left.
    func endStandby() async {
        await elsewhere.standby?.end()
        elsewhere.standby = nil
        log("the standby ended")
    }

    /// A repository as another host opens it.
    func repository(of store: SimulatedStore, in place: String) async throws -> Repository {
        var other = try await Repository.open(store, local: Self.directories(place))
        other.clock = clock.host
        return other
    }

    /// The newest snapshot or fence that is stored, whether or not an answer said so.
    private var newestObject: String? { store.objects.keys.filter { $0.hasPrefix("snapshots/") }.max() }

    /// Another host promotes a standby, which has whatever was stored, and the application continues there.
    ///
    /// - Parameters:
    ///   - step: how far the other host's clock is ahead, in milliseconds.
    ///   - isFormerWriting: whether the former host tries to store something afterwards.
    ///   - endsStandby: whether the standby that is kept ends before; otherwise it has to notice the promotion.
    func promote(clock step: Int64, isFormerWriting: Bool, endsStandby: Bool = true) async throws {
        guard let newest = newestAcknowledged else { return }
        if endsStandby { await endStandby() }
        elsewhere.promotions += 1
        let place = directory + "/host\(elsewhere.promotions)"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        clock.step(step)
        let other = try await repository(of: store, in: place)
        guard newestObject != elsewhere.fence else {
            // Nothing of the promoted database is stored.
            do {
                _ = try await other.writable().promote(place + "/a.db", database: "a.db")
                throw Wrong(what: "promoted the former database's state although another standby was promoted")
            } catch let error as VaultError where error.code == .promoted {}
            log("no promotion before the first snapshot")
            return
        }
        let promoted = try await other.writable().promote(place + "/a.db", database: "a.db")
        elsewhere.fence = newestObject
        guard promoted.isFenced, promoted.missing == nil else { throw Wrong(what: "promoted \(promoted)") }
        log("promoted on another host, whose clock is \(step) ahead")
        try await move(to: place + "/a.db", in: place, isFormerWriting: isFormerWriting)
        guard states[latest.number] == latest, latest.number >= max(newest.number, elsewhere.standbyNumber) else {
            throw Wrong(what: "promoted with \(latest), although \(newest) was stored")
        }
        log("the application continues after \(latest.number)")
    }

    /// Damages an object of a copy of the store, and repairs that copy. What is restored before and after was committed, what cannot be
    /// restored is a problem of the check, and the next snapshot can be restored.
    func damage(choose: (Int) -> Int) async throws {
        guard newestAcknowledged != nil else { return }
        var objects = store.objects
        let name = objects.keys.sorted()[choose(objects.count)]
        guard name != "repository.json", var bytes = objects[name], !bytes.isEmpty else { return }
        let isMissing = choose(3) == 0
        // Without its fence nothing shows that the former primary's line has ended: what that stored belongs to it.
        guard !isMissing || name != elsewhere.fence else { return }
        bytes[choose(bytes.count)] ^= UInt8(1 + choose(255))
        objects[name] = isMissing ? nil : bytes
        log("a copy \(isMissing ? "lacks" : "has damage in") \(name)")
        let damaged = SimulatedStore(clock, name: "damaged")
        damaged.replace(objects)
        elsewhere.damages += 1
        let other = try await repository(of: damaged, in: directory + "/damaged\(elsewhere.damages)")
        let whole = try await restored(.latest).state
        var options = CheckOptions()
        options.readsData = true
        options.recordsResults = false
        let found = try await restoredOrRefused(from: other)
        let report = try await other.check(options)
        // Without a newer object nothing tells that one is missing.
        guard found != nil || !report.isIntact || report.snapshots.isEmpty,
            found == whole || isMissing || !report.isIntact
        else {
            throw Wrong(
                what: "intact, but latest is \(found.map(String.init(describing:)) ?? "refused") instead of \(whole)")
        }
        var repair = RepairOptions()
        repair.readsData = true
        let repairs = try await other.writable().repair(repair)
        _ = try await restoredOrRefused(from: other)
        var taken = SnapshotOptions()
        taken.allowsPlaintext = true
        do { _ = try await other.writable().snapshot(of: path, options: taken) } catch let error as VaultError
            where error.code == .promoted && name == elsewhere.fence
        {
            // Without the fence nothing shows that the database is this one.
            return
        }
        let after = try await restored(.latest, from: other).state
        guard after == latest else {
            throw Wrong(what: "after a repair and a snapshot, latest is \(after) instead of \(latest)")
        }
        let repaired = try await other.check(options)
        // What it says to have left is left.
        let left = Set(repairs.unfinished.map(\.path))
        guard repaired.problems.allSatisfy({ left.contains($0.path) }) else {
            throw Wrong(what: "after \(repairs): \(repaired.problems)")
        }
    }

    /// The newest state; nil if the repository says that it cannot be restored.
    private func restoredOrRefused(from other: Repository) async throws -> State? {
        do { return try await restored(.latest, from: other).state } catch is VaultError { return nil }
    }
}
