internal import LiteVaultSystem
internal import LiteVaultCore

/// Replaces a database file with a new one while no other connection uses it.
///
/// Two locks together ensure that. SQLite's exclusive lock excludes connections that already have the file open. A
/// lease of the kernel shows that no other process has it open, and blocks processes that try; both are held past the
/// rename. Without them another connection could commit to the old file, which no longer has a name, and lose the
/// commit.
struct InPlaceReplacement {
    /// Whether the file was, and will be, in WAL mode.
    let walMode: Bool
    private let path: String
    private let original: FileMetadata
    private let source: Connection
    private let lease: FileLease

    /// Locks the file.
    ///
    /// - Parameter source: this process's only connection to the file.
    /// - Throws: ``VaultError`` `busy` when another connection uses the file, `unsupported` if the system has no
    ///   leases. The file is unchanged.
    init(of path: String, source: Connection) throws {
        self.path = path
        self.source = source
        (original, lease, walMode) = try withErrorContext(path: path) {
            let original = try FileMetadata(path: path)
            guard original.linkCount == 1 else {
                throw VaultError(
                    .usage, "The file has \(original.linkCount) hard links; the others would keep the old content",
                    remedy: "Remove the other hard links, or write a new file.")
            }
            let lease = try FileLease(path: path)
            let walMode = try source.pragma(.journalMode) == .wal
            guard try source.holdExclusively(walMode: walMode) else {
                throw VaultError(.busy, "The database is in use", remedy: "Close the other connections and try again.")
            }
            return (original, lease, walMode)
        }
    }

    /// Writes the new file, and replaces the old one with it.
    ///
    /// - Parameters:
    ///   - erasingOld: whether to overwrite the whole old file, which contained plaintext. Best effort: copies that the
    ///     storage keeps of overwritten blocks are beyond reach.
    ///   - checkingOld: whether to check the structure of the file first; false if `write` does that of a copy of its pages.
    ///   - kept: a copy of the old file, which gets its name before the new one, and loses it if the old one is not replaced.
    func replace(
        with new: NewDatabase, erasingOld: Bool = false, checkingOld: Bool = true, keeping kept: NewDatabase? = nil,
        _ write: () throws -> Void
    ) throws {
        do {
            if checkingOld { try withErrorContext(path: path) { try requireSound() } }
            try write()
            // SQLite does not sync the directory after it has removed the log, or the journal of a crash: a power failure could
            // bring that back beside the new file, and it would be replayed into it.
            try withErrorContext(path: path) { try DurableName.sync(path) }
            try new.publish(replacing: original) {
                if lease.isBroken {
                    throw VaultError(.busy, "Another process is opening the database", path: path, remedy: "Try again.")
                }
                try publish(kept)
            }
        } catch {
            throw failure(error, of: new, keeping: kept)
        }
        retireOld(erasing: erasingOld)
        // The new file is in place, whatever happens to the handle of the old one.
        try? source.close()
    }

    private func publish(_ kept: NewDatabase?) throws {
        do { try kept?.publish() } catch let error as VaultError where kept?.replacement.isPending == false {
            throw VaultError(
                error.code, "The copy of the original cannot be made durable, so \(path) was not replaced",
                path: error.path, remedy: error.remedy, cause: error)
        }
    }

    /// Ends a replacement that failed, and makes the old file what it was.
    ///
    /// - Returns: the error, with what is not as it was.
    private func failure(_ error: any Error, of new: NewDatabase, keeping kept: NewDatabase?) -> any Error {
        defer { lease.release() }
        var left: [String] = []
        if new.replacement.isPending {
            // The new files first: the journal mode needs space to change, and they may be what fills the disk. The engine may still have
            // one attached, which keeps its space, and detaches no file whose schema it cannot read: so it is emptied.
            try? new.replacement.removeContent()
            new.replacement.discard()
            if let kept, kept.replacement.isPending {
                kept.replacement.discard()
            } else if let kept, unlink(kept.destination) != 0 {
                left.append("a copy of \(path) is left as \(kept.destination)")
            }
            try? source.detach(AttachedCopy.schema)
            try? source.endHold(walMode: walMode)
            if walMode, (try? source.pragma(.journalMode)) != .wal {
                left.append("the journal mode of \(path) was WAL, and may be DELETE now")
            }
        } else if let kept {
            // After a power failure the name may refer to the old file again, whose bytes are the last resort.
            left.append("the original is kept as \(kept.destination)")
        }
        // One of the caller's stays what it is: that of a cancellation, for example.
        let known = error as? VaultError ?? (error as? DatabaseError).map { VaultError($0, path: path) }
        guard let error = known, !left.isEmpty else { return error }
        return VaultError(
            error.code, ([error.message] + left).joined(separator: "; "), path: error.path, remedy: error.remedy,
            cause: error.cause)
    }

    private func requireSound() throws {
        guard case .broken(let complaint) = try source.structure("quick_check(1)") else { return }
        throw VaultError(
            .damaged, "The database is damaged, and replacing it would lose what could still be saved: \(complaint)",
            remedy: "Verify it, or copy it into a new file.")
    }

    /// A process that looked the name up before the rename, and waits for the lease, gets the old file: it must not use
    /// that as the database. Without a first page it cannot.
    private func retireOld(erasing: Bool) {
        if erasing || lease.isBroken {
            try? source.withHandle { handle in
                let file = try EngineFile(connection: handle, path: path)
                try file.overwrite(upTo: erasing ? file.size() : min(65536, file.size()))
            }
        }
        lease.release()
    }
}
