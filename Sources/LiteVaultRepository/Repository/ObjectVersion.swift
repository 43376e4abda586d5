internal import LiteVaultCapture

/// What was stored under a name before it was read. What is stored in its place is stored on condition that it still is.
///
/// The lists of a repository (`doomed.json`, those below `forgotten/` and `verified/`) and `repository.json` are read, changed and stored
/// as a whole. Between the two requests another process may do the same: the later one would take back what the earlier one has recorded, and
/// neither would notice. A lease does not prevent that. A process that was suspended, or whose request is late, has lost its lease and does
/// not know it; and checks have none.
struct ObjectVersion {
    /// The object's name.
    let name: String
    /// That nobody has changed the object since. None in a store without conditional writes.
    let condition: PutCondition
    /// The lease under which it is changed; nil if it is changed without one.
    let lease: Lease?
    /// How many times others have changed it in between.
    let conflicts: Int

    /// Whether there was no such object.
    var isNew: Bool { condition == .absent }

    /// Confirms the lease before something is stored. With a condition, only if it was not renewed for so long that others may have ended it:
    /// that costs no request. Without, as certainly as is possible.
    fileprivate func confirm() async throws {
        if condition == .none { try await lease?.confirm() } else { try await lease?.confirmIfDue() }
    }
}

extension ObjectStore {
    /// Reads an object and stores it changed, without taking back what others store meanwhile. This is the only way to do it.
    ///
    /// It costs one request more than reading and storing. Without conditional writes it costs none, and the later one wins.
    ///
    /// - Parameters:
    ///   - name: the object's name.
    ///   - lease: the lease under which it is changed; nil if it needs none.
    ///   - body: reads the object, and stores the changed one on condition of the version that it gets, or leaves it as it is. It begins again,
    ///     up to five times in all, if another process was faster, and then finds its own change if only the answer was lost.
    /// - Returns: what `body` returns.
    /// - Throws: `VaultError` `busy` if the lease was lost when another process was faster, or if others were faster each time; what `body` throws.
    func changing<T>(
        _ name: String, holding lease: Lease? = nil, _ body: (ObjectVersion) async throws -> T
    ) async throws -> T {
        var last = PutCondition.none
        for conflicts in 0..<5 {
            var condition = PutCondition.none
            if try await supportsConditionalWrites() {
                // Before it is read: if it changes after this, storing fails.
                condition = try await attributes(name).map { PutCondition.unchanged($0.tag) } ?? .absent
                // Nobody has changed it. A store that only adds refuses to replace it in this way, too: without a condition, it says so.
                if case .unchanged = condition, condition == last { condition = .none }
                last = condition
            }
            do {
                return try await body(
                    ObjectVersion(name: name, condition: condition, lease: lease, conflicts: conflicts))
            } catch let error as VaultError where error.code == .conflict {
                // The process that has changed it has probably taken the lease.
                try await lease?.confirm()
            }
        }
        throw VaultError.changedByOthers(name, location)
    }
}

extension WritableRepository {
    /// Seals a document, and stores it in the place of the version that was read.
    ///
    /// - Throws: `VaultError` `conflict` if it was changed meanwhile: nothing is stored then. `busy` if the lease was lost: if that happened while
    ///   it was stored, it may be stored.
    func put(_ value: some CheckedDocument, replacing version: ObjectVersion) async throws {
        try await version.confirm()
        try await put(value, as: version.name, condition: version.condition)
        try await version.lease?.requireHeld()
    }
}

extension VaultError {
    /// The error for an object that others changed each time that it was to be replaced.
    static func changedByOthers(_ name: String, _ location: String) -> VaultError {
        VaultError(.busy, "is being changed by others", path: "\(location)/\(name)", remedy: "Try again.")
    }
}
