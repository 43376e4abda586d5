public import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultQuoting
internal import LiteVaultSystem

extension WritableRepository {
    /// Stores a snapshot of a database that may be in use. The database's key is not needed.
    ///
    /// Locks or a read mark of the database are held only while its blocks are read, compared and spooled, not during the
    /// upload.
    ///
    /// - Parameters:
    ///   - path: the database file.
    ///   - options: the name in the repository, limits and progress.
    /// - Returns: the stored snapshot, and damage found in the repository meanwhile.
    /// - Throws: `VaultError` `noInput`, `wrongKind` (not a database, or not encrypted), `busy` (a lock was unavailable or
    ///   a limit was reached), `unsupported` (a network file system, a `-shm` file that cannot be written), `keyRejected`
    ///   (the repository's secret is missing), `damaged` (the repository or the database's log), `io`, `noSpace`. The
    ///   database is unchanged then, and the repository has no new snapshot.
    public func snapshot(of path: String, options: SnapshotOptions = .init()) async throws -> SnapshotResult {
        try await storeSnapshot(of: path, options: options) { sink in
            var sink = sink
            return try Capture(path, limits: options.limits, clock: repository.clock).run(into: &sink)
        }
    }

    /// Captures an image, uploads the blocks that changed since the database's last snapshot, then publishes the manifest.
    ///
    /// The snapshot exists once the manifest is stored. Packs of a failed run are removed by pruning.
    ///
    /// - Parameter capture: writes the image to the sink. It runs on a thread of its own.
    package func storeSnapshot(
        of path: String, options: SnapshotOptions, capture: @escaping (any BlockSink) throws -> CaptureReport
    ) async throws -> SnapshotResult {
        let source = try withErrorContext(path: path) {
            try DatabaseFile(path).kind().requireStorable(
                allowsPlaintext: options.allowsPlaintext || repository.isSealed)
            return try FileMetadata.resolvedPath(path)
        }
        // That of the path as it was given: a link stands for what it leads to today, and its name stays.
        let name =
            try options.database ?? repository.promoted(source)?.name ?? path.pathNames.last.map(String.init) ?? source
        let database = repository.databaseID(name)
        let directory = try repository.spoolDirectory()
        return try await withLease(
            database, for: "the database '\(name)' of the repository", fence: { try await fence($0, database) }
        ) { lease in
            var plan = try await plan(name: name, source: source, options: options, lease: lease)
            try PackSpool.sweep(directory)
            // Before the image is read: what is known to be stored by now is in it.
            let known =
                options.followed == nil
                ? try await repository.newestMark(database, listedAfter: plan.previous?.manifest)
                : repository.newestMark(database, previous: plan.previous?.manifest)
            (plan.newestSegment, plan.wholeRead) = (known, plan.lastWholeRead(options, now: repository.clock.time()))
            // No label is earlier than one of what was stored or read before, whatever the clock says. Segments that a follower stores
            // from now on do not count: most of them are not in the image, and a restore tells which are.
            // The host of a promoted standby has no memory of the segments before it, but of the state that they led to.
            let labels = [
                plan.previous?.time.milliseconds, known?.seen, options.followed?.newestLabel,
                try repository.promoted(source)?.state,
            ]
            plan.newestLabel = labels.compactMap(\.self).max() ?? 0
            let run = options.followed?.runName
            let token = options.followed?.beginSnapshot()
            let comparison = SnapshotSink.Comparison(
                previous: plan.blockMap, trustsPrevious: plan.previous?.manifest.plaintext == false,
                basis: plan.basis(options.followed), readsAll: plan.wholeRead == nil, avoided: plan.avoided,
                damaged: plan.damaged)
            let sink = SnapshotSink(
                repository: repository.id, directory: directory, comparison: comparison,
                allowsPlaintext: options.allowsPlaintext || repository.isSealed,
                keyring: { try StoredKeyring(options.keyring, of: source, givenAs: path) }, progress: options.progress)
            let report = try await withErrorContext(path: source) {
                try await withDedicatedThread { try capture(sink) }
            }
            // At once: while the image is uploaded, the run may end and another one begin.
            var segments: FollowedPages.SegmentCount?
            if let token, let position = report.position {
                segments = await options.followed?.segments(of: token, upTo: position, repository.clock)
            }
            let root = try withErrorContext(path: source) { try sink.finish() }
            try await upload(sink.spool, options.progress)
            if let warning = sink.keyring?.warning { plan.warnings.append(warning) }
            if let error = sink.damage, let previous = plan.previous {
                plan.warnings.append(.damagedMap(error, of: previous))
            }
            if sink.contradictions > 0, let previous = plan.previous {
                plan.warnings.append(.contradiction(sink.contradictions, with: previous))
            }
            var manifest = manifest(for: plan, root: root, by: sink, report: report, options: options)
            manifest.followed = .init(segment: known?.sequence)
            if let segments, await options.followed?.areStored(segments, repository.clock) == true {
                manifest.followed?.run = segments.run.hexadecimal
                manifest.followed?.places = Int(exactly: segments.count)
            } else if let segments, options.followed?.close(segments) == true {
                manifest.followed?.ended = segments.run.hexadecimal
            } else if let run, options.followed?.isIn(run) == true {
                manifest.followed?.run = run.hexadecimal
            } else if let log = manifest.log, log.end != nil, let same = plan.previous?.manifest, same.log == log {
                // The same state of the same log as that of the previous one.
                let place = same.followed.flatMap { $0.places == nil ? nil : $0 }
                manifest.followed = .init(
                    segment: known?.sequence, run: place?.run, places: place?.places,
                    unchangedSince: same.followed?.unchangedSince ?? same.sequence)
            }
            let snapshot = try await publish(manifest, lease)
            RoomToRemove(store)?.keep()
            if let token { options.followed?.finish(token, snapshot: snapshot.id) }
            if let overwritten = plan.overwritten { repository.rememberRead(overwritten, database) }
            plan.warnings += UnrestorableSnapshot.all(of: plan.known + [snapshot]).compactMap(\.warning)
            // Another path has been told of already.
            if !plan.warnings.contains(where: \.continuesHistory),
                let warning = snapshot.warning(
                    continuing: plan.known, isCompared: plan.blockMap != nil && sink.damage == nil)
            {
                plan.warnings.append(warning)
            }
            return SnapshotResult(
                snapshot: snapshot, packs: sink.spool.packs.count,
                read: min(Int64(sink.blockCount - sink.kept) * Int64(blockSize), sink.byteCount),
                unreachableCommits: report.unreachableCommits,
                storedAgain: Int64(sink.storedAgain) * Int64(blockSize), warnings: plan.warnings)
        }
    }

    /// What precedes a new snapshot, as far as the repository shows before the capture.
    private struct SnapshotPlan {
        let name: String
        let source: String
        let host: String
        let sequence: Int
        /// The readable snapshots in order, with their verifications.
        let known: [Snapshot]
        /// Its block map; nil without one, or if it is damaged.
        var blockMap: BlockMap?
        /// The line of history that it continues.
        let line: String?
        var avoided: AvoidedPacks
        /// Packs in which blocks are known to be damaged.
        var damaged: Set<PackID>
        var warnings: [RepositoryWarning]
        /// The number of the newest manifest, if it cannot be read.
        var unread: Int?
        /// The newest label of what had been stored or read before the image, in milliseconds since 1970.
        var newestLabel: Int64 = 0
        /// The newest segment that was stored before.
        var newestSegment: SegmentMark?
        /// When the database was last read as a whole; nil if it has to be now.
        var wholeRead: Date?
        /// What shows that something other than its log has written to the database, if no snapshot has read all of it since.
        var overwritten: OverwrittenMark?
        /// The newest readable snapshot.
        var previous: Snapshot? { known.last }

        /// What the image is compared with; nil if the previous one is of another file, its blocks cannot be found, or something other than its log has
        /// written to the file.
        func basis(_ followed: FollowedPages?) -> CaptureBasis? {
            guard let previous, case let last = previous.manifest, blockMap != nil, last.host == host,
                isSameText(last.source, source), last.line == line, followed?.isOverwritten != true, overwritten == nil
            else {
                return nil
            }
            return CaptureBasis(
                byteCount: last.size, file: last.file, log: last.log?.mark,
                followed: followed?.changes(since: previous.id))
        }

        /// When the database was last read as a whole; nil if it has to be now. A clock that moved backwards makes no snapshot
        /// rely on an earlier one for longer.
        func lastWholeRead(_ options: SnapshotOptions, now: Date) -> Date? {
            guard let interval = options.fullReadInterval, let previous else { return nil }
            let time = previous.lastWholeRead
            let isDue = now.timeIntervalSince(time) >= Double(interval.components.seconds)
            return isDue || now < time || now < previous.taken ? nil : time
        }
    }

    private func plan(
        name: String, source: String, options: SnapshotOptions, lease: Lease
    ) async throws -> SnapshotPlan {
        let database = repository.databaseID(name)
        // All manifests, though the newest would do: snapshots have to report damaged ones.
        let survey = try await repository.survey(database)
        if let rollback = survey.rollback { throw rollback }
        // A store that did not respond proves nothing about the manifest, which the next one has to follow.
        if let newest = survey.unreadableNewest, !newest.error.isDamage { throw newest.error }
        let advisories = try await repository.advisories(survey)
        // A sequence number is never reused, not even that of a manifest that was set aside.
        let highest = max(survey.newestSequence, survey.fences.last ?? 0, advisories.newestForgotten)
        if let stray = survey.unreadableNewest, stray.sequence > survey.plausible(advisories.newestForgotten) {
            throw VaultError(
                .damaged, "\(stray.error.message); its number is far beyond the others, and was not chosen by a writer",
                path: stray.object, advice: .repairUnlessOwn)
        }
        guard highest < RepositoryFormat.sequences.upperBound else {
            throw VaultError(
                .damaged, "has the highest possible sequence number, so no snapshot can follow it",
                path: RepositoryFormat.snapshot(database, highest),
                advice: survey.newestSequence == highest
                    ? .repairUnlessOwn : .text("Back the database up under another name, or into a new repository."))
        }
        let line = try repository.requireLine(survey.line, of: name, at: source)
        // A follower labels what it reads during the upload behind it: this machine may have stored it without an answer.
        repository.rememberNewest(survey)
        let host = ProcessInfo.processInfo.hostName
        if let last = survey.snapshots.last, options.database == nil, !isSameText(last.source, source),
            last.manifest.line == line
        {
            throw VaultError(
                .cannotCreate, "the repository has another database '\(name)', from \(last.source) on \(last.host)",
                path: source, advice: .nameDatabase)
        }
        // Before anything is stored: a process that breaks the lease has to know which name to occupy.
        try await lease.promise(highest + 1)
        var plan = SnapshotPlan(
            name: name, source: source, host: host, sequence: highest + 1,
            known: survey.snapshots(with: advisories.verifications), line: line, avoided: .all,
            damaged: advisories.verifications.damagedPacks,
            warnings: repository.notices + survey.warnings + advisories.warnings)
        (plan.unread, plan.overwritten) = (survey.unreadableNewest?.sequence, repository.unreadOverwritten(database))
        // After acquiring the lease: packs scheduled for deletion from now on are not deleted while it is held.
        do {
            let pending = try await repository.pendingDeletions()
            plan.damaged.formUnion(pending.damagedPacks)
            // Damage that a check has recorded is not carried on: these blocks are stored again.
            plan.avoided = .these(pending.avoided.union(plan.damaged))
        } catch let error as VaultError where error.code == .damaged {
            plan.warnings.append(
                RepositoryWarning(
                    error, RepositoryFormat.pendingDeletions, advice: .rebuild))
        }
        if let previous = plan.previous {
            if previous.manifest.line == line, let warning = previous.warning(continuedBy: source) {
                plan.warnings.append(warning)
            }
            do {
                plan.blockMap = try await repository.nodes(database).map(of: previous.manifest, previous.object)
            } catch let error as VaultError where error.isDamage {
                plan.warnings.append(.damagedMap(error, of: previous))
            }
        }
        return plan
    }

    private func manifest(
        for plan: SnapshotPlan, root: TreeEntry, by sink: SnapshotSink, report: CaptureReport, options: SnapshotOptions
    ) -> Manifest {
        let last = plan.previous?.manifest
        let database = repository.databaseID(plan.name)
        // Small files often change completely, which has no significance. What could not be compared has not changed by that.
        let isCompared = plan.blockMap != nil && sink.damage == nil
        let rewritten =
            last.map { isCompared && sink.changed * 10 >= sink.blockCount * 9 && $0.blocks >= 8 } ?? false
        let marks = [plan.newestSegment, repository.newestMark(database, previous: last)].compactMap(\.self)
        let newest = marks.max { $0.sequence < $1.sequence }
        let label = max(report.began.milliseconds, plan.newestLabel + 1)
        let treeBytes = sink.spool.treeBytes
        return Manifest(
            repository: repository.config.id, database: database, name: plan.name, sequence: plan.sequence,
            predecessor: plan.previous?.hash.hexadecimal, unread: plan.unread,
            epoch: (last?.epoch ?? 1) + (rewritten ? 1 : 0),
            base: last == nil || sink.changed == sink.blockCount, rewritten: rewritten,
            time: Timestamp.text(Date(milliseconds: label)), host: plan.host, source: plan.source, tool: options.tool,
            salt: sink.salt.hexadecimal, plaintext: sink.isPlaintext, size: sink.byteCount, blocks: sink.blockCount,
            root: .init(pack: root.pack.hexadecimal, offset: root.position, hash: root.hash.hexadecimal),
            log: report.position.map {
                .init(salts: $0.salts.hexadecimal, frames: Int($0.frame), end: report.end)
            },
            clock: label > report.began.milliseconds ? Timestamp.text(report.began) : nil, file: report.file,
            wholeRead: sink.kept > 0 ? plan.wholeRead.map(Timestamp.text) : nil,
            gap: options.gap.map { .init(since: $0.since.map(Timestamp.text), reason: $0.reason) },
            line: plan.line, newestSegment: newest,
            changedBlocks: sink.changed, dataBytes: sink.spool.byteCount - treeBytes, treeBytes: treeBytes,
            keyring: sink.keyring?.text)
    }

    /// Uploads packs first, several at a time.
    private func upload(_ spool: PackSpool, _ progress: @escaping BackupProgress.Report) async throws {
        let total = spool.byteCount
        var done: Int64 = 0
        try progress(BackupProgress(.storing, 0, of: total))
        let packs = spool.packs.map { (name: $0.name, path: $0.file.path, size: $0.size) }
        _ = try await concurrently(packs, width: 4) { [store] name, path, size in
            // Their names are random.
            try await store.putOwn(name, file: path, size: size, condition: .absent)
        } completed: { pack, _ in
            done += pack.size
            try progress(BackupProgress(.storing, done, of: total))
        }
    }

    /// Requires that the database of a manifest still continues the current line.
    private func requireLine(of manifest: Manifest) async throws {
        let current = try await repository.newestObjects(manifest.database).line
        try repository.requireLine(current, of: manifest.name, at: manifest.source)
    }

    /// Stores the manifest last, under the name promised by the lease: a process that ended the lease has occupied that
    /// name.
    private func publish(_ manifest: Manifest, _ lease: Lease) async throws -> Snapshot {
        let name = RepositoryFormat.snapshot(manifest.database, manifest.sequence)
        let (bytes, hash) = try SealedDocument.seal(manifest, key: repository.key, name: name)
        do {
            try await lease.confirm()
        } catch let error as VaultError where error.code == .busy {
            try await requireLine(of: manifest)
            throw error
        }
        do {
            try await store.putNew(name, bytes)
        } catch let error as VaultError where error.code == .conflict {
            // A lost response, or a process that used the same number.
            guard try await store.get(name, upTo: SealedDocument.limit(Manifest.self)) == bytes else {
                if try await repository.isFence(name, manifest.database) {
                    try await requireLine(of: manifest)
                    throw lease.lost()
                }
                throw error
            }
        } catch {
            // It may be stored, or still be stored later: the next writer has to make sure.
            lease.abandon()
            throw error
        }
        let snapshot = try Snapshot(manifest: manifest, hash: hash, name: name)
        do {
            try repository.remember(Head(snapshot), manifest.database)
        } catch let error as VaultError {
            throw VaultError(
                error.code,
                "snapshot \(snapshot.id) is stored, but cannot be recorded on this machine: \(error.message)",
                path: error.path, remedy: "Check the state directory ($XDG_STATE_HOME).", cause: error)
        }
        return snapshot
    }
}

extension RepositoryWarning {
    /// A problem with the snapshot that the new one was compared with.
    fileprivate static func damagedMap(_ error: VaultError, of snapshot: Snapshot) -> RepositoryWarning {
        RepositoryWarning(
            .damage, error.code, path: error.path ?? snapshot.object,
            message:
                "\(error.message): snapshot \(snapshot.id) cannot be restored completely, and blocks that could not be "
                + "compared with it were stored again", advice: .repairToReport)
    }

    /// Blocks differ that nothing can have changed.
    fileprivate static func contradiction(_ count: Int, with snapshot: Snapshot) -> RepositoryWarning {
        RepositoryWarning(
            .damage, path: snapshot.object,
            message:
                "\(count) blocks of the database changed since then although neither its log nor the file's times show it: it was "
                + "written to behind SQLite's back, and snapshots since \(snapshot.manifest.wholeRead ?? snapshot.manifest.time) may lack that",
            advice: .text("This snapshot was read completely. Find out what writes to the file, or always read it."))
    }
}

/// Options for taking a snapshot.
public struct SnapshotOptions: Sendable {
    /// The database's name in the repository; nil takes the last component of the path: of a symbolic link its own name, not that
    /// of the file it leads to. Databases of several machines need different names in one repository.
    public var database: String?
    /// Whether a database without encryption may be stored.
    public var allowsPlaintext = false
    /// The keyring that the snapshot carries, so that a restore needs the secret of a slot and nothing else; by default the one
    /// beside the database, or beside the symbolic link that was given for it, if there is one.
    public var keyring: SnapshotKeyring = .besideDatabase
    /// How long to wait for the database's locks, and how long to hold them.
    public var limits = CaptureLimits()
    /// The time after which a database is read completely, although its log or its file's times show what has changed; nil
    /// always reads it. By default seven days.
    ///
    /// A snapshot otherwise reads what changed since the previous one: the pages that the write-ahead log names if it goes back that far,
    /// or that a follower in this process has seen it name, or nothing if the file is untouched. A complete read compares what was not read with what it would have been taken for.
    public var fullReadInterval: Duration? = .seconds(7 * 86400)
    /// The program name and version recorded in the manifest.
    public var tool = "LiteVault"
    /// Called regularly; an error that it throws cancels the operation.
    public var progress: BackupProgress.Report = { _ in }

    /// A period that a follower missed before this snapshot.
    package var gap: SnapshotGap?
    /// What a follower of the database in this process has read.
    package var followed: FollowedPages?

    /// Creates the default options.
    public init() {}
}

/// The outcome of taking a snapshot.
public struct SnapshotResult: Sendable {
    /// The snapshot.
    public let snapshot: Snapshot
    /// The number of packs that were stored.
    public let packs: Int
    /// The bytes of the database that were read; the others cannot have changed since the previous snapshot.
    public let read: Int64
    /// The number of commits in the database's write-ahead log, after a damaged frame, that are not in the snapshot.
    /// SQLite does not recover them either: after a power failure they may never have been complete; otherwise the log
    /// was damaged or tampered with.
    public let unreachableCommits: Int
    /// The bytes of unchanged blocks that were stored again, because those in the repository are known to be damaged or missing.
    public let storedAgain: Int64
    /// Other problems found in the repository. This snapshot is intact.
    public let warnings: [RepositoryWarning]
    /// Whether the database is unchanged since the previous snapshot.
    public var isUnchanged: Bool { snapshot.changed == 0 }
}
