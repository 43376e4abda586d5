internal import Crypto
package import LiteVaultBackup
package import LiteVaultSystem

/// Remembers which files the newest snapshots of a job's databases were taken from, so that a database whose files are untouched
/// needs no new one (`unchanged: skip`).
///
/// The memory is a file beside the job's state, and only a shortcut: without it, or if it is damaged or belongs to another repository,
/// each database gets a snapshot. See decision 0047.
package final class UnchangedDatabases: Sendable {
    /// Bytes of SHA-256 that are kept of each value.
    private typealias Digest = [UInt8]

    private struct Entry {
        /// The files when the snapshot began.
        let mark: Digest
        /// The name of the snapshot's manifest.
        let object: Digest
        /// When the database was last read as a whole, in seconds since 1970.
        let wholeRead: Int64
    }

    private struct Content {
        var entries: [Digest: Entry] = [:]
        /// When the snapshots were last seen in the repository, in seconds since 1970.
        var confirmed: Int64 = 0
        var isModified = false
    }

    private static let magic = Array("LVunch".utf8) + [0, 1]
    private static let digestBytes = 16
    private static let headBytes = 8 + 16 + 8
    private static let entryBytes = 16 + 16 + 16 + 8
    /// A million databases.
    private static let byteLimit = 64 << 20
    /// In seconds: how long a snapshot counts as stored without another look at the repository's list.
    private static let longestTrust = 86_400.0

    private let path: String
    private let repository: Digest
    private let fullRead: Duration
    private let content: Locked<Content>

    /// Reads the memory of a job.
    ///
    /// - Parameters:
    ///   - repository: the identifier of the repository: the memory of another one does not count.
    ///   - fullRead: the time after which a database is read as a whole, and so gets a snapshot.
    package init(_ path: String, repository: String, fullRead: Duration) {
        self.path = path
        self.repository = Self.digest(Array(repository.utf8))
        self.fullRead = fullRead
        // A memory that cannot be read costs snapshots, and the next one replaces it.
        let bytes = (try? LocalFile(reading: path).contents(upTo: Self.byteLimit)) ?? []
        content = Locked(Self.parse(bytes, repository: self.repository) ?? Content())
    }

    /// The number of databases that are remembered.
    package var count: Int { content.withLock { $0.entries.count } }

    /// Whether the files of a database are those of its newest snapshot, and it is not time to read it as a whole.
    package func isUnchanged(_ path: String, named name: String, now: Date = Date()) -> Bool {
        let key = Self.key(path, name)
        guard let entry = content.withLock({ $0.entries[key] }) else { return false }
        // A time in the future was dated by a wrong clock.
        let age = now.timeIntervalSince1970 - Double(entry.wholeRead)
        guard 0..<Self.interval(fullRead, key).seconds ~= age else { return false }
        return SourceMark(path, before: now)?.digest == entry.mark
    }

    /// The time after which a database is read as a whole: six to seven sevenths of that of the job, so that not all databases which
    /// were first stored by the same run are read by the same run again.
    package func fullReadInterval(_ path: String, named name: String) -> Duration {
        Self.interval(fullRead, Self.key(path, name))
    }

    /// Remembers a stored snapshot.
    ///
    /// - Parameter mark: the files of the database before the snapshot began; nil if they had changed shortly before.
    package func record(_ snapshot: Snapshot, of path: String, named name: String, _ mark: SourceMark?) {
        let entry = mark.map {
            Entry(
                mark: $0.digest, object: Self.digest(Array(snapshot.object.utf8)),
                wholeRead: Int64(snapshot.lastWholeRead.timeIntervalSince1970))
        }
        content.withLock {
            $0.entries[Self.key(path, name)] = entry
            $0.isModified = true
        }
    }

    /// Forgets snapshots that are no longer in the repository, if that was not looked at for a day.
    ///
    /// - Parameter list: the names of all manifests.
    package func confirm(now: Date = Date(), _ list: () async throws -> [String]) async throws {
        let time = Int64(now.timeIntervalSince1970)
        let isDue = content.withLock { content in
            !content.entries.isEmpty && !(0..<Self.longestTrust ~= Double(time) - Double(content.confirmed))
        }
        guard isDue else { return }
        let present = Set(try await list().map { Self.digest(Array($0.utf8)) })
        content.withLock { content in
            content.entries = content.entries.filter { present.contains($0.value.object) }
            content.confirmed = time
            content.isModified = true
        }
    }

    /// Replaces the file if something has changed. Databases that the job no longer has are left out.
    ///
    /// - Throws: `VaultError` `noSpace`, `io`. The file is as before then, which is right: what it says is compared with the databases' files.
    package func save(keeping databases: [(path: String, name: String)], now: Date = Date()) throws {
        let keys = Set(databases.map { Self.key($0.path, $0.name) })
        let bytes: [UInt8]? = content.withLock { content in
            let known = content.entries.filter { keys.contains($0.key) }
            guard content.isModified || known.count != content.entries.count else { return nil }
            // What was stored just now needs no confirmation.
            if content.entries.isEmpty || content.confirmed == 0 {
                content.confirmed = Int64(now.timeIntervalSince1970)
            }
            content.entries = known
            content.isModified = false
            return Self.bytes(content, repository: repository)
        }
        guard let bytes else { return }
        try LocalDirectory.create(LocalDirectory.parent(of: path))
        try LocalFile.replace(path, with: bytes)
    }

    private static func interval(_ fullRead: Duration, _ key: Digest) -> Duration {
        fullRead - fullRead * Int(key.first ?? 0) / (7 * 256)
    }

    private static func key(_ path: String, _ name: String) -> Digest {
        digest(Array(path.utf8) + [0] + Array(name.utf8))
    }

    private static func digest(_ bytes: [UInt8]) -> Digest { Array(SHA256.hash(data: bytes).prefix(digestBytes)) }

    private static func bytes(_ content: Content, repository: Digest) -> [UInt8] {
        var bytes = magic + repository + word(content.confirmed)
        bytes.reserveCapacity(headBytes + content.entries.count * entryBytes + 32)
        for (key, entry) in content.entries {
            bytes += key
            bytes += entry.mark
            bytes += entry.object
            bytes += word(entry.wholeRead)
        }
        return bytes + Array(SHA256.hash(data: bytes))
    }

    /// Nil if the bytes are not the memory of a job with this repository.
    private static func parse(_ bytes: [UInt8], repository: Digest) -> Content? {
        guard bytes.count >= headBytes + 32, (bytes.count - headBytes - 32) % entryBytes == 0 else { return nil }
        let end = bytes.count - 32
        guard Array(SHA256.hash(data: bytes[..<end])) == Array(bytes[end...]), Array(bytes[..<8]) == magic,
            Array(bytes[8..<24]) == repository
        else { return nil }
        var content = Content()
        content.confirmed = word(bytes[24..<32])
        content.entries.reserveCapacity((end - headBytes) / entryBytes)
        for start in stride(from: headBytes, to: end, by: entryBytes) {
            content.entries[Array(bytes[start..<start + 16])] = Entry(
                mark: Array(bytes[start + 16..<start + 32]), object: Array(bytes[start + 32..<start + 48]),
                wholeRead: word(bytes[start + 48..<start + 56]))
        }
        return content
    }

    /// Eight bytes, the lowest first.
    private static func word(_ value: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> Int64 {
        bytes.reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
    }
}

/// The files of a database as far as a snapshot depends on them: the database, its write-ahead log and its keyring, by device, inode,
/// size and times.
package struct SourceMark: Sendable {
    /// A hash of it all.
    fileprivate let digest: [UInt8]

    /// In seconds. A write in the same tick of the kernel's clock as the one before would not change a time.
    private static let settling = 2.0

    /// Marks a database as it is now; nil if there is none, if it has a rollback journal, or if one of its files was changed in the
    /// last two seconds or is dated in the future.
    ///
    /// - Parameter path: the database. SQLite has the log and the journal beside the file that a link leads to; a keyring may be beside either.
    package init?(_ path: String, before now: Date = Date()) {
        guard let file = try? FileMetadata.resolvedPath(path) else { return nil }
        var values: [Int64] = []
        var names = ["", "-wal", "-journal", ".keys"].map { (suffix: $0, path: file + $0) }
        if file != path { names.append((suffix: ".keys", path: path + ".keys")) }
        for (suffix, name) in names {
            var status = stat()
            guard stat(name, &status) == 0 else {
                guard errno == ENOENT, !suffix.isEmpty else { return nil }
                values.append(-1)
                continue
            }
            if suffix == "-journal" { return nil }
            let times = [status.modificationTime, status.statusChangeTime]
            // An application that opens a database in WAL mode creates an empty log, which means the same as none.
            if suffix == "-wal", status.st_size == 0 {
                values.append(-1)
                continue
            }
            let limit = now.timeIntervalSince1970 - Self.settling
            guard times.allSatisfy({ Double($0.tv_sec) + Double($0.tv_nsec) / 1e9 < limit }) else { return nil }
            values += [
                Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino),
                Int64(status.st_size),
            ]
            values += times.flatMap { [Int64($0.tv_sec), Int64($0.tv_nsec)] }
        }
        digest = Array(values.withUnsafeBytes { SHA256.hash(data: $0) }.prefix(16))
    }
}
