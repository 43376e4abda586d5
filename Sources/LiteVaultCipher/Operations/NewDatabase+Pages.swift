internal import CEngineSupport
internal import LiteVaultCore
internal import LiteVaultSystem

// Copies that have the pages of the source: under the same key byte by byte, under another through the engine.

extension NewDatabase {
    /// Copies the bytes of a database under the same key, encrypted or not, and verifies the copy.
    ///
    /// The source is locked only while it is copied: the copy has the same bytes, so whatever is found in it is true of both.
    ///
    /// - Parameter source: an open connection to the file, outside of a transaction. As long as it is open, a log has an index
    ///   whose locks keep the log as it is.
    /// - Returns: whether structure and indexes were checked. They are not where the schema needs the database's application.
    /// - Throws: ``VaultError`` `damaged` when the database is not sound, `busy`, `noSpace` and others.
    func fillByBytes(
        of file: DatabaseFile, _ source: Connection, _ report: DatabaseFile.Progress.Report
    ) throws -> Bool {
        try reporting {
            let (size, hash) = try copyBytes(of: file, source, report)
            let copy = try open()
            try copy.prepareForOperation()
            try requireSame(copy, size, hash)
            guard try copy.contentSize() == size else {
                throw VaultError(
                    .damaged, "The file and its database have different lengths", path: file.path,
                    remedy: "Verify it, and restore a backup. Nothing was written under the destination's name.")
            }
            let isRead = try checkStructure(copy, report)
            let isProven = try proveIndexes(copy, report)
            try checkBytes(copy, isRead: isRead, report)
            try copy.close()
            return isRead && isProven
        }
    }

    /// - Returns: false if the schema needs a collation or function of the database's application.
    private func proveIndexes(_ copy: Connection, _ report: DatabaseFile.Progress.Report) throws -> Bool {
        do {
            return try IndexProof(copy).proveAll { try report(.init(.checking, $0, of: nil, .rows)) }
        } catch let error as DatabaseError where error.needsItsApplication {
            // A column of one of its tables is computed by a function of its application.
            return false
        }
    }

    private func copyBytes(
        of file: DatabaseFile, _ source: Connection, _ report: DatabaseFile.Progress.Report
    ) throws -> (size: Int64, hash: UInt64) {
        for _ in 0..<4 {
            // An earlier attempt may have copied a longer state.
            try withErrorContext(path: destination, creating: true) { try replacement.removeContent() }
            let (copied, isUnchanged) = try source.reading {
                let image = try ReadOnlyImage(path: file.path, lockTimeout: file.lockTimeout)
                let size = try source.contentSize()
                let copied = try image.copy(limit: size) { bytes, offset in
                    try withErrorContext(path: destination, creating: true) { try replacement.write(bytes, at: offset) }
                    try report(.init(.copying, offset + Int64(bytes.count), of: max(size, offset), .bytes))
                }
                return (copied, image.isUnchanged)
            }
            if isUnchanged { return copied }
        }
        throw VaultError(.busy, "The database was changed while it was read", path: file.path, remedy: "Try again.")
    }

    /// Reads the copy through the engine's file object, and compares its hash with that of the source.
    private func requireSame(_ copy: Connection, _ size: Int64, _ hash: UInt64) throws {
        try copy.withHandle { handle in
            let file = try EngineFile(connection: handle, path: destination)
            var (offset, found): (Int64, UInt64) = (0, 0)
            while offset < size {
                let bytes = try file.read(at: offset, count: Int(min(1 << 20, size - offset)))
                guard !bytes.isEmpty else { break }
                found = bytes.withUnsafeBytes { lv_hash_bytes(found, $0.baseAddress, $0.count) }
                offset += Int64(bytes.count)
            }
            guard try file.size() == size, found == hash else {
                throw VaultError(
                    .internalFailure, "The copy has other bytes than its source", path: destination,
                    remedy: "The source is unchanged and the copy was not published. Verify the disk.")
            }
        }
    }

    /// Copies page by page (the backup API), and verifies the copy. Key and salt may differ, the settings may not.
    ///
    /// - Parameters:
    ///   - source: outside of a transaction. The copy is made in a read transaction: otherwise every commit of another
    ///     connection would restart it, and it might never end.
    ///   - unlocker: what the source was opened with; nil for a plaintext database.
    ///   - isSourceSound: whether the structure of the source was checked, and cannot have changed since. The same pages
    ///     with the same content then have the same structure.
    ///   - provesIndexes: whether the indexes are compared with their tables. A key that changes in place needs no proof: the old
    ///     file had the same pages.
    /// - Returns: whether everything was checked that was to be. It is not where the schema needs the database's application.
    @discardableResult
    func fillByPages(
        from source: Connection, _ unlocker: KeyUnlocker?, walMode: Bool, isSourceSound: Bool = false,
        provesIndexes: Bool = false, _ report: DatabaseFile.Progress.Report
    ) throws -> Bool {
        try reporting {
            var isProven = !provesIndexes
            let (copy, isRead) = try source.reading {
                let writer = try openForWriting()
                try copyPages(from: source, to: writer, report)
                guard try writer.integer("page_count") == source.integer("page_count") else {
                    throw VaultError(.internalFailure, "The copy is incomplete", path: destination)
                }
                try writer.close()
                let copy = try open()
                try copy.prepareForOperation()
                var isRead = false
                if try !comparePages(source, unlocker, copy, report) {
                    do {
                        try compare(source, copy, report)
                        (isRead, isProven) = (true, true)
                    } catch let error as DatabaseError where error.needsItsApplication {
                        // Rows that only the database's own application can read.
                    }
                }
                if !isSourceSound || !isRead, try checkStructure(copy, report) { isRead = true }
                if !isProven { isProven = try proveIndexes(copy, report) }
                return (copy, isRead)
            }
            try checkBytes(copy, isRead: isRead, report)
            // The header was copied with the first page, including the journal mode of a source that left WAL for an
            // exclusive lock.
            try finish(copy, walMode: walMode)
            return isRead && isProven
        }
    }

    /// Compares pages in plaintext; false where that is impossible, and nothing was compared. A log of the source would have to
    /// be read with its file.
    private func comparePages(
        _ source: Connection, _ sourceUnlocker: KeyUnlocker?, _ copy: Connection, _ report: DatabaseFile.Progress.Report
    ) throws -> Bool {
        guard let sourceUnlocker, let unlocker, try source.pragma(.journalMode) != .wal else { return false }
        return try source.withHandle { left in
            try copy.withHandle { right in
                let files = try (
                    EngineFile(connection: left, path: source.description),
                    EngineFile(connection: right, path: destination)
                )
                let decryptors = try (
                    PageDecryptor(files.0, key: sourceUnlocker.key, settings: sourceUnlocker.settings, source),
                    PageDecryptor(files.1, key: unlocker.key, settings: unlocker.settings, copy)
                )
                guard let comparator = PageComparator(decryptors.0, decryptors.1) else { return false }
                let pages = try copy.integer("page_count")
                try comparator.compare(pageCount: pages) { try report(.init(.comparing, $0, of: pages, .pages)) }
                return true
            }
        }
    }

    private func copyPages(
        from source: Connection, to copy: Connection, _ report: DatabaseFile.Progress.Report
    ) throws {
        let backup = try Backup(sourceConnection: source, targetConnection: copy)
        defer { backup.finish() }
        let deadline = Deadline(seconds: max(source.lockTimeoutSeconds, 1))
        while true {
            switch try Self.reportingDamage(of: source, { try backup.advance(pages: .limited(number: 512)) }) {
            case .done:
                try report(.init(.copying, Int64(backup.pageCount), of: Int64(backup.pageCount), .pages))
                return
            case .more:
                let total = Int64(backup.pageCount)
                try report(.init(.copying, total - Int64(backup.remainingPages), of: total, .pages))
            case .busy:
                guard !deadline.isOver else {
                    throw VaultError(.busy, "The database is locked", path: source.description)
                }
                SystemThread.sleep(seconds: 0.01)
            }
        }
    }
}
