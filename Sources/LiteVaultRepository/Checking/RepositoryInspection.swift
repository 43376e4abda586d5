package import LiteVaultCapture
package import LiteVaultSystem

/// What a store says about itself without being written to.
package struct StoreInspection: Sendable {
    /// Whether it honors conditional writes; nil if only a write would show it.
    package var conditionalWrites: Bool?
    /// The time by its clock; nil if only a write would show it.
    package var clock: Date?
    /// Who holds its lock; nil if it is free, or there is none.
    package var lock: VaultError?
    /// Whether this user may write to it; nil if only a write would show it.
    package var isWritable: Bool?

    package init() {}
}

/// A store that can be inspected without a write.
package protocol InspectableStore: ObjectStore {
    /// Inspects the store.
    ///
    /// - Throws: `VaultError` if it does not respond.
    func inspect() async throws -> StoreInspection
}

extension DirectoryStore: InspectableStore {
    /// How long its lock may be held: writers hold it for the time of a rename.
    private static let lockTimeout = Duration.seconds(2)

    /// Examines the directory, and tries its lock.
    package func inspect() async throws -> StoreInspection {
        var found = StoreInspection()
        found.conditionalWrites = true
        found.isWritable = access(location, W_OK | X_OK) == 0
        found.lock = try await DirectoryLock.holder(location, timeout: Self.lockTimeout)
        return found
    }
}

/// A lease that was not released, and what is known about its holder.
package struct HeldLease: Sendable, Equatable {
    /// What is known about the holder.
    package enum Holder: String, Sendable {
        /// It runs on this machine.
        case alive
        /// It was stopped on this machine (SIGSTOP), and continues one day.
        case stopped
        /// It has ended without releasing the lease. The next writer breaks it at once.
        case dead
        /// Another machine's, or another container's, which renews it.
        case remote
        /// It was not renewed in time. The next writer breaks it.
        case expired
    }

    /// The object's name.
    package let object: String
    package let isFollower: Bool
    /// Whether it is that of a process that removes from the repository.
    package let isPruning: Bool
    /// The identifier of the database, as ``Repository/databaseID(_:)`` derives it; nil for a lease of the whole repository.
    package let database: String?
    package let holder: Holder
    package let host: String
    package let process: Int32
    /// When it was last renewed, by the store's clock.
    package let renewed: Date
}

extension Repository {
    /// The leases that were not released. Nothing is written.
    ///
    /// - Parameter now: the time by the store's clock.
    package func heldLeases(now: Date) async throws -> [HeldLease] {
        let prefix = RepositoryFormat.lease("")
        let objects = try await store.list(prefix)
        return try await concurrently(objects) { [store] object -> HeldLease? in
            guard let record = try await Lease.holder(object.name, store), !record.released else { return nil }
            let holder: HeldLease.Holder =
                switch record.identity.state {
                case .dead: .dead
                case _ where Lease.isStale(object, now, Lease.staleAge): .expired
                case .alive: Platform.isStopped(record.process) ? .stopped : .alive
                case .unknown: .remote
                }
            let short = object.name.dropFirst(prefix.count)
            let isFollower = short.hasPrefix(Lease.follower)
            let database = isFollower ? short.dropFirst(Lease.follower.count) : short
            return HeldLease(
                object: object.name, isFollower: isFollower, isPruning: short == "prune",
                database: RepositoryFormat.isIdentifier(database) ? String(database) : nil, holder: holder,
                host: record.host, process: record.process, renewed: object.modified)
        }.compactMap(\.self)
    }

    /// The number of packs that pruning has scheduled for deletion, and when it scheduled the first; nil if there are none.
    ///
    /// - Throws: `VaultError` `damaged` for a damaged list.
    package func scheduledDeletions() async throws -> (count: Int, since: Date)? {
        let packs = try await pendingDeletions().packs
        guard let since = packs.map(\.since).min() else { return nil }
        return (packs.count, Date(timeIntervalSince1970: since))
    }
}
