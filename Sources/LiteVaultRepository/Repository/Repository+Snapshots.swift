internal import LiteVaultCapture
internal import LiteVaultSystem

/// The objects of one database in a repository: readable snapshots, and everything else found beside them.
struct DatabaseSurvey: Sendable {
    /// A manifest that cannot be read. Only its name identifies the snapshot.
    struct Unreadable: Sendable {
        let sequence: Int
        let object: String
        let error: VaultError
        /// What to do if it is not damage, which a repair is for.
        var remedy: Remedy? { error.code == .damaged ? nil : error.advice }
    }

    let database: String
    /// In order.
    var snapshots: [Snapshot] = []
    /// In order.
    var unreadable: [Unreadable] = []
    /// The sequences whose names are occupied by a ``Fence``, in order.
    var fences: [Int] = []
    /// The promotions among them, in order.
    var promotions: [(sequence: Int, promotion: Promotion)] = []
    /// Why the repository is older than the state that this machine remembers; nil if it is not.
    var rollback: VaultError?
    /// The sequence that this machine remembers as the newest; 0 without one.
    var remembered = 0
    /// Snapshots that do not follow the ones before them: also part of the warnings.
    var breaks: [RepositoryWarning] = []
    var warnings: [RepositoryWarning] = []

    /// The sequences with an object, in order: none of them is missing.
    var present: [Int] { (snapshots.map(\.sequence) + unreadable.map(\.sequence) + fences).sorted() }

    /// The highest sequence in a manifest's name, readable or not.
    var newestSequence: Int { max(snapshots.last?.sequence ?? 0, unreadable.last?.sequence ?? 0) }

    /// The highest sequence that an unreadable manifest may have: that of one beyond it was chosen by no writer, as they count. It would
    /// otherwise end the numbers, and with them the backups of the database.
    ///
    /// - Parameter vouched: the highest sequence that a document vouches for, beside snapshots and fences that can be read.
    func plausible(_ vouched: Int) -> Int {
        max(vouched, snapshots.last?.sequence ?? 0, fences.last ?? 0, remembered) + RepositoryFormat.strayStep
    }

    /// An unreadable manifest that is newer than every readable snapshot.
    var unreadableNewest: Unreadable? {
        unreadable.last.flatMap { $0.sequence > snapshots.last?.sequence ?? 0 ? $0 : nil }
    }

    /// Unreadable manifests whose time may be between a snapshot and the next readable one.
    func unreadable(after snapshot: Snapshot) -> [Unreadable] {
        let next = snapshots.first { $0.sequence > snapshot.sequence }?.sequence ?? .max
        return unreadable.filter { $0.sequence > snapshot.sequence && $0.sequence < next }
    }

    /// Why the needed packs cannot be determined; nil if everything is readable.
    var strictFailure: VaultError? {
        unreadable.first.map { first in
            VaultError(
                first.error.code, "cannot be read and may need any pack: \(first.error.message)", path: first.object,
                advice: .all([.text("Nothing was removed."), first.remedy ?? .repair]), cause: first.error)
        } ?? rollback
    }
}

extension Repository {
    /// Reads the manifests of a database, and compares them with what this machine remembers.
    ///
    /// Damage is part of the result; it throws only if the store cannot be listed.
    func survey(_ database: String) async throws -> DatabaseSurvey {
        var survey = DatabaseSurvey(database: database)
        // Before the list, as another process may add to both.
        var head: Head?
        do {
            head = try self.head(database)
        } catch let error as VaultError {
            survey.warnings.append(
                RepositoryWarning(
                    error, database, advice: .text("The next snapshot rewrites it.")))
        }
        survey.remembered = head?.sequence ?? 0
        let (named, strays) = try await namedObjects(database)
        survey.warnings += strays
        for (name, sequence, found) in named {
            switch found {
            case .success(.snapshot(let snapshot)): survey.snapshots.append(snapshot)
            case .success(.fence(let fence)):
                survey.fences.append(sequence)
                if let promotion = fence.promotion { survey.promotions.append((sequence, promotion)) }
            case .failure(let error):
                survey.unreadable.append(.init(sequence: sequence, object: name, error: error))
                survey.warnings.append(RepositoryWarning(error, name))
            }
        }
        for (one, next) in zip(survey.snapshots, survey.snapshots.dropFirst())
        where next.sequence == one.sequence + 1 && next.manifest.unread != one.sequence
            && next.manifest.predecessor != one.hash.hexadecimal
        {
            survey.breaks.append(
                RepositoryWarning(
                    .damage, path: next.object,
                    message: "does not follow the previous snapshot: one of the two was replaced",
                    advice: .text(
                        "Restore both under other names to find out which one is right, and forget the other one.")))
        }
        survey.warnings += survey.breaks
        do {
            try compare(head, database, survey)
        } catch let error as VaultError {
            // A repair that set it aside recorded that, with the repository's secret if there is one.
            let isGone = survey.newestSequence < head?.sequence ?? 0
            if isGone, let head, let known = try? await forgetRecord(database), known.contains(head.sequence) {
                return survey
            }
            survey.rollback = error
            survey.warnings.append(RepositoryWarning(error, database))
        }
        return survey
    }

    /// The maximum number of listings, if snapshots are removed after each before they are read.
    static let listings = 5

    private typealias Named = (name: String, sequence: Int, found: Result<NamedObject, VaultError>)

    /// What is stored under the names of a database's manifests, in order, and other names there.
    ///
    /// If an object is missing, they are listed again: retention has removed it, and may have kept a newer one that was not listed. If it is
    /// listed then, it was not removed: the store fails to return it.
    private func namedObjects(_ database: String) async throws -> (named: [Named], strays: [RepositoryWarning]) {
        var listed: [String] = []
        var found: [String: Result<NamedObject, VaultError>] = [:]
        var missing: Set<String> = []
        for _ in 0..<Self.listings {
            listed = try await store.list(RepositoryFormat.snapshots(database)).asListing.map(\.name)
            let names = listed.filter {
                found[$0] == nil && RepositoryFormat.sequence(ofSnapshot: $0, database) != nil
            }
            let results = try await concurrently(names) { name -> Result<NamedObject, VaultError>? in
                do {
                    return .success(try await object(name, database))
                } catch let error as VaultError where error.code == .missing {
                    return nil
                } catch let error as VaultError {
                    return .failure(error)
                }
            }
            for (name, result) in zip(names, results) {
                if result == nil, missing.insert(name).inserted { continue }
                found[name] = result ?? .failure(.notReturned(name))
            }
            if names.allSatisfy({ found[$0] != nil }) { break }
        }
        var (named, strays): ([Named], [RepositoryWarning]) = ([], [])
        for name in listed {
            guard let sequence = RepositoryFormat.sequence(ofSnapshot: name, database) else {
                strays.append(.stray(name))
                continue
            }
            if let found = found[name] { named.append((name, sequence, found)) }
        }
        return (named, strays)
    }

    /// The highest sequence in the name of a manifest of a database, readable or not; 0 without one.
    package func newestSequence(_ database: String) async throws -> Int {
        try await store.list(RepositoryFormat.snapshots(database))
            .compactMap { RepositoryFormat.sequence(ofSnapshot: $0.name, database) }.max() ?? 0
    }

    /// The surveys of one database, or of all, in the order of their identifiers.
    ///
    /// - Parameter name: a database's name; nil for all.
    func surveys(_ name: String?) async throws -> [DatabaseSurvey] {
        try await concurrently(databaseIDs(name)) { try await survey($0) }
    }

    /// The results of verifications, and problems with documents that only describe snapshots. Those are reported and
    /// stop nothing, as reading snapshots does not depend on them.
    ///
    /// - Parameter isStrict: whether it throws if results cannot be read: one that was not read is not a missing one.
    func advisories(
        _ survey: DatabaseSurvey, isStrict: Bool = false
    ) async throws -> (verifications: Verifications, newestForgotten: Int, warnings: [RepositoryWarning]) {
        let database = survey.database
        var warnings: [RepositoryWarning] = []
        var verifications = noVerifications(database)
        var newestForgotten = 0
        do {
            verifications = try await self.verifications(database)
        } catch let error as VaultError where !isStrict {
            warnings.append(
                RepositoryWarning(
                    error, RepositoryFormat.verified(database),
                    advice: .rebuild))
        }
        do {
            let forgotten = try await forgetRecord(database)
            newestForgotten = forgotten.newest
            if let notice = forgotten.leftOutNotice(database, besides: survey.present) { warnings.append(notice) }
            for gap in forgotten.missing(survey.present, exceptLeftOut: true) {
                let (first, last) = (gap.lowerBound, gap.upperBound)
                let names = RepositoryFormat.snapshot(database, first)
                warnings.append(
                    RepositoryWarning(
                        .damage, path: names,
                        message: (first == last ? "is missing" : "is missing, as are the following ones up to \(last)")
                            + ", and was not removed by retention",
                        advice: .all([.text("Restore it from a copy of the repository."), .repairToReport])))
            }
        } catch let error as VaultError {
            warnings.append(RepositoryWarning(error, RepositoryFormat.forgetRecord(database)))
        }
        return (verifications, newestForgotten, warnings)
    }

    /// The identifiers of the databases, including those of which only this machine remembers a snapshot.
    func databaseIDs(_ name: String?) async throws -> [String] {
        if let name { return [databaseID(name)] }
        var ids = Set(
            try await store.list("snapshots/").compactMap { object in
                object.name.split(separator: "/").dropFirst().first.map(String.init)
            })
        for directory in headDirectories {
            for name in (try? LocalDirectory.names(directory)) ?? [] where name.hasSuffix(".json") {
                ids.insert(String(name.dropLast(5)))
            }
        }
        return ids.filter(RepositoryFormat.isIdentifier).sorted()
    }

    /// Reports names with a prefix that are not part of the format.
    func strays(_ prefix: String) async throws -> [RepositoryWarning] {
        try await store.list(prefix).filter { !RepositoryFormat.isObject($0.name) }.map { .stray($0.name) }
    }
}

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
        try await snapshots(database, requiringVerifications: false).list
    }

    /// As ``snapshots(database:)``.
    ///
    /// - Parameter requiringVerifications: whether it leaves out databases whose verified snapshots nobody can tell, and throws if the store
    ///   does not respond.
    /// - Returns: the list, and why databases were left out, by their identifiers.
    func snapshots(
        _ database: String?, requiringVerifications: Bool
    ) async throws -> (list: SnapshotList, leftOut: [String: VaultError]) {
        var warnings = notices
        // Those in a database's own directory of snapshots are in its survey.
        if database == nil { warnings += try await strays("snapshots/").filter { !$0.isBelowDatabase } }
        warnings += try await strays(database.map { RepositoryFormat.segments(databaseID($0)) } ?? "segments/")
        typealias Found = (snapshots: [Snapshot], warnings: [RepositoryWarning], leftOut: [String: VaultError])
        let found = try await concurrently(databaseIDs(database)) { id -> Found in
            let survey = try await survey(id)
            do {
                let (verifications, _, more) = try await advisories(survey, isStrict: requiringVerifications)
                rememberNewest(survey)
                return (survey.snapshots(with: verifications), survey.warnings + more, [:])
            } catch let error as VaultError where error.isDamage {
                return ([], survey.warnings, [id: error])
            }
        }
        let list = SnapshotList(
            found.flatMap(\.snapshots).sorted { ($0.database, $0.sequence) < ($1.database, $1.sequence) },
            warnings: warnings + found.flatMap(\.warnings))
        return (list, found.reduce(into: [:]) { $0.merge($1.leftOut) { $1 } })
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
        try await readingAgain {
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
            let later = survey.snapshots.last { $0.sequence > chosen.sequence && $0.taken <= time }
            if let later { warnings.append(.datedAhead(later)) }
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
                + one.error.message, path: one.object, advice: advice(before, one.remedy ?? .repairToReport),
            cause: one.error)
    }

    private func instead(of rollback: VaultError, _ before: Snapshot?) -> VaultError {
        VaultError(
            rollback.code, rollback.message, path: rollback.path,
            advice: .all([rollback.advice, advice(before)].compactMap(\.self)), cause: rollback.cause)
    }

    private func advice(_ before: Snapshot?, _ remedy: Remedy = .repairToReport) -> Remedy {
        let other = before.map { Remedy.restoreEarlier(snapshot: $0.id, time: Timestamp.text($0.time)) }
        return .all([other, remedy].compactMap(\.self))
    }
}
