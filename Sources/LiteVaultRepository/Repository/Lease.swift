internal import LiteVaultCapture
internal import LiteVaultSystem

/// The exclusive right to write a database's snapshots, or to delete: an object that is taken and renewed by conditional writes.
///
/// Its age by the store's clock shows whether the holder still renews it. A dead holder on this machine is detected
/// without waiting.
final class Lease: Sendable {
    struct Record: CheckedDocument, Equatable {
        var type = "lease"
        /// Random, identifies the holder.
        var holder: String
        var host: String
        var process: Int32
        var start: UInt64
        var boot: UInt32
        var namespace: UInt32
        /// When it was acquired, by the store's clock, in seconds since 1970.
        var acquired: Double
        var released: Bool
        /// The snapshot that the holder may store; nil until that is decided, and if none is stored.
        var sequence: Int?
        /// A note that later holders preserve: a follower's newest segment, sealed.
        var note: String?

        func check() throws(OutOfLimits) {
            try require("acquired", seconds: acquired)
            try require("sequence", sequence, in: RepositoryFormat.sequences)
        }

        var identity: ProcessIdentity {
            ProcessIdentity(process: process, start: start, boot: boot, namespace: namespace)
        }
        /// Whether its holder is known to be dead.
        var isDead: Bool {
            if identity == .current { return !heldLeases.withLock { $0.contains(holder) } }
            return identity.state == .dead
        }
    }

    /// Seconds after which a lease that was not renewed may be broken.
    static let staleAge = 600.0
    /// As ``staleAge``, for deleting packs from a store without conditional writes: nothing stops a writer that resumes
    /// later.
    static let staleAgeWithoutConditions = 7 * 86_400.0
    /// The prefix of a second object that announces a writer if the store has no conditional writes. The first object
    /// may be overwritten by another writer at the same time.
    static let announcement = "write-"
    /// The prefix of followers' leases. Followers do not write packs.
    static let follower = "follow-"
    /// Seconds between two renewals: a third of ``staleAge``, so that two of them may fail.
    private static let interval = staleAge / 3
    /// Seconds until a renewal that failed is tried again.
    private static let retryInterval = 20.0

    let name: String
    let acquired: Double
    private let store: any ObjectStore
    private let supportsConditionalWrites: Bool
    /// The second object's name, if there is one.
    private let announced: String?
    private let holder: String
    private let state: Locked<State>

    private struct State {
        var record: Record
        /// The tag of the object as last stored by this holder.
        var tag: ETag
        /// When that was requested, by a clock that also runs while the machine sleeps.
        var renewed = ContinuousClock.now
        var renewal: Task<Void, Never>?
        var isAbandoned = false
        /// Whether another holder was found in its place.
        var isLost = false
    }

    private init(
        name: String, store: any ObjectStore, supportsConditionalWrites: Bool, announced: String?, record: Record,
        tag: ETag
    ) {
        self.name = name
        self.store = store
        self.supportsConditionalWrites = supportsConditionalWrites
        self.announced = announced
        acquired = record.acquired
        holder = record.holder
        state = Locked(State(record: record, tag: tag))
    }

    deinit {
        state.withLock { $0.renewal }?.cancel()
        heldLeases.withLock { _ = $0.remove(holder) }
    }

    /// Acquires the lease.
    ///
    /// - Parameters:
    ///   - repository: the repository, whose identity is compared with the one in the store before anything is written there.
    ///   - purpose: what it protects, for messages.
    ///   - fence: for a lease to store snapshots: keeps a previous holder that did not release it from storing its own.
    ///   - takesOver: whether it is taken from a holder that is alive, who then finds out with its next renewal.
    /// - Throws: `VaultError` `busy` if another process holds it, with a ``HeldLeaseError`` as its cause if that process is known.
    static func take(
        _ short: String, of writable: WritableRepository, for purpose: String,
        fence: ((Record) async throws -> Void)? = nil, takesOver: Bool = false
    ) async throws -> Lease {
        let (repository, store, name) = (writable.repository, writable.store, RepositoryFormat.lease(short))
        let supportsConditionalWrites = try await store.supportsConditionalWrites()
        // Where objects are files, asking for the time writes one.
        _ = try repository.requireLocalIdentity()
        let now = try await store.now()
        let own = ProcessIdentity.current
        var record = Record(
            holder: PackID().hexadecimal, host: ProcessInfo.processInfo.hostName, process: own.process,
            start: own.start, boot: own.boot, namespace: own.namespace, acquired: now.timeIntervalSince1970,
            released: false)
        let announced =
            fence == nil || supportsConditionalWrites ? nil : RepositoryFormat.lease(announcement + record.holder)
        // The name of a database's lease follows from the repository's identity: where there is one to be replaced, it is the same repository.
        let isNamed = announced == nil && RepositoryFormat.isIdentifier(short.suffix(32))
        if !isNamed { try await repository.requireIdentity() }
        heldLeases.withLock { _ = $0.insert(record.holder) }
        do {
            // Announce before listing: from here on nothing is removed that the writer may rely on.
            if let announced { try await put(record, as: announced, in: store) }
            var condition = PutCondition.absent
            if let present = try await store.attributes(name) {
                let held = try await holder(name, store)
                record.note = held?.note
                if let held, !held.released {
                    guard takesOver || held.isDead || isStale(present, now, staleAge) else {
                        throw VaultError(
                            .busy, "\(purpose) is in use by process \(held.process) on \(held.host)",
                            path: "\(store.location)/\(name)",
                            remedy: "Try again later. If that process is gone, its lease expires after 10 minutes.",
                            cause: HeldLeaseError(holder: held.holder))
                    }
                    if supportsConditionalWrites, let fence {
                        // Another writer may have taken it since, and must not be fenced.
                        guard try await store.attributes(name)?.tag == present.tag else {
                            throw VaultError(.conflict, "changed meanwhile", path: name)
                        }
                        try await fence(held)
                    }
                }
                condition = .unchanged(present.tag)
            } else if isNamed {
                try await repository.requireIdentity()
            }
            let tag = try await claim(
                record, as: name, in: store, condition: supportsConditionalWrites ? condition : .none)
            let lease = Lease(
                name: name, store: store, supportsConditionalWrites: supportsConditionalWrites, announced: announced,
                record: record, tag: tag)
            if !supportsConditionalWrites { try await lease.confirm() }
            lease.keep()
            return lease
        } catch {
            // If only the response was lost, the lease exists without a holder.
            heldLeases.withLock { _ = $0.remove(record.holder) }
            if let announced {
                let record = record
                await uncancelled { await retract(announced, record, store) }
            }
            guard let error = error as? VaultError, error.code == .conflict else { throw error }
            let first = try? await holder(name, store)
            throw VaultError(
                .busy, "\(purpose) was just taken by another process", path: "\(store.location)/\(name)",
                remedy: "Try again later.", cause: first.map { HeldLeaseError(holder: $0.holder) })
        }
    }

    /// Whether a lease was not renewed for so long that its holder is presumed dead. A holder renews it in a
    /// third of that time, so a lease dated that far in the future was written before the store's clock was set back.
    static func isStale(_ object: ObjectAttributes, _ now: Date, _ age: Double) -> Bool {
        abs(now.timeIntervalSince(object.modified)) >= age
    }

    /// Withdraws an announcement. If it cannot be deleted, it is overwritten as released.
    private static func retract(_ name: String, _ record: Record, _ store: any ObjectStore) async {
        do {
            try await store.remove(name)
        } catch {
            var record = record
            record.released = true
            _ = try? await put(record, as: name, in: store)
        }
    }

    @discardableResult
    private static func put(
        _ record: Record, as name: String, in store: any ObjectStore, condition: PutCondition = .none
    ) async throws -> ETag {
        try await store.put(name, bytes: Decoding.bytes(record, path: name), condition: condition)
    }

    /// Stores the record of a new holder.
    ///
    /// A refused write may have been made all the same: the client of a store sends a request again that was not answered, and the second one
    /// finds what the first has stored.
    ///
    /// - Throws: `VaultError` `conflict` if another process was first; what the store throws.
    private static func claim(
        _ record: Record, as name: String, in store: any ObjectStore, condition: PutCondition
    ) async throws -> ETag {
        do {
            return try await put(record, as: name, in: store, condition: condition)
        } catch let error as VaultError where error.code == .conflict {
            // Read the tag first, as in write(released:).
            guard let present = try await store.attributes(name),
                try await holder(name, store)?.holder == record.holder
            else { throw error }
            return present.tag
        }
    }

    /// The current or last holder; nil if that cannot be read.
    static func holder(_ name: String, _ store: any ObjectStore) async throws -> Record? {
        do {
            return try Decoding.value(
                Record.self, from: try await store.get(name, upTo: Record.byteLimit), path: name)
        } catch let error as VaultError where error.code == .missing || error.code == .damaged {
            return nil
        }
    }

    /// The note. A new one is stored with the next renewal: with ``confirm()``, ``release()``, or within 200 seconds.
    var note: String? {
        get { state.withLock { $0.record.note } }
        set { state.withLock { $0.record.note = newValue } }
    }

    /// Confirms that this process still holds the lease, in the store.
    ///
    /// - Throws: `VaultError` `busy` if another process acquired it, or broke it because it was not renewed.
    func confirm() async throws { try await write(released: false) }

    /// Confirms that this process still holds the lease, unless it was renewed so recently that nobody can have broken it.
    /// That costs no request.
    ///
    /// - Throws: as ``confirm()``.
    func confirmIfDue() async throws {
        let age = ContinuousClock.now - state.withLock { $0.renewed }
        if age.seconds >= Self.interval { try await confirm() }
    }

    /// Requires that no other process had taken the lease when this was called, however recently it was renewed. That costs one request.
    ///
    /// What the holder had stored before is found by the next one, such as a promotion: it takes the lease, and lists afterwards.
    ///
    /// - Throws: `VaultError` `busy` if another process has taken it; what the store throws.
    func requireHeld() async throws {
        guard let present = try await store.attributes(name) else { throw lost() }
        if present.tag == state.withLock({ $0.tag }) { return }
        // This process may be renewing it.
        guard try await Self.holder(name, store)?.holder == holder else { throw lost() }
    }

    /// Records in the store which snapshot the holder may store from now on.
    ///
    /// - Throws: as ``confirm()``.
    func promise(_ sequence: Int) async throws {
        state.withLock { $0.record.sequence = sequence }
        try await write(released: false)
    }

    /// Whether a renewal has found that another process took it.
    var isLost: Bool { state.withLock { $0.isLost } }

    /// Leaves the lease for the next writer to break: the promised snapshot may still be stored.
    func abandon() { state.withLock { $0.isAbandoned = true } }

    /// Ends the lease of a holder that has not renewed it in time. If that holder was only suspended, it finds out
    /// before it relies on objects removed meanwhile.
    ///
    /// - Returns: whether it was ended; false if its holder has just renewed it.
    static func end(_ object: ObjectAttributes, _ held: Record, _ store: any ObjectStore) async throws -> Bool {
        var record = held
        record.released = true
        // Compare holders: a renewal whose response was lost is recognised by its holder.
        record.holder = PackID().hexadecimal
        do {
            let condition = try await store.supportsConditionalWrites() ? PutCondition.unchanged(object.tag) : .none
            try await put(record, as: object.name, in: store, condition: condition)
            return true
        } catch let error as VaultError where error.code == .conflict {
            return false
        }
    }

    /// Releases the lease. A task that was cancelled releases it, too: others would have to wait until it expires.
    func release() async { await Self.uncancelled { await self.withdraw() } }

    /// Seconds that a store has to respond when a lease is released.
    private static let releaseLimit = 60.0

    /// Sends requests that the cancellation of this task does not end. They fail if the store does not respond in time.
    private static func uncancelled(_ body: @escaping @Sendable () async -> Void) async {
        let task = BlockingWork.task(body)
        let limit = Task {
            try await Task.sleep(nanoseconds: UInt64(releaseLimit * 1e9))
            task.cancel()
        }
        await task.value
        limit.cancel()
    }

    private func withdraw() async {
        let renewal = state.withLock { $0.renewal }
        renewal?.cancel()
        await renewal?.value
        defer { heldLeases.withLock { _ = $0.remove(holder) } }
        let (record, isAbandoned) = state.withLock { ($0.record, $0.isAbandoned) }
        if isAbandoned { return }
        if let announced { await Self.retract(announced, record, store) }
        for _ in 0..<3 {
            do {
                return try await write(released: true)
            } catch let error as VaultError where error.code == .busy {
                // Another process has it, or holds the store's lock: that was already waited for.
                break
            } catch {
                continue
            }
        }
        // The lease ends with the process, or expires.
    }

    private func keep() {
        // It blocks its thread if the store hangs.
        let renewal = BlockingWork.task { [weak self] in
            var pause = Self.interval
            while !Task.isCancelled {
                try? await Task.sleep(nanoseconds: UInt64(pause * 1e9))
                if Task.isCancelled { return }
                do {
                    try await self?.write(released: false)
                    pause = Self.interval
                } catch {
                    // A store that is temporarily unreachable is tried again; confirm() decides in the end.
                    pause = Self.retryInterval
                }
            }
        }
        state.withLock { $0.renewal = renewal }
    }

    /// The error for a lease that another process took over.
    func lost() -> VaultError {
        state.withLock { $0.isLost = true }
        return VaultError(
            .busy, "was taken over by another process: it was not renewed in time, or the database was promoted",
            path: "\(store.location)/\(name)", remedy: "Try again.")
    }

    private func write(released: Bool) async throws {
        for _ in 0..<5 {
            let asked = ContinuousClock.now
            let (current, record) = state.withLock { state in
                state.record.released = released
                return (state.tag, state.record)
            }
            // Without conditional writes, reading before the write is the best that is possible.
            if !supportsConditionalWrites, try await Self.holder(name, store)?.holder != record.holder { throw lost() }
            do {
                if let announced, !released { try await Self.put(record, as: announced, in: store) }
                let new = try await Self.put(
                    record, as: name, in: store, condition: supportsConditionalWrites ? .unchanged(current) : .none)
                return state.withLock { ($0.tag, $0.renewed) = (new, asked) }
            } catch let error as VaultError where error.code == .conflict {
                // Our own write whose response was lost, or a concurrent renewal. Read the tag first: a tag that is
                // ours afterwards was ours then, as others never return it.
                guard let present = try await store.attributes(name), let held = try await Self.holder(name, store),
                    held.holder == record.holder
                else { throw lost() }
                state.withLock { ($0.tag, $0.renewed) = (present.tag, held == record ? asked : $0.renewed) }
                if held == record { return }
            }
        }
        throw lost()
    }
}

/// The cause of an error for a lease that somebody else holds.
package struct HeldLeaseError: Error, Sendable, Equatable {
    /// Identifies the holder. A process that takes the lease twice is two holders.
    package let holder: String
}

/// The leases that this process holds. Any other lease of this process was left behind by failed work.
private let heldLeases = Locked(Set<String>())

extension WritableRepository {
    /// Holds a lease while `body` runs.
    ///
    /// - Parameters:
    ///   - name: the lease's name.
    ///   - purpose: what it protects, for messages.
    ///   - fence: see ``Lease/take(_:of:for:fence:takesOver:)``.
    func withLease<T>(
        _ name: String, for purpose: String, fence: ((Lease.Record) async throws -> Void)? = nil,
        _ body: (Lease) async throws -> T
    ) async throws -> T {
        let lease = try await Lease.take(name, of: self, for: purpose, fence: fence)
        do {
            try await repository.requireCurrentKey()
            let result = try await body(lease)
            await lease.release()
            return result
        } catch {
            await lease.release()
            throw error
        }
    }
}
