internal import DurableFile
package import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultFoundation
internal import LiteVaultQuoting

extension Repository {
    /// Restores snapshots to temporary files and verifies them as databases. One that cannot be verified does not keep the others from
    /// being verified.
    func restoreTests(_ options: CheckOptions, _ report: inout CheckReport) async throws {
        var isAnyChosen = false
        let all = report.snapshots
        for group in [Snapshot].grouped(Array(all.indices), by: { all[$0].snapshot }) {
            guard let index = group.last(where: { options.chooses(report.snapshots[$0].snapshot) }) else { continue }
            let snapshot = report.snapshots[index].snapshot
            if let wanted = options.databases, !wanted.contains(where: { isSameText($0, snapshot.database) }) {
                continue
            }
            isAnyChosen = true
            let problems: [CheckReport.Problem]
            var level = options.restores ? SnapshotVerification.Level.restore : .pages
            do {
                let reached: SnapshotVerification.Level
                (problems, reached) = try await restoreTest(snapshot, options, &report.remarks)
                // A failure stands until as thorough a verification passes.
                if reached < level {
                    level = reached
                    if problems.isEmpty { report.partlyTested.append((snapshot, reached)) }
                }
            } catch let error as VaultError where ![.io, .noSpace].contains(error.code) {
                report.unverified.append((snapshot, error))
                continue
            }
            report.tested.append((snapshot, problems.isEmpty))
            report.problems += problems
            for path in problems.map(\.path) where RepositoryFormat.isPack(path) {
                report.damaged[snapshot.manifest.database, default: []].insert(path)
            }
            report.snapshots[index].verification = SnapshotVerification(
                level: level, passed: problems.isEmpty && report.snapshots[index].verification.passed,
                time: Date())
        }
        // A selection that matches nothing must not pass as intact.
        guard isAnyChosen || (options.databases == nil && options.selection == .latest) else {
            throw VaultError(
                .noInput, "no snapshot matches the selection to restore", path: store.location,
                advice: .listSnapshots)
        }
    }

    /// - Returns: the problems, and the level that was reached, or at which it failed.
    private func restoreTest(
        _ snapshot: Snapshot, _ options: CheckOptions, _ remarks: inout [CheckReport.Problem]
    ) async throws -> (problems: [CheckReport.Problem], reached: SnapshotVerification.Level) {
        let whole = options.restores ? SnapshotVerification.Level.restore : .pages
        var reached = whole
        let name = "\(snapshot.database) \(snapshot.id)"
        let directory = try workDirectory()
        let file = try withErrorContext(path: directory) {
            try ReplacementFile(destination: directory + "/restored.db")
        }
        defer { file.discard() }
        do {
            var image = ImageWriter(snapshot: snapshot, progress: options.progress)
            try await image.write(into: LocalFile(updating: file.path), from: self)
        } catch let error as VaultError where error.code == .damaged {
            // Nothing is known of the database: it is as intact as before once its blocks are back.
            return ([.init(error.path ?? name, error.message)], .data)
        }
        let database = DatabaseFile(file.path)
        do {
            let (found, key) = try verify(database, isPlaintext: snapshot.isPlaintext, options)
            var problems = found.problems.map { CheckReport.Problem(name, $0.message) }
            if options.restores {
                // The blocks of the image were compared with their hashes.
                if !found.isWholeStructureChecked { reached = found.authenticatedPages == nil ? .data : .pages }
                remarks += (found.foreignKeyViolations + found.unchecked).map { CheckReport.Problem(name, $0.message) }
            }
            if options.restores, problems.isEmpty {
                problems += try asserted(options.assertions, file.path, key, options.settings).map { .init(name, $0) }
            }
            return (problems, problems.isEmpty ? reached : whole)
        } catch let error as VaultError where error.code == .damaged {
            return ([.init(name, error.message)], whole)
        } catch {
            // Name the snapshot instead of the temporary file.
            throw try withErrorContext(path: name) { () -> VaultError in
                guard let error = error as? VaultError else { throw error }
                return error.code == .keyRejected && options.key != nil ? error.olderKey(name) : error.at(name)
            }
        }
    }

    /// Verifies a database with the first of the keys that opens it.
    ///
    /// - Throws: as `DatabaseFile.verify`; if no key opens it, the error of the first.
    private func verify(
        _ database: DatabaseFile, isPlaintext: Bool, _ options: CheckOptions
    ) throws -> (report: VerificationReport, key: DatabaseKey?) {
        let first = isPlaintext ? nil : options.key
        do { return (try database.verify(key: first, settings: options.settings), first) } catch let error as VaultError
            where error.code == .keyRejected && !isPlaintext
        {
            for key in options.otherKeys {
                do { return (try database.verify(key: key, settings: options.settings), key) } catch let other
                    as VaultError where other.code == .keyRejected
                {
                    continue
                }
            }
            throw error
        }
    }

    /// Returns the message of the first assertion that fails.
    private func asserted(
        _ assertions: [String], _ path: String, _ key: DatabaseKey?, _ settings: CipherSettings
    ) throws -> [String] {
        guard !assertions.isEmpty else { return [] }
        // A path, never a URI, whatever the directory's name.
        let name = path.hasPrefix("/") ? path : "./" + path
        let connection = try key.map { try Connection(name, key: $0, settings: settings) } ?? Connection(name)
        defer { try? connection.close() }
        return assertions.compactMap { sql in
            do {
                let value = try connection.untypedValue(sql)
                if let number = value as? Int64, number != 0 { return nil }
                if let number = value as? Double, number != 0 { return nil }
                return "assertion failed: \(sql)"
            } catch {
                return "assertion cannot be evaluated: \(sql): \(error)"
            }
        }
    }
}

extension CheckOptions {
    fileprivate func chooses(_ snapshot: Snapshot) -> Bool {
        switch selection {
        case .latest, .latestReachable: true
        case .id(let id): snapshot.id.hasPrefix(id)
        case .at(let time): snapshot.time <= time
        }
    }
}

extension VaultError {
    /// Of a key that does not open a restored snapshot.
    ///
    /// - Parameter path: what is named in place of the temporary file.
    package func olderKey(_ path: String) -> VaultError {
        let check = advice.map { [$0] } ?? []
        return VaultError(code, message, path: path, advice: .all(check + [.olderKey]), cause: self)
    }
}
