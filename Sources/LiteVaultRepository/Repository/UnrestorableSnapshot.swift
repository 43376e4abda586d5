package import LiteVaultCapture
public import LiteVaultSystem

/// A snapshot whose last verification failed.
public struct UnrestorableSnapshot: Sendable {
    /// What the failure means for the backups of its database.
    public enum State: String, Sendable {
        /// It needs attention: blocks or documents of the repository are damaged, or no newer snapshot passed a verification as thorough
        /// as the one that failed.
        case damaged
        /// Its content is damaged, and a newer snapshot passed the verification that it failed.
        case superseded
        /// A repair has recorded which blocks are lost, and there is a newer snapshot. Nothing more can be done about it.
        case lost
    }

    /// The snapshot.
    public let snapshot: Snapshot
    /// The verification that it failed.
    public let verification: SnapshotVerification
    /// What that means.
    public let state: State
    /// Whether it is the newest snapshot of its database.
    package let isNewest: Bool
    /// The newest snapshot that passed the verification that it failed; nil if there is none.
    var good: String?

    /// When it was first known that it cannot be restored.
    public var since: Date { verification.failedSince ?? verification.time }
}

extension UnrestorableSnapshot {
    /// The snapshots of one database that failed their verification.
    ///
    /// - Parameter snapshots: all of its snapshots in order, with their verifications.
    static func all(of snapshots: [Snapshot]) -> [UnrestorableSnapshot] {
        // What newer ones passed, each unless another one covers it, and whether there is a newer one that may be intact.
        var newer: [SnapshotVerification] = []
        var hasNewer = false
        var found: [UnrestorableSnapshot] = []
        for snapshot in snapshots.reversed() {
            guard let verification = snapshot.verification, !verification.passed else {
                hasNewer = true
                if let pass = snapshot.verification, !newer.contains(where: { $0.covers(pass) }) { newer.append(pass) }
                continue
            }
            let state: State =
                if verification.lostBlocks != nil, hasNewer {
                    .lost
                } else if verification.concernsContent, newer.contains(where: { $0.covers(verification) }) {
                    .superseded
                } else {
                    .damaged
                }
            found.append(
                .init(
                    snapshot: snapshot, verification: verification, state: state,
                    isNewest: snapshot.sequence == snapshots.last?.sequence,
                    good: snapshots.last { $0.verification.map { $0.passed && $0.covers(verification) } ?? false }?.id))
        }
        return found.reversed()
    }

    /// What is known about it: one sentence without its path.
    package var message: String {
        let name = "snapshot \(snapshot.id) of '\(snapshot.database)', taken at \(Timestamp.text(snapshot.time)),"
        let since = "since \(Timestamp.text(since))"
        if let lost = verification.lostBlocks {
            return
                "\(name) cannot be restored completely \(since): \(lost) of its blocks \(lost == 1 ? "is" : "are") lost"
        }
        let verdict =
            !verification.concernsContent
            ? "cannot be restored" : verification.failsAssertion ? "fails an assertion" : "is not an intact database"
        let whose = verification.isCopied ? "the verification of its original" : "its verification"
        return "\(name) \(verdict) \(since), by \(whose) (\(verification.level.rawValue))"
    }

    /// What to do about it.
    package var advice: Remedy {
        if verification.lostBlocks != nil { return .storeAgain }
        return verification.concernsContent
            ? .damagedContent(snapshot: snapshot.id, good: good) : .repairOrForget(snapshot: snapshot.id)
    }

    /// As a problem of the repository; nil if it does not need attention.
    package var warning: RepositoryWarning? {
        guard state == .damaged else { return nil }
        return RepositoryWarning(.damage, path: snapshot.object, message: message, advice: advice)
    }
}

extension Repository {
    /// Finds the snapshots of databases that failed their verification. Databases without such a snapshot cost no request if nothing was
    /// verified since they were last examined.
    ///
    /// - Parameters:
    ///   - names: the databases.
    ///   - known: what the last call returned as `examined`.
    /// - Returns: those snapshots, and the versions of the documents that name none.
    package func unrestorable(
        _ names: [String], examined known: [String: String] = [:]
    ) async throws -> (snapshots: [UnrestorableSnapshot], examined: [String: String]) {
        let tags = Dictionary(try await store.list("verified/").map { ($0.name, $0.tag.value) }) { $1 }
        let databases = Set(names.map(databaseID)).sorted().compactMap { database -> (database: String, tag: String)? in
            tags[RepositoryFormat.verified(database)].map { (database, $0) }
        }
        let found = try await concurrently(databases) { database, tag -> [UnrestorableSnapshot]? in
            if known[database] == tag { return nil }
            let verifications: Verifications
            do {
                verifications = try await self.verifications(database)
            } catch let error as VaultError where error.isDamage {
                // The survey of the next snapshot reports it.
                return []
            }
            guard verifications.results.values.contains(where: { !$0.passed }) else { return nil }
            let survey = try await survey(database)
            return UnrestorableSnapshot.all(of: survey.snapshots(with: verifications))
        }
        var examined: [String: String] = [:]
        for ((database, tag), found) in zip(databases, found) where found == nil { examined[database] = tag }
        return (found.flatMap { $0 ?? [] }, examined)
    }
}

extension DatabaseSurvey {
    /// The snapshots with what is known about them.
    func snapshots(with verifications: Verifications) -> [Snapshot] {
        snapshots.map { snapshot in
            var snapshot = snapshot
            snapshot.verification = verifications.results[snapshot.hash.hexadecimal]
            snapshot.cut = cut(of: snapshot)
            return snapshot
        }
    }
}

extension SnapshotList {
    /// The listed snapshots whose last verification failed, in the order of the list.
    public var unrestorable: [UnrestorableSnapshot] {
        byDatabase.flatMap { UnrestorableSnapshot.all(of: $0) }
    }
}
