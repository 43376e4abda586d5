internal import Crypto
internal import DurableFile
internal import Foundation
internal import LiteVaultCapture

/// Objects as files in a folder, mode 0600 in folders of mode 0700.
///
/// An object appears by temporary name, fsync, rename and fsync of its folder. Conditions hold among all processes that
/// use the folder: a new name by a rename that replaces nothing, a changed object under an `flock`. That lock is held for
/// moments; where it is not given back in time, as by a process that was stopped, ``BackupError`` `busy` tells who holds it.
public final class DirectoryStore: ObjectStore {
    /// The folder's path.
    public let location: String
    /// Seconds for which a store waits for its lock where nothing else is said.
    public static let lockTimeout = 60.0
    private let lockTimeout: Double

    /// The store in the folder at `path`, which is made with the first object.
    ///
    /// - Parameter lockTimeout: seconds to wait for others that hold the folder's lock.
    public init(_ path: String, lockTimeout: Double = DirectoryStore.lockTimeout) {
        self.lockTimeout = lockTimeout
        var trimmed = path
        while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
        location = trimmed
    }

    /// The folder's path from the root on, whatever folder the process is in. Links stay what they are: one that leads
    /// elsewhere all of a sudden is to be noticed.
    public var identity: String {
        let path = location.hasPrefix("/") ? location : FileManager.default.currentDirectoryPath + "/" + location
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == "..", parts.last != nil { parts.removeLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Always true.
    public func keepsConditions() async throws -> Bool { true }

    /// Writes the object through a temporary file in its folder.
    @discardableResult
    public func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ObjectTag {
        try await write(name, condition) { path in try LocalFile(updating: path).write(bytes, at: 0) }
    }

    /// Links the file where that can be done (a new object, one file system, the same owner, mode 0600); copies it elsewhere.
    @discardableResult
    public func put(_ name: String, file path: String, condition: PutCondition) async throws -> ObjectTag {
        if condition == .absent, let tag = try link(name, path) { return tag }
        return try await write(name, condition) { destination in
            try Self.copy(path, into: LocalFile(updating: destination))
        }
    }

    /// Reads the file.
    public func get(_ name: String) async throws -> [UInt8] { try await get(name, upTo: 64 << 20) }

    /// Reads the file, if it is no larger.
    public func get(_ name: String, upTo limit: Int) async throws -> [UInt8] {
        try naming(name) { path in try LocalFile(reading: path).contents(upTo: limit) }
    }

    /// Reads a part of the file.
    public func get(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try naming(name) { path in
            try LocalFile(reading: path).read(at: range.lowerBound, count: Int(range.upperBound - range.lowerBound))
        }
    }

    /// Copies the file, without a sync.
    public func fetch(_ name: String, into path: String) async throws {
        try await fetch(name, into: path, upTo: .max)
    }

    /// Copies the file, if it is no larger, without a sync.
    public func fetch(_ name: String, into path: String, upTo limit: Int64) async throws {
        let source = try naming(name) { $0 }
        guard let size = try attributes(at: source, name)?.size else {
            throw BackupError(.missing, "there is no such object", path: source)
        }
        guard size <= limit else { throw BackupError.tooLarge(Int(limit), path: source) }
        try Self.copy(source, into: LocalFile(creating: path))
    }

    /// Looks at the file; small ones are read, as their tag is their hash.
    public func attributes(_ name: String) async throws -> ObjectAttributes? {
        try naming(name) { try attributes(at: $0, name) }
    }

    /// Walks the folders that can hold such names.
    public func list(_ prefix: String) async throws -> [ObjectAttributes] {
        try ObjectName.validate(prefix: prefix)
        var found: [ObjectAttributes] = []
        let folder = prefix.lastIndex(of: "/").map { String(prefix[..<$0]) } ?? ""
        try collect(folder, prefix, into: &found)
        return found.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Removes the file and syncs its folder.
    public func remove(_ name: String) async throws {
        try naming(name) { path in
            guard unlink(path) == 0 else {
                if errno == ENOENT || errno == ENOTDIR { return }
                throw BackupError(errno: errno, "unlink", path: path)
            }
            try Folder.sync(Folder.parent(of: path))
        }
    }

    /// The time that the file system gives to a file that is touched.
    public func now() async throws -> Double {
        try Folder.create(location)
        let path = location + "/.clock"
        do {
            return try LocalFile(updating: path).touch()
        } catch let error as BackupError where error.code == .missing {
            // Two at a time may make it; then both find it.
            _ = try? LocalFile(creating: path)
            return try LocalFile(updating: path).touch()
        }
    }

    /// The object's own file: its bytes never change, so it may be read where it lies.
    public func localPath(_ name: String) -> String? {
        do { return try naming(name) { $0 } } catch { return nil }
    }

    /// A folder on the same file system, for what is to become an object: such a file is linked instead of copied.
    public func spoolFolder() throws -> String? {
        let path = location + "/.spool"
        try Folder.create(path)
        return path
    }
}

extension DirectoryStore {
    private func naming<T>(_ name: String, _ body: (String) throws -> T) throws -> T {
        try ObjectName.validate(name)
        return try BackupError.about(name) { try body(location + "/" + name) }
    }

    private func write(
        _ name: String, _ condition: PutCondition, _ fill: (String) throws -> Void
    ) async throws -> ObjectTag {
        let file = try naming(name) { path in
            try Folder.create(Folder.parent(of: path))
            let file = try ReplacementFile(destination: path)
            try fill(file.path)
            return file
        }
        // Replacing is a look and a rename: nobody else may come between them.
        let lock = condition == .absent ? nil : try await FolderLock(location, seconds: lockTimeout)
        defer { withExtendedLifetime(lock) {} }
        return try naming(name) { path in
            if case .unchanged(let tag) = condition, try attributes(at: path, name)?.tag != tag {
                throw BackupError(.conflict, "was changed by somebody else", path: path)
            }
            do {
                try file.publish(replacing: condition != .absent)
            } catch let error as DurableFileError where error.reason == .exists {
                throw BackupError(.conflict, "exists already", path: path)
            }
            guard let stored = try attributes(at: path, name) else {
                throw BackupError(.conflict, "was removed by somebody else", path: path)
            }
            return stored.tag
        }
    }

    /// Gives a file a second name, in the store; nil where that can not be done.
    private func link(_ name: String, _ path: String) throws -> ObjectTag? {
        try naming(name) { destination in
            try Folder.create(Folder.parent(of: destination))
            var status = stat()
            guard lstat(path, &status) == 0 else { throw BackupError(errno: errno, "stat", path: path) }
            guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o777 == 0o600, status.st_uid == geteuid() else {
                return nil
            }
            try LocalFile(updating: path).sync()
            guard Foundation.link(path, destination) == 0 else {
                switch errno {
                case EXDEV, EPERM, ENOTSUP, ENOSYS, EMLINK, EACCES: return nil
                default: throw BackupError(errno: errno, "link", path: destination)
                }
            }
            try Folder.sync(Folder.parent(of: destination))
            return try attributes(at: destination, name)?.tag
        }
    }

    private func attributes(at path: String, _ name: String) throws -> ObjectAttributes? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw BackupError(errno: errno, "stat", path: path)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            // A folder is there for the names below it.
            if status.st_mode & S_IFMT == S_IFDIR { return nil }
            throw BackupError(.damaged, "is not a regular file", path: path)
        }
        let size = Int64(status.st_size)
        return ObjectAttributes(name: name, size: size, modified: status.modified, tag: try tag(status, path))
    }

    /// Small objects are told apart by their content, as those that are replaced are small: a file system may give a new
    /// file the number and, within a tick of its clock, the time of the one that it replaces.
    private func tag(_ status: stat, _ path: String) throws -> ObjectTag {
        if status.st_size > 4096 { return ObjectTag("\(status.st_ino)-\(status.modified)-\(status.st_size)") }
        do {
            return ObjectTag(SHA256.hash(data: try LocalFile(reading: path).contents(upTo: 64 << 10)).hex)
        } catch let error as BackupError where error.code == .missing {
            return ObjectTag("")
        }
    }

    private func collect(_ folder: String, _ prefix: String, into found: inout [ObjectAttributes]) throws {
        let path = folder.isEmpty ? location : location + "/" + folder
        for entry in try Folder.names(path) {
            let name = folder.isEmpty ? entry : folder + "/" + entry
            // Above the prefix only the way to it matters.
            guard name.hasPrefix(prefix) || prefix.hasPrefix(name + "/") else { continue }
            var status = stat()
            guard lstat(location + "/" + name, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                try collect(name, prefix, into: &found)
            } else if status.st_mode & S_IFMT == S_IFREG, name.hasPrefix(prefix),
                let object = try attributes(at: location + "/" + name, name)
            {
                found.append(object)
            }
        }
    }

    private static func copy(_ path: String, into destination: LocalFile) throws {
        let source = try LocalFile(reading: path)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try source.read(into: buffer, at: offset)
            if count == 0 { return }
            try destination.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            offset += Int64(count)
        }
    }
}

/// The lock of a folder, held as long as this object is there. The file tells others who holds it.
private final class FolderLock {
    private let file: LocalFile

    /// Waits for it without keeping a thread.
    ///
    /// - Throws: ``BackupError`` `busy` after `seconds`.
    init(_ folder: String, seconds: Double) async throws {
        let path = folder + "/.lock"
        _ = try? LocalFile(creating: path)
        file = try LocalFile(updating: path)
        let end = ContinuousClock.now + .seconds(min(seconds, 1e9))
        var pause = 1.0
        while try !file.tryLock() {
            guard ContinuousClock.now < end else { throw Self.busy(path, seconds, file) }
            try await Task.sleep(nanoseconds: UInt64(pause * 1e6))
            pause = min(pause * 2, 100)
        }
        // For people only: a file that holds something else says who held it before, or nothing.
        try? file.write(Self.card(), at: 0)
    }

    /// Of one length, as there is no moment in which the file may be empty.
    private static func card() -> [UInt8] {
        let text = "\(getpid()) \(ProcessInfo.processInfo.hostName)"
        return Array(text.utf8.prefix(126)) + [UInt8](repeating: 32, count: max(0, 126 - text.utf8.count)) + [10]
    }

    private static func busy(_ path: String, _ seconds: Double, _ file: LocalFile) -> BackupError {
        let card = (try? file.read(at: 0, count: 127)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let words = card.split(whereSeparator: \.isWhitespace).map(String.init)
        let waited = "after \(Int(seconds.rounded(.up))) s the folder is still locked"
        guard words.count == 2, let process = pid_t(words[0]), process > 0 else {
            return BackupError(
                .busy, waited + " by another process", path: path,
                remedy: "Find it (fuser \(path)), let it go on or end it, then try again.")
        }
        let isHere = words[1] == ProcessInfo.processInfo.hostName
        let isStopped = isHere && ProcessIdentity.isStopped(process)
        return BackupError(
            .busy, waited + " by process \(process) of \(words[1])" + (isStopped ? ", which is stopped" : ""),
            path: path,
            remedy: isStopped
                ? "Let it go on (kill -CONT \(process)) or end it, then try again."
                : "Wait until it has ended, or end it, then try again.")
    }
}
