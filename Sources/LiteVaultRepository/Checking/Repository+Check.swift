internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultSystem

extension Repository {
    /// Checks the repository: every document's hash and authentication code, the sequence of snapshots, whether it was
    /// rolled back, every block map, and that every block exists where its map says. `options` select deeper checks.
    ///
    /// The results are recorded in the repository if it is writable.
    ///
    /// - Parameter options: what to check, and how thoroughly; by default the structure only.
    /// - Returns: the findings. Damage is a result, not an error.
    /// - Throws: `VaultError` if it cannot be checked: `io`, or if the only database that was to be authenticated or restored cannot be,
    ///   `keyRejected` for its key for example. The other results are recorded then.
    public func check(_ options: CheckOptions = .init()) async throws -> CheckReport {
        var report = CheckReport(protection: isAuthenticated ? .secret : .hashes)
        let start = clock.time()
        let list = ProblemList()
        let found = try await readable(options, &report, list)
        let known = report.damaged
        let tables = try PackTables(directory: workDirectory())
        let objects = try await store.list("")
        report.warnings += objects.filter { !RepositoryFormat.isObject($0.name) }.map { .stray($0.name) }
        let data = objects.filter { $0.name.hasPrefix("data/") && RepositoryFormat.isPack($0.name) }
        let trees = objects.filter { $0.name.hasPrefix("tree/") && RepositoryFormat.isPack($0.name) }
        let maps = try UncachedNodes(store, directory: cacheDirectory("check"))
        var flawed: [String: VaultError] = [:]
        let total = data.lazy.map(\.size).sum
        var done: Int64 = 0
        for object in data {
            try options.progress(BackupProgress(.checking, done, of: total))
            flawed[object.name] = try await flaw {
                try await tables.add(object, repository: id, store: store, readsData: options.readsData)
            }
            done = [done, object.size].sum
        }
        for object in trees {
            flawed[object.name] = try await flaw {
                guard let pack = RepositoryFormat.pack(object.name), try await maps.isIntact(pack, of: id) else {
                    throw VaultError(.damaged, "its hash does not match", path: object.name)
                }
            }
        }
        report.packBytes = (data + trees).lazy.map(\.size).sum

        let avoided = report.damaged[""] ?? []
        let reader = options.readsData ? BlockReader(store: store) : nil
        let walk = CheckWalk(tables, flawed, avoided: avoided, list, reader)
        let level: SnapshotVerification.Level = options.readsData ? .data : .structure
        let passed = try await walk.check(found, maps.source)
        for (snapshot, passed) in zip(found, passed) {
            report.snapshots.append((snapshot, .init(level: level, passed: passed, time: start)))
        }
        report.unused = (data + trees).count { !walk.used.contains($0.name) }
        report.warnings += walk.irrelevant(known: report.damaged.values.reduce(into: []) { $0.formUnion($1) })
        report.problems = list.problems
        // What no snapshot needs any more stays known until it is gone.
        report.damaged = report.damaged.mapValues { $0.intersection(flawed.keys) }
            .merging(walk.failing) { $0.union($1) }
        if options.authenticates || options.restores { try await restoreTests(options, &report) }
        let results = report.snapshots
        report.addKnown(options)
        if options.recordsResults { await record(results, known, isComplete: options.readsData, &report) }
        if let only = report.unverified.first, report.unverified.count == 1, report.tested.isEmpty {
            throw only.error
        }
        return report
    }

    /// The damage that `body` finds; nil if there is none.
    ///
    /// - Parameter countsMissing: whether that an object is missing counts as well.
    func flaw(orMissing countsMissing: Bool = false, _ body: () async throws -> Void) async throws -> VaultError? {
        do {
            try await readingAgain(body)
            return nil
        } catch let error as VaultError where error.code == .missing && !countsMissing {
            // Removed by pruning since it was listed. If a snapshot needs it, that is reported.
            return nil
        } catch let error as VaultError where error.isDamage {
            return error
        }
    }

    /// The readable snapshots; problems with the others are added to the list.
    private func readable(
        _ options: CheckOptions, _ report: inout CheckReport, _ list: ProblemList
    ) async throws -> [Snapshot] {
        let pending = RepositoryFormat.pendingDeletions
        do { report.damaged[""] = Set(try await pendingDeletions().damaged ?? []) } catch let error as VaultError {
            list.add(error, pending)
        } catch {
            list.add(pending, "\(error)")
        }
        for warning in notices {
            if warning.severity == .damage {
                list.add(warning.path, warning.message)
            } else {
                report.warnings.append(warning)
            }
        }
        var found: [Snapshot] = []
        for survey in try await surveys(nil) {
            let (verifications, _, more) = try await advisories(survey)
            for warning in survey.warnings + more where warning.severity == .damage {
                list.add(warning.path, warning.message)
            }
            report.warnings += more.filter { $0.severity == .notice }
            if survey.remembered > 0 { report.remembered += 1 } else { report.unremembered += 1 }
            rememberNewest(survey)
            report.warnings += try await checkSegments(
                survey.database, survey.snapshots, readsData: options.readsData, list)
            report.damaged[survey.database] = Set(verifications.damaged ?? [])
            found += survey.snapshots(with: verifications)
        }
        return found
    }

    /// - Parameter known: the packs that were known to be damaged when the check began, by database.
    private func record(
        _ results: [(snapshot: Snapshot, verification: SnapshotVerification)], _ known: [String: Set<String>],
        isComplete: Bool, _ report: inout CheckReport
    ) async {
        do {
            let writable = try writable()
            // Results under a key that was replaced meanwhile would be a forgery.
            try await requireIdentity()
            try await requireCurrentKey()
            var isRecorded = true
            for (database, results) in Dictionary(grouping: results, by: \.snapshot.manifest.database) {
                var found = VerificationResults(damaged: report.damaged[database] ?? [], isComplete: isComplete)
                var before = noVerifications(database)
                before.damaged = known[database].map { Array($0) }
                for (snapshot, verification) in results {
                    found.results[snapshot.hash.hexadecimal] = verification
                    before.results[snapshot.hash.hexadecimal] = snapshot.verification
                }
                found.known = before
                do {
                    try await writable.record(found, database)
                    report.recordedDatabases += 1
                } catch let error as VaultError where error.isDamage {
                    isRecorded = false
                    report.recordingError = error
                }
            }
            report.isRecorded = isRecorded
        } catch {
            // The repository is read-only, for example: the report says so, as it does of results that are damaged.
            report.recordingError = error as? VaultError
        }
    }
}

/// Collects problems, each once.
final class ProblemList {
    private(set) var problems: [CheckReport.Problem] = []
    private var known: Set<CheckReport.Problem> = []

    /// Adds damage at `path`, or at the path named by the error.
    func add(_ error: VaultError, _ path: String) { add(error.path ?? path, error.message) }

    func add(_ path: String, _ message: String) {
        let problem = CheckReport.Problem(path, message)
        if known.insert(problem).inserted { problems.append(problem) }
    }
}

extension Repository {
    /// Reads every segment of a database, with `readsData` also its frames; records damaged and missing segments.
    ///
    /// - Returns: what does not keep a state from being restored.
    func checkSegments(
        _ database: String, _ snapshots: [Snapshot], readsData: Bool, _ list: ProblemList
    ) async throws -> [RepositoryWarning] {
        var log = try await segmentLog(database, snapshots)
        // Hashes of the previous number: two, if two followers ran at the same time or a segment was stored twice.
        var previous: (sequence: Int, hashes: Set<String>) = (0, [])
        var newest: SegmentMark?
        var last: SegmentName?
        // Once all segments of a number are read: two of them can be right, and one is what was remembered.
        func compareMemories() {
            guard let last, last.sequence == previous.sequence, !previous.hashes.isEmpty else { return }
            for memory in log.memories where memory.mark.sequence == last.sequence {
                guard let hash = memory.mark.hash, !previous.hashes.contains(hash) else { continue }
                list.add(last.object, "does not match the hash recorded in \(memory.place)")
            }
        }
        for name in log.names {
            if name.sequence != last?.sequence { compareMemories() }
            last = name
            do {
                let found = try await segment(name, database)
                log.learn(found.record)
                if name.sequence == previous.sequence + 1, !previous.hashes.isEmpty,
                    !previous.hashes.contains(found.record.predecessor ?? "")
                {
                    list.add(name.object, "does not follow the previous segment: one of the two was replaced")
                }
                if name.sequence != previous.sequence { previous = (name.sequence, []) }
                previous.hashes.insert(found.hash.hexadecimal)
                newest = found.mark
                if readsData { try await compare(found) }
            } catch let error as VaultError where error.isDamage {
                // Retention may have removed it since it was listed.
                if error.code == .missing, let noted = try? await forgetRecord(database).hasSegment(name.sequence),
                    noted
                {
                    if name.sequence == previous.sequence { previous.hashes = [] }
                    continue
                }
                // Or compaction, which leaves the joined segment.
                if error.code == .missing, log.joined.contains(where: { $0.has(name.sequence) }) {
                    previous = (name.sequence, [])
                    continue
                }
                if name.sequence != previous.sequence { previous = (name.sequence, []) }
                list.add(error, name.object)
            }
        }
        compareMemories()
        for name in log.joined {
            do {
                let found = try await segment(name, database)
                if readsData { try await compare(found) }
            } catch let error as VaultError where error.isDamage {
                // Compaction or retention may have removed it since it was listed.
                if error.code == .missing, try await store.attributes(name.object) == nil { continue }
                list.add(error, name.object)
            }
        }
        for problem in log.warnings { list.add(problem.path, problem.message) }
        if let newest, newest.sequence >= log.newest?.mark.sequence ?? 0 { try? remember(newest, database) }
        return log.present.step.map { [.clockStep($0.before, $0.after)] } ?? []
    }
}

extension RepositoryWarning {
    /// Labels that decrease: an older version stored what a clock said that was set back.
    fileprivate static func clockStep(_ before: SegmentName, _ after: SegmentName) -> RepositoryWarning {
        RepositoryWarning(
            .notice, path: after.object,
            message:
                "is dated before segment \(before.sequence), which precedes it: the clock was set back, and an older "
                + "version stored what it said. States are restored in their order; one time may name several of them",
            advice: .text(
                "To have no such times, take a snapshot, and forget those before it when they are no longer wanted."))
    }
}

/// Walks the block maps of all snapshots during a check, and tells which damage concerns one.
///
/// What only snapshots lack of which a repair has recorded the lost blocks is not a problem again.
final class CheckWalk {
    /// The packs that some snapshot needs.
    private(set) var used: Set<String> = []
    /// The packs of which snapshots need something that is damaged or missing, by database.
    private(set) var failing: [String: Set<String>] = [:]

    private let tables: PackTables
    private let flawed: [String: VaultError]
    private let avoided: Set<String>
    private let list: ProblemList
    /// Reads the ends of images, to compare them with their manifests; nil if no data is read.
    private let reader: BlockReader?
    /// The flawed packs that are problems.
    private var relevant: Set<String> = []
    /// The packs that lack a block.
    private var lacking: Set<String> = []
    private var database = ""
    /// Whether the damage of the snapshot being walked is known.
    private var isKnown = false

    /// - Parameters:
    ///   - tables: the tables of all data packs.
    ///   - flawed: the packs in which something is damaged, needed or not.
    ///   - avoided: the packs that a repair has recorded as damaged.
    ///   - list: where problems are added.
    ///   - reader: reads the first and the last block of each image; nil if no data is to be read.
    init(
        _ tables: PackTables, _ flawed: [String: VaultError], avoided: Set<String>, _ list: ProblemList,
        _ reader: BlockReader?
    ) {
        (self.tables, self.flawed, self.avoided, self.list, self.reader) = (tables, flawed, avoided, list, reader)
    }

    /// Walks the maps of snapshots.
    ///
    /// - Returns: for each whether nothing in it is damaged.
    func check(_ snapshots: [Snapshot], _ source: NodeSource) async throws -> [Bool] {
        var passed = [Bool](repeating: false, count: snapshots.count)
        let walk = BlockMapWalk(visit: visit) { self.note($0, at: "tree/") }
        // A node is visited once: what snapshots share counts for the one whose damage is not known yet.
        let order =
            snapshots.indices.filter { !isLost(snapshots[$0]) } + snapshots.indices.filter { isLost(snapshots[$0]) }
        for index in order {
            let snapshot = snapshots[index]
            (database, isKnown) = (snapshot.manifest.database, isLost(snapshot))
            passed[index] = try await check(snapshot, walk, source)
            if !isKnown {
                // Each node that was walked matches its hash: of a pack that a repair has dealt with, the rest is not needed.
                for name in walk.packs.map({ RepositoryFormat.tree($0) })
                where !relevant.contains(name) && !avoided.contains(name) {
                    if let flaw = flawed[name] { add(flaw, name) }
                }
            }
        }
        used.formUnion(walk.packs.map { RepositoryFormat.tree($0) })
        return passed
    }

    /// Known damage of which no snapshot needs anything any more, or only such as a repair has recorded. Other damage that no snapshot needs is
    /// a problem, too, as nobody has dealt with it yet.
    func irrelevant(known: Set<String>) -> [RepositoryWarning] {
        let rest = flawed.filter { !relevant.contains($0.key) }.sorted { $0.key < $1.key }
        for (name, flaw) in rest where !known.contains(name) { list.add(flaw, name) }
        return rest.filter { known.contains($0.key) }.map { name, flaw in
            RepositoryWarning(
                .notice, flaw.code, path: name,
                message: flaw.message
                    + (used.contains(name)
                        ? "; no snapshot needs what is damaged, except for recorded losses" : "; no snapshot needs it"),
                advice: .text("Pruning deletes it once no snapshot shares it."))
        }
    }

    private func isLost(_ snapshot: Snapshot) -> Bool { snapshot.verification?.lostBlocks != nil }

    private func check(_ snapshot: Snapshot, _ walk: BlockMapWalk, _ source: NodeSource) async throws -> Bool {
        do {
            let map = try await source.map(of: snapshot.manifest, snapshot.object)
            guard try walk.walk(map) else { return false }
            if let reader { try await compareEnds(of: snapshot, map, reader) }
            return true
        } catch let error as VaultError where error.isDamage {
            note(error, at: snapshot.object)
            return false
        }
    }

    /// Compares the first and the last block of an image with its manifest, as a restore does.
    private func compareEnds(of snapshot: Snapshot, _ map: BlockMap, _ reader: BlockReader) async throws {
        var map = map
        for block in Set([0, map.blocks - 1]) {
            guard let entry = try map.entry(block) else { continue }
            do {
                try await reader.read([entry]) { _, bytes in _ = try snapshot.content(of: bytes, from: block) }
            } catch let error as VaultError where error.code == .missing || flawed[error.path ?? ""] != nil {
                // Removed since it was listed, or reported already.
            }
        }
    }

    private func visit(_ entry: TreeEntry) throws -> Bool {
        let name = RepositoryFormat.data(entry.pack)
        used.insert(name)
        if try tables.has(entry) { return true }
        failing[database, default: []].insert(name)
        guard !isKnown else { return false }
        if let flaw = flawed[name] {
            add(flaw, name)
        } else if lacking.insert(name).inserted {
            list.add(name, "lacks block \(entry.position), which a snapshot needs")
        }
        return false
    }

    private func note(_ error: VaultError, at path: String) {
        if let name = error.path, RepositoryFormat.isPack(name) { failing[database, default: []].insert(name) }
        if !isKnown { list.add(error, path) }
    }

    private func add(_ flaw: VaultError, _ name: String) {
        relevant.insert(name)
        list.add(flaw, name)
    }
}
