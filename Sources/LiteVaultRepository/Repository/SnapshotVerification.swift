package import LiteVaultCapture
public import LiteVaultSystem

/// What is known about a snapshot from verifications: the last result, unless an earlier one says more.
///
/// A failure stands until a verification that is at least as thorough passes, with the assertions that failed. A less thorough one that passes
/// does not replace it, and neither does time.
///
/// A failure up to ``Level/data`` is one of objects of the repository, which a repair records, and which the next snapshot stores again. From
/// ``Level/pages`` on it is one of the content: the database was not intact when it was stored.
public struct SnapshotVerification: Sendable, Equatable, Codable {
    /// How thorough the verification was.
    public enum Level: String, Sendable, Codable, CaseIterable, Comparable {
        /// The block map, and that every block exists where it says.
        case structure
        /// Every byte, compared with the hashes.
        case data
        /// Every page, by its authentication code.
        case pages
        /// Restored, and checked as a database.
        case restore

        /// Compares levels: the more thorough one is greater.
        public static func < (left: Level, right: Level) -> Bool { left.depth < right.depth }

        private var depth: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// A verification that passed.
    public struct Pass: Sendable, Equatable, Codable {
        /// How thorough it was.
        public let level: Level
        /// When it was made, by the verifying machine's clock.
        public let time: Date
        /// The assertions that held, as ``SnapshotVerification/name(ofAssertion:)`` names them; nil without one.
        private(set) var assertions: [String]?
        /// Whether the original of this copy passed it.
        fileprivate(set) var copied: Bool?

        init(_ passed: SnapshotVerification) {
            (level, time, assertions, copied) = (passed.level, passed.time, passed.assertions, passed.copied)
        }
    }

    /// How thorough the verification was.
    public let level: Level
    /// Whether it found no problem.
    public let passed: Bool
    /// When it was made, by the verifying machine's clock.
    public let time: Date
    /// When the snapshot first failed; nil if it passed.
    public private(set) var failedSince: Date?
    /// The most thorough verification that it passed before it failed; nil if there was none, or if it passed.
    public private(set) var lastPass: Pass?
    /// The number of its blocks that a repair found lost; nil if it passed, or no repair has looked for them since it failed.
    public private(set) var lostBlocks: Int?
    /// The assertions that held, or of one that failed those that did not, as ``name(ofAssertion:)`` names them; nil without one.
    private(set) var assertions: [String]?
    /// True if the original of this copy was verified, not the copy; else nil.
    private(set) var copied: Bool?

    init(level: Level, passed: Bool, time: Date, lostBlocks: Int? = nil, assertions: Set<String> = []) {
        (self.level, self.passed, self.time) = (level, passed, time)
        (failedSince, self.lostBlocks) = passed ? (nil, nil) : (time, lostBlocks)
        self.assertions = assertions.isEmpty ? nil : Array(assertions.sorted().prefix(Self.assertionLimit))
    }

    /// The maximum number of assertions of one verification that are recorded.
    static let assertionLimit = 1000

    /// What is recorded of an assertion: a part of its hash, as its text may tell what the database has.
    static func name(ofAssertion sql: String) -> String { String(Hash256(of: Array(sql.utf8)).hexadecimal.prefix(16)) }

    /// Whether a failure is one of the database that was stored, not of the repository's objects.
    package var concernsContent: Bool { level >= .pages }
    /// Whether the original of this copy was verified, not the copy.
    package var isCopied: Bool { copied == true }
    package var failsAssertion: Bool { !passed && assertions != nil }

    /// Whether it tested all that another one did.
    func covers(_ other: SnapshotVerification) -> Bool {
        level >= other.level && Set(other.assertions ?? []).isSubset(of: assertions ?? [])
    }

    /// With assertions that held or failed before: the content is the same.
    private func adding(_ more: [String]?) -> SnapshotVerification {
        guard let more else { return self }
        var result = self
        result.assertions = Array(Set((assertions ?? []) + more).sorted().prefix(Self.assertionLimit))
        return result
    }

    /// What is known once there is another result.
    func followed(by new: SnapshotVerification) -> SnapshotVerification {
        guard !new.passed else {
            if passed { return (level > new.level ? self : new).adding(assertions).adding(new.assertions) }
            guard new.covers(self) else {
                var result = self
                // Every block was read and compared: nothing is lost. Whether it is an intact database, that does not tell.
                if new.level >= .data { result.lostBlocks = nil }
                return result
            }
            // What failed was the store, which has recovered: the content is what it was when it passed.
            return (lastPass.map { $0.level > new.level ? .init($0) : new } ?? new)
                .adding(lastPass?.assertions).adding(new.assertions)
        }
        var result = SnapshotVerification(
            level: passed ? new.level : max(level, new.level), passed: false, time: new.time,
            lostBlocks: new.lostBlocks ?? lostBlocks, assertions: Set(new.assertions ?? []))
        if !passed { result = result.adding(assertions) }
        result.failedSince = passed ? new.time : failedSince ?? time
        result.lastPass = passed ? Pass(self) : lastPass
        return result
    }

    /// What is known if the failure turns out not to concern this snapshot; nil if it never passed.
    var withoutFailure: SnapshotVerification? { passed ? self : lastPass.map(Self.init) }

    private init(_ pass: Pass) {
        self.init(level: pass.level, passed: true, time: pass.time, assertions: Set(pass.assertions ?? []))
        copied = pass.copied
    }
}

// What the verifications of a repository say about its copy.
extension SnapshotVerification {
    /// What it says about a copy of the snapshot; nil for nothing.
    ///
    /// A copy has the same content, as its hashes tell, so that what is known of the content is known of the copy. What is known of the
    /// objects that have it here says nothing about those there.
    func forCopy() -> SnapshotVerification? {
        guard passed ? level >= .data : concernsContent else {
            return passed ? nil : lastPass.flatMap { SnapshotVerification($0).forCopy() }
        }
        var result = self
        result.copied = true
        result.lostBlocks = nil
        result.lastPass?.copied = true
        if let pass = lastPass, pass.level < .data { result.lastPass = nil }
        return result
    }

    /// What is known of a snapshot of a copy, once it is known what verifications of the original say. What was observed of the copy itself
    /// stands, unless the original says more.
    ///
    /// - Parameter original: from ``forCopy()``.
    func joined(with original: SnapshotVerification) -> SnapshotVerification {
        switch (passed, original.passed) {
        case (true, true):
            let saysMore = isCopied ? original.level >= level : original.level > level
            return (saysMore ? original : self).adding(assertions).adding(original.assertions)
        case (true, false):
            // It passed as thorough a verification since.
            if covers(original), time > original.time { return self }
            return original.knowing(Pass(self))
        case (false, true):
            return isCopied && original.covers(self) ? original : knowing(Pass(original))
        case (false, false):
            if isCopied { return original.knowing(lastPass) }
            guard original.level > level else { return knowing(original.lastPass) }
            var result = SnapshotVerification(
                level: original.level, passed: false, time: time, lostBlocks: lostBlocks,
                assertions: Set(original.assertions ?? []))
            result.failedSince = [failedSince ?? time, original.failedSince ?? original.time].min()
            result.lastPass = lastPass
            return result.knowing(original.lastPass)
        }
    }

    /// A failure, with the more thorough of what it passed before and `pass`.
    private func knowing(_ pass: Pass?) -> SnapshotVerification {
        var result = self
        if let pass, lastPass.map({ $0.level < pass.level }) ?? true { result.lastPass = pass }
        return result
    }
}

/// What verifications say about the snapshots of a database.
struct Verifications: CheckedDocument, Equatable {
    var type = "verifications"
    var repository: String
    var database: String
    /// By the full hash of the manifest.
    var results: [String: SnapshotVerification]
    /// The packs in which checks found blocks or nodes damaged or missing that snapshots of the database need. Writers do not
    /// share them. Absent if there are none.
    var damaged: [String]?

    static let byteLimit = RepositoryFormat.listBytes

    func check() throws(OutOfLimits) {
        for (hash, result) in results {
            try require("results", hash, digits: 64)
            try require("lost_blocks", result.lostBlocks, in: 0...Int(RepositoryFormat.imageBytes / Int64(blockSize)))
            for assertions in [result.assertions, result.lastPass?.assertions].compactMap(\.self) {
                try require("assertions", assertions.count, in: 0...SnapshotVerification.assertionLimit)
                for assertion in assertions { try require("assertions", assertion, digits: 16) }
            }
        }
        try require("damaged", damaged?.count, in: 0...RepositoryFormat.listedPacks)
    }

    /// The packs whose blocks and nodes writers must not share.
    var damagedPacks: Set<PackID> { Set((damaged ?? []).compactMap(RepositoryFormat.pack)) }
}

/// What a check or a repair has found about the snapshots of a database.
struct VerificationResults {
    /// By the full hash of the manifest.
    var results: [String: SnapshotVerification] = [:]
    /// Snapshots whose failure does not concern them: all of their blocks were read.
    var cleared: Set<String> = []
    /// Packs that are damaged or missing.
    var damaged: Set<String> = []
    /// Whether all packs were read as a whole, so that the others are intact.
    var isComplete = false
    /// What was recorded before it looked; nil if that is still so. What others have found since, it does not take back.
    var known: Verifications?
}

extension Repository {
    /// The document for a database without verified snapshots.
    func noVerifications(_ database: String) -> Verifications {
        Verifications(repository: config.id, database: database, results: [:])
    }

    func verifications(_ database: String) async throws -> Verifications {
        let found = try await document(RepositoryFormat.verified(database), Verifications.self) {
            $0.repository == config.id && $0.database == database
        }
        return found ?? noVerifications(database)
    }
}

extension WritableRepository {
    /// Adds results to what is known, and returns that.
    ///
    /// - Parameter lease: that of a repair; a check has none.
    @discardableResult
    func record(
        _ found: VerificationResults, _ database: String, holding lease: Lease? = nil
    ) async throws -> Verifications {
        let name = RepositoryFormat.verified(database)
        var known = found.known
        return try await store.changing(name, holding: lease) { version in
            // Not in place of a damaged one: retention would no longer know which snapshots were proven to be good.
            let before = try await repository.verifications(database)
            // After it: all snapshots that it names are found, unless they are gone.
            let present = Set(try await repository.survey(database).snapshots.map(\.hash.hexadecimal))
            let all = before.adding(found, since: known ?? before, present: present)
            known = known ?? before
            if version.conflicts > 0, all == before { return all }
            try await put(all, replacing: version)
            if version.isNew, lease == nil { try await removeUnderOldKey(name) }
            return all
        }
    }

    /// Removes a new document if the repository was given a new key, or sealed, while it was stored: nobody gives it a code of that key any more.
    private func removeUnderOldKey(_ name: String) async throws {
        do { try await repository.requireCurrentKey() } catch let error as VaultError where error.code == .busy {
            try? await store.remove(name)
            throw error
        }
    }
}

extension Verifications {
    /// With what a check or a repair has found.
    ///
    /// - Parameters:
    ///   - known: what was recorded before it looked. A failure that is not in there is a later finding of others, which it does not disprove.
    ///   - present: the hashes of the manifests that exist.
    fileprivate func adding(
        _ found: VerificationResults, since known: Verifications, present: Set<String>
    ) -> Verifications {
        var all = self
        let isLater = { (hash: String) in
            self.results[hash].map { !$0.passed && $0 != known.results[hash] } ?? false
        }
        for (hash, result) in found.results where !result.passed || !isLater(hash) {
            all.results[hash] = all.results[hash]?.followed(by: result) ?? result
        }
        for hash in found.cleared where !isLater(hash) { all.results[hash] = all.results[hash]?.withoutFailure }
        all.results = all.results.filter { present.contains($0.key) }
        // A check that did not read them does not tell that packs found damaged before are intact.
        let others = Set(self.damaged ?? []).subtracting(found.isComplete ? known.damaged ?? [] : [])
        let damaged = found.damaged.union(others)
        all.damaged = damaged.isEmpty ? nil : Array(damaged.sorted().prefix(RepositoryFormat.listedPacks))
        return all
    }
}

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
