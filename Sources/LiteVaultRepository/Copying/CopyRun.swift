internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSystem

/// One run of ``WritableRepository/copy(to:database:acceptsReplacement:dryRun:progress:)``.
///
/// Nothing in the copy refers to an object that is not there yet: packs come first, then the record of what retention removed
/// here, fences, segments, and manifests. The lease for removing is held meanwhile, because packs that an interrupted run has left
/// may be scheduled for deletion: see ``claim(_:of:_:)``.
final class CopyRun {
    let source: Repository
    /// Nil if there is no copy yet and nothing is to be stored.
    let target: Repository?
    /// The same, for what is stored there.
    let writable: WritableRepository?
    private let progress: BackupProgress.Report
    var result = CopyResult()
    /// Whether retention has removed something here that was to be copied, so that the record of it has to be copied again.
    private var isOvertaken = false
    /// Whether the record of the copy names snapshots that it never had.
    var hasLeftOut = false
    /// Sizes of the packs of both, by name.
    private var packs: (source: [String: Int64], target: [String: Int64]) = ([:], [:])

    init(from source: Repository, to writable: WritableRepository?, progress: @escaping BackupProgress.Report) {
        self.source = source
        (self.writable, target) = (writable, writable?.repository)
        self.progress = progress
    }

    /// Copies databases.
    ///
    /// - Parameter lease: that for removing from the copy; nil to count only.
    func copy(_ databases: [String], holding lease: Lease?) async throws -> CopyResult {
        result.warnings = source.notices + (target?.notices ?? [])
        if let target { packs.target = try await Self.packs(target.store) }
        var plans: [Plan] = []
        for database in databases {
            try await separately(database, of: databases) {
                if let plan = try await plan(database) { plans.append(plan) }
            }
        }
        // After the manifests: what they need was stored before them.
        packs.source = try await Self.packs(source.store)
        let needed = plans.reduce(into: Set<String>()) { $0.formUnion($1.packs) }
        if let lease { try await claim(needed, of: plans, lease) }
        let absent = try await absent(of: needed)
        let failed = try await copy(packs: absent, lease)
        for plan in plans {
            try await separately(plan.database, of: databases) { try await finish(plan, without: failed, lease) }
        }
        // Another process that took the lease may have removed what the manifests need.
        try await lease?.confirm()
        return result
    }

    /// Works on one database. If there are others, what is wrong with its copy is a warning.
    private func separately(_ database: String, of all: [String], _ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let error as VaultError where (error.isDamage || error.code == .conflict) && all.count > 1 {
            result.warnings.append(RepositoryWarning(error, RepositoryFormat.snapshots(database)))
        }
    }

    /// The packs that the copy does not have, or not in their size.
    private func absent(of needed: Set<String>) async throws -> [String] {
        let differing = needed.filter { packs.target[$0] == nil || packs.target[$0] != packs.source[$0] }.sorted()
        guard let target, source.isSealed || target.isSealed else { return differing }
        // The same content may have been compressed by another version of zlib, or not at all.
        let (source, here, there) = (source, packs.source, packs.target)
        let isSame = try await concurrently(differing) { name -> Bool in
            guard let size = there[name], let original = here[name] else { return false }
            do {
                return try await target.store.contentSize(name, stored: size)
                    == source.store.contentSize(name, stored: original)
            } catch let error as VaultError where error.isDamage { return false }
        }
        return zip(differing, isSame).filter { !$1 }.map(\.0)
    }

    /// Nil if this repository was rolled back: an older state may have other snapshots under the numbers of newer ones.
    private func plan(_ database: String) async throws -> Plan? {
        var plan = Plan(database: database)
        let survey = try await source.survey(database)
        result.warnings += survey.warnings
        guard survey.rollback == nil else { return nil }
        let there = try await target?.survey(database) ?? DatabaseSurvey(database: database)
        result.warnings += there.warnings
        if let rollback = there.rollback { throw rollback }
        let known = Dictionary(there.snapshots.map { ($0.sequence, $0.hash) }) { $1 }
        let occupied = Set(there.present)
        plan.there = (there.present, max(there.newestSequence, there.fences.last ?? 0))
        let forgotten = try await target?.forgetRecord(database)
        let advisories = try await source.advisories(survey)
        result.warnings += advisories.warnings.filter { $0.severity == .damage }
        var newest: NewestState?
        for snapshot in survey.snapshots(with: advisories.verifications) {
            newest = nil
            if let hash = known[snapshot.sequence] {
                guard hash == snapshot.hash else { throw differing(snapshot) }
                plan.present.append(snapshot)
            } else if snapshot.verification?.lostBlocks != nil {
                if !occupied.contains(snapshot.sequence) { plan.lost.append(snapshot.sequence) }
                newest = .lost
                result.lost += 1
            } else if forgotten?.contains(snapshot.sequence) == true {
                newest = .removed
                result.forgotten += 1
            } else if !occupied.contains(snapshot.sequence) {
                plan.snapshots.append(snapshot)
            }
        }
        plan.newest = survey.present.last ?? 0
        plan.fences = survey.fences.filter { !occupied.contains($0) }
        result.present += plan.present.count
        let whole = try await intact(plan.snapshots + plan.present, database, &plan.packs, there: occupied)
        for snapshot in plan.snapshots where !whole.contains(snapshot.sequence) { plan.leaveOut(snapshot.sequence) }
        plan.snapshots.removeAll { !whole.contains($0.sequence) }
        for one in survey.unreadable { plan.leaveOut(one.sequence) }
        // Without the record, what retention removed here would count.
        if let here = try? await source.forgetRecord(database) {
            plan.leftOut += here.missing(survey.present).filter { $0.lowerBound > plan.there.newest }
        }
        if let newest, let snapshot = survey.snapshots.last {
            let hasOthers = !there.snapshots.isEmpty || !plan.snapshots.isEmpty
            result.incomplete.append(newest.warning(snapshot, hasOthers: hasOthers))
            result.warnings += result.incomplete.suffix(1)
        }
        return plan
    }

    /// The sequences of snapshots whose block maps can be read, and the packs that they need.
    ///
    /// - Parameter there: the sequences that the copy has.
    func intact(
        _ snapshots: [Snapshot], _ database: String, _ packs: inout Set<String>, there: Set<Int> = []
    ) async throws -> Set<Int> {
        var data: Set<PackID> = []
        var problems: [VaultError] = []
        let walk = BlockMapWalk(
            visit: { entry in
                data.insert(entry.pack)
                return true
            },
            problem: { problems.append($0) })
        let nodes = source.nodes(database)
        var whole: Set<Int> = []
        for snapshot in snapshots {
            do {
                let map = try await nodes.map(of: snapshot.manifest, snapshot.object)
                if try walk.walk(map) { whole.insert(snapshot.sequence) }
            } catch let error as VaultError where error.isDamage {
                problems.append(error)
            }
            if !whole.contains(snapshot.sequence) {
                leaveOut(snapshot, because: problems.last, isThere: there.contains(snapshot.sequence))
            }
        }
        packs = Set(data.map { RepositoryFormat.data($0) }).union(walk.packs.map { RepositoryFormat.tree($0) })
        return whole
    }

    /// Stores what the plan contains, after its packs.
    private func finish(_ plan: Plan, without failed: [String: VaultError], _ lease: Lease?) async throws {
        var (plan, snapshots) = (plan, plan.snapshots)
        if !failed.isEmpty {
            var whole: [Snapshot] = []
            for snapshot in snapshots {
                // A walk of its own: one that has seen other snapshots does not tell whose packs it visits.
                var packs: Set<String> = []
                _ = try await intact([snapshot], plan.database, &packs)
                guard let name = packs.first(where: { failed[$0] != nil }) else {
                    whole.append(snapshot)
                    continue
                }
                leaveOut(snapshot, because: failed[name])
                plan.leaveOut(snapshot.sequence)
            }
            snapshots = whole
        }
        // What an earlier run has stored there, it may have had no time to sync.
        if lease != nil, !snapshots.isEmpty {
            try target?.store.settle(plan.packs.filter { packs.target[$0] != nil })
        }
        try await copyForgetRecord(plan, lease)
        // Before the manifests: what is known to be good is not removed there meanwhile.
        try await copyVerifications(of: plan.present + snapshots, plan.database, lease)
        // Before the segments: without the fence of a promotion, what the former primary stored afterwards would belong to its line.
        for sequence in plan.fences {
            try await copyDocument(RepositoryFormat.snapshot(plan.database, sequence), lease)
        }
        try await copySegments(plan, lease)
        for snapshot in snapshots {
            guard try await copyDocument(snapshot.object, expecting: snapshot.hash, lease) else {
                isOvertaken = true
                continue
            }
            result.snapshots += 1
            plan.there.sequences.append(snapshot.sequence)
            if lease != nil { try? target?.remember(Head(snapshot), plan.database) }
        }
        if isOvertaken || !plan.leftOut.isEmpty || hasLeftOut { try await copyForgetRecord(plan, lease) }
        isOvertaken = false
    }

    /// Copies a document; false if it was removed here since it was listed.
    @discardableResult
    private func copyDocument(_ name: String, expecting hash: Hash256? = nil, _ lease: Lease?) async throws -> Bool {
        guard let writable, let lease else { return true }
        let (bytes, document): ([UInt8], SealedDocument)
        do {
            (bytes, document) = try await readingAgain {
                let bytes = try await source.store.get(name, upTo: SealedDocument.limit(Manifest.self))
                return (bytes, try SealedDocument(whole: bytes, name: name))
            }
        } catch let error as VaultError where error.code == .missing {
            return false
        }
        guard hash == nil || document.hash == hash else {
            throw VaultError(.conflict, "was replaced while it was copied", path: name)
        }
        try await lease.confirm()
        do {
            try await writable.store.putNew(name, bytes)
        } catch let error as VaultError where error.code == .conflict {
            // It never changes: it may be there already, but nothing else under its name.
            guard try await writable.store.get(name) == bytes else { throw error }
        }
        return true
    }

    private func differing(_ snapshot: Snapshot) -> VaultError {
        VaultError(
            .conflict, "the copy has another snapshot \(snapshot.sequence) of '\(snapshot.database)'",
            path: "\(target?.store.location ?? "")/\(snapshot.object)",
            remedy: "Somebody stored snapshots in the copy: copy to another place, and store snapshots here only.")
    }

    private static func packs(_ store: any ObjectStore) async throws -> [String: Int64] {
        let objects = try await store.list("data/") + store.list("tree/")
        return Dictionary(objects.filter { RepositoryFormat.isPack($0.name) }.map { ($0.name, $0.size) }) { $1 }
    }
}

// Objects that are files on the way.
extension CopyRun {
    /// Packs that are copied at the same time: each takes some megabytes of memory, and a few fill a link.
    private static let packsAtATime = 6

    /// Copies packs, several at a time.
    ///
    /// - Returns: the packs that are damaged or missing here.
    private func copy(packs names: [String], _ lease: Lease?) async throws -> [String: VaultError] {
        let sizes = packs.source
        let objects = names.map { ($0, sizes[$0] ?? 0) }
        return try await copy(objects, lease, width: Self.packsAtATime) { source, name, file in
            try PackFile.verify(file, as: name, repository: source.id)
        } count: { result, bytes in
            result.packs += 1
            result.bytes = [result.bytes, bytes].sum
        }
    }

    /// Copies the segments that the copy neither has nor has removed.
    ///
    /// If the copy has snapshots that the segments continue, it gets one after the other, in the order of the commits: with a later one and
    /// without an earlier one its newest state could not be restored, until a run that is killed is repeated.
    private func copySegments(_ plan: Plan, _ lease: Lease?) async throws {
        let database = plan.database
        let there = try await target?.segmentListing(database) ?? SegmentListing()
        let known = Set((there.names + there.joined).map(\.object))
        let forgotten = try await target?.forgetRecord(database)
        let joined = try await source.segmentListing(database).joined
        let single = try await source.segmentListing(database).names
        // After the listings: the fence precedes what the former primary stored behind it.
        let end = try await endOfLine(plan)
        let fine = single.filter { name in
            name.sequence <= end && !known.contains(name.object) && forgotten?.hasSegment(name.sequence) != true
                && !there.joined.contains { $0.has(name.sequence) }
        }
        let newer = joined.filter { name in
            name.sequence <= end && !known.contains(name.object)
                && !(forgotten?.hasSegment(name.first) == true && forgotten?.hasSegment(name.sequence) == true)
        }
        // A joined segment is copied only after what was joined, so that the copy may remove that by itself.
        if !plan.present.isEmpty {
            let all = fine.map { ($0, 0) } + newer.map { ($0, 1) }
            let order = all.sorted { ($0.0.sequence, $0.1) < ($1.0.sequence, $1.1) }
            try await copySegments(order.map(\.0), database, lease, width: 1)
        } else {
            try await copySegments(fine, database, lease, width: manyRequests)
            try await copySegments(newer, database, lease, width: manyRequests)
        }
    }

    /// The last segment of the line that a promotion has ended since the plan was made; the largest number if none has. The next run copies its
    /// fence, and then the segments behind it.
    private func endOfLine(_ plan: Plan) async throws -> Int {
        let names = try await source.store.list(RepositoryFormat.snapshots(plan.database)).map(\.name)
        for sequence in names.compactMap({ RepositoryFormat.sequence(ofSnapshot: $0, plan.database) })
        where sequence > plan.newest {
            do {
                if case .promotion(let last) = try await source.numberedObject(sequence, of: plan.database) {
                    return last
                }
            } catch let error as VaultError where error.isDamage {
                // The next run has a warning about it, if it is there.
            }
        }
        return .max
    }

    private func copySegments(_ names: [SegmentName], _ database: String, _ lease: Lease?, width: Int) async throws {
        let segments = Dictionary(names.map { ($0.object, $0) }) { $1 }
        let objects = names.map { ($0.object, $0.size ?? 0) }
        let failed = try await copy(objects, lease, width: width) { source, name, file in
            guard let segment = segments[name] else { return }
            try source.compare(source.segment(segment, database, in: file), in: file)
        } count: { result, bytes in
            result.segments += 1
            result.bytes = [result.bytes, bytes].sum
        }
        let missing = failed.filter { $0.value.code == .missing }
        let forgotten = missing.isEmpty ? nil : try? await source.forgetRecord(database)
        let problems = failed.filter { name, _ in
            guard missing[name] != nil, let segment = segments[name] else { return true }
            return forgotten?.hasSegment(segment.first) != true || forgotten?.hasSegment(segment.sequence) != true
        }
        if problems.count < failed.count { isOvertaken = true }
        result.warnings += problems.sorted { $0.key < $1.key }.map { RepositoryWarning($0.value, $0.key) }
    }

    /// Fetches objects into files, verifies and stores them.
    ///
    /// - Returns: the objects that are damaged or missing here.
    private func copy(
        _ objects: [(name: String, size: Int64)], _ lease: Lease?, width: Int,
        verify: @escaping @Sendable (Repository, String, LocalFile) throws -> Void,
        count: (inout CopyResult, Int64) -> Void
    ) async throws -> [String: VaultError] {
        guard let writable, lease != nil else {
            for object in objects { count(&result, object.size) }
            return [:]
        }
        let total = objects.lazy.map(\.size).sum
        var done: Int64 = 0
        let (source, progress, there) = (source, progress, packs.target)
        try progress(BackupProgress(.storing, 0, of: total))
        let transfer = ObjectTransfer(
            source: source, target: writable, directory: try writable.repository.workDirectory(), verify: verify)
        let errors = try await concurrently(objects, width: width) { name, size -> VaultError? in
            do {
                let condition: PutCondition =
                    try await writable.store.supportsConditionalWrites() && there[name] == nil ? .absent : .none
                try await transfer.copy(name, size, condition)
            } catch let error as VaultError where error.isDamage && source.store.object(of: error) == name {
                return error
            }
            return nil
        } completed: { object, error in
            guard error == nil else { return }
            done = [done, object.size].sum
            try progress(BackupProgress(.storing, done, of: total))
        }
        var failed: [String: VaultError] = [:]
        for (object, error) in zip(objects, errors) {
            if let error { failed[object.name] = error } else { count(&result, object.size) }
        }
        return failed
    }
}

/// Copies single objects by way of local files, which are verified.
private struct ObjectTransfer: Sendable {
    let source: Repository
    let target: WritableRepository
    /// For the files.
    let directory: String
    /// Compares a file with the name of its object in the source.
    let verify: @Sendable (Repository, String, LocalFile) throws -> Void

    func copy(_ name: String, _ size: Int64, _ condition: PutCondition) async throws {
        let named = try ReplacementFile.temporary("pack", in: directory)
        defer { named.discard() }
        // A companion file's name is removed with the temporary file, and swept with it after a kill.
        let path = named.path + "-journal"
        let verified = try await readingAgain(forgetting: { unlink(path) }) {
            do {
                // Not what the listing says, if no such object is as large. That of a sealed object says little about its content.
                let largest = ReadLimits.bytes(of: name)
                let limit = source.isSealed ? largest : min(size, largest)
                try await source.store.fetch(name, into: path, upTo: limit)
            } catch let error as VaultError where error.code == .missing {
                throw VaultError(.missing, "is missing", path: name)
            } catch let error as VaultError where error.code == .damaged {
                throw VaultError(.damaged, error.message, path: name, cause: error)
            }
            return try verifiedSize(path, of: name)
        }
        try await target.store.putOwn(name, file: path, size: verified, condition: condition)
    }

    /// Verifies a file, which is closed again before it is uploaded: many are under way at a time.
    private func verifiedSize(_ path: String, of name: String) throws -> Int64 {
        let file = try LocalFile(reading: path)
        try verify(source, name, file)
        return try file.size()
    }
}
