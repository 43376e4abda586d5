internal import LiteVaultCapture
internal import LiteVaultSystem

/// The leases of a database's snapshots and of its follower, taken from the processes that have them: what a promotion has to hold.
package struct TakenLeases: Sendable {
    private let repository: Repository
    private let snapshots: Lease
    private let segments: Lease

    fileprivate init(_ repository: Repository, snapshots: Lease, segments: Lease) {
        (self.repository, self.snapshots, self.segments) = (repository, snapshots, segments)
    }

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
        let (store, database) = (repository.store, own.database)
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
                try await repository.put(fence, as: name, condition: supportsConditionalWrites ? .absent : .none)
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

extension Repository {
    /// Runs `body` with the leases of a database's writers, taken from the processes that have them.
    ///
    /// - Throws: `VaultError` `busy` if another process keeps taking them, or the repository was given a new key; what `body` throws.
    package func withTakenLeases<T>(
        of database: String, _ name: String, isolation: isolated (any Actor)? = #isolation,
        _ body: (TakenLeases) async throws -> T
    ) async throws -> T {
        let leases = try await takeLeases(of: database, name)
        do {
            try await requireCurrentKey()
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
            return TakenLeases(self, snapshots: snapshots, segments: segments)
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
