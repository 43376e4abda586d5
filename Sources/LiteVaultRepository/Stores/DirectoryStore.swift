internal import Crypto
internal import LiteVaultCapture
internal import LiteVaultCipher
public import LiteVaultSystem

/// An object store in a directory: objects are files of mode 0600 in directories of mode 0700.
///
/// An object is written to a temporary file, synced and renamed, and its directory is synced. Conditions hold among all
/// processes that use the directory: a new object by a rename that does not replace, a changed object under an `flock`. That
/// lock is held briefly. If it is not released in time, for example by a stopped process, `VaultError` `busy` names the
/// holder.
///
/// The directory may be named by a symbolic link. Below it there are none: one in the place of a directory is `VaultError` `damaged`.
/// Objects are read, written, listed and removed in directories that are opened part by part, so that one made at the last moment
/// is not followed either; only those who open ``localPath(_:)`` and the spool files depend on nobody making one in between.
public final class DirectoryStore: ObjectStore {
    /// The directory's path.
    public let location: String
    private let lockTimeout: Duration

    /// Opens the store in the directory at `path`, which is created with the first object.
    ///
    /// - Parameter lockTimeout: how long to wait for the directory's lock; one minute by default.
    public init(_ path: String, lockTimeout: Duration = .seconds(60)) {
        self.lockTimeout = lockTimeout
        var trimmed = path
        while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
        location = trimmed
    }

    /// The directory's absolute path. Symbolic links are not resolved, so that a changed link is noticed.
    public var identity: String {
        let path = location.starts(withText: "/") ? location : FileManager.default.currentDirectoryPath + "/" + location
        var parts: [Substring] = []
        for part in path.pathNames where part != "." {
            if part == "..", parts.last != nil { parts.removeLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Always true.
    public func supportsConditionalWrites() async throws -> Bool { true }

    /// Writes the object through a temporary file in its directory.
    @discardableResult
    public func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ETag {
        try await write(name, condition) { file in try bytes.withUnsafeBytes { try file.write($0, at: 0) } }
    }

    /// Hard-links the file if possible (a new object, one file system, the same owner, mode 0600); otherwise copies it.
    @discardableResult
    public func put(_ name: String, file path: String, condition: PutCondition) async throws -> ETag {
        if condition == .absent, let tag = try link(name, path) { return tag }
        return try await write(name, condition) { file in
            try LocalFile(reading: path).forEachPiece { try file.write($1, at: $0) }
        }
    }

    /// Reads the file.
    public func get(_ name: String) async throws -> [UInt8] { try await get(name, upTo: 64 << 20) }

    /// Reads the file, if it is no larger.
    public func get(_ name: String, upTo limit: Int) async throws -> [UInt8] {
        try reading(name) { try $0.contents(upTo: limit) }
    }

    /// Reads a part of the file.
    public func get(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try reading(name) { try $0.read(at: range.lowerBound, count: range.count) }
    }

    /// Copies the file, without a sync.
    public func fetch(_ name: String, into path: String) async throws {
        try await fetch(name, into: path, upTo: .max)
    }

    /// Copies the file, if it is no larger, without a sync.
    public func fetch(_ name: String, into path: String, upTo limit: Int64) async throws {
        try reading(name) { source in
            guard try source.size() <= limit else { throw VaultError.tooLarge(Int(limit), path: source.path) }
            let destination = try LocalFile(creating: path)
            try source.forEachPiece { try destination.write($1, at: $0) }
        }
    }

    /// Reads the file's attributes; small files are read, as their tag is their hash.
    public func attributes(_ name: String) async throws -> ObjectAttributes? {
        try naming(name) { directory, leaf in try directory.flatMap { try attributes(leaf, in: $0, name) } }
    }

    /// Walks the directories that can contain such names.
    public func list(_ prefix: String) async throws -> [ObjectAttributes] { try list(prefix, "", nil) }

    /// Walks the directories that can contain such names, and reads no attributes of others.
    public func list(_ prefix: String, after first: String, before end: String?) async throws -> [ObjectAttributes] {
        try list(prefix, first, end)
    }

    private func list(_ prefix: String, _ first: String, _ end: String?) throws -> [ObjectAttributes] {
        try ObjectName.validate(prefix: prefix)
        let wanted = WantedNames(prefix: prefix, first: first, end: end, budget: ListingBudget(location))
        var found: [ObjectAttributes] = []
        let directory = prefix.lastIndex(of: "/").map { String(prefix[..<$0]) } ?? ""
        if let opened = try RootedDirectory.open(directory, below: location, for: .everything) {
            try collect(opened, directory, wanted, into: &found)
        }
        return found.asListing
    }

    /// Removes the file and syncs its directory.
    public func remove(_ name: String) async throws {
        try naming(name, for: .everything) { directory, leaf in
            guard let directory else { return }
            let code = directory.remove(leaf)
            guard code == 0 else {
                // A directory is only the parent of the names below it.
                if try attributes(leaf, in: directory, name) == nil { return }
                throw VaultError(errno: code, "unlink", path: directory.path(of: leaf))
            }
            try directory.sync()
        }
    }

    /// The time that the file system assigns to a touched file.
    public func now() async throws -> Date {
        try LocalDirectory.create(location)
        let path = location + "/.clock"
        do {
            return Date(timeIntervalSince1970: try LocalFile(updating: path).touch())
        } catch let error as VaultError where error.code == .missing {
            // Two processes may create it at the same time; then both find it.
            _ = try? LocalFile(creating: path)
            return Date(timeIntervalSince1970: try LocalFile(updating: path).touch())
        }
    }

    /// The object's own file: its bytes never change, so it may be read in place. Nil if a link leads to it.
    public func localPath(_ name: String) -> String? {
        do { return try naming(name) { _, _ in location + "/" + name } } catch { return nil }
    }

    /// A directory on the same file system for files that become objects: such a file is hard-linked instead of copied.
    public func spoolDirectory() throws -> String? {
        try RootedDirectory.create(".spool", below: location).path
    }
}

extension DirectoryStore {
    /// - Parameter body: gets the object's directory, nil if there is none, and the object's name in it.
    private func naming<T>(
        _ name: String, for use: RootedDirectory.Use = .lookup, _ body: (RootedDirectory?, String) throws -> T
    ) throws -> T {
        let (directory, leaf) = try Self.parts(name)
        return try withErrorContext(path: name) {
            try body(RootedDirectory.open(directory, below: location, for: use), leaf)
        }
    }

    /// The directory, which is created if it is missing.
    private func creating<T>(_ name: String, _ body: (RootedDirectory, String) throws -> T) throws -> T {
        let (directory, leaf) = try Self.parts(name)
        return try withErrorContext(path: name) {
            try body(RootedDirectory.create(directory, below: location), leaf)
        }
    }

    private static func parts(_ name: String) throws -> (directory: String, leaf: String) {
        try ObjectName.validate(name)
        guard let slash = name.lastIndex(of: "/") else { return ("", name) }
        return (String(name[..<slash]), String(name[name.index(after: slash)...]))
    }

    private func reading<T>(_ name: String, _ body: (LocalFile) throws -> T) throws -> T {
        try naming(name) { directory, leaf in
            guard let directory else { throw missing(name) }
            let file: LocalFile
            do { file = try directory.file(reading: leaf) } catch {
                // Also if it is a directory, or below an object.
                if try attributes(leaf, in: directory, name) == nil { throw missing(name) }
                throw error
            }
            return try body(file)
        }
    }

    private func missing(_ name: String) -> VaultError {
        VaultError(.missing, "there is no such object", path: location + "/" + name)
    }

    /// A writer that meets a conflict may find that the object is the one it wanted to store: it is that of its own first attempt,
    /// which failed or was killed before the directory was synced. So the directory is synced before a conflict is reported.
    private func write(
        _ name: String, _ condition: PutCondition, _ fill: (ReplacementFile) throws -> Void
    ) async throws -> ETag {
        // What is to be replaced is there. Otherwise no directory is made for it: all of them may have been moved away.
        if case .unchanged = condition, try await attributes(name) == nil {
            throw VaultError(.conflict, "was removed by another process", path: location + "/" + name)
        }
        let (directory, leaf, file) = try creating(name) { directory, leaf in
            let file = try directory.replacement(of: leaf)
            try fill(file)
            return (directory, leaf, file)
        }
        // Replacing is a read and a rename: no other writer may come between them.
        let lock = condition == .absent ? nil : try await DirectoryLock(location, timeout: lockTimeout)
        defer { withExtendedLifetime(lock) {} }
        return try withErrorContext(path: name) {
            let path = directory.path(of: leaf)
            if case .unchanged(let tag) = condition, try attributes(leaf, in: directory, name)?.tag != tag {
                try directory.sync()
                throw VaultError(.conflict, "was changed by another process", path: path)
            }
            do {
                try file.publish(replacing: condition != .absent)
            } catch let error as DurableFileError where error.reason == .exists {
                try directory.sync()
                throw VaultError(.conflict, "already exists", path: path)
            }
            guard let stored = try attributes(leaf, in: directory, name) else {
                throw VaultError(.conflict, "was removed by another process", path: path)
            }
            return stored.tag
        }
    }

    /// Hard-links a file into the store; nil if that is not possible.
    private func link(_ name: String, _ path: String) throws -> ETag? {
        try creating(name) { directory, leaf in
            var status = stat()
            guard lstat(path, &status) == 0 else { throw VaultError(errno: errno, "stat", path: path) }
            guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o777 == 0o600, status.st_uid == geteuid() else {
                return nil
            }
            let file = try LocalFile(updating: path)
            // An object's time is that of its storing, however long the file waited for it; unless it is an object already.
            if status.st_nlink == 1 { _ = try file.touch() }
            try file.sync()
            let code = directory.link(path, as: leaf)
            switch code {
            case 0, EEXIST: try directory.sync()
            case EXDEV, EPERM, ENOTSUP, ENOSYS, EMLINK, EACCES: return nil
            default: break
            }
            guard code == 0 else { throw VaultError(errno: code, "link", path: directory.path(of: leaf)) }
            return try attributes(leaf, in: directory, name)?.tag
        }
    }

    private func attributes(_ leaf: String, in directory: RootedDirectory, _ name: String) throws -> ObjectAttributes? {
        guard var status = try directory.status(of: leaf) else { return nil }
        guard status.st_mode & S_IFMT == S_IFREG else {
            // A directory is only the parent of the names below it.
            if status.st_mode & S_IFMT == S_IFDIR { return nil }
            throw VaultError(.damaged, "is not a regular file", path: directory.path(of: leaf))
        }
        // Sums of sizes would overflow.
        guard status.st_size <= ReadLimits.objectBytes else {
            throw VaultError.tooLarge(Int(ReadLimits.objectBytes), path: directory.path(of: leaf))
        }
        guard Self.isHashed(status, name) else { return Self.attributes(name, status) }
        do {
            // Another process may have replaced the object since: what is opened now has a size and a time of its own.
            let file = try directory.file(reading: leaf)
            status = try file.status()
            guard Self.isHashed(status, name) else { return Self.attributes(name, status) }
            let content = try file.contents(upTo: Int(status.st_size))
            return Self.attributes(name, status, tag: ETag(SHA256.hash(data: content).hexadecimal))
        } catch let error as VaultError where error.code == .missing {
            return nil
        }
    }

    /// Small objects are distinguished by their content, as the replaced ones are small: a file system may give a new
    /// file the inode number and, within a tick of its clock, the time of the file that it replaces. Those that grow are few: at the top
    /// repository.json with its secrets, and below `verified/`, where no lease is needed, lists with the snapshots.
    private static func isHashed(_ status: stat, _ name: String) -> Bool {
        status.st_size <= (name.contains("/") && !name.hasPrefix("verified/") ? 4096 : 64 << 10)
    }

    private static func attributes(_ name: String, _ status: stat, tag: ETag? = nil) -> ObjectAttributes {
        ObjectAttributes(
            name: name, size: Int64(status.st_size), modified: Date(timeIntervalSince1970: status.modified),
            tag: tag ?? ETag("\(status.st_ino)-\(status.modified)-\(status.st_size)"))
    }

    private func collect(
        _ directory: RootedDirectory, _ path: String, _ wanted: WantedNames, depth: Int = 0,
        into found: inout [ObjectAttributes]
    ) throws {
        for entry in try directory.names(upTo: ReadLimits.entries + 1) {
            try wanted.budget.spend(1, depth: depth)
            let name = path.isEmpty ? entry : path + "/" + entry
            // Above the prefix only the path to it matters.
            guard name.starts(withText: wanted.prefix) || wanted.prefix.starts(withText: name + "/") else { continue }
            guard let status = try directory.status(of: entry) else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                guard let below = try directory.directory(entry, for: .everything) else { continue }
                try collect(below, name, wanted, depth: depth + 1, into: &found)
            case S_IFREG:
                guard wanted.contains(name) else { continue }
                if let object = try attributes(entry, in: directory, name) { found.append(object) }
            // A link, for example. It is listed in the place of an object, whose readers find it damaged. In that of a directory it is an
            // error: without the names behind it, a listing would look complete.
            default:
                guard RepositoryFormat.isObject(name) else { throw directory.misplaced(entry, status) }
                guard wanted.contains(name) else { continue }
                found.append(Self.attributes(name, status))
            }
        }
    }
}

/// The lock of a directory, held for this object's lifetime. The file names the holder.
final class DirectoryLock {
    private let file: LocalFile

    /// Waits for it without blocking a thread.
    ///
    /// - Throws: `VaultError` `busy` after `timeout`.
    init(_ directory: String, timeout: Duration) async throws {
        let path = directory + "/.lock"
        _ = try? LocalFile(creating: path)
        file = try LocalFile(updating: path)
        if let busy = try await Self.take(file, timeout) { throw busy }
        // For people only: other content names a previous holder, or nobody.
        try? file.write(Self.card(), at: 0)
    }

    /// Waits as a writer would, and lets go at once. Nothing is written, and no file is created.
    ///
    /// - Returns: what says who holds the lock; nil if it was free within `timeout`.
    static func holder(_ directory: String, timeout: Duration) async throws -> VaultError? {
        let path = directory + "/.lock"
        let file: LocalFile
        do { file = try LocalFile(reading: path) } catch let error as VaultError where error.code == .missing {
            return nil
        }
        return try await take(file, timeout)
    }

    /// - Returns: who holds the lock; nil if it was taken within `timeout`.
    private static func take(_ file: LocalFile, _ timeout: Duration) async throws -> VaultError? {
        let deadline = Deadline(in: timeout)
        var pause = 1.0
        while try !file.tryLock() {
            guard !deadline.isOver else { return busy(file, timeout) }
            try await Task.sleep(nanoseconds: UInt64(pause * 1e6))
            pause = min(pause * 2, 100)
        }
        return nil
    }

    /// This machine and container, until it is restarted: numbers that tell nobody else who it is. A sealed repository may be on a
    /// machine of others, and names of hosts say much.
    private static var machine: String {
        let own = ProcessIdentity.current
        return "@" + String(own.boot, radix: 16) + "." + String(own.namespace, radix: 16)
    }

    /// Always the same length, so that the file is never empty.
    private static func card() -> [UInt8] {
        let text = "\(getpid()) \(machine)"
        return Array(text.utf8.prefix(126)) + [UInt8](repeating: 32, count: max(0, 126 - text.utf8.count)) + [10]
    }

    private static func busy(_ file: LocalFile, _ timeout: Duration) -> VaultError {
        let path = file.path
        let card = (try? file.read(at: 0, count: 127)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let words = card.split(whereSeparator: \.isWhitespace).map(String.init)
        let waited = "after \(Int(timeout.seconds.rounded(.up))) s the directory is still locked"
        guard words.count == 2, let process = pid_t(words[0]), process > 0 else {
            return VaultError(
                .busy, waited + " by another process", path: path,
                remedy: "Find it (fuser \(path)), wait for it or terminate it, then try again.")
        }
        // Versions before 1.0 wrote the host's name.
        let host = ProcessInfo.processInfo.hostName
        let isHere = words[1] == machine || words[1] == host
        let name = isHere ? host : words[1].utf8.first == UInt8(ascii: "@") ? "another machine" : words[1]
        let isStopped = isHere && Platform.isStopped(process)
        return VaultError(
            .busy, waited + " by process \(process) of \(name)" + (isStopped ? ", which is stopped" : ""),
            path: path,
            remedy: isStopped
                ? "Resume it (kill -CONT \(process)) or terminate it, then try again."
                : "Wait until it has finished, or terminate it, then try again.")
    }
}

extension ReplacementFile {
    /// A temporary file in a directory. Content of another writer goes to the name with `-journal` behind it: both are removed together,
    /// after a kill by a later run.
    static func temporary(_ name: String, in directory: String) throws -> ReplacementFile {
        try withErrorContext(path: directory) { try ReplacementFile(destination: "\(directory)/\(name)") }
    }
}
