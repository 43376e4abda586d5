internal import LiteVaultCapture
internal import LiteVaultSystem

/// There is no repository, or no snapshot of the wanted database in it, and this machine remembers none. It is the
/// `VaultError.cause` of a `noInput` error, and tells the first start of a program from a wrong selection.
public struct NoSnapshotError: Error, Sendable, Equatable {}

extension Repository {
    /// Lists the snapshots of one database or of all, oldest first within each.
    ///
    /// Damaged manifests, a repository that was rolled back since this machine last saw it, and unknown objects become
    /// ``SnapshotList/warnings``. They do not affect listing and restoring other snapshots.
    ///
    /// - Parameter database: a database's name; nil for all.
    /// - Throws: `VaultError` if the store cannot be listed.
    public func snapshots(database: String? = nil) async throws -> SnapshotList {
        try await snapshots(database, requiringVerifications: false)
    }

    /// As ``snapshots(database:)``.
    ///
    /// - Parameter requiringVerifications: whether it throws if the store does not tell which snapshots were verified.
    func snapshots(_ database: String?, requiringVerifications: Bool) async throws -> SnapshotList {
        var warnings = notices
        // Those in a database's own directory of snapshots are in its survey.
        if database == nil { warnings += try await strays("snapshots/").filter { !$0.isBelowDatabase } }
        warnings += try await strays(database.map { RepositoryFormat.segments(databaseID($0)) } ?? "segments/")
        let found = try await concurrently(databaseIDs(database)) { id in
            let survey = try await survey(id)
            let (verifications, _, more) = try await advisories(survey, isStrict: requiringVerifications)
            rememberNewest(survey)
            return (survey.snapshots(with: verifications), survey.warnings + more)
        }
        return SnapshotList(
            found.flatMap(\.0).sorted { ($0.database, $0.sequence) < ($1.database, $1.sequence) },
            warnings: warnings + found.flatMap(\.1))
    }

    /// Tells a database that the repository does not have from one without anything to do.
    ///
    /// - Parameter name: the name that somebody gave for a database; nil for all.
    /// - Throws: `VaultError` `noInput`, with a ``NoSnapshotError`` as its cause, if the repository has nothing of it and this
    ///   machine remembers nothing.
    package func requireDatabase(_ name: String?) async throws {
        guard let name else { return }
        let id = databaseID(name)
        if try await !store.list(RepositoryFormat.snapshots(id)).isEmpty { return }
        let survey = try await survey(id)
        guard survey.newestSequence == 0, survey.rollback == nil else { return }
        throw VaultError(
            .noInput, "there is no snapshot of a database '\(name)'", path: store.location, advice: .listSnapshots,
            cause: NoSnapshotError())
    }

    /// Lists the names of all manifests. None is read.
    ///
    /// - Throws: `VaultError` if the store cannot be listed.
    package func manifestNames() async throws -> [String] { try await store.list("snapshots/").map(\.name) }

    /// Reads a manifest, and compares its content with its name.
    ///
    /// - Throws: `VaultError` `missing` if there is none, or a fence in its place.
    func snapshot(_ name: String, database: String) async throws -> Snapshot {
        guard case .snapshot(let found) = try await object(name, database) else {
            throw VaultError(.missing, "there is no snapshot: its writer was presumed dead", path: name)
        }
        return found
    }

    /// What is stored under the name of a manifest.
    enum NamedObject {
        case snapshot(Snapshot)
        case fence(Fence)
    }

    /// Reads what is stored under the name of a manifest.
    func object(_ name: String, _ database: String) async throws -> NamedObject {
        let bytes = try await store.get(name, upTo: SealedDocument.limit(Manifest.self))
        let document = try SealedDocument(whole: bytes, name: name)
        let manifest: Manifest
        do { manifest = try document.value(Manifest.self, key: key, name: name) } catch {
            // A fence has none of a manifest's own members.
            guard let fence = try fence(document, name, database) else { throw error }
            return .fence(fence)
        }
        return .snapshot(try snapshot(manifest, document.hash, name, database))
    }

    /// The snapshot of a manifest read under a name.
    func snapshot(_ manifest: Manifest, _ hash: Hash256, _ name: String, _ database: String) throws -> Snapshot {
        guard manifest.type == "snapshot", manifest.repository == config.id, manifest.database == database,
            RepositoryFormat.snapshot(database, manifest.sequence) == name, databaseID(manifest.name) == database
        else { throw VaultError.swapped(name) }
        _ = try manifest.rootEntry(name)
        return try Snapshot(manifest: manifest, hash: hash, name: name)
    }

    /// Finds one snapshot of a database. Only its manifest has to be intact; but if the selected snapshot may be one
    /// that cannot be read, no older one is chosen instead.
    ///
    /// - Parameters:
    ///   - selection: which snapshot.
    ///   - database: the database's name; required if the repository has several, unless an identifier is given.
    /// - Throws: `VaultError` `noInput` if no snapshot matches, or several do, with a ``NoSnapshotError`` as its cause if there is none at all;
    ///   `damaged` if the selected snapshot cannot be read, or may be one that cannot.
    public func snapshot(_ selection: SnapshotSelection, database: String? = nil) async throws -> Snapshot {
        try await select(selection, database).snapshot
    }

    /// As ``snapshot(_:database:)``, with the problems found beside it.
    func select(
        _ selection: SnapshotSelection, _ database: String?
    ) async throws -> SelectedSnapshot {
        let surveys = try await surveys(database)
        var warnings = notices + surveys.flatMap(\.warnings)
        if case .id(let id) = selection {
            return SelectedSnapshot(snapshot: try choose(id, surveys), warnings: warnings)
        }
        let present = surveys.filter { $0.newestSequence > 0 || $0.rollback != nil }
        guard present.count <= 1 else {
            let names = present.compactMap(\.snapshots.last?.database).sorted()
            throw VaultError(
                .noInput, "there are \(present.count) databases: \(names.prefix(5).joined(separator: ", "))",
                path: store.location, advice: .chooseDatabase)
        }
        guard let survey = present.first else {
            throw VaultError(
                .noInput,
                database.map { "there is no snapshot of a database '\($0)'" } ?? "there is no snapshot",
                path: store.location, advice: .listSnapshots, cause: NoSnapshotError())
        }
        if case .at(let time) = selection {
            let chosen = try choose(time, survey)
            var missing: Int?
            do {
                missing = try await missingSequence(after: chosen, survey)
            } catch let error as VaultError {
                // The forget record is advisory: it must not stop a restore.
                warnings.append(RepositoryWarning(error, RepositoryFormat.forgetRecord(survey.database)))
            }
            if let missing { throw instead(ofMissing: missing, survey.database, chosen) }
            return SelectedSnapshot(
                snapshot: chosen, warnings: warnings, others: survey.snapshots, cut: survey.cut(of: chosen))
        }
        // A request for the best available state continues from the newest readable snapshot.
        let takesLess = selection == .latestReachable
        if !takesLess, let rollback = survey.rollback { throw instead(of: rollback, survey.snapshots.last) }
        if !takesLess, let newest = survey.unreadableNewest { throw instead(of: newest, survey.snapshots.last) }
        guard let last = survey.snapshots.last else {
            throw VaultError(.noInput, "there is no snapshot", path: store.location, cause: NoSnapshotError())
        }
        return SelectedSnapshot(
            snapshot: last, warnings: warnings, others: survey.snapshots, cut: survey.cut(of: last))
    }

    /// A selected snapshot, with what was found beside it.
    struct SelectedSnapshot {
        let snapshot: Snapshot
        let warnings: [RepositoryWarning]
        /// All of its database, in order.
        var others: [Snapshot] = []
        /// Its line of history; nil if the database was never promoted.
        var cut: HistoryCut?
    }

    func choose(_ id: String, _ surveys: [DatabaseSurvey]) throws -> Snapshot {
        let found = surveys.flatMap(\.snapshots).filter { $0.id.hasPrefix(id.lowercased()) }
        guard let first = found.first else {
            let unreadable = surveys.flatMap(\.unreadable)
            if let one = unreadable.first {
                throw VaultError(
                    one.error.code,
                    "no readable snapshot has an id that starts with '\(id)', and \(unreadable.count) cannot "
                        + "be read: \(one.error.message)", path: one.object, advice: .repair,
                    cause: one.error)
            }
            throw VaultError(
                .noInput, "there is no snapshot whose id starts with '\(id)'", path: store.location,
                advice: .listSnapshots)
        }
        if let exact = found.first(where: { $0.id == id.lowercased() }) { return exact }
        guard found.count == 1 else {
            throw VaultError(.noInput, "several snapshots have an id that starts with '\(id)'", path: store.location)
        }
        return first
    }

    private func choose(_ time: Date, _ survey: DatabaseSurvey) throws -> Snapshot {
        guard let chosen = survey.snapshots.last(where: { $0.time.milliseconds <= time.milliseconds }) else {
            if let one = survey.unreadable.first { throw instead(of: one, nil) }
            if let rollback = survey.rollback { throw rollback }
            throw VaultError(
                .noInput,
                "there is no snapshot before that time: the oldest is of "
                    + (survey.snapshots.first.map { Timestamp.text($0.time) } ?? ""),
                path: store.location, advice: .listSnapshots)
        }
        // A snapshot taken after it may be dated before the wanted time.
        if let one = survey.unreadable(after: chosen).first { throw instead(of: one, chosen) }
        let isLast = chosen.sequence == survey.snapshots.last?.sequence
        if isLast, let rollback = survey.rollback { throw instead(of: rollback, chosen) }
        return chosen
    }

    /// The first sequence between a snapshot and the next object of its database that is missing and was not removed by
    /// retention: the missing snapshot may be the one for the wanted time.
    private func missingSequence(after chosen: Snapshot, _ survey: DatabaseSurvey) async throws -> Int? {
        let present = survey.present
        guard let next = present.first(where: { $0 > chosen.sequence }), next > chosen.sequence + 1 else { return nil }
        return try await forgetRecord(survey.database).missing(present)
            .first { chosen.sequence < $0.lowerBound && $0.upperBound < next }?.lowerBound
    }

    private func instead(ofMissing sequence: Int, _ database: String, _ before: Snapshot) -> VaultError {
        VaultError(
            .damaged,
            "snapshot \(sequence), which may be the requested one, is missing and was not removed by retention",
            path: RepositoryFormat.snapshot(database, sequence), advice: advice(before))
    }

    /// Names the older snapshot that can be restored by ID: it is not the requested one, so it is not chosen silently.
    private func instead(of one: DatabaseSurvey.Unreadable, _ before: Snapshot?) -> VaultError {
        VaultError(
            one.error.code,
            "snapshot \(one.sequence), which may be the requested one, cannot be read: "
                + one.error.message, path: one.object, advice: advice(before), cause: one.error)
    }

    private func instead(of rollback: VaultError, _ before: Snapshot?) -> VaultError {
        VaultError(
            rollback.code, rollback.message, path: rollback.path,
            advice: .all([rollback.advice, advice(before)].compactMap(\.self)), cause: rollback.cause)
    }

    private func advice(_ before: Snapshot?) -> Remedy {
        let other = before.map { Remedy.restoreEarlier(snapshot: $0.id, time: Timestamp.text($0.time)) }
        return .all([other, .repairToReport].compactMap(\.self))
    }
}
