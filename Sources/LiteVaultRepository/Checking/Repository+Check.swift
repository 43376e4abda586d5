internal import Crypto
internal import Foundation
internal import LiteVaultCapture

extension Repository {
    /// Checks the whole repository: every document's hash and authentication code, the order of the snapshots, whether it
    /// was rolled back, every block map, and that every block is where its map says; deeper where `options` ask for it.
    ///
    /// The results are kept in the repository where it can be written.
    ///
    /// - Returns: what was found. Damage is a result, not an error.
    /// - Throws: ``BackupError`` when it can not be checked, such as `io`, or `keyRejected` for a database's key.
    public func check(_ options: CheckOptions = .init()) async throws -> CheckReport {
        var report = CheckReport(protection: isAuthenticated ? .secret : .hashes)
        let start = Date()
        let list = ProblemList()
        let found = try await readable(options, &report, list)
        let tables = try PackTables(folder: workFolder())
        let objects = try await store.list("")
        report.warnings += objects.filter { !RepositoryFormat.isObject($0.name) }.map { .stray($0.name) }
        let data = objects.filter { $0.name.hasPrefix("data/") && RepositoryFormat.isPack($0.name) }
        let total = data.lazy.map(\.size).sum
        var damaged: Set<String> = []
        var done: Int64 = 0
        for object in data {
            try options.progress(BackupProgress(.checking, done, of: total))
            do {
                try await tables.add(object, repository: id, store: store, readsData: options.readsData)
            } catch let error as BackupError where error.code == .missing {
                // Removed by pruning since it was listed. A snapshot that needs it says so below.
            } catch let error as BackupError where error.isDamage {
                list.add(error, object.name)
                damaged.insert(object.name)
            }
            done = [done, object.size].sum
        }
        let trees = objects.filter { $0.name.hasPrefix("tree/") && RepositoryFormat.isPack($0.name) }
        let maps = try CheckedTrees(store, folder: cacheFolder("check"))
        for object in trees { try await checkTreePack(object, maps, list) }
        report.packBytes = (data + trees).lazy.map(\.size).sum

        var missing: Set<String> = []
        var used: Set<String> = []
        let walk = TreeWalk(
            visit: { entry in
                let name = RepositoryFormat.data(entry.pack)
                used.insert(name)
                if try tables.has(entry) { return !damaged.contains(name) }
                if !damaged.contains(name), missing.insert(name).inserted {
                    list.add(name, "does not have block \(entry.position) that a snapshot needs")
                }
                return false
            },
            problem: { error in
                guard let error = error as? BackupError, error.isDamage else { throw error }
                list.add(error, "tree/")
            })
        let level: SnapshotVerification.Level = options.readsData ? .data : .structure
        for snapshot in found {
            let passed = try await check(snapshot, maps.source, walk, list)
            report.snapshots.append((snapshot, .init(level: level, passed: passed, time: start)))
        }
        used.formUnion(walk.packs.map { RepositoryFormat.tree($0) })
        report.unused = (data + trees).count { !used.contains($0.name) }
        report.problems = list.problems
        if options.authenticates || options.restores { try await restoreTests(options, &report) }
        if options.recordsResults { await record(&report) }
        return report
    }

    private func check(
        _ snapshot: Snapshot, _ source: NodeSource, _ walk: TreeWalk, _ list: ProblemList
    ) async throws -> Bool {
        do {
            let root = try snapshot.manifest.rootEntry(snapshot.object)
            try await source.prepare(root: root, blocks: snapshot.manifest.blocks)
            return try walk.walk(root: root, blocks: snapshot.manifest.blocks, source: source)
        } catch let error as BackupError where error.isDamage {
            list.add(error, snapshot.object)
            return false
        }
    }

    /// The snapshots that can be read; what is wrong with the others goes into the list.
    private func readable(
        _ options: CheckOptions, _ report: inout CheckReport, _ list: ProblemList
    ) async throws -> [Snapshot] {
        await noting(list, RepositoryFormat.doomed) { _ = try await doomed() }
        for warning in notices { list.add(warning.path, warning.message) }
        var found: [Snapshot] = []
        for survey in try await surveys(nil) {
            let warnings = survey.warnings + (try await advisories(survey).warnings)
            for warning in warnings where warning.severity == .damage { list.add(warning.path, warning.message) }
            if survey.isRemembered { report.remembered += 1 } else { report.unremembered += 1 }
            rememberNewest(survey)
            try await checkSegments(survey.database, survey.snapshots, readsData: options.readsData, list)
            found += survey.snapshots
        }
        return found
    }

    private func noting(_ list: ProblemList, _ path: String, _ body: () async throws -> Void) async {
        do {
            try await body()
        } catch let error as BackupError {
            list.add(error, path)
        } catch {
            list.add(path, "\(error)")
        }
    }

    /// Tree packs are small: each is read as a whole.
    private func checkTreePack(_ object: ObjectAttributes, _ maps: CheckedTrees, _ list: ProblemList) async throws {
        do {
            let bytes = try await store.get(object.name, upTo: RepositoryFormat.wholeTreePack)
            let content = Array(bytes.dropLast(RepositoryFormat.hashBytes))
            guard let pack = object.name.split(separator: "/").last.flatMap({ PackID(hex: $0) }),
                content.starts(with: DataPackWriter.header(RepositoryFormat.treeMagic, repository: id, pack: pack)),
                Hash256(of: content).withBytes({ $0.elementsEqual(bytes.suffix(RepositoryFormat.hashBytes)) })
            else { return list.add(object.name, "its hash does not match") }
            try maps.keep(pack, bytes)
        } catch let error as BackupError where error.code == .missing {
            // Removed by pruning since it was listed. A snapshot that needs it says so.
        } catch let error as BackupError where error.isDamage {
            list.add(error, object.name)
        }
    }

    private func record(_ report: inout CheckReport) async {
        guard !hasSecret || key != nil else { return }
        do {
            for (database, results) in Dictionary(grouping: report.snapshots, by: \.snapshot.manifest.database) {
                let pairs = results.map { ($0.snapshot.hash.hex, $0.verification) }
                try await record(Dictionary(pairs) { $1 }, database)
            }
            report.isRecorded = true
        } catch {
            // A repository that can only be read, or that is damaged where results are kept: that is in the report.
        }
    }
}
