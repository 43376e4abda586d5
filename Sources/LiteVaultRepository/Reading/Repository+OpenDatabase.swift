internal import LiteVaultCapture
public import LiteVaultCipher
internal import LiteVaultSystem

extension Repository {
    /// Opens a database in the repository for reading, without restoring it.
    ///
    /// It fetches a part of the block map and the first blocks; ``SnapshotDatabase/read(_:)`` fetches others where it needs them.
    /// This works with every store, and with sealed repositories.
    ///
    /// For a state after the snapshot (``SnapshotSelection/latest`` and ``SnapshotSelection/at(_:)`` of a followed database) the segments
    /// that lead to it are read whole, as by a restore, into the spool directory: ciphertext of an encrypted database, plaintext of
    /// another one. The file has no name once the database is open. Choose a snapshot by its identifier to read that alone.
    ///
    /// A snapshot that is read is not protected from retention: pruning deletes what it needs after a grace period of one day at the
    /// earliest, and reading fails with `missing` then.
    ///
    /// - Parameters:
    ///   - selection: the state to read.
    ///   - database: the database's name; required if the repository has several.
    ///   - key: the key that the database had at that time; nil for a plaintext database.
    ///   - settings: the settings that it was encrypted with.
    ///   - options: how much memory may be used.
    ///   - warning: called with each problem in the repository that does not affect the state.
    /// - Throws: `VaultError` `noInput` if there is no such state; `damaged` if a block or segment that is needed is missing or
    ///   damaged; `keyRejected` or `wrongKind` if the key does not open the database; `unsupported` if segments have more than a million
    ///   different pages: restore that state; `busy` if retention keeps removing what was selected; `io`, `noSpace`.
    public func openDatabase(
        _ selection: SnapshotSelection = .latest, database: String? = nil, key: DatabaseKey? = nil,
        settings: CipherSettings = .init(), options: ReadingOptions = .init(),
        warning: (RepositoryWarning) -> Void = { _ in }
    ) async throws -> SnapshotDatabase {
        let image = try await image(selection, database: database, options: options, warning: warning)
        return try await withTaskCancellationHandler {
            do {
                return try await SnapshotDatabase.onThread {
                    try SnapshotDatabase(image, key: key, settings: settings)
                }
            } catch {
                throw await image.explanation(of: error)
            }
        } onCancel: {
            image.cancel()
        }
    }

    /// The bytes of a database, for ``SnapshotDatabase/init(_:key:settings:)``. No block is read yet.
    ///
    /// - Throws: as ``openDatabase(_:database:key:settings:options:warning:)``.
    package func image(
        _ selection: SnapshotSelection, database: String?, options: ReadingOptions = .init(),
        warning: (RepositoryWarning) -> Void = { _ in }
    ) async throws -> SnapshotImage {
        try await withPlan(selection, database, warning) { plan in
            let pages = try await pages(of: plan.row, asFarAsWhole: plan.takesLess)
            return try SnapshotImage(plan.snapshot, pages, in: self, options)
        }
    }

    /// The pages that segments have, and the time of the last one; nil if there are none.
    private func pages(
        of row: SegmentChain, asFarAsWhole: Bool
    ) async throws -> (content: SegmentPages, until: Date)? {
        guard !row.segments.isEmpty else { return nil }
        let file = try ReplacementFile.temporary("pages-" + PackID().hexadecimal, in: workDirectory())
        defer { file.discard() }
        // The file has to exist, and be empty.
        var joiner = try SegmentJoiner(into: file.path, byteLimit: .max)
        let count = try await forEachSegment(of: row, asFarAsWhole: asFarAsWhole) { name, segment in
            do { try joiner.append(segment) } catch let error as VaultError where error.code == .unsupported {
                throw VaultError(
                    .unsupported, "the followed log has too many pages to be read in place", path: store.location,
                    remedy: "Restore that state, or read a later snapshot.", cause: error)
            } catch let error as VaultError where error.code == .conflict {
                throw VaultError(.damaged, error.message, path: name.object, cause: error)
            }
        }
        guard count > 0 else { return nil }
        return (try SegmentPages(joiner, at: file.path), row.date(through: count))
    }
}
