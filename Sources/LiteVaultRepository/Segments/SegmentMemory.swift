internal import LiteVaultCapture
internal import LiteVaultCipher
internal import LiteVaultSystem

/// A mark in the form that the follower's lease carries: sealed, as text.
private struct SegmentNote: CheckedDocument {
    var type = "newest-segment"
    var repository: String
    var database: String
    var newest: SegmentMark

    func check() throws(OutOfLimits) { try newest.check() }
}

extension Repository {
    // MARK: In the repository

    /// The text for a follower's lease, with a seal of its own, as leases have none.
    func note(_ mark: SegmentMark, _ database: String) throws -> String {
        let note = SegmentNote(repository: config.id, database: database, newest: mark)
        return String(decoding: try SealedDocument.seal(note, key: key).bytes, as: UTF8.self)
    }

    /// The mark in the text of a lease.
    ///
    /// - Throws: `VaultError` `damaged` if it is not authentic.
    func mark(note: String, _ database: String) throws -> SegmentMark {
        let name = RepositoryFormat.lease(Lease.follower + database)
        let found = try SealedDocument(whole: Array(note.utf8), name: name)
            .value(SegmentNote.self, key: key, name: name)
        guard found.type == "newest-segment", found.repository == config.id, found.database == database
        else { throw VaultError.swapped(name) }
        return found.newest
    }

    /// The mark in the follower's lease; nil if nothing ever followed the database, or if the lease is damaged.
    private func notedMark(_ database: String) async throws -> SegmentMark? {
        do {
            let note = try await Lease.holder(RepositoryFormat.lease(Lease.follower + database), store)?.note
            return try note.map { try mark(note: $0, database) }
        } catch let error as VaultError where error.isDamage {
            // Damage must not stop a snapshot; checks report it.
            return nil
        }
    }

    // MARK: On this machine

    private func markPath(_ database: String) -> String? {
        headDirectories.first.map { "\($0)/\(database).segments" }
    }

    /// The newest segment that this machine has seen; nil if it has seen none.
    ///
    /// - Throws: `VaultError` `damaged` if the file is not valid.
    func rememberedMark(_ database: String) throws -> SegmentMark? {
        guard let path = markPath(database) else { return nil }
        return try SegmentMark.stored(at: path, damage: ("does not name the newest segment", "Remove the file."))
    }

    /// Remembers a segment as the newest, unless a newer one is remembered.
    func remember(_ mark: SegmentMark, _ database: String) throws {
        guard local.remembers, let path = markPath(database) else { return }
        try changingMemory(database, in: LocalDirectory.parent(of: path)) {
            try withErrorContext(path: path) {
                // A file that cannot be read is replaced.
                if let known = try? rememberedMark(database), known.sequence >= mark.sequence { return }
                try mark.store(at: path)
            }
        }
    }

    /// Remembers a segment that was found in the repository, once it is durable there: as ``rememberNewest(_:)`` does with snapshots.
    func rememberFound(_ mark: SegmentMark, _ database: String) {
        if let known = try? rememberedMark(database), known.sequence >= mark.sequence { return }
        guard local.remembers, (try? store.settle([RepositoryFormat.segments(database)])) != nil else { return }
        try? remember(mark, database)
    }

    /// The newest segment for a snapshot's manifest: the one that this machine remembers, otherwise that of the
    /// previous manifest. It costs no request.
    func newestMark(_ database: String, previous: Manifest?) -> SegmentMark? {
        // A file that cannot be read must not stop a snapshot; checks report it.
        let known = try? rememberedMark(database)
        return [known, previous?.newestSegment].compactMap(\.self).max { $0.sequence < $1.sequence }
    }

    /// The newest segment before a snapshot by a process that does not follow the database.
    ///
    /// A follower may have stored segments that this machine's memory does not have: it has a memory of its own, or this machine was
    /// installed again. If its log was removed since, nothing else tells that they precede the snapshot. So they are listed, behind the one
    /// that the follower's lease notes: a segment may be missing, and still be known. No snapshot has to show that the database was
    /// followed: a follower that continues the log of an earlier snapshot stores none of its own.
    ///
    /// - Parameter previous: the newest readable manifest.
    func newestMark(_ database: String, listedAfter previous: Manifest?) async throws -> SegmentMark? {
        let known = [newestMark(database, previous: previous), try await notedMark(database)]
            .compactMap(\.self).max { $0.sequence < $1.sequence }
        let first = (known?.sequence ?? 0) + 1
        guard RepositoryFormat.sequences.contains(first) else { return known }
        let names = try await segments(database, first...RepositoryFormat.sequences.upperBound)
        // Damage must not stop a snapshot either: the one before it is the next best.
        for name in names.suffix(3).reversed() {
            do {
                let mark = try await segment(name, database).mark
                rememberFound(mark, database)
                return mark
            } catch let error as VaultError where error.isDamage || error.code == .missing {
                continue
            }
        }
        return known
    }
}

/// A mark that something other than its log has written to a followed database, until the follower has begun a run with a snapshot.
///
/// The file as it is now is not the one that the newest snapshot and the segments behind it lead to, although its log may continue from there: a
/// follower must not continue there, and a snapshot must not conclude from the log what has changed.
package struct OverwrittenMark: CheckedDocument, Sendable, Equatable {
    var version = 1
    /// Which one it is.
    var id: String

    package func check() throws(OutOfLimits) {
        try require("version", version, in: 1...1)
        try require("id", id, digits: 32)
    }
}

extension Repository {
    /// The mark, and a copy of it once a snapshot has read all of the database since. They are two files, as two processes write them.
    private func overwrittenPaths(_ database: String) -> (mark: String, read: String)? {
        headDirectories.first.map { ("\($0)/\(database).overwritten", "\($0)/\(database).overwritten-read") }
    }

    /// The mark of a database; nil if there is none. One that cannot be read is one.
    package func overwritten(_ database: String) -> OverwrittenMark? {
        guard let paths = overwrittenPaths(database) else { return nil }
        do {
            return try OverwrittenMark.stored(at: paths.mark)
        } catch {
            return OverwrittenMark(id: String(repeating: "0", count: 32))
        }
    }

    /// Remembers that something other than its log has just written to a database.
    package func rememberOverwritten(_ database: String) throws {
        guard local.remembers, let paths = overwrittenPaths(database) else { return }
        try LocalDirectory.create(LocalDirectory.parent(of: paths.mark))
        try OverwrittenMark(id: PackID().hexadecimal).store(at: paths.mark)
    }

    /// Forgets a mark, as a run of the follower has begun with a snapshot. A later one stays.
    package func forget(_ mark: OverwrittenMark, _ database: String) {
        guard local.remembers, let paths = overwrittenPaths(database), overwritten(database) == mark else { return }
        for path in [paths.mark, paths.read] { unlink(path) }
    }

    /// The mark of a database of which no snapshot has read everything since.
    func unreadOverwritten(_ database: String) -> OverwrittenMark? {
        guard let mark = overwritten(database), let paths = overwrittenPaths(database) else { return nil }
        return (try? OverwrittenMark.stored(at: paths.read)) == mark ? nil : mark
    }

    /// Remembers that a snapshot has read everything since a mark. Without that, the next one does, too.
    func rememberRead(_ mark: OverwrittenMark, _ database: String) {
        guard local.remembers, let paths = overwrittenPaths(database) else { return }
        try? mark.store(at: paths.read)
    }
}
