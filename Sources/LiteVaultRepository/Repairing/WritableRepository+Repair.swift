internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultSystem

extension WritableRepository {
    /// Makes a damaged repository usable again, and reports what is lost.
    ///
    /// It rebuilds derived documents, moves damaged manifests and segments to `damaged/` without deleting them, and restores
    /// manifests in which a single byte changed. Later snapshots do not reuse blocks of damaged packs. Which snapshots have lost blocks is
    /// recorded: it is a known loss from then on, not a problem. No other process removes snapshots or packs meanwhile. The next repair completes one that was killed.
    ///
    /// - Parameter options: the database, whether to read all data, and whether to report only.
    /// - Returns: the actions taken and the losses, or with ``RepairOptions/dryRun`` what they would be.
    /// - Throws: `VaultError` `busy` if another process removes snapshots or packs, `keyRejected` if the repository's secret
    ///   was not given, `damaged` if its `repository.json` is that of none of its snapshots, or all of these are in `damaged/` and
    ///   intact (nothing is changed then), `io`.
    public func repair(_ options: RepairOptions = .init()) async throws -> RepairReport {
        if options.dryRun { return try await Repair(self, options, nil).run() }
        return try await withLease("prune", for: "repairing the repository") {
            try await Repair(self, options, $0).run()
        }
    }
}

/// A single run of a repair.
final class Repair {
    let writable: WritableRepository
    let repository: Repository
    let options: RepairOptions
    /// Nil in a dry run.
    let lease: Lease?
    var report: RepairReport

    var store: any ObjectStore { repository.store }

    init(_ writable: WritableRepository, _ options: RepairOptions, _ lease: Lease?) {
        (self.writable, repository) = (writable, writable.repository)
        self.options = options
        self.lease = lease
        report = RepairReport(isDryRun: options.dryRun, readsData: options.readsData)
    }

    /// The identifiers of the databases to look at. A new key and an upgrade also stop at what is left of those without a manifest.
    private func databaseIDs() async throws -> [String] {
        var all = Set(try await repository.databaseIDs(options.database))
        guard options.database == nil else { return all.sorted() }
        for prefix in ["forgotten/", "segments/", "verified/"] {
            let parts = try await store.list(prefix).compactMap { $0.name.split(separator: "/").dropFirst().first }
            all.formUnion(parts.filter { RepositoryFormat.isIdentifier($0) }.map(String.init))
        }
        return all.sorted()
    }

    func run() async throws -> RepairReport {
        try await requireOwnManifests()
        let databases = try await databaseIDs()
        for (index, database) in databases.enumerated() {
            try options.progress(BackupProgress(.checking, Int64(index), of: Int64(databases.count)))
            let survey = try await repository.survey(database)
            report.unfinished += survey.breaks
            let lost = try await repairManifests(survey)
            // Before they are moved, so that they do not count as removed by somebody else.
            try await repairForgetRecord(survey, lost)
            for one in lost { try await setAside(one.object, one.error.message) }
            try await repairVerified(database)
            try await repairSegments(survey)
            try await repairNote(survey)
        }
        let isListDamaged = try await repairPendingDeletions()
        try await findLosses(databases, isListDamaged: isListDamaged)
        try clearCache()
        return report
    }

    /// Checks that the repository was opened by a `repository.json` that is of its manifests: by another one, all of them would be set aside,
    /// and that this has not happened.
    private func requireOwnManifests() async throws {
        let judge = try ManifestJudge(repository.config, repository.key, of: repository.id)
        let evidence = try await judge.evidence(in: store, untilOwn: true)
        if let mismatch = evidence.mismatch(store.location) { throw mismatch }
        guard evidence.isEmpty else { return }
        let kept = try await judge.evidence(in: store, below: "damaged/", untilOwn: true)
        if let setAside = kept.setAside(store.location) { throw setAside }
    }

    // MARK: Documents

    /// Restores manifests that can be recovered, and reports the others as lost.
    private func repairManifests(_ survey: DatabaseSurvey) async throws -> [DatabaseSurvey.Unreadable] {
        var lost: [DatabaseSurvey.Unreadable] = []
        for one in survey.unreadable {
            guard one.error.isDamage, try await isDamaged(one.object, survey.database) else {
                // It could not be read, or not at first, which proves nothing about its content.
                report.unfinished.append(RepositoryWarning(one.error, one.object, advice: .text("Try again.")))
                continue
            }
            if let whole = try await salvaged(one.object, survey.database) {
                guard try await keep(one.object) != nil || options.dryRun else { continue }
                if !options.dryRun, try await !replace(one.object, with: whole, survey.database) { continue }
                report.actions.append(.init(.restored, one.object, one.error.message, copy(one.object)))
                continue
            }
            // Copied before its number is recorded as gone: if it is not the same each time it is read, nothing is lost yet.
            if !options.dryRun, try await keep(one.object) == nil { continue }
            report.lostSnapshots.append(
                RepairReport.LostSnapshot(
                    database: survey.snapshots.last?.database, sequence: one.sequence, path: one.object,
                    after: survey.snapshots.last { $0.sequence < one.sequence }?.time,
                    before: survey.snapshots.first { $0.sequence > one.sequence }?.time, reason: one.error.message))
            lost.append(one)
        }
        return lost
    }

    /// Whether a manifest that was damaged when it was read before still is.
    private func isDamaged(_ name: String, _ database: String) async throws -> Bool {
        do {
            _ = try await repository.object(name, database)
            return false
        } catch let error as VaultError {
            // One that cannot be read now is left, and the others are looked at.
            return error.code == .damaged
        }
    }

    /// The original of a damaged manifest, if it can be recovered.
    private func salvaged(_ name: String, _ database: String) async throws -> [UInt8]? {
        do {
            let bytes = try await store.get(name, upTo: SealedDocument.limit(Manifest.self))
            var whole = DocumentSalvage.document(bytes, key: repository.key?.current)
            if whole == nil, let previous = repository.key?.previous {
                whole = DocumentSalvage.document(bytes, key: previous)
            }
            guard let whole, whole != bytes else { return nil }
            let document = try SealedDocument(whole: whole, name: name)
            let manifest = try document.value(Manifest.self, key: repository.key, name: name)
            _ = try repository.snapshot(manifest, document.hash, name, database)
            return whole
        } catch let error as VaultError where error.isDamage {
            return nil
        }
    }

    /// Rebuilds the forget record from the existing snapshots. Snapshots that somebody else removed then count as
    /// forgotten.
    private func repairForgetRecord(_ before: DatabaseSurvey, _ lost: [DatabaseSurvey.Unreadable]) async throws {
        let (database, name) = (before.database, RepositoryFormat.forgetRecord(before.database))
        let found =
            if options.dryRun {
                try await recordGone(before, lost, replacing: nil)
            } else {
                try await change(name) { try await recordGone(before, lost, replacing: $0) }
            }
        let (damage, missing, isRebuilt) = found
        if damage == nil {
            for sequence in missing.joined().prefix(1000) {
                report.lostSnapshots.append(
                    RepairReport.LostSnapshot(
                        database: before.snapshots.last?.database, sequence: sequence,
                        path: RepositoryFormat.snapshot(database, sequence),
                        after: before.snapshots.last { $0.sequence < sequence }?.time,
                        before: before.snapshots.first { $0.sequence > sequence }?.time,
                        reason: "is missing and was not removed by retention"))
            }
        }
        guard isRebuilt else { return }
        report.actions.append(
            .init(
                .rebuilt, name, damage?.message ?? "did not record that these snapshots are gone",
                damage == nil ? nil : copy(name)))
    }

    /// Records the snapshots that are gone, damaged ones included.
    ///
    /// - Parameter version: the record, to be replaced; nil if nothing is to be changed.
    /// - Returns: what is wrong with the record, the numbers of snapshots that somebody else removed, and whether it has to be replaced.
    private func recordGone(
        _ before: DatabaseSurvey, _ lost: [DatabaseSurvey.Unreadable], replacing version: ObjectVersion?
    ) async throws -> (damage: VaultError?, missing: [ClosedRange<Int>], isRebuilt: Bool) {
        let database = before.database
        var forgotten = ForgetRecord(repository: repository.config.id, database: database, ranges: [])
        var damage: VaultError?
        do {
            forgotten = try await repository.forgetRecord(database)
        } catch let error as VaultError where error.code == .damaged {
            damage = error
            // Copied, and replaced below: without a record, snapshots removed by retention would count as lost.
            _ = try await keep(RepositoryFormat.forgetRecord(database))
        }
        // What is far beyond all others says nothing of numbers that were used.
        let plausible = before.plausible(forgotten.newest)
        let gone = lost.map(\.sequence).filter { $0 <= plausible }
        let missing = forgotten.missing(before.present.filter { $0 <= plausible })
        guard damage != nil || !missing.isEmpty || !gone.allSatisfy(forgotten.contains) else {
            return (damage, missing, false)
        }
        // If segments were not recorded so far, they are from now on; a lost record may have had some.
        if damage == nil, forgotten.ranges.isEmpty, forgotten.segments == nil { forgotten.segments = [] }
        forgotten.insert(gone.map { $0...$0 } + missing)
        if let version { try await write(forgotten, replacing: version) }
        return (damage, missing, true)
    }

    private func repairVerified(_ database: String) async throws {
        let name = RepositoryFormat.verified(database)
        do {
            _ = try await repository.verifications(database)
        } catch let error as VaultError where error.code == .damaged {
            let empty = repository.noVerifications(database)
            let isReplaced = try await startOver(name, with: empty, error.message) {
                _ = try await repository.verifications(database)
            }
            guard isReplaced else { return }
            report.actions.append(
                .init(.rebuilt, name, "the next check refills it: verify snapshots before retention removes any", nil))
        }
    }

    /// Stores an empty list in the place of a damaged one, of which a copy is kept in `damaged/`. It is not removed first: a late request
    /// would remove what another process has stored since.
    ///
    /// - Parameter reading: reads the list.
    /// - Returns: false if it is no longer damaged, or no copy could be kept.
    private func startOver(
        _ name: String, with empty: some CheckedDocument, _ reason: String, reading: () async throws -> Void
    ) async throws -> Bool {
        var kept: String? = copy(name)
        if !options.dryRun {
            kept = try await change(name) { version -> String? in
                do {
                    try await reading()
                    return nil
                } catch let error as VaultError where error.code == .damaged {
                    guard let kept = try await keep(name) else { return nil }
                    try await write(empty, replacing: version)
                    return kept
                }
            }
        }
        guard let kept else { return false }
        report.actions.append(.init(.setAside, name, reason, kept))
        return true
    }

    /// Rewrites what a follower's lease says of the newest segment, if that is damaged.
    private func repairNote(_ survey: DatabaseSurvey) async throws {
        let short = Lease.follower + survey.database
        let name = RepositoryFormat.lease(short)
        guard let note = try await Lease.holder(name, store)?.note else { return }
        do {
            _ = try repository.mark(note: note, survey.database)
        } catch let damage as VaultError where damage.isDamage {
            if options.dryRun { return report.actions.append(.init(.rebuilt, name, damage.message, nil)) }
            do {
                try await writable.withLease(short, for: "following the database") { follower in
                    let newest = try await repository.segmentLog(survey.database, survey.snapshots).newest?.mark
                    follower.note = try newest.map { try repository.note($0, survey.database) }
                }
                report.actions.append(.init(.rebuilt, name, damage.message, nil))
            } catch let error as VaultError where error.code == .busy {
                leave(
                    name, "\(damage.message), and its follower is at work",
                    .text("It rewrites the lease within 200 seconds."))
            }
        }
    }

    private func repairPendingDeletions() async throws -> Bool {
        let name = RepositoryFormat.pendingDeletions
        do {
            _ = try await repository.pendingDeletions()
            return false
        } catch let error as VaultError where error.code == .damaged {
            let empty = PendingDeletions(repository: repository.config.id, packs: [], sparse: [])
            let isReplaced = try await startOver(name, with: empty, error.message) {
                _ = try await repository.pendingDeletions()
            }
            guard isReplaced else { return false }
            report.actions.append(.init(.rebuilt, name, "the next prune refills it", nil))
            return true
        }
    }

    /// Sets damaged segments aside, and records them and missing ones as lost.
    private func repairSegments(_ survey: DatabaseSurvey) async throws {
        let (database, name) = (survey.database, survey.snapshots.last?.database)
        var before: Date?
        var log = try await repository.segmentLog(database, survey.snapshots)
        var lost: [ClosedRange<Int>] = []
        var (vouched, found) = (log.vouched, [(segment: SegmentName, loss: RepairReport.LostSegment)]())
        for segment in log.names {
            do {
                let read = try await repository.segment(segment, database)
                log.learn(read.record)
                vouched = max(vouched, segment.sequence)
                if options.readsData { try await repository.compare(read) }
            } catch let error as VaultError where error.code == .missing {
                try await leaveListed(segment.object)
            } catch let error as VaultError where error.code == .damaged {
                let loss = RepairReport.LostSegment(
                    database: name, path: segment.object, after: before, until: segment.date, reason: error.message)
                found.append((segment, loss))
                try await setAside(segment.object, error.message)
            }
            before = segment.date
        }
        // What is far beyond all others says nothing of numbers that were used.
        let plausible = vouched + RepositoryFormat.strayStep
        for (segment, loss) in found where segment.sequence <= plausible {
            report.lostSegments.append(loss)
            lost.append(segment.sequence...segment.sequence)
        }
        for segment in log.joined {
            do {
                let read = try await repository.segment(segment, database)
                if options.readsData { try await repository.compare(read) }
            } catch let error as VaultError where error.code == .missing {
                try await leaveListed(segment.object)
            } catch let error as VaultError where error.code == .damaged {
                try await setAside(segment.object, error.message)
                log.joined.removeAll { $0 == segment }
            }
        }
        for hole in log.holes
        where hole.range.upperBound <= plausible && !log.forgotten.isLost(hole.range) {
            report.lostSegments.append(
                RepairReport.LostSegment(
                    database: name, path: log.path(hole.range),
                    after: log.names.last { $0.sequence < hole.range.lowerBound }?.date,
                    until: Date(timeIntervalSince1970: Double(hole.next.time) / 1000), reason: log.text(hole.range)))
            lost.append(hole.range)
        }
        guard !lost.isEmpty, let lease else { return }
        try await writable.changeForgetRecord(database, holding: lease) { $0.insert(lost, into: \.lost) }
    }

    // MARK: Actions

    /// Reports what could not be repaired.
    func leave(_ path: String, _ message: String, _ advice: Remedy, _ code: VaultError.Code = .damaged) {
        report.unfinished.append(RepositoryWarning(.damage, code, path: path, message: message, advice: advice))
    }

    /// Reports an object that is listed and not returned, unless compaction or retention has removed it since it was listed.
    private func leaveListed(_ name: String) async throws {
        guard try await !store.list(name).isEmpty else { return }
        report.unfinished.append(RepositoryWarning(.notReturned(name), name))
    }

    /// Reads a document and stores it changed, without taking back what others store meanwhile.
    func change<T>(_ name: String, _ body: (ObjectVersion) async throws -> T) async throws -> T {
        try await store.changing(name, holding: lease, body)
    }

    func write(_ value: some CheckedDocument, replacing version: ObjectVersion) async throws {
        if !options.dryRun { try await writable.put(value, replacing: version) }
    }

    /// Stores what a damaged manifest was.
    ///
    /// - Returns: false if it was removed or replaced since.
    private func replace(_ name: String, with bytes: [UInt8], _ database: String) async throws -> Bool {
        try await lease?.confirm()
        return try await change(name) { version in
            do {
                _ = try await repository.object(name, database)
                return false
            } catch let error as VaultError where error.code == .missing {
                return false
            } catch let error as VaultError where error.code == .damaged {
                try await store.put(name, bytes: bytes, condition: version.condition)
                return true
            }
        }
    }

    /// The name under which an object is set aside.
    private func copy(_ name: String) -> String { "damaged/" + name }

    /// Moves an object to `damaged/`.
    private func setAside(_ name: String, _ reason: String) async throws {
        if options.dryRun { return report.actions.append(.init(.setAside, name, reason, copy(name))) }
        guard let kept = try await keep(name) else { return }
        do {
            try await store.remove(name)
            report.actions.append(.init(.setAside, name, reason, kept))
        } catch let error as VaultError {
            leave(
                name, "was copied to \(kept), but cannot be removed from the store: \(error.message)",
                .repairWithDeletion, error.code)
        }
    }

    /// Whether a file can be set aside by a hard link, which only files of this user with mode 0600 get, or is small
    /// enough to copy. Sets that mode.
    private static func canBeKept(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return true }
        if status.st_uid == geteuid(), fchmod(descriptor, 0o600) == 0 { return true }
        return Int64(status.st_size) <= RepositoryFormat.segmentBytes + 65_536
    }

    /// Copies an object to `damaged/`, as it is in the store, and verifies the copy; nil if the object no longer exists.
    private func keep(_ name: String) async throws -> String? {
        guard let lease else { return nil }
        // What is damaged can perhaps not be opened.
        let store = store.unsealed
        try await lease.confirm()
        let spool = PackSpool(directory: try repository.spoolDirectory())
        let (file, _) = try spool.create()
        defer { file.discard() }
        var fetched = file.path
        if let path = store.localPath(name) {
            // A directory store creates a hard link, however large the file is.
            fetched = path
            guard access(path, F_OK) == 0 else { return nil }
            guard Self.canBeKept(path) else {
                leave(
                    name, "is too large to copy, and belongs to another user",
                    .text("Move it out of the repository by hand."))
                return nil
            }
        } else {
            // A companion file's name is removed with the temporary file.
            fetched += "-journal"
            do {
                try await store.fetch(name, into: fetched, upTo: ReadLimits.segment)
                // What is removed from the store has to be what was copied.
                let file = try LocalFile(reading: fetched)
                guard try await store.hash(name, 0..<file.size()) == file.hash() else {
                    throw VaultError(
                        .io, "is not the same each time that it is read", path: name, advice: .text("Try again."))
                }
            } catch let error as VaultError where error.code == .missing {
                return nil
            } catch let error as VaultError where error.code == .damaged {
                leave(name, error.message, .text("Move it out of the repository with the store's own tools."))
                return nil
            }
        }
        for number in 1...100 {
            let target = number == 1 ? copy(name) : "\(copy(name)).\(number)"
            do {
                if try await store.attributes(target) == nil {
                    try await store.put(target, file: fetched, condition: store.whereAbsent())
                }
            } catch let error as VaultError where error.code == .conflict {
                // The response was lost: compare what is stored.
            }
            // A copy set aside before, perhaps by a run that was killed, may differ.
            if let path = store.localPath(target), let kept = try? FileMetadata(path: path),
                let own = try? FileMetadata(path: fetched), kept.isSameFile(as: own)
            {
                return target
            }
            let size = try LocalFile(reading: fetched).size()
            guard try await store.attributes(target)?.size == size else { continue }
            if try await store.hash(target, 0..<size) == LocalFile(reading: fetched).hash() { return target }
        }
        throw VaultError(.cannotCreate, "there are too many objects of that name", path: copy(name))
    }

    /// Removes cached block maps; they are fetched again when needed.
    private func clearCache() throws {
        guard store.localPath("tree/any") == nil else { return }
        let directory = "\(repository.local.cache)/\(repository.config.id)"
        guard access(directory, F_OK) == 0 else { return }
        if !options.dryRun { OwnedTree.remove(directory) }
        report.actions.append(.init(.cleared, directory, "copies are fetched again when needed", nil))
    }
}

extension RepairReport.Action {
    init(_ kind: Kind, _ path: String, _ reason: String, _ movedTo: String?) {
        (self.kind, self.path, self.reason, self.movedTo) = (kind, path, reason, movedTo)
    }
}
