package import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultQuoting
internal import LiteVaultSystem

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
            let (level, assertions): (SnapshotVerification.Level, Set<String>)
            do {
                (problems, level, assertions) = try await restoreTest(snapshot, options, &report.remarks)
                if problems.isEmpty, level < (options.restores ? .restore : .pages) {
                    report.partlyTested.append((snapshot, level))
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
            // What the repository's objects lack is not made up for by content that could be read from elsewhere.
            guard !problems.isEmpty || report.snapshots[index].verification.passed else { continue }
            report.snapshots[index].verification = SnapshotVerification(
                level: level, passed: problems.isEmpty, time: clock.time(), assertions: assertions)
        }
        // A selection that matches nothing must not pass as intact.
        guard isAnyChosen || (options.databases == nil && options.selection == .latest) else {
            throw VaultError(
                .noInput, "no snapshot matches the selection to restore", path: store.location,
                advice: .listSnapshots)
        }
    }

    /// - Returns: the problems, the level that was reached or failed, and the assertions that held or failed.
    private func restoreTest(
        _ snapshot: Snapshot, _ options: CheckOptions, _ remarks: inout [CheckReport.Problem]
    ) async throws -> (problems: [CheckReport.Problem], level: SnapshotVerification.Level, assertions: Set<String>) {
        var reached = options.restores ? SnapshotVerification.Level.restore : .pages
        let name = "\(snapshot.database) \(snapshot.id)"
        let file = try ReplacementFile.temporary("restored.db", in: workDirectory())
        defer { file.discard() }
        do {
            var image = ImageWriter(snapshot: snapshot, progress: options.progress)
            try await image.write(into: LocalFile(updating: file.path), from: self)
        } catch let error as VaultError where error.isDamage {
            // Of the repository, which has lost what was stored: nothing is known about the database.
            return ([.init(error.path ?? name, error.message)], .data, [])
        }
        let database = DatabaseFile(file.path)
        do {
            let (found, key) = try verify(database, isPlaintext: snapshot.isPlaintext, options)
            let problems = found.problems.map { CheckReport.Problem(name, $0.message, isContent: true) }
            if options.restores {
                // The blocks of the image were compared with their hashes. A failure stands until as thorough a verification passes.
                if !found.isWholeStructureChecked, problems.isEmpty {
                    reached = found.authenticatedPages == nil ? .data : .pages
                }
                remarks += (found.foreignKeyViolations + found.unchecked).map { CheckReport.Problem(name, $0.message) }
            }
            guard options.restores, problems.isEmpty else { return (problems, reached, []) }
            let failed = try failing(options.assertions, file.path, key, options.settings)
            guard failed.isEmpty else {
                return (
                    failed.map { .init(name, $0.message, isContent: true) }, .restore,
                    Set(failed.compactMap(\.sql).map(SnapshotVerification.name))
                )
            }
            return ([], reached, Set(options.assertions.map(SnapshotVerification.name)))
        } catch let error as VaultError where error.code == .damaged {
            return (
                [.init(name, error.message, isContent: true)], options.restores ? .restore : .pages, []
            )
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
    ) throws -> (report: DatabaseFile.VerificationReport, key: DatabaseKey?) {
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

    /// The assertions that fail, each with a message; without the assertion if it is not SQL.
    private func failing(
        _ assertions: [String], _ path: String, _ key: DatabaseKey?, _ settings: CipherSettings
    ) throws -> [(sql: String?, message: String)] {
        guard !assertions.isEmpty else { return [] }
        // A path, never a URI, whatever the directory's name.
        let name = path.starts(withText: "/") ? path : "./" + path
        let connection = try key.map { try Connection(name, key: $0, settings: settings) } ?? Connection(name)
        defer { try? connection.close() }
        // An assertion comes from a configuration, and reads: it could name files into which SQLCipher writes content.
        connection.refusesKeyStatements = true
        return assertions.compactMap { sql in
            do {
                let value = try connection.untypedValue(sql)
                if let number = value as? Int64, number != 0 { return nil }
                if let number = value as? Double, number != 0 { return nil }
                return (sql, "assertion failed: \(sql)")
            } catch {
                let message = "\(error)"
                // Of no database: as thorough a check without it may replace the failure.
                let isRefused = (error as? DatabaseError)?.resultCode.primary == .authorization
                let isMalformed =
                    isRefused
                    || ["syntax error", "incomplete input", "unrecognized token"].contains { message.contains($0) }
                return (isMalformed ? nil : sql, "assertion cannot be evaluated: \(sql): \(message)")
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
