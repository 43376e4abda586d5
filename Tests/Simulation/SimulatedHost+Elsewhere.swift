import Foundation
import LiteVault
import LiteVaultBackup
import LiteVaultSupport

/// What is kept of the database elsewhere: a copy of the repository, and a standby.
extension SimulatedHost {
    /// What is elsewhere, and the newest state that was seen there.
    final class Elsewhere {
        var store: SimulatedStore?
        var standby: Standby?
        var standbyNumber: Int64 = 0
    }

    /// Copies the repository. Another machine restores from the copy whatever was stored before.
    func copy(choose: (Int) -> Int) async throws {
        let copy = elsewhere.store ?? SimulatedStore(clock, name: "copy")
        elsewhere.store = copy
        let before = (newest: newestAcknowledged, all: acknowledged.filter(\.isExact))
        let result = try await repository.copy(to: copy)
        guard result.warnings.isEmpty else { throw Wrong(what: "copy: \(result.warnings)") }
        log("copied \(result.snapshots) snapshots")
        guard let newest = before.newest else { return }
        let place = folder + "/elsewhere"
        var other = try await Repository.open(
            copy, local: LocalDirectories(state: place + "/state", cache: place + "/cache", spool: place + "/spool"))
        other.clock = clock.host
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
            standby = try await repository.standby(of: "a.db", at: folder + "/standby.db", options: options)
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
        let db = try Connection(folder + "/standby.db", readonly: true)
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
}
