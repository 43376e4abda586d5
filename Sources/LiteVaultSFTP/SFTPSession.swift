internal import LiteVaultCapture
internal import LiteVaultSystem

/// An established connection: the operations of the protocol that a store needs.
///
/// Paths are those of the server. Operations throw ``SFTPStatus`` for what the server refuses, ``SFTPLost`` or ``SFTPMalformed`` for
/// a connection that is of no use any more.
package final class SFTPSession: Sendable {
    /// What a server can do beyond version 3 of the protocol (PROTOCOL of OpenSSH).
    package struct Features: Sendable {
        package var syncs = false
        package var links = false
        package var replaces = false
        package var tellsSpace = false
        /// The most bytes in one request.
        package var readSize = 32 << 10
        package var writeSize = 32 << 10
    }

    /// How many bytes of one file are under way at a time.
    package static let window = 2 << 20

    package let features: Features
    private let channel: SFTPChannel
    /// The paths that were found to be directories themselves, and no links to some.
    private let directories = Locked(Set<String>())

    private init(_ channel: SFTPChannel, _ features: Features) {
        self.channel = channel
        self.features = features
    }

    package static func connect(_ command: String, timeout: Duration) async throws -> SFTPSession {
        let channel = try SFTPChannel(command, timeout: timeout)
        var answer = try await channel.begin()
        guard try answer.number() == 3 else { throw SFTPMalformed() }
        var features = Features()
        var tellsLimits = false
        while !answer.isAtEnd {
            let name = String(decoding: try answer.string(), as: UTF8.self)
            let version = String(decoding: try answer.string(), as: UTF8.self)
            switch (name, version) {
            case ("fsync@openssh.com", "1"): features.syncs = true
            case ("hardlink@openssh.com", "1"): features.links = true
            case ("posix-rename@openssh.com", "1"): features.replaces = true
            case ("statvfs@openssh.com", "2"): features.tellsSpace = true
            case ("limits@openssh.com", "1"): tellsLimits = true
            default: break
            }
        }
        if tellsLimits {
            let limits = try await channel.request(SFTPKind.extended) { $0.add("limits@openssh.com") }
            if var reader = try? limits.expecting(SFTPKind.answerExtended) {
                _ = try reader.long()
                features.readSize = size(try reader.long(), features.readSize)
                features.writeSize = size(try reader.long(), features.writeSize)
            }
        }
        return SFTPSession(channel, features)
    }

    /// Zero means that the server tells no limit.
    private static func size(_ told: UInt64, _ usual: Int) -> Int {
        told == 0 ? usual : Int(min(max(told, 1024), 128 << 10))
    }

    package var isOpen: Bool { channel.isOpen }

    package typealias Handle = [UInt8]

    /// Opens a file for reading. It has to be closed.
    package func open(_ path: String) async throws -> Handle { try await open(path, 1) }

    /// Creates a file of mode 0600, which must not exist, for writing. It has to be closed.
    package func create(_ path: String) async throws -> Handle { try await open(path, 2 | 8 | 32) }

    /// Opens a file for writing, and creates it if it does not exist. It has to be closed.
    package func openOrCreate(_ path: String) async throws -> Handle { try await open(path, 2 | 8) }

    private func open(_ path: String, _ flags: UInt32) async throws -> Handle {
        var answer = try await channel.request(SFTPKind.open) { packet in
            packet.add(path)
            packet.add(flags)
            packet.add(permissions: 0o600)
        }.expecting(SFTPKind.answerHandle)
        return try answer.string()
    }

    /// Closes a handle, without waiting for it.
    package func close(_ handle: Handle) { channel.post(SFTPKind.close) { $0.add(handle) } }

    /// Reads at most `count` bytes; nil at the end of the file.
    package func read(_ handle: Handle, at offset: Int64, count: Int) async throws -> [UInt8]? {
        let answer = try await channel.request(SFTPKind.read) { packet in
            packet.add(handle)
            packet.add(UInt64(offset))
            packet.add(UInt32(count))
        }
        if try answer.status()?.code == SFTPStatus.end { return nil }
        var data = try answer.expecting(SFTPKind.answerData)
        let bytes = try data.string()
        guard !bytes.isEmpty, bytes.count <= count else { throw SFTPMalformed() }
        return bytes
    }

    package func write(_ handle: Handle, at offset: Int64, _ bytes: [UInt8]) async throws {
        try await channel.request(SFTPKind.write, reserving: bytes.count + handle.count) { packet in
            packet.add(handle)
            packet.add(UInt64(offset))
            packet.add(bytes)
        }.succeeded()
    }

    /// Flushes a file or directory to the medium, where the server can.
    package func sync(_ handle: Handle) async throws {
        guard features.syncs else { return }
        try await channel.request(SFTPKind.extended) { packet in
            packet.add("fsync@openssh.com")
            packet.add(handle)
        }.succeeded()
    }

    /// Makes what changed in a directory durable, where the server can: OpenSSH opens directories as files.
    package func sync(directory path: String) async throws {
        guard features.syncs else { return }
        do {
            let handle = try await open(path)
            defer { close(handle) }
            try await sync(handle)
        } catch let status as SFTPStatus where status.code == SFTPStatus.failure || status.code == SFTPStatus.denied {
            // Not every system opens or syncs directories.
        }
    }

    package func attributes(of handle: Handle) async throws -> SFTPAttributes {
        var answer = try await channel.request(SFTPKind.fileStatus) { $0.add(handle) }
            .expecting(SFTPKind.answerAttributes)
        return try answer.attributes()
    }

    /// The attributes at a path; nil if there is nothing.
    ///
    /// - Parameter follows: whether those of a symbolic link are its target's.
    package func attributes(_ path: String, follows: Bool = false) async throws -> SFTPAttributes? {
        let answer = try await channel.request(follows ? SFTPKind.status : SFTPKind.linkStatus) { $0.add(path) }
        if try answer.status()?.code == SFTPStatus.missing { return nil }
        var reader = try answer.expecting(SFTPKind.answerAttributes)
        return try reader.attributes()
    }

    /// The attributes at a path that is followed by more, unless it is a directory: nil for one, and if there is nothing. A directory is
    /// looked at once in a connection.
    package func attributes(unlessDirectory path: String) async throws -> SFTPAttributes? {
        if directories.withLock({ $0.contains(path) }) { return nil }
        guard let found = try await attributes(path) else { return nil }
        guard found.isDirectory else { return found }
        directories.withLock { _ = $0.insert(path) }
        return nil
    }

    /// The most bytes of a name in a listing: `NAME_MAX`.
    private static let nameBytes = 255

    /// The entries of a directory, without `.` and `..`; nil if there is none.
    ///
    /// - Parameter count: receives how many entries came with each answer, and throws if they are too many.
    package func names(_ path: String, count: (Int) throws -> Void) async throws -> [SFTPName]? {
        let opened = try await channel.request(SFTPKind.openDirectory) { $0.add(path) }
        if try opened.status()?.code == SFTPStatus.missing { return nil }
        var reader = try opened.expecting(SFTPKind.answerHandle)
        let handle = try reader.string()
        defer { close(handle) }
        var found: [SFTPName] = []
        while true {
            let answer = try await channel.request(SFTPKind.readDirectory) { $0.add(handle) }
            if try answer.status()?.code == SFTPStatus.end { return found }
            let names = try answer.names()
            // A listing must make progress and end.
            guard !names.isEmpty else { throw SFTPMalformed() }
            try count(names.count)
            found += names.filter {
                // No object has a longer name, and enough of them would fill the memory.
                $0.name != "." && $0.name != ".." && $0.name.utf8.count <= Self.nameBytes
                    && !$0.name.utf8.contains(UInt8(ascii: "/"))
            }
        }
    }

    package func makeDirectory(_ path: String) async throws {
        try await channel.request(SFTPKind.makeDirectory) { packet in
            packet.add(path)
            packet.add(permissions: 0o700)
        }.succeeded()
    }

    package func removeDirectory(_ path: String) async throws {
        try await request(SFTPKind.removeDirectory, path)
    }

    package func remove(_ path: String) async throws {
        try await request(SFTPKind.remove, path)
    }

    /// Removes a file, without waiting for it.
    package func removeLater(_ path: String) { channel.post(SFTPKind.remove) { $0.add(path) } }

    /// Removes an empty directory, without waiting for it.
    package func removeDirectoryLater(_ path: String) { channel.post(SFTPKind.removeDirectory) { $0.add(path) } }

    /// Gives a file a second name, or moves it where the server has no hard links; fails if the name is taken.
    ///
    /// - Returns: whether the file still has its first name.
    package func link(_ path: String, to name: String) async throws -> Bool {
        if features.links {
            do {
                try await request(SFTPKind.extended, "hardlink@openssh.com", path, name)
                return true
            } catch let status as SFTPStatus where status.code != SFTPStatus.missing {
                // The name is taken, or the file system has no links. Renaming tells which.
                if try await attributes(name) != nil { throw status }
            }
        }
        try await request(SFTPKind.rename, path, name)
        return false
    }

    /// Renames a file or directory; an existing file, or empty directory, of the new name is replaced in the same step.
    package func replace(_ path: String, with name: String) async throws {
        try await request(SFTPKind.extended, "posix-rename@openssh.com", path, name)
    }

    /// Sends a request that consists of texts, and waits until it has succeeded.
    private func request(_ kind: UInt8, _ texts: String...) async throws {
        try await channel.request(kind) { packet in for text in texts { packet.add(text) } }.succeeded()
    }

    /// Whether the file system at a path has less than a megabyte, or no files, for this user; nil if the server cannot say.
    package func isFull(_ path: String) async throws -> Bool? {
        guard features.tellsSpace else { return nil }
        var answer = try await channel.request(SFTPKind.extended) { packet in
            packet.add("statvfs@openssh.com")
            packet.add(path)
        }.expecting(SFTPKind.answerExtended)
        let block = max(try answer.long(), 1)
        let fragment = max(try answer.long(), 1)
        var numbers: [UInt64] = []
        for _ in 0..<6 { numbers.append(try answer.long()) }
        // Blocks: all, free, free for users; then files: all, free, free for users.
        let (free, isOverflowing) = numbers[2].multipliedReportingOverflow(by: fragment)
        return !isOverflowing && free < max(1 << 20, min(block, 1 << 20)) || numbers[3] > 0 && numbers[5] == 0
    }
}
