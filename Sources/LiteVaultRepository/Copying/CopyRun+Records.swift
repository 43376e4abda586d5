internal import LiteVaultCapture
internal import LiteVaultSystem

// What the copy records about snapshots: those that it does not get, and what is known about the others.
extension CopyRun {
    /// What is to be copied of one database.
    struct Plan {
        let database: String
        /// Readable snapshots that the copy does not have, and those that it has, in order.
        var snapshots: [Snapshot] = []
        var present: [Snapshot] = []
        var fences: [Int] = []
        /// The highest number of a snapshot or fence here.
        var newest = 0
        /// The sequences of those with recorded losses, which the copy does not get.
        var lost: [Int] = []
        /// The sequences of those that are damaged or missing here, and were never in the copy.
        var leftOut: [ClosedRange<Int>] = []
        /// What the copy has, readable or not, and the newest of that.
        var there: (sequences: [Int], newest: Int) = ([], 0)
        /// The packs that those snapshots need.
        var packs: Set<String> = []

        /// Notes that the copy does not get a snapshot. If it had a newer one before, the gap is older than this run, which does not explain it.
        mutating func leaveOut(_ sequence: Int) {
            if sequence > there.newest { leftOut.append(sequence...sequence) }
        }
    }

    /// Why the copy does not get the newest snapshot of a database, which is readable here.
    enum NewestState {
        case lost, removed

        func warning(_ snapshot: Snapshot, hasOthers: Bool) -> RepositoryWarning {
            let reason =
                self == .lost
                ? "blocks of it are lost, as a repair has recorded"
                : "it was removed from the copy, or left out before, as lost"
            return RepositoryWarning(
                .damage, path: snapshot.object,
                message: "the copy has no "
                    + (hasOthers
                        ? "current snapshot of '\(snapshot.database)'" : "snapshot of '\(snapshot.database)' at all")
                    + ": the newest one, \(snapshot.id), taken at \(Timestamp.text(snapshot.time)), was left out, as \(reason)",
                advice: .snapshotAndCopy)
        }
    }

    /// Records in the copy what retention removed here, and what the copy does not get, or a check of the copy would miss it.
    func copyForgetRecord(_ plan: Plan, _ lease: Lease?) async throws {
        let database = plan.database
        hasLeftOut = false
        guard let writable, let lease else { return }
        let here: ForgetRecord
        do {
            here = try await source.forgetRecord(database)
        } catch let error as VaultError where error.isDamage {
            // The plan has a warning about it.
            return
        }
        let change = try await writable.changeForgetRecord(database, holding: lease) { all in
            if all.ranges.isEmpty, all.segments == nil { all.segments = here.segments }
            all.insert(here.ranges.map { $0[0]...$0[1] })
            if let segments = here.segments { all.insert(segments.map { $0[0]...$0[1] }, into: \.segments) }
            if let segments = here.lost { all.insert(segments.map { $0[0]...$0[1] }, into: \.lost) }
            if !plan.leftOut.isEmpty { all.insert(plan.leftOut, into: \.leftOut) }
            all.insert(plan.lost)
            all.remove(leftOut: (all.ranges.map { $0[0]...$0[1] }) + plan.there.sequences.map { $0...$0 })
        }
        hasLeftOut = change.after.leftOut != nil
    }

    /// Records in the copy what verifications here say about the content of snapshots.
    func copyVerifications(of snapshots: [Snapshot], _ database: String, _ lease: Lease?) async throws {
        let found = snapshots.compactMap { snapshot in
            snapshot.verification?.forCopy().map { (hash: snapshot.hash.hexadecimal, original: $0) }
        }
        guard !found.isEmpty else { return }
        let name = RepositoryFormat.verified(database)
        do {
            guard let writable, let lease else {
                var all = try await target?.verifications(database) ?? source.noVerifications(database)
                result.verifications += all.join(found)
                return
            }
            result.verifications += try await writable.store.changing(name, holding: lease) { version in
                var all = try await writable.repository.verifications(database)
                let changed = all.join(found)
                if changed > 0 { try await writable.put(all, replacing: version) }
                return changed
            }
        } catch let error as VaultError where error.isDamage {
            result.warnings.append(RepositoryWarning(error, name, advice: .rebuild))
        } catch let error as VaultError where error.code == .unsupported {
            // The store only adds: that keeps snapshots as well.
            result.warnings.append(
                RepositoryWarning(
                    .notice, error.code, path: name,
                    message: "what is known from verifications is not recorded in the copy: \(error.message)",
                    advice: error.advice ?? .text("Verify the copy itself.")))
        }
    }

    func leaveOut(_ snapshot: Snapshot, because error: VaultError?, isThere: Bool = false) {
        let what = isThere ? "is in the copy, which was not compared with it again" : "was not copied"
        result.warnings.append(
            RepositoryWarning(
                .damage, error?.code ?? .damaged, path: error?.path ?? snapshot.object,
                message: "\(error?.message ?? "is damaged"); snapshot \(snapshot.id) of '\(snapshot.database)' \(what)",
                advice: .all([error?.advice, .copyAgain].compactMap(\.self))))
    }
}

extension Verifications {
    /// Adds what is known of originals, by the hashes of their manifests.
    ///
    /// - Returns: for how many of them that makes a difference.
    fileprivate mutating func join(_ found: [(hash: String, original: SnapshotVerification)]) -> Int {
        let before = results
        for (hash, original) in found { results[hash] = results[hash]?.joined(with: original) ?? original }
        return found.count { results[$0.hash] != before[$0.hash] }
    }
}
