internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultRepository
internal import LiteVaultSystem

extension Standby {
    /// Puts the keyring that a snapshot carries beside the destination, if there is none or one that a standby has put there. One that is not
    /// known, or that somebody has changed, stays: that is warned of.
    ///
    /// The keyring has to have the key of the destination, as it is or is about to be.
    ///
    /// - Throws: `io`, `noSpace`; `busy` if it is replaced by something else at the same time. The present one is known to be the standby's
    ///   then, if it was before.
    func keepKeyring(of snapshot: Snapshot) throws {
        guard let keyring = snapshot.keyring else { return }
        let path = destination + ".keys"
        let wanted = Hash256(of: keyring).hexadecimal
        let present = try withErrorContext(path: path) { try FileMetadata.ifExists(path: path) }
        let found = present == nil ? nil : Self.hash(of: path)
        let isFile = present?.kind == .regular
        if found == wanted {
            guard isFile, state.keyring != wanted || state.nextKeyring != nil else { return }
            (state.keyring, state.nextKeyring) = (wanted, nil)
            return try state.write(destination)
        }
        if let found, isFile, found == state.keyring || found == state.nextKeyring {
            state.keyring = found
        } else if present != nil {
            return warnOfKeyring(at: path, insteadOf: wanted)
        }
        // Known before it is there: after a crash it is one of the two.
        state.nextKeyring = wanted
        try state.write(destination)
        try withErrorContext(path: path) {
            let file = try ReplacementFile(destination: path)
            // Closed before it gets its name.
            do { try LocalFile(updating: file.path).write(keyring, at: 0) }
            try file.publish(replacing: present != nil, like: present)
        }
        (state.keyring, state.nextKeyring) = (wanted, nil)
        try state.write(destination)
    }

    /// Compares the keyring beside the destination with that of the newest snapshot, before the destination becomes the database: from then on
    /// it is the one that its snapshots carry.
    ///
    /// A newest snapshot that cannot be read, or that has a newer key than the destination, tells nothing about it.
    ///
    /// - Throws: as ``keepKeyring(of:)``; what the store throws.
    func settleKeyring() async throws {
        let newest: Snapshot
        do {
            newest = try await repository.snapshot(.latest, database: state.name)
        } catch let error as VaultError where error.isDamage || error.code == .noInput {
            return
        }
        guard newest.salt.hexadecimal == state.current?.salt else { return }
        try keepKeyring(of: newest)
    }

    /// The hash of what is at a path, also behind a link; nil if it cannot be read, or is too large for a keyring.
    fileprivate static func hash(of path: String) -> String? {
        guard let file = try? FileMetadata.resolvedPath(path),
            let bytes = try? LocalFile(reading: file).contents(upTo: RepositoryFormat.keyringBytes)
        else { return nil }
        return Hash256(of: bytes).hexadecimal
    }

    /// Warns once of each keyring that another one keeps from its place.
    private func warnOfKeyring(at path: String, insteadOf wanted: String) {
        guard reportedKeyring != wanted else { return }
        reportedKeyring = wanted
        warnings.append(
            RepositoryWarning(
                .notice, .keyRejected, path: path,
                message: "stays, although the newest snapshot carries another keyring: it may not open the copy",
                advice: .text(
                    "If it is not a newer one of the same database, move it away: the next snapshot, or a promotion, puts its own there."
                )))
    }
}

extension Repository {
    /// The warning of a keyring beside a standby whose interrupted promotion is completed, if the newest snapshot carries another one; nil
    /// otherwise, or without a state. Nothing is changed: the database may be in use.
    ///
    /// - Throws: what the store throws.
    func keyringWarning(_ state: StandbyState?, _ destination: String) async throws -> RepositoryWarning? {
        guard let state else { return nil }
        let newest: Snapshot
        do {
            newest = try await snapshot(.latest, database: state.name)
        } catch let error as VaultError where error.isDamage || error.code == .noInput {
            return nil
        }
        let path = destination + ".keys"
        guard newest.salt.hexadecimal == state.current?.salt, let keyring = newest.keyring,
            access(path, F_OK) == 0, Standby.hash(of: path) != Hash256(of: keyring).hexadecimal
        else { return nil }
        return RepositoryWarning(
            .notice, .keyRejected, path: path,
            message: "is not the keyring that the newest snapshot carries: it may not open the database",
            advice: .text(
                "Make sure that it does, because later snapshots carry it. A restore of the newest snapshot has the other one."
            ))
    }
}
