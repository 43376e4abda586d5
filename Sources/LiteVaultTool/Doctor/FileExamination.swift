internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultSystem

/// Examines the local files that backups and restores need. Everything is only read.
struct FileExamination {
    // MARK: Databases

    struct Database {
        let path: String
        /// Bytes.
        let size: Int64
        let isPlaintext: Bool

        /// Whether the database can be stored.
        ///
        /// - Parameter allowsPlaintext: whether plaintext is allowed, or the repository encrypts it.
        func isStorable(allowsPlaintext: Bool, into findings: inout Findings) -> Bool {
            if !isPlaintext || allowsPlaintext { return true }
            findings.problem(
                .database, SourceProblem.notEncrypted, path: path,
                remedy:
                    "Encrypt it ('litevault encrypt'), use a sealed repository ('litevault init --sealed', 'litevault upgrade'), or allow "
                    + "plaintext (--allow-plaintext, 'allow-plaintext: true' of the job).")
            return false
        }
    }

    /// Examines a database.
    ///
    /// - Returns: nil if it cannot be backed up.
    static func database(_ path: String, into findings: inout Findings) -> Database? {
        do {
            try Preflight.requireSource(path)
            guard access(path, R_OK) == 0 else {
                findings.problem(
                    .database, "this user may not read it", path: path,
                    remedy: "Run the backup as its owner, or allow its group to read it.")
                return nil
            }
            guard canBeLocked(path, into: &findings) else { return nil }
            let kind = try DatabaseFile(path).kind()
            switch kind {
            case .encryptedOrUnknown, .plaintextHeader, .plain: break
            case .empty:
                findings.problem(
                    .database, SourceProblem.isEmpty, path: path,
                    remedy: "If it should have content, restore it from a snapshot; otherwise remove or exclude it.")
                return nil
            case .notADatabase: throw Failure.notADatabase(path)
            }
            return Database(path: path, size: Preflight.size(path) ?? 0, isPlaintext: kind == .plain)
        } catch {
            findings.problem(.database, error, path: path)
            return nil
        }
    }

    /// Whether this user may take the locks of a backup: with a log, a read mark in the `-shm` file beside it, which is created if
    /// there is none.
    private static func canBeLocked(_ path: String, into findings: inout Findings) -> Bool {
        let file = LocalDirectory.resolved(path)
        guard access(file + "-wal", F_OK) == 0 else { return true }
        let index = file + "-shm"
        let isThere = access(index, F_OK) == 0
        guard isThere ? access(index, R_OK | W_OK) != 0 : access(LocalDirectory.parent(of: file), W_OK | X_OK) != 0
        else {
            return true
        }
        // On a medium that is read-only for everybody there is nobody to keep away.
        if errno == EROFS, access(file + "-wal", W_OK) != 0, errno == EROFS { return true }
        findings.problem(
            .database,
            "this user may not \(isThere ? "write to" : "create") its -shm file, in which a backup locks the log",
            path: path,
            remedy: "Run the backup as its owner, or let its group write to the file, and to its -wal and -shm.")
        return false
    }

    // MARK: Leftovers

    /// Finds temporary files of operations that were interrupted.
    ///
    /// - Parameters:
    ///   - check: what they are called in results.
    ///   - remedy: what removes them.
    static func leftovers(
        in directory: String, _ check: Finding.Check, remedy: String, into findings: inout Findings
    ) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        for name in names.sorted() {
            guard let temporary = TemporaryName(parsing: name) else { continue }
            let path = "\(directory)/\(name)"
            let size = Format.size(Preflight.size(path) ?? 0)
            let owner = temporary.owner.process
            switch temporary.owner.state {
            case .alive where Platform.isStopped(owner):
                findings.warning(
                    check, "belongs to process \(owner), which is stopped (\(size))", path: path,
                    remedy: "Resume it (kill -CONT \(owner)) or terminate it.")
            case .alive: break
            case .dead:
                findings.warning(
                    check, "was left by an operation that was interrupted (\(size))", path: path, remedy: remedy)
            case .unknown:
                findings.warning(
                    check, "belongs to a process of another boot, machine or container (\(size))", path: path,
                    remedy: "If no such process uses it: " + remedy)
            }
        }
    }

    // MARK: Space

    /// Compares the free space of a directory with what a restore there needs.
    static func restoreSpace(_ needed: Int64, in directory: String, into findings: inout Findings) {
        guard let free = free(directory, .space, into: &findings) else { return }
        let text = "\(Format.size(free)) free, and restoring the largest database needs \(Format.size(needed))"
        if free < needed {
            findings.problem(
                .space, text, path: directory, remedy: "Free space there, or restore to another file system.")
        } else {
            findings.ok(.space, text, path: directory)
        }
    }

    /// Compares the free space for files that wait to be stored with what may wait.
    ///
    /// - Parameter needed: the largest amount of waiting data in bytes.
    static func spoolSpace(_ needed: Int64, in directory: String, into findings: inout Findings) {
        guard let free = free(directory, .spool, into: &findings) else { return }
        let text = "\(Format.size(free)) free for data that waits to be stored, which may be \(Format.size(needed))"
        let remedy = "Free space there, or name another --spool-directory."
        if free < 64 << 20 {
            findings.problem(.spool, text, path: directory, remedy: remedy)
        } else if free < needed {
            findings.warning(.spool, text, path: directory, remedy: remedy)
        } else {
            findings.ok(.spool, text, path: directory)
        }
    }

    /// The free bytes of the file system of a directory, or of its nearest parent that exists.
    private static func free(_ directory: String, _ check: Finding.Check, into findings: inout Findings) -> Int64? {
        let existing = existingParent(directory)
        if let kind = try? FileMetadata(path: existing, followingLinks: true).kind, kind != .directory {
            findings.problem(
                check, "\(existing) is not a directory", path: directory,
                remedy: "Find out what replaced it, and remove it; or name another directory.")
            return nil
        }
        do {
            return Int64(clamping: try VolumeSpace(path: existing).available)
        } catch {
            findings.problem(
                check, "the free space is unknown: \(error)", path: directory,
                remedy: "Check that its file system is mounted.")
            return nil
        }
    }

    /// The path, or the nearest directory above it that exists.
    static func existingParent(_ path: String) -> String {
        var path = path
        while path != "/", path != ".", !path.isEmpty, access(path, F_OK) != 0 {
            path = LocalDirectory.parent(of: path)
        }
        return path.isEmpty ? "/" : path
    }

    // MARK: Permissions

    /// Warns if other users may read or change a file.
    ///
    /// - Returns: whether they may not.
    @discardableResult
    static func privacy(
        _ path: String, _ check: Finding.Check, forbidding bits: UInt16, into findings: inout Findings
    ) -> Bool {
        // A key may come from a pipe.
        guard let file = try? FileMetadata(path: path, followingLinks: true), file.kind == .regular else { return true }
        let open = file.mode & bits
        guard open != 0 else { return true }
        let mode = String(file.mode & 0o777, radix: 8)
        findings.warning(
            check, "other users can \(open & 0o022 != 0 ? "change" : "read") it (mode \(mode))", path: path,
            remedy: bits & 0o044 != 0 ? "Run 'chmod 600' on it." : "Run 'chmod go-w' on it.")
        return false
    }
}
