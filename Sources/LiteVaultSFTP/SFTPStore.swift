internal import LiteVaultCapture
public import LiteVaultRepository
public import LiteVaultSystem

/// An object store in a directory of an SSH server, by SFTP: objects are files of mode 0600 in directories of mode 0700.
///
/// One `ssh` process carries all requests, many at a time; it is started with the first one, and again with exponential
/// backoff after the connection was lost. A write whose outcome is unknown then is looked up. Conditions hold among all programs that use
/// the directory through a store of this kind, also if one of them is stopped while it writes. The server has to support
/// renaming that replaces (`posix-rename@openssh.com`); objects survive a crash of the server if it supports `fsync@openssh.com`,
/// as OpenSSH does. The same directory must not be used as a ``DirectoryStore`` at the same time: its lock is another one.
///
/// The directory may be named by a symbolic link. Below it there are none: one in the place of a directory is `VaultError` `damaged`.
/// Each directory is looked at once in a connection, as the server follows links: one that is made after that may be followed.
public final class SFTPStore: ObjectStore {
    /// `sftp://[USER@]HOST[:PORT]/PATH`.
    public let location: String
    let settings: SFTPSettings
    let link: SFTPLink

    /// Creates a store. No connection is made yet.
    public init(_ settings: SFTPSettings) {
        self.settings = settings
        location = settings.location
        link = SFTPLink(settings)
    }

    /// Always true.
    public func supportsConditionalWrites() async throws -> Bool { true }

    /// Writes the object through a temporary file in its directory.
    @discardableResult
    public func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ETag {
        try await write(name, .bytes(bytes), condition)
    }

    /// Copies the file through a temporary file in the object's directory, several requests at a time.
    @discardableResult
    public func put(_ name: String, file path: String, condition: PutCondition) async throws -> ETag {
        let file = try LocalFile(reading: path)
        return try await write(name, .file(file, try file.size()), condition)
    }

    /// Reads the object into memory, up to 64 MiB.
    public func get(_ name: String) async throws -> [UInt8] { try await get(name, upTo: 64 << 20) }

    /// Reads the object into memory if it has at most `limit` bytes.
    public func get(_ name: String, upTo limit: Int) async throws -> [UInt8] {
        try await reading(name) { session, handle, size in
            guard size <= Int64(limit) else { throw VaultError.tooLarge(limit, path: self.place(name)) }
            return try await self.bytes(session, handle, 0..<size, name)
        }
    }

    /// Reads a range of the object's bytes.
    public func get(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try await reading(name) { session, handle, size in
            guard range.upperBound <= size else { throw self.short(name, range.upperBound) }
            return try await self.bytes(session, handle, range, name)
        }
    }

    /// Copies the object into a new file, several requests at a time, without a sync.
    public func fetch(_ name: String, into path: String) async throws { try await fetch(name, into: path, upTo: .max) }

    /// Copies the object into a new file if it has at most `limit` bytes, several requests at a time, without a sync.
    public func fetch(_ name: String, into path: String, upTo limit: Int64) async throws {
        var created: LocalFile?
        do {
            try await reading(name) { session, handle, size in
                guard size <= limit else { throw VaultError.tooLarge(Int(limit), path: self.place(name)) }
                let file = try created ?? LocalFile(creating: path)
                created = file
                try file.truncate(to: 0)
                let pace = self.pace(size, name)
                // A part at a time: how many pieces there are is what the server says.
                for part in Self.pieces(0..<size, Self.part) {
                    _ = try await concurrently(Array(Self.pieces(part, session.features.readSize))) { piece in
                        let bytes = try await self.piece(session, handle, piece, name, pace)
                        try file.write(bytes, at: piece.lowerBound)
                    }
                }
            }
        } catch {
            if created != nil { unlink(path) }
            throw error
        }
    }

    /// The object's size and time; small objects are read, as their tag is their hash.
    public func attributes(_ name: String) async throws -> ObjectAttributes? {
        try ObjectName.validate(name)
        return try await link.perform(place(name)) { session in
            try await self.requireNoLinks(session, above: name)
            return try await self.attributes(name, session)
        }
    }

    /// Walks the directories that can contain such names.
    ///
    /// Small objects below `leases/`, `verified/` and `forgotten/` and those at the top, which are replaced, have the same tag as in
    /// ``attributes(_:)``. Others have one of their size and time, so that they need not be read; conditions accept both.
    public func list(_ prefix: String) async throws -> [ObjectAttributes] {
        try await list(prefix, after: "", before: nil)
    }

    /// Removes the object. One that does not exist is ignored.
    public func remove(_ name: String) async throws {
        try ObjectName.validate(name)
        var isRepeated = false
        try await link.perform(place(name)) { session in
            try await self.requireNoLinks(session, above: name)
            // If a connection was lost meanwhile, it may be this call that has removed the object.
            let mayBeDone = isRepeated
            isRepeated = true
            do {
                try await session.remove(self.path(name))
            } catch let status as SFTPStatus {
                if status.code == SFTPStatus.missing {
                    guard mayBeDone, try await session.attributes(self.directory(of: name)) != nil else { return }
                } else {
                    // A directory is only the parent of the names below it.
                    guard try await session.attributes(self.path(name))?.isDirectory == true else { throw status }
                    return
                }
            }
            try await session.sync(directory: self.directory(of: name))
        }
    }

    /// The time that the server assigns to a file that is written to, in whole seconds.
    public func now() async throws -> Date {
        try await link.perform(location) { Date(timeIntervalSince1970: try await self.clock($0)) }
    }
}

// What the requests have in common.
extension SFTPStore {
    func path(_ name: String) -> String {
        switch settings.path {
        case "/": "/" + name
        case ".": name
        default: "\(settings.path)/\(name)"
        }
    }

    private func directory(of name: String) -> String { LocalDirectory.parent(of: path(name)) }

    /// The object for messages.
    func place(_ name: String) -> String { "\(location)/\(name)" }

    /// Makes sure that no link is in the place of a directory of the object: the server would follow it.
    ///
    /// - Throws: `VaultError` `damaged` for one. What else stands in the way is left to the request that follows.
    func requireNoLinks(_ session: SFTPSession, above name: String) async throws {
        for slash in name.indices where name[slash] == "/" {
            let directory = String(name[..<slash])
            guard let found = try await session.attributes(unlessDirectory: path(directory)) else { continue }
            guard found.isRegular else { throw misplaced(directory, found) }
        }
    }

    /// - Parameter attributes: of what has the name of a directory, and is something else.
    private func misplaced(_ name: String, _ attributes: SFTPAttributes) -> VaultError {
        guard attributes.isLink else {
            return VaultError(
                .damaged, "is neither a file nor a directory", path: place(name),
                remedy: "Find out who made it, and remove it.")
        }
        return VaultError(
            .damaged, "is a link; a repository has none below its root", path: place(name),
            remedy: "Find out who made it. Put what it stands for in its place.")
    }

    private func short(_ name: String, _ size: Int64) -> VaultError {
        VaultError(.damaged, "the object is shorter than \(size) bytes", path: place(name))
    }

    /// Opens the object, and calls `body` with its size.
    private func reading<T>(
        _ name: String, _ body: (SFTPSession, SFTPSession.Handle, Int64) async throws -> T
    ) async throws -> T {
        try ObjectName.validate(name)
        return try await link.perform(place(name)) { session in
            try await self.requireNoLinks(session, above: name)
            let handle = try await session.open(self.path(name))
            defer { session.close(handle) }
            let attributes = try await session.attributes(of: handle)
            if attributes.isDirectory { throw VaultError(.missing, "there is no such object", path: self.place(name)) }
            guard let size = attributes.size.flatMap(Int64.init(exactly:)) else { throw SFTPMalformed() }
            try self.requirePossible(size, name)
            return try await body(session, handle, size)
        }
    }

    private func bytes(
        _ session: SFTPSession, _ handle: SFTPSession.Handle, _ range: Range<Int64>, _ name: String
    ) async throws -> [UInt8] {
        let pace = pace(Int64(range.count), name)
        let pieces = try await concurrently(Array(Self.pieces(range, session.features.readSize))) { piece in
            try await self.piece(session, handle, piece, name, pace)
        }
        if let only = pieces.first, pieces.count == 1 { return only }
        var all: [UInt8] = []
        all.reserveCapacity(range.count)
        for piece in pieces { all += piece }
        return all
    }

    /// Reads a piece; a server may send less at a time than it was asked for.
    private func piece(
        _ session: SFTPSession, _ handle: SFTPSession.Handle, _ range: Range<Int64>, _ name: String,
        _ pace: TransferPace
    ) async throws -> [UInt8] {
        var found: [UInt8] = []
        while found.count < range.count {
            try pace.check()
            let start = range.lowerBound + Int64(found.count)
            guard let more = try await session.read(handle, at: start, count: range.count - found.count) else {
                throw short(name, range.upperBound)
            }
            if found.isEmpty { found = more } else { found += more }
        }
        return found
    }

    private func pace(_ bytes: Int64, _ name: String) -> TransferPace {
        let limit = settings.timeout + .seconds(Double(bytes) / Double(ReadLimits.bytesPerSecond))
        return TransferPace(deadline: Deadline(in: limit), path: place(name))
    }

    /// How many bytes of an object are requested before more are.
    private static let part = 64 << 20

    /// Cuts a range into pieces of one request each, one by one.
    static func pieces(_ range: Range<Int64>, _ size: Int) -> some Sequence<Range<Int64>> {
        stride(from: range.lowerBound, to: range.upperBound, by: size).lazy.map {
            $0..<(range.upperBound - $0 > Int64(size) ? $0 + Int64(size) : range.upperBound)
        }
    }

    /// The server's time, in seconds since 1970.
    func clock(_ session: SFTPSession) async throws -> Double {
        let handle = try await makingParents(session, path(".clock")) { try await session.openOrCreate($0) }
        defer { session.close(handle) }
        try await session.write(handle, at: 0, [UInt8(ascii: "\n")])
        guard let time = try await session.attributes(of: handle).modified else { throw Self.noTimes(location) }
        return Double(time)
    }

    static func noTimes(_ path: String) -> VaultError {
        VaultError(
            .unsupported, "the server does not report times or sizes of files", path: path,
            remedy: "Use a server that supports version 3 of SFTP, such as OpenSSH.")
    }

    /// Opens a path; if its directory is missing, creates it and tries again.
    func makingParents<T>(_ session: SFTPSession, _ path: String, _ open: (String) async throws -> T) async throws -> T
    {
        do {
            return try await open(path)
        } catch let status as SFTPStatus where status.code == SFTPStatus.missing {
            try await makeDirectory(session, LocalDirectory.parent(of: path))
            return try await open(path)
        }
    }

    private func makeDirectory(_ session: SFTPSession, _ path: String) async throws {
        do {
            try await session.makeDirectory(path)
        } catch let status as SFTPStatus {
            // Another program may have made it.
            if let there = try await session.attributes(path, follows: true) {
                if there.isDirectory { return }
                throw VaultError(.cannotCreate, "is not a directory on the server", path: "\(location): \(path)")
            }
            let above = LocalDirectory.parent(of: path)
            guard status.code == SFTPStatus.missing, above != path, above != "." else {
                throw VaultError(
                    .cannotCreate, "the server cannot create the directory \(path): \(status.text)", path: location,
                    remedy: "Check the path and the permissions on the server, or create the directory there.")
            }
            try await makeDirectory(session, above)
            // Once more only: the server has said that the parent is there.
            do { try await session.makeDirectory(path) } catch let again as SFTPStatus {
                guard try await session.attributes(path, follows: true)?.isDirectory == true else {
                    throw VaultError(
                        .io, "the server has created the parent of \(path), but not the directory: \(again.text)",
                        path: location, remedy: "Create the directory on the server, and try again.")
                }
            }
        }
        try await session.sync(directory: LocalDirectory.parent(of: path))
    }
}

// Listings and tags.
extension SFTPStore {
    func attributes(_ name: String, _ session: SFTPSession) async throws -> ObjectAttributes? {
        guard let found = try await session.attributes(path(name)) else { return nil }
        // A directory is only the parent of the names below it.
        if found.isDirectory { return nil }
        guard found.isRegular else { throw VaultError(.damaged, "is not a regular file", path: place(name)) }
        return try await attributes(name, found, session, hashing: true)
    }

    /// - Parameter hashing: whether the tag of a small object is its hash.
    private func attributes(
        _ name: String, _ found: SFTPAttributes, _ session: SFTPSession, hashing: Bool
    ) async throws -> ObjectAttributes? {
        guard var (size, modified) = Self.sizeAndTime(found) else { throw Self.noTimes(place(name)) }
        try requirePossible(size, name)
        var tag = Self.weakTag(size, modified)
        if hashing, size <= Self.hashedSize(name) {
            await settings.observer?("found")
            do {
                let handle = try await session.open(path(name))
                defer { session.close(handle) }
                // Those of the version that is read: the object may have been replaced since.
                async let bytes = session.read(handle, at: 0, count: 64 << 10)
                guard let opened = Self.sizeAndTime(try await session.attributes(of: handle)) else {
                    throw Self.noTimes(place(name))
                }
                (size, modified) = opened
                let content = try await bytes ?? []
                tag = size <= Self.hashedSize(name) ? Self.tag(hashing: content) : Self.weakTag(size, modified)
            } catch let status as SFTPStatus where status.code == SFTPStatus.missing {
                return nil
            }
        }
        return ObjectAttributes(
            name: name, size: size, modified: Date(timeIntervalSince1970: Double(modified)), tag: tag)
    }

    /// Rejects a size that no object has: sums of sizes would overflow.
    private func requirePossible(_ size: Int64, _ name: String) throws {
        guard size <= ReadLimits.objectBytes else {
            throw VaultError.tooLarge(Int(ReadLimits.objectBytes), path: place(name))
        }
    }

    static func sizeAndTime(_ found: SFTPAttributes) -> (Int64, UInt32)? {
        guard let size = found.size.flatMap(Int64.init(exactly:)), let modified = found.modified else { return nil }
        return (size, modified)
    }

    /// Objects of up to this size are distinguished by their content, as the replaced ones are small and the server's times are
    /// whole seconds: those of a repository below a directory, and the few that grow: at its top, and those below `verified/`, which are
    /// replaced without a lease. One request reads them.
    static func hashedSize(_ name: String) -> Int64 {
        name.contains("/") && !name.hasPrefix("verified/") ? 4096 : 32 << 10
    }

    static func tag(hashing bytes: [UInt8]) -> ETag { ETag(Hash256(of: bytes).hexadecimal) }

    static func weakTag(_ size: Int64, _ modified: UInt32) -> ETag { ETag("\(size)-\(modified)") }

    /// Whether an object is among those that a repository replaces.
    private static func isReplaced(_ name: String) -> Bool {
        !name.contains("/") || ["leases/", "verified/", "forgotten/"].contains { name.hasPrefix($0) }
    }

    /// Walks the directories that can contain such names.
    public func list(_ prefix: String, after first: String, before end: String?) async throws -> [ObjectAttributes] {
        try ObjectName.validate(prefix: prefix)
        let directory = prefix.lastIndex(of: "/").map { String(prefix[..<$0]) } ?? ""
        return try await link.perform(place(prefix)) { session in
            let budget = ListingBudget(self.location, entries: self.settings.listedEntries)
            let wanted = WantedNames(prefix: prefix, first: first, end: end, budget: budget)
            let found = try await self.collect(session, directory, wanted)
            // What a link in the place of an object leads to is not read for its tag.
            let objects = try await concurrently(found) { entry -> ObjectAttributes? in
                try budget.spend(0)
                return try await self.attributes(
                    entry.name, entry.attributes, session,
                    hashing: entry.attributes.isRegular && Self.isReplaced(entry.name))
            }
            return objects.compactMap(\.self).asListing
        }
    }

    /// The files with such names, in a directory and those below it.
    private func collect(
        _ session: SFTPSession, _ directory: String, _ wanted: WantedNames, depth: Int = 0
    ) async throws -> [SFTPName] {
        let (prefix, budget) = (wanted.prefix, wanted.budget)
        if !directory.isEmpty { try await requireNoLinks(session, above: directory + "/") }
        let place = directory.isEmpty ? settings.path : path(directory)
        guard let entries = try await session.names(place, count: { try budget.spend($0, depth: depth) }) else {
            return []
        }
        var (found, below): ([SFTPName], [String]) = ([], [])
        for entry in entries where !entry.name.starts(withText: ".") {
            let name = directory.isEmpty ? entry.name : "\(directory)/\(entry.name)"
            // Above the prefix only the path to it matters. Names that no repository uses belong to others.
            guard name.starts(withText: prefix) || prefix.starts(withText: name + "/"), ObjectName.isValid(name) else {
                continue
            }
            var attributes = entry.attributes
            if attributes.permissions == nil || Self.sizeAndTime(attributes) == nil {
                try budget.spend(0)
                guard let asked = try await session.attributes(path(name)) else { continue }
                attributes = asked
            }
            if attributes.isDirectory {
                if wanted.mayBeBelow(name + "/") { below.append(name) }
            } else {
                // A link, for example, is listed in the place of an object, as in a ``DirectoryStore``. In that of a directory it is an error:
                // without the names behind it, a listing would look complete.
                guard attributes.isRegular || RepositoryFormat.isObject(name) else { throw misplaced(name, attributes) }
                if wanted.contains(name) { found.append(SFTPName(name: name, attributes: attributes)) }
            }
        }
        let deeper = try await concurrently(below) {
            try await self.collect(session, $0, wanted, depth: depth + 1)
        }
        return found + deeper.joined()
    }
}

/// When a transfer of a known size has to be over.
private struct TransferPace: Sendable {
    let deadline: Deadline
    let path: String

    /// - Throws: `VaultError` `io` if it should be over.
    func check() throws {
        guard deadline.isOver else { return }
        throw VaultError(
            .io, "the server sends less than \(ReadLimits.bytesPerSecond) bytes per second", path: path,
            remedy: "Try again when the connection is faster.")
    }
}
