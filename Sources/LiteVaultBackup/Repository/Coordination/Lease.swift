internal import DurableFile
internal import Foundation

/// The right to write to a database's snapshots, or to remove: an object that is taken and renewed by conditional writes.
///
/// Its age by the store's clock tells whether its holder still renews it. A holder of this machine that is dead needs no
/// waiting for.
final class Lease: @unchecked Sendable {  // its lock guards `tag` and `record`
    struct Record: CheckedDocument {
        var type = "lease"
        /// Random: which holder.
        var holder: String
        var host: String
        var process: Int32
        var start: UInt64
        var boot: UInt32
        var namespace: UInt32
        /// When it was taken, by the store's clock, in seconds since 1970.
        var acquired: Double
        var released: Bool
        /// What its holder wants to be kept with it, through all who take it: a follower's newest segment, sealed.
        var note: String?

        static let byteLimit = RepositoryFormat.documentBytes

        func check() throws(OutOfLimits) { try require("acquired", seconds: acquired) }

        /// Whether its holder is known to be gone.
        var isDead: Bool {
            let identity = ProcessIdentity(process: process, start: start, boot: boot, namespace: namespace)
            if identity == .current { return !LeaseHolders.shared.contains(holder) }
            return identity.state == .dead
        }
    }

    /// Seconds after which a lease that nobody renews is anybody's.
    static let patience = 600.0
    /// What the leases of followers start with. They write no packs.
    static let follower = "follow-"
    private static let interval = 60.0

    let name: String
    let acquired: Double
    private let store: any ObjectStore
    private let keepsConditions: Bool
    private let lock = NSLock()
    private var record: Record
    private var tag: ObjectTag
    private var renewal: Task<Void, Never>?

    private init(
        name: String, store: any ObjectStore, keepsConditions: Bool, record: Record, tag: ObjectTag
    ) {
        self.name = name
        self.store = store
        self.keepsConditions = keepsConditions
        self.record = record
        self.tag = tag
        acquired = record.acquired
    }

    deinit {
        renewal?.cancel()
        LeaseHolders.shared.remove(record.holder)
    }

    /// Takes the lease.
    ///
    /// - Parameter what: what it guards, for the message.
    /// - Throws: ``BackupError`` `busy` when somebody has it.
    static func take(_ short: String, of store: any ObjectStore, what: String) async throws -> Lease {
        let name = RepositoryFormat.lease(short)
        let keepsConditions = try await store.keepsConditions()
        let now = try await store.now()
        let own = ProcessIdentity.current
        var record = Record(
            holder: PackID().hex, host: ProcessInfo.processInfo.hostName, process: own.process, start: own.start,
            boot: own.boot, namespace: own.namespace, acquired: now, released: false)
        var condition = PutCondition.absent
        if let present = try await store.attributes(name) {
            let held = try await holder(name, store)
            record.note = held?.note
            if let held, !held.released, !held.isDead, now - present.modified < patience {
                throw BackupError(
                    .busy, "\(what) is in use by process \(held.process) on \(held.host)",
                    path: "\(store.location)/\(name)",
                    remedy: "Try again later. If that process is gone, its claim ends after 10 minutes.")
            }
            condition = .unchanged(present.tag)
        }
        LeaseHolders.shared.insert(record.holder)
        do {
            let tag = try await store.put(
                name, bytes: Decoding.bytes(record, path: name),
                condition: keepsConditions ? condition : .none)
            let lease = Lease(name: name, store: store, keepsConditions: keepsConditions, record: record, tag: tag)
            if !keepsConditions { try await lease.confirm() }
            lease.keep()
            return lease
        } catch let error as BackupError where error.code == .conflict {
            LeaseHolders.shared.remove(record.holder)
            throw BackupError(
                .busy, "\(what) was taken by somebody else just now", path: "\(store.location)/\(name)",
                remedy: "Try again later.")
        } catch {
            // Where only the answer was lost, the lease is there and nobody's.
            LeaseHolders.shared.remove(record.holder)
            throw error
        }
    }

    /// Whoever has it, or had it; nil when that can not be read.
    static func holder(_ name: String, _ store: any ObjectStore) async throws -> Record? {
        do {
            return try Decoding.value(
                Record.self, from: try await store.get(name, upTo: Record.byteLimit), path: name)
        } catch let error as BackupError where error.code == .missing || error.code == .damaged {
            return nil
        }
    }

    /// What is kept with it. A new note is stored with the next renewal: with ``confirm()``, ``release()``, or in a minute.
    var note: String? {
        get { locked { record.note } }
        set { locked { record.note = newValue } }
    }

    /// Makes sure that it is still ours, in the store.
    ///
    /// - Throws: ``BackupError`` `busy` when somebody else took it, or broke it as it had not been renewed.
    func confirm() async throws { try await write(released: false) }

    /// Ends the lease of a holder that has not renewed it in time: where that one is only asleep, it finds out before it
    /// counts on what was removed meanwhile.
    ///
    /// - Returns: whether it is ended; false when its holder renewed it just now.
    static func end(_ object: ObjectAttributes, _ held: Record, _ store: any ObjectStore) async throws -> Bool {
        var record = held
        record.released = true
        // Not the same holder: a renewal whose answer was lost is known by it.
        record.holder = PackID().hex
        do {
            let condition = try await store.keepsConditions() ? PutCondition.unchanged(object.tag) : .none
            try await store.put(
                object.name, bytes: Decoding.bytes(record, path: object.name), condition: condition)
            return true
        } catch let error as BackupError where error.code == .conflict {
            return false
        }
    }

    /// Gives it back.
    func release() async {
        renewal?.cancel()
        await renewal?.value
        defer { LeaseHolders.shared.remove(record.holder) }
        for _ in 0..<3 {
            do { return try await write(released: true) } catch { continue }
        }
        // The lease ends with the process, or by its age.
    }

    private func keep() {
        // On a store that hangs it blocks its thread.
        renewal = Lane.task { [weak self] in
            while !Task.isCancelled {
                try? await Task.sleep(nanoseconds: UInt64(Self.interval * 1e9))
                if Task.isCancelled { return }
                // A store that can not be reached for a while is asked again; confirm() decides in the end.
                try? await self?.write(released: false)
            }
        }
    }

    private func lost() -> BackupError {
        BackupError(
            .busy, "was taken over by somebody else, as it had not been renewed in time",
            path: "\(store.location)/\(name)", remedy: "Try again.")
    }

    private func write(released: Bool) async throws {
        let (current, record) = locked {
            self.record.released = released
            return (tag, self.record)
        }
        // Where the store keeps no conditions, a look before the write is the most that can be had.
        if !keepsConditions, try await Self.holder(name, store)?.holder != record.holder { throw lost() }
        do {
            let new = try await store.put(
                name, bytes: Decoding.bytes(record, path: name),
                condition: keepsConditions ? .unchanged(current) : .none)
            locked { tag = new }
        } catch let error as BackupError where error.code == .conflict {
            // Two renewals of our own at the same time: the other one made it.
            if locked({ tag }) != current { return }
            if try await Self.holder(name, store)?.holder == record.holder,
                let present = try await store.attributes(name)
            {
                // The store took a write whose answer was lost.
                locked { tag = present.tag }
                return
            }
            throw lost()
        }
    }

    private func locked<T>(_ body: () -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }
}
