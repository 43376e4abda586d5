public import LiteVaultCapture
package import LiteVaultSystem

extension VaultError.Code {
    /// A standby of the database was promoted: the repository takes nothing more from this file under the database's name.
    public static let promoted = Self(rawValue: "promoted")
}

/// The record of a promotion, in the fence that ends a line of history and begins another one.
///
/// Snapshots after that fence belong to the new line, and name it. What the old writers store later belongs to no line: a manifest
/// finds its name taken, and segments behind the last one of the old line are not restored.
struct Promotion: CheckedDocument, Sendable, Equatable {
    /// The line that begins: 32 random hexadecimal digits.
    var line: String
    /// The promoted database.
    var host: String
    var source: String
    /// When it was promoted.
    var time: String
    /// The state that it had, in milliseconds since 1970, and the segment that leads there; absent if it is that of a snapshot.
    var state: Int64
    var segment: Int?
    /// Without a segment: the highest number of one that was stored by then, 0 if none was. What the former primary stores afterwards has a
    /// higher one. Absent in promotions of earlier versions, and if the repository did not respond.
    var newest: Int?

    /// The last segment of the line that ends; nil if that was not recorded.
    var lastSegment: Int? { segment ?? newest }

    func check() throws(OutOfLimits) {
        try require("line", line, digits: 32)
        try require("time", time: time)
        try require("state", label: state)
        try require("segment", segment, in: RepositoryFormat.sequences)
        try require("newest", newest, in: 0...RepositoryFormat.sequences.upperBound)
    }
}

/// What of a followed log belongs to a line of history. Segments behind its end were stored by a writer that had lost the database, and
/// those of an earlier line are part of its first snapshot.
struct HistoryCut: Sendable {
    /// The number of the promotion that began the line, among the snapshots; 0 if none did.
    var begin = 0
    /// The last segment of a line that has ended, and its time; nil for the current line, and if the line ended with a snapshot and an earlier
    /// version recorded that.
    var segment: Int?
    var time: Date?

    /// Whether a segment, or all that a joined one has, belongs to the line.
    func contains(_ name: SegmentName) -> Bool { name.snapshot >= begin && segment.map { name.sequence <= $0 } ?? true }
}

/// The line of history that the newest objects of a database belong to.
struct CurrentLine: Sendable {
    /// Nil if the database was never promoted.
    var line: String?
    /// Its holder, for messages.
    var holder = ""
    var since: String?

    /// That of a database that was never promoted.
    init() {}

    init(_ promotion: Promotion) {
        (line, since) = (promotion.line, promotion.time)
        holder = "\(promotion.source) on \(promotion.host)"
    }

    init(_ manifest: Manifest) {
        line = manifest.line
        holder = "\(manifest.source) on \(manifest.host)"
    }
}

extension DatabaseSurvey {
    /// The line of the newest readable object.
    var line: CurrentLine {
        if let last = promotions.last, last.sequence > snapshots.last?.sequence ?? 0 {
            return CurrentLine(last.promotion)
        }
        guard let manifest = snapshots.last?.manifest, manifest.line != nil else { return CurrentLine() }
        return promotions.last { $0.promotion.line == manifest.line }.map { CurrentLine($0.promotion) }
            ?? CurrentLine(manifest)
    }

    /// The line of a snapshot; nil if the database was never promoted.
    func cut(of snapshot: Snapshot) -> HistoryCut? {
        guard !promotions.isEmpty else { return nil }
        let end = promotions.first { $0.sequence > snapshot.sequence }?.promotion
        return HistoryCut(
            begin: promotions.last { $0.sequence < snapshot.sequence }?.sequence ?? 0,
            segment: end?.lastSegment, time: end.map { Date(milliseconds: $0.state) })
    }
}

/// The newest snapshot of a database, and the line that the next one continues.
struct NewestObjects: Sendable {
    var line = CurrentLine()
    /// Nil without one, or if the newest one cannot be read.
    var snapshot: Snapshot?
    /// The highest number of a snapshot or fence.
    var sequence = 0
}

/// What is stored under a number among the snapshots of a database.
package enum NumberedObject: Sendable {
    case snapshot(Snapshot)
    /// A fence that ended a writer's lease.
    case fence
    /// The fence of a promotion. Segments up to this number are those of the line that it ended.
    case promotion(lastSegment: Int)
}

extension Repository {
    /// Reads manifests from the newest on, until one that can be read.
    ///
    /// - Parameter listings: how often they are listed, if retention removes the newest one before it is read.
    func newestObjects(_ database: String, listings: Int = Self.listings) async throws -> NewestObjects {
        var result = NewestObjects()
        let names = try await store.list(RepositoryFormat.snapshots(database)).map(\.name)
            .filter { RepositoryFormat.sequence(ofSnapshot: $0, database) != nil }
        result.sequence = names.compactMap { RepositoryFormat.sequence(ofSnapshot: $0, database) }.max() ?? 0
        var (promotion, isWhole): (Promotion?, Bool) = (nil, true)
        for name in names.reversed() {
            do {
                switch try await object(name, database) {
                case .snapshot(let snapshot):
                    result.snapshot = isWhole ? snapshot : nil
                    result.line = promotion.map(CurrentLine.init) ?? CurrentLine(snapshot.manifest)
                    return result
                // A fence is not a snapshot: its writer did not come to store one.
                case .fence(let fence): promotion = promotion ?? fence.promotion
                }
            } catch let error as VaultError where error.code == .missing && name == names.last && listings > 1 {
                return try await newestObjects(database, listings: listings - 1)
            } catch let error as VaultError where error.isDamage {
                isWhole = false
            }
        }
        if let promotion { result.line = CurrentLine(promotion) }
        return result
    }

    /// What is stored under a number among the snapshots of a database.
    ///
    /// - Throws: `VaultError` `missing` if nothing is; `damaged`; what the store throws.
    package func numberedObject(_ sequence: Int, of database: String) async throws -> NumberedObject {
        switch try await object(RepositoryFormat.snapshot(database, sequence), database) {
        case .snapshot(let snapshot): .snapshot(snapshot)
        case .fence(let fence):
            fence.promotion.map { NumberedObject.promotion(lastSegment: $0.lastSegment ?? 0) } ?? .fence
        }
    }

    /// The line of a database's newest readable object, nil if it was never promoted, and all lines that promotions have begun.
    package func lines(of database: String) async throws -> (current: String?, begun: Set<String>) {
        let survey = try await survey(database)
        return (survey.line.line, Set(survey.promotions.map { $0.promotion.line }))
    }

    /// Requires that the newest readable object of a database belongs to a line.
    ///
    /// - Parameters:
    ///   - line: nil if the database was never promoted.
    ///   - name: the name of the database, for the message.
    ///   - source: the path of the file that has the line, for the message.
    /// - Throws: `VaultError` `promoted` if another file has the database's name by now.
    package func requireCurrent(line: String?, of database: String, _ name: String, at source: String) async throws {
        let current = try await newestObjects(database).line
        guard current.line == line else { throw elsewhere(current, name, source) }
    }

    /// Requires that a database file continues the current line.
    ///
    /// - Parameters:
    ///   - current: the line of the newest objects.
    ///   - source: the path of the file, with links resolved.
    /// - Returns: the line; nil if the database was never promoted.
    /// - Throws: `VaultError` `promoted` if another file has it; `busy` if this one was promoted without the repository.
    @discardableResult
    func requireLine(_ current: CurrentLine, of name: String, at source: String?) throws -> String? {
        let own = try source.flatMap { try promoted($0) }.flatMap { $0.database == databaseID(name) ? $0 : nil }
        if let own, !own.isFenced {
            throw VaultError(
                .busy, "was promoted while the repository did not respond, which does not know of it yet", path: source,
                advice: .promoteAgain)
        }
        if current.line == own?.line { return current.line }
        guard current.line != nil else {
            throw VaultError(
                .promoted, "its promotion is missing in the repository, which may be an older state of itself",
                path: source,
                remedy: "Restore the repository from a copy; or back this database up under another name.")
        }
        throw elsewhere(current, name, source)
    }

    /// What shows that a file is a database that was promoted from this repository; nil for one that was not. Its name there counts, whatever
    /// the file is called: without it, a snapshot would begin another database beside the one that it continues.
    func promoted(_ source: String) throws -> PromotedDatabase? {
        try PromotedDatabase.read(source).flatMap { $0.repository == config.id ? $0 : nil }
    }

    /// The error for a database whose name belongs to another file.
    func elsewhere(_ current: CurrentLine, _ name: String, _ source: String?) -> VaultError {
        let since = current.since.map { " since \($0)" } ?? ""
        return VaultError(
            .promoted, "a standby was promoted: the database '\(name)' is \(current.holder)\(since)", path: source,
            advice: .retireFormerPrimary)
    }
}

/// What shows that a database is the promoted one, in a file beside it (`.promoted` after its name).
///
/// The repository names the line, and a process that backs the database up under its name has to find this file. It moves with the database,
/// as its keyring does: hosts and paths change, and an old primary must not pass for the new one by having the same.
package struct PromotedDatabase: CheckedDocument, Sendable, Equatable {
    var version = 1
    package let repository: String
    /// The database's identifier, and its name.
    package let database: String
    package let name: String
    /// The line that began with the promotion, and the one before; absent if there was no promotion before.
    package let line: String
    let before: String?
    /// Whether the repository knows of it.
    package var isFenced = false
    /// The state that it had, in milliseconds since 1970, and the last segment of it.
    let state: Int64
    let segment: Int?

    /// A database that is about to be promoted, which the repository does not know of.
    ///
    /// - Parameter reached: the state that it has, and the last segment of it.
    package init(
        repository: String, database: String, name: String, line: String, before: String?,
        reached: (state: Int64, segment: Int?)
    ) {
        (self.repository, self.database, self.name) = (repository, database, name)
        (self.line, self.before) = (line, before)
        (state, segment) = reached
    }

    /// The time of the state that it had.
    package var date: Date { Date(milliseconds: state) }

    package func check() throws(OutOfLimits) {
        try require("version", version, in: 1...1)
        try require("repository", repository, digits: 32)
        try require("line", line, digits: 32)
        try require("before", before, digits: 32)
        try require("state", label: state)
        try require("segment", segment, in: RepositoryFormat.sequences)
    }

    /// Beside the file itself, if the path is a link.
    package static func path(_ database: String) -> String {
        ((try? FileMetadata.resolvedPath(database)) ?? database) + ".promoted"
    }

    /// Nil if there is none.
    package static func read(_ database: String) throws -> PromotedDatabase? { try stored(at: path(database)) }

    package func write(_ database: String) throws { try store(at: Self.path(database)) }
}

/// The leases of a database's snapshots and of its follower, taken from the processes that have them: what a promotion has to hold.
package struct TakenLeases: Sendable {
    fileprivate let writable: WritableRepository
    fileprivate let snapshots: Lease
    fileprivate let segments: Lease

    /// Confirms that this process still holds them.
    ///
    /// - Throws: `VaultError` `busy` if another process took one of them; what the store throws.
    package func confirm() async throws {
        try await snapshots.confirm()
        try await segments.confirm()
    }

    /// Stores the fence that begins a line of history, unless it is there.
    ///
    /// - Parameters:
    ///   - promoted: the database that begins the line.
    ///   - newest: the highest number of a segment that was stored by then; nil if that is not known.
    ///   - destination: the path of the database.
    ///   - isForced: whether it may end a line that another promotion has begun meanwhile.
    /// - Returns: the same, recorded.
    /// - Throws: `VaultError` `promoted` if another standby was promoted, `busy` if other writers keep storing snapshots; as ``confirm()``; what
    ///   the store throws. After any error but `promoted` the fence may be stored: a repeated call finds it.
    package func record(
        _ promoted: PromotedDatabase, newest: Int?, at destination: String, isForced: Bool
    ) async throws -> PromotedDatabase {
        var own = promoted
        own.isFenced = true
        let (repository, store, database) = (writable.repository, writable.store, own.database)
        let source = try FileMetadata.resolvedPath(destination)
        let supportsConditionalWrites = try await store.supportsConditionalWrites()
        for _ in 0..<8 {
            let survey = try await repository.survey(database)
            if survey.promotions.contains(where: { $0.promotion.line == own.line }) {
                guard survey.line.line == own.line else { throw repository.elsewhere(survey.line, own.name, source) }
                return own
            }
            guard survey.line.line == own.before || isForced else {
                throw repository.elsewhere(survey.line, own.name, source)
            }
            let newestForgotten = try await repository.advisories(survey).newestForgotten
            let sequence = max(survey.newestSequence, survey.fences.last ?? 0, newestForgotten) + 1
            let fence = Fence(
                repository: repository.config.id, database: database, sequence: sequence,
                promotion: Promotion(
                    line: own.line, host: ProcessInfo.processInfo.hostName, source: source,
                    time: Timestamp.text(repository.clock.time()), state: own.state, segment: own.segment,
                    newest: own.segment == nil ? newest : nil))
            let name = RepositoryFormat.snapshot(database, sequence)
            try await confirm()
            if !supportsConditionalWrites, try await store.attributes(name) != nil { continue }
            do {
                try await writable.put(fence, as: name, condition: supportsConditionalWrites ? .absent : .none)
                return own
            } catch let error as VaultError where error.code == .conflict {
                // A lost response, another promotion, or the last snapshot of the old line.
                continue
            }
        }
        throw VaultError(
            .busy, "others keep storing snapshots of the database '\(own.name)'", path: destination,
            remedy: "Try again.")
    }

    fileprivate func release() async {
        await segments.release()
        await snapshots.release()
    }
}

extension WritableRepository {
    /// Runs `body` with the leases of a database's writers, taken from the processes that have them.
    ///
    /// - Throws: `VaultError` `busy` if another process keeps taking them, or the repository was given a new key; what `body` throws.
    package func withTakenLeases<T>(
        of database: String, _ name: String, isolation: isolated (any Actor)? = #isolation,
        _ body: (TakenLeases) async throws -> T
    ) async throws -> T {
        let leases = try await takeLeases(of: database, name)
        do {
            try await repository.requireCurrentKey()
            let result = try await body(leases)
            await leases.release()
            return result
        } catch {
            await leases.release()
            throw error
        }
    }

    private func takeLeases(of database: String, _ name: String) async throws -> TakenLeases {
        let snapshots = try await takeOver(
            database, for: "the database '\(name)' of the repository", fence: { try await self.fence($0, database) })
        do {
            let segments = try await takeOver(
                Lease.follower + database, for: "following the database '\(name)'", fence: nil)
            return TakenLeases(writable: self, snapshots: snapshots, segments: segments)
        } catch {
            await snapshots.release()
            throw error
        }
    }

    private func takeOver(
        _ short: String, for purpose: String, fence: ((Lease.Record) async throws -> Void)?
    ) async throws -> Lease {
        // Its holder may renew it between two requests.
        for _ in 0..<8 {
            do {
                return try await Lease.take(short, of: self, for: purpose, fence: fence, takesOver: true)
            } catch let error as VaultError where error.code == .busy {
                try await Task.sleep(nanoseconds: 100_000_000)
            }
        }
        return try await Lease.take(short, of: self, for: purpose, fence: fence, takesOver: true)
    }
}
