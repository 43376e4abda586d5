internal import LiteVaultCapture
internal import LiteVaultRepository
internal import LiteVaultSystem

/// What is written.
enum SFTPContent {
    case bytes([UInt8])
    case file(LocalFile, Int64)

    var size: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, let size): size
        }
    }

    func read(_ range: Range<Int64>) throws -> [UInt8] {
        switch self {
        case .bytes(let bytes): Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
        case .file(let file, _): try file.read(at: range.lowerBound, count: range.count)
        }
    }
}

/// The names on the server of one write.
///
/// The new content is one file, which moves forward through these names and never back: so a writer that lost its connection removes it
/// from each in turn, and then knows that what the server may still do for the old connection fails.
private struct SFTPPaths {
    /// The content while it is written.
    let temporary: String
    let object: String
    let directory: String
    /// A directory of this writer, for the content alone.
    let own: String
    /// The lock of the object: whose directory has this name may replace the object.
    let lock: String
    let token: String
    private let start: String

    init(_ object: String) {
        self.object = object
        let slash = object.lastIndex(of: "/")
        let base = slash.map { object[object.index(after: $0)...] } ?? object[...]
        start = slash.map { String(object[...$0]) } ?? ""
        directory = LocalDirectory.parent(of: object)
        token = PackID().hexadecimal
        temporary = "\(start).\(token).tmp"
        own = "\(start).\(token).own"
        lock = "\(start).\(base).lock"
    }

    /// A name for the lock of a writer that stopped.
    var broken: String { "\(start).\(PackID().hexadecimal).broken" }
}

/// A write whose outcome is not known yet.
private struct SFTPPending {
    let paths: SFTPPaths
    let tag: ETag
}

extension SFTPStore {
    /// Writes an object. A write that was interrupted is looked up before it is repeated.
    func write(_ name: String, _ content: SFTPContent, _ condition: PutCondition) async throws -> ETag {
        try ObjectName.validate(name)
        var pending: SFTPPending?
        let deadline = Deadline(in: settings.lockTimeout)
        return try await link.perform(place(name)) { session in
            try await requireNoLinks(session, above: name)
            if let last = pending, try await isDone(session, last, name) { return last.tag }
            pending = nil
            var backoff = Backoff(0.01...0.5)
            while true {
                if let tag = try await attempt(session, name, content, condition, deadline, &pending) { return tag }
                // Another writer took the lock from this one: begin again.
                guard !deadline.isOver else { throw isLocked(name) }
                try await Task.sleep(for: .seconds(backoff.next()))
            }
        }
    }

    /// Makes sure that an earlier attempt does nothing any more, and finds out whether it had stored the object.
    private func isDone(_ session: SFTPSession, _ last: SFTPPending, _ name: String) async throws -> Bool {
        for path in [
            last.paths.temporary, "\(last.paths.own)/\(last.paths.token)", "\(last.paths.lock)/\(last.paths.token)",
        ] {
            do {
                try await session.remove(path)
                // A link to the object leaves this name, so only a later place says that nothing was stored.
                if path == last.paths.temporary { continue }
                session.removeDirectoryLater(LocalDirectory.parent(of: path))
                return false
            } catch let status as SFTPStatus where status.code == SFTPStatus.missing {}
        }
        session.removeDirectoryLater(last.paths.own)
        guard try await attributes(name, session)?.tag == last.tag else { return false }
        // The connection may have been lost before that.
        try await session.sync(directory: last.paths.directory)
        return true
    }

    /// Writes an object once.
    ///
    /// - Returns: nil if another writer broke the lock of this one.
    private func attempt(
        _ session: SFTPSession, _ name: String, _ content: SFTPContent, _ condition: PutCondition,
        _ deadline: Deadline, _ pending: inout SFTPPending?
    ) async throws -> ETag? {
        guard session.features.replaces || condition == .absent else {
            throw VaultError(
                .unsupported, "the server cannot replace a file by renaming (posix-rename@openssh.com)",
                path: place(name),
                remedy: "Use a server that can, such as OpenSSH.")
        }
        let paths = SFTPPaths(path(name))
        do {
            let tag = try await fill(session, paths.temporary, content, name)
            pending = SFTPPending(paths: paths, tag: tag)
            // Also without a condition: a new object needs no lock.
            if condition == .absent || condition == .none, try await link(session, paths) {
                pending = nil
                return tag
            }
            if condition == .absent {
                // It may be the object of this writer's own first attempt, in a process that was killed before it synced.
                try await session.sync(directory: paths.directory)
                throw VaultError(.conflict, "already exists", path: place(name))
            }
            guard try await replace(session, paths, name, condition, deadline) else {
                pending = nil
                return nil
            }
            pending = nil
            return tag
        } catch {
            // Before anything is removed.
            var isFull = false
            if let status = error as? SFTPStatus, status.code == SFTPStatus.failure {
                isFull = (try? await session.isFull(settings.path)) == true
            }
            // After a lost connection this is not sent, and the next attempt does it.
            session.removeLater(paths.temporary)
            guard isFull else { throw error }
            throw VaultError(
                .noSpace, "the disk of the server is full", path: place(name),
                remedy: "Free space there, or raise the quota, and try again.")
        }
    }

    /// Writes the content into a new file and flushes it, and returns the tag that the object will have.
    private func fill(
        _ session: SFTPSession, _ path: String, _ content: SFTPContent, _ name: String
    ) async throws -> ETag {
        let handle = try await makingParents(session, path) { try await session.create($0) }
        defer { session.close(handle) }
        let size = content.size
        _ = try await concurrently(Array(Self.pieces(0..<size, session.features.writeSize))) { piece in
            try await session.write(handle, at: piece.lowerBound, content.read(piece))
        }
        try await session.sync(handle)
        if size <= Self.hashedSize(name) { return Self.tag(hashing: try content.read(0..<size)) }
        guard let (stored, modified) = Self.sizeAndTime(try await session.attributes(of: handle)) else {
            throw Self.noTimes(place(name))
        }
        guard stored == size else {
            throw VaultError(
                .io, "the server stored \(stored) bytes of \(size)", path: place(name), remedy: "Try again.")
        }
        return Self.weakTag(stored, modified)
    }

    /// Publishes a new object; false if one exists.
    private func link(_ session: SFTPSession, _ paths: SFTPPaths) async throws -> Bool {
        do {
            if try await session.link(paths.temporary, to: paths.object) { session.removeLater(paths.temporary) }
        } catch let status as SFTPStatus where status.code == SFTPStatus.failure {
            guard try await session.attributes(paths.object) != nil else { throw status }
            return false
        }
        try await session.sync(directory: paths.directory)
        return true
    }

    /// Publishes the content in place of the object, under the object's lock.
    ///
    /// The lock is a directory that holds the content of one writer alone: the rename that publishes fails once the directory has lost
    /// its name, whatever that writer believes.
    ///
    /// - Returns: false if the lock was broken.
    private func replace(
        _ session: SFTPSession, _ paths: SFTPPaths, _ name: String, _ condition: PutCondition,
        _ deadline: Deadline
    ) async throws -> Bool {
        var place = paths.own
        do {
            try await session.makeDirectory(paths.own)
            try await session.replace(paths.temporary, with: "\(paths.own)/\(paths.token)")
            await settings.observer?("ready")
            guard try await acquire(session, paths, name, deadline) else {
                session.removeLater("\(paths.own)/\(paths.token)")
                session.removeDirectoryLater(paths.own)
                return false
            }
            place = paths.lock
            await settings.observer?("locked")
            if case .unchanged(let tag) = condition, try await !isCurrent(session, tag, name) {
                try await session.sync(directory: paths.directory)
                throw VaultError(.conflict, "was changed by another writer", path: self.place(name))
            }
            await settings.observer?("compared")
            do {
                try await session.replace("\(paths.lock)/\(paths.token)", with: paths.object)
            } catch let status as SFTPStatus where status.code == SFTPStatus.missing {
                return false
            }
            await settings.observer?("published")
        } catch {
            session.removeLater("\(place)/\(paths.token)")
            session.removeDirectoryLater(place)
            throw error
        }
        // It is empty now, and a directory that is not stays.
        session.removeDirectoryLater(paths.lock)
        try await session.sync(directory: paths.directory)
        return true
    }

    /// Whether the object has a tag, which may be the one of a listing.
    private func isCurrent(_ session: SFTPSession, _ tag: ETag, _ name: String) async throws -> Bool {
        guard let found = try await attributes(name, session) else { return false }
        return found.tag == tag
            || Self.weakTag(found.size, UInt32(clamping: Int64(found.modified.timeIntervalSince1970))) == tag
    }

    /// Renames the directory of this writer to the lock, which fails while another one has the name. The lock of a writer that stopped is
    /// broken after a time by the server's clock.
    ///
    /// - Returns: false if this took a good part of that time: then the content is to be written again, as its age is the lock's.
    /// - Throws: `VaultError` `busy` if the lock is not released in time.
    private func acquire(
        _ session: SFTPSession, _ paths: SFTPPaths, _ name: String, _ deadline: Deadline
    ) async throws -> Bool {
        var backoff = Backoff(0.01...0.5)
        let renewal = Deadline(in: settings.lockAge / 4)
        var failures = 0
        while true {
            guard !deadline.isOver else { throw isLocked(name) }
            do {
                try await session.replace(paths.own, with: paths.lock)
                return true
            } catch let status as SFTPStatus where status.code == SFTPStatus.failure {
                failures += 1
                if let held = try await session.attributes(paths.lock) {
                    failures = 0
                    let now = try await clock(session)
                    if let modified = held.modified, abs(now - Double(modified)) >= settings.lockAge.seconds {
                        try await breakLock(session, paths)
                    }
                }
                // Released in between, unless it happens again and again.
                guard failures < 20 else { throw status }
            } catch let status as SFTPStatus where status.code == SFTPStatus.missing {
                // Somebody removed the directory: this writer was stopped for long.
                return false
            }
            guard !renewal.isOver else { return false }
            try await Task.sleep(for: .seconds(backoff.next()))
        }
    }

    private func isLocked(_ name: String) -> VaultError {
        VaultError(
            .busy, "another writer has the lock of the object", path: place(name),
            remedy: "Try again. The lock of a writer that stopped expires after \(Int(settings.lockAge.seconds)) s.")
    }

    private func breakLock(_ session: SFTPSession, _ paths: SFTPPaths) async throws {
        let broken = paths.broken
        do { try await session.replace(paths.lock, with: broken) } catch let status as SFTPStatus
            where status.code == SFTPStatus.missing
        {
            return
        }
        await settings.observer?("broken")
        _ = try await discard(session, broken)
    }

    /// Removes a directory with the files in it.
    private func discard(_ session: SFTPSession, _ path: String) async throws -> Bool {
        let budget = ListingBudget(location, entries: settings.listedEntries)
        for entry in try await session.names(path, count: { try budget.spend($0) }) ?? [] {
            do { try await session.remove("\(path)/\(entry.name)") } catch is SFTPStatus {}
        }
        do { try await session.removeDirectory(path) } catch is SFTPStatus { return false }
        return true
    }
}

extension SFTPStore {
    /// Removes the files and locks of interrupted writes that are older than a day by the server's clock.
    @discardableResult
    public func removeLeftovers() async throws -> Int {
        try await link.perform(location) { session in
            let now = try await self.clock(session)
            let budget = ListingBudget(self.location, entries: self.settings.listedEntries)
            return try await self.removeLeftovers(session, self.settings.path, now, budget)
        }
    }

    private func removeLeftovers(
        _ session: SFTPSession, _ directory: String, _ now: Double, _ budget: ListingBudget, depth: Int = 0
    ) async throws -> Int {
        var (removed, below): (Int, [String]) = (0, [])
        for entry in try await session.names(directory, count: { try budget.spend($0, depth: depth) }) ?? [] {
            let path = directory == "/" ? "/\(entry.name)" : "\(directory)/\(entry.name)"
            guard entry.name.starts(withText: ".") else {
                if ObjectName.isValid(entry.name), entry.attributes.isDirectory { below.append(path) }
                continue
            }
            guard [".tmp", ".own", ".lock", ".broken"].contains(where: { entry.name.ends(withText: $0) }),
                let modified = entry.attributes.modified, now - Double(modified) >= settings.leftoverAge.seconds
            else { continue }
            if entry.attributes.isDirectory {
                // Renamed first, so that a writer that continues now cannot publish from it.
                let broken = SFTPPaths(path).broken
                do { try await session.replace(path, with: broken) } catch is SFTPStatus { continue }
                if try await discard(session, broken) { removed += 1 }
            } else if entry.attributes.isRegular {
                do { try await session.remove(path) } catch is SFTPStatus { continue }
                removed += 1
            }
        }
        let deeper = try await concurrently(below) {
            try await self.removeLeftovers(session, $0, now, budget, depth: depth + 1)
        }
        return deeper.reduce(removed, +)
    }
}
