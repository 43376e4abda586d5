internal import LiteVaultCapture

/// The objects of one database in a repository: readable snapshots, and everything else found beside them.
struct DatabaseSurvey: Sendable {
    /// A manifest that cannot be read. Only its name identifies the snapshot.
    struct Unreadable: Sendable {
        let sequence: Int
        let object: String
        let error: VaultError
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
                advice: .all([.text("Nothing was removed."), .repair]), cause: first.error)
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
        var (named, strays, found) = try await namedObjects(database)
        // If retention has removed the newest one, there is a newer one that was not listed.
        for _ in 0..<Self.listings {
            guard case .some(nil) = found.last else { break }
            (named, strays, found) = try await namedObjects(database)
        }
        survey.warnings += strays
        for (one, result) in zip(named, found) {
            switch result {
            case .success(.snapshot(let snapshot)): survey.snapshots.append(snapshot)
            case .success(.fence(let fence)):
                survey.fences.append(one.sequence)
                if let promotion = fence.promotion { survey.promotions.append((one.sequence, promotion)) }
            case .failure(let error):
                survey.unreadable.append(.init(sequence: one.sequence, object: one.name, error: error))
                survey.warnings.append(RepositoryWarning(error, one.name))
            case nil: break
            }
        }
        for (one, next) in zip(survey.snapshots, survey.snapshots.dropFirst())
        where next.sequence == one.sequence + 1 && next.manifest.predecessor != one.hash.hexadecimal {
            survey.warnings.append(
                RepositoryWarning(
                    .damage, path: next.object,
                    message: "does not follow the previous snapshot: one of the two was replaced",
                    advice: .text("Restore both under other names to find out which one is right.")))
        }
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

    /// The maximum number of listings, if each newest snapshot is removed before it is read.
    static let listings = 5

    /// What is stored under the names of a database's manifests, in order; nil for what was removed since it was listed.
    private func namedObjects(
        _ database: String
    ) async throws -> (
        named: [(name: String, sequence: Int)], strays: [RepositoryWarning], found: [Result<NamedObject, VaultError>?]
    ) {
        var named: [(name: String, sequence: Int)] = []
        var strays: [RepositoryWarning] = []
        for object in try await store.list(RepositoryFormat.snapshots(database)) {
            if let sequence = RepositoryFormat.sequence(ofSnapshot: object.name, database) {
                named.append((object.name, sequence))
            } else {
                strays.append(.stray(object.name))
            }
        }
        let found = try await concurrently(named) { name, sequence -> Result<NamedObject, VaultError>? in
            do {
                return .success(try await object(name, database))
            } catch let error as VaultError where error.code == .missing {
                return nil
            } catch let error as VaultError {
                return .failure(error)
            }
        }
        return (named, strays, found)
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
    /// - Parameter isStrict: whether it throws if the store does not respond: a result that was not read is not a missing one.
    func advisories(
        _ survey: DatabaseSurvey, isStrict: Bool = false
    ) async throws -> (verifications: Verifications, newestForgotten: Int, warnings: [RepositoryWarning]) {
        let database = survey.database
        var warnings: [RepositoryWarning] = []
        var verifications = noVerifications(database)
        var newestForgotten = 0
        do {
            verifications = try await self.verifications(database)
        } catch let error as VaultError where error.isDamage || !isStrict {
            warnings.append(
                RepositoryWarning(
                    error, RepositoryFormat.verified(database),
                    advice: .checkOrRepair))
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
