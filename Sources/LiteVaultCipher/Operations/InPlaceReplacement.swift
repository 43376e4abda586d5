internal import DurableFile
internal import LiteVaultCore

/// Replaces a database file by a new one, while it is certain that nobody uses it.
///
/// Two things together make it certain. SQLite's exclusive lock keeps those out that come through SQLite and already
/// have the file open. A lease of the kernel tells that nobody has it open, and makes those wait that try; both are
/// held past the rename. Without them somebody could commit into the old file, which has no name any more, and lose it.
struct InPlaceReplacement {
    let path: String
    let original: FileMetadata
    let source: Connection
    /// Whether the file was, and is to be, in WAL mode.
    let walMode: Bool
    private let lease: FileLease

    /// Gets hold of the file.
    ///
    /// - Parameter source: this process's only connection to the file.
    /// - Throws: ``VaultError`` `busy` when anybody else uses the file, `unsupported` where there are no leases. The
    ///   file is as it was.
    init(of path: String, source: Connection) throws {
        self.path = path
        self.source = source
        (original, lease, walMode) = try VaultError.about(path) {
            let original = try FileMetadata(path: path)
            guard original.linkCount == 1 else {
                throw VaultError(
                    .usage, "The file has \(original.linkCount) names, and under the others it would stay as it is",
                    remedy: "Remove the other hard links, or write a new file.")
            }
            let lease = try FileLease(path: path)
            let walMode = source.journalMode == .wal
            do {
                if walMode { try Self.leaveWAL(source) }
                try source.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
            } catch {
                Self.giveBack(source, walMode: walMode)
                throw error
            }
            return (original, lease, walMode)
        }
    }

    /// The log belongs to the name, so it has to be empty and gone before another file gets the name.
    private static func leaveWAL(_ source: Connection) throws {
        guard try source.emptyLog() else {
            throw VaultError(.busy, "The database is in use", remedy: "Close the other connections and try again.")
        }
        try source.setJournalMode(.delete)
    }

    /// Writes the new file, and puts it in the place of the old one.
    ///
    /// - Parameters:
    ///   - erasingOld: Overwrites the whole old file, which held plaintext. Best effort: what the storage keeps of
    ///     overwritten blocks is beyond reach.
    ///   - beforeRename: What has to be done last, when nothing but the rename itself can fail any more.
    ///   - write: Fills and proves the new file.
    func replace(
        with new: NewDatabase, erasingOld: Bool = false, beforeRename: () throws -> Void = {},
        _ write: () throws -> Void
    ) throws {
        do {
            try VaultError.about(path) { try refuseDamaged() }
            try write()
            try new.publish(replacing: original) {
                if lease.isBroken {
                    throw VaultError(.busy, "Somebody is opening the database", path: path, remedy: "Try again.")
                }
                try beforeRename()
            }
        } catch let error as VaultError where (error.cause as? DurableFileError)?.reason == .durabilityUnknown {
            // After a power failure the name may stand for the old file again: its bytes are the last resort.
            lease.release()
            throw error
        } catch {
            Self.giveBack(source, walMode: walMode)
            lease.release()
            throw error
        }
        retireOld(erasing: erasingOld)
        // The new file is in place, whatever becomes of the handle on the old one.
        try? source.close()
    }

    private func refuseDamaged() throws {
        guard case .broken(let complaint) = try source.structure("quick_check(1)") else { return }
        throw VaultError(
            .damaged, "The database is damaged, and replacing it would lose what could be saved: \(complaint)",
            remedy: "Verify it, or copy it into a new file.")
    }

    /// Somebody who looked the name up before the rename, and waits for the lease, gets the old file: they must not
    /// take it for the database. Without a first page nobody does.
    private func retireOld(erasing: Bool) {
        if erasing || lease.isBroken {
            try? source.withHandle { handle in
                let file = try EngineFile(connection: handle, path: path)
                try file.overwrite(upTo: erasing ? file.size() : min(65536, file.size()))
            }
        }
        lease.release()
    }

    /// Leaves the file as it was found.
    private static func giveBack(_ source: Connection, walMode: Bool) {
        try? source.execute("PRAGMA locking_mode = NORMAL")
        _ = try? source.scalar("SELECT count(*) FROM sqlite_master")
        if walMode { _ = try? source.setJournalMode(.wal) }
    }
}
