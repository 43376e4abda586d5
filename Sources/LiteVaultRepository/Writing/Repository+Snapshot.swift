internal import DurableFile
internal import Foundation
package import LiteVaultCapture
internal import LiteVaultCipher

extension Repository {
    /// Captures an image, stores what changed of it since the database's last snapshot, and the manifest last.
    ///
    /// Nothing of it is a snapshot until the manifest is stored: packs of a run that failed are removed by pruning.
    ///
    /// - Parameter capture: writes the image into the sink it is given. Nothing waits for the store meanwhile.
    package func snapshot(
        of path: String, options: SnapshotOptions, capture: @escaping (any BlockSink) throws -> CaptureOutcome
    ) async throws -> SnapshotResult {
        try requireWritable()
        try await BackupError.aboutAsync(path) {
            try DatabaseFile(path).kind().requireStorable(allowsPlaintext: options.allowsPlaintext)
        }
        let source = try BackupError.about(path) { try FileMetadata.resolvedPath(path) }
        let name = options.database ?? source.split(separator: "/").last.map(String.init) ?? source
        let database = databaseID(name)
        let lease = try await Lease.take(database, of: store, what: "the database '\(name)' of the repository") {
            try await fence($0, database)
        }
        do {
            let result = try await snapshot(source, name, lease, options, capture)
            await lease.release()
            return result
        } catch {
            await lease.release()
            throw error
        }
    }

    private func snapshot(
        _ path: String, _ name: String, _ lease: Lease, _ options: SnapshotOptions,
        _ capture: @escaping (any BlockSink) throws -> CaptureOutcome
    ) async throws -> SnapshotResult {
        let database = databaseID(name)
        // Read whole, though the newest would do: who takes snapshots is who hears of those that are damaged.
        let survey = try await survey(database)
        if let rollback = survey.rollback { throw rollback }
        // A store that did not answer says nothing about the manifest: the next one has to follow on it.
        if let newest = survey.unreadableNewest, !newest.error.isDamage { throw newest.error }
        let advisories = try await advisories(survey)
        // A number is never given twice, not even that of a manifest that was set aside.
        let highest = max(survey.newestSequence, survey.fences.last ?? 0, advisories.newestForgotten)
        guard highest < RepositoryFormat.sequences.upperBound else {
            throw BackupError(
                .damaged, "has the highest sequence that there is, so none can follow",
                path: RepositoryFormat.snapshot(database, highest),
                remedy: "If it does not belong there, 'litevault repair' sets it aside.")
        }
        var warnings = notices + survey.warnings + advisories.warnings
        // Where the newest can not be read, what changed is compared with the newest that can.
        let previous = survey.snapshots.last
        let host = ProcessInfo.processInfo.hostName
        if let last = previous, options.database == nil, last.source != path {
            throw BackupError(
                .cannotCreate, "the repository has another database '\(name)', from \(last.source) on \(last.host)",
                path: path, remedy: "Give it a name of its own with --database, or confirm this one with it.")
        }
        // Before anything is stored: whoever ends the lease has to know which name to occupy.
        let sequence = highest + 1
        try await lease.promise(sequence)
        // After the lease was taken: what is listed from now on is not removed while we hold it.
        var avoided = AvoidedPacks.all
        do {
            avoided = try await doomed().avoided
        } catch let error as BackupError where error.code == .damaged {
            warnings.append(
                RepositoryWarning(error, RepositoryFormat.doomed, remedy: "'litevault repair' writes it again."))
        }
        var map: BlockMap?
        if let last = previous {
            do {
                let root = try last.manifest.rootEntry(last.object)
                let nodes = nodes(database)
                try await nodes.prepare(root: root, blocks: last.manifest.blocks)
                map = BlockMap(root: root, blocks: last.manifest.blocks, source: nodes)
            } catch let error as BackupError where error.isDamage {
                warnings.append(.damagedMap(error, of: last))
            }
        }
        let folder = try spoolFolder()
        try PackSpool.sweep(folder)
        let sink = SnapshotSink(
            repository: id, folder: folder, previous: map, trustsPrevious: previous?.manifest.plaintext == false,
            avoiding: avoided, allowsPlaintext: options.allowsPlaintext, progress: options.progress)
        let outcome = try await BackupError.aboutAsync(path) { try await OwnThread.run { try capture(sink) } }
        let time = outcome.time ?? Date()
        let captured = try BackupError.about(path) { try sink.finish() }

        try await upload(captured.spool, options.progress)
        if let error = sink.damage, let previous { warnings.append(.damagedMap(error, of: previous)) }
        let last = previous?.manifest
        // Small files change whole all the time; there it says nothing.
        let rewritten = last.map { captured.changed * 10 >= captured.blocks * 9 && $0.blocks >= 8 } ?? false
        let manifest = Manifest(
            repository: config.id, database: database, name: name, sequence: sequence,
            predecessor: previous?.hash.hex, epoch: (last?.epoch ?? 1) + (rewritten ? 1 : 0),
            base: last == nil || captured.changed == captured.blocks, rewritten: rewritten,
            time: Timestamp.text(time), host: host, source: path, tool: options.tool, salt: sink.salt.hex,
            plaintext: sink.isPlaintext, size: sink.byteCount, blocks: captured.blocks,
            root: .init(
                pack: captured.root.pack.hex, offset: captured.root.position, hash: captured.root.hash.hex),
            log: outcome.log.map { .init(salts: $0.salts, frames: $0.frames) },
            gap: options.gap.map { .init(since: $0.since.map(Timestamp.text), reason: $0.reason) },
            newestSegment: newestMark(database, previous: last),
            changedBlocks: captured.changed, dataBytes: captured.dataBytes, treeBytes: captured.treeBytes)
        let snapshot = try await publish(manifest, lease)
        return SnapshotResult(
            snapshot: snapshot, packs: captured.spool.packs.count, unreachableCommits: outcome.unreachableCommits,
            warnings: warnings)
    }

    /// Packs first, some at a time.
    private func upload(_ spool: PackSpool, _ progress: @escaping BackupProgress.Report) async throws {
        let total = spool.byteCount
        var done: Int64 = 0
        try progress(BackupProgress(.storing, 0, of: total))
        try await withThrowingTaskGroup(of: Int64.self) { group in
            var waiting = spool.packs.makeIterator()
            func start() {
                guard let pack = waiting.next() else { return }
                let (name, path, size, store) = (pack.name, pack.file.path, pack.size, store)
                group.addTask {
                    do {
                        try await store.put(name, file: path, condition: .absent)
                    } catch let error as BackupError where error.code == .conflict {
                        // The name is random: the object is ours, and the answer to a first try was lost.
                        guard try await store.attributes(name)?.size == size else { throw error }
                    }
                    return size
                }
            }
            for _ in 0..<4 { start() }
            while let size = try await group.next() {
                done += size
                try progress(BackupProgress(.storing, done, of: total))
                start()
            }
        }
    }

    /// The manifest last, under the name that the lease promises: whoever ended the lease occupied it.
    private func publish(_ manifest: Manifest, _ lease: Lease) async throws -> Snapshot {
        let name = RepositoryFormat.snapshot(manifest.database, manifest.sequence)
        let (bytes, hash) = try SealedDocument.seal(manifest, key: key, name: name)
        try await lease.confirm()
        do {
            let keepsConditions = try await store.keepsConditions()
            if !keepsConditions, try await store.attributes(name) != nil {
                throw BackupError(.conflict, "was stored by somebody else", path: name)
            }
            try await store.put(name, bytes: bytes, condition: keepsConditions ? .absent : .none)
        } catch let error as BackupError where error.code == .conflict {
            // An answer that was lost, or somebody who took the same number.
            guard try await store.get(name, upTo: SealedDocument.limit(Manifest.self)) == bytes else {
                if try await isFence(name, manifest.database) { throw lease.lost() }
                throw error
            }
        } catch {
            // It may be stored, or be stored yet: the next writer has to make sure.
            lease.abandon()
            throw error
        }
        let snapshot = try Snapshot(manifest: manifest, hash: hash, name: name)
        do {
            try remember(Head(sequence: manifest.sequence, hash: hash.hex), manifest.database)
        } catch let error as BackupError {
            throw BackupError(
                error.code, "snapshot \(snapshot.id) is stored, but can not be remembered: \(error.message)",
                path: error.path, remedy: "Check the folder for states ($XDG_STATE_HOME).", cause: error)
        }
        return snapshot
    }
}

extension RepositoryWarning {
    /// What is wrong with the snapshot that a new one was compared with.
    fileprivate static func damagedMap(_ error: BackupError, of snapshot: Snapshot) -> RepositoryWarning {
        RepositoryWarning(
            .damage, error.code, path: error.path ?? snapshot.object,
            message: "\(error.message): snapshot \(snapshot.id) can not be restored whole, and what could not be "
                + "compared with it was stored again", remedy: "'litevault repair' tells which snapshots lost what.")
    }
}
