internal import LiteVaultCapture
public import LiteVaultSystem

/// Stores a repository's objects, for example in a directory, in a bucket or on an SSH server.
///
/// Names are relative paths of ASCII letters, digits, `-`, `_`, `.` and `/`; no object has the name of what is a directory for others. An
/// object appears atomically, and its bytes never change afterwards unless it is replaced as a whole. What one client has done is seen by
/// all others at once, in listings, too. All errors of a store are `VaultError`; a store retries transient failures (a timeout, a 503) itself
/// before it throws.
///
/// The article "A store of your own" has a complete store. `ObjectStoreConformance` of module `LiteVaultStoreTesting` checks each of these rules.
public protocol ObjectStore: Sendable {
    /// The store's location for messages: a path, `s3://bucket/prefix`, or `sftp://host/path`. Never contains credentials.
    var location: String { get }

    /// Distinguishes this store from every other one that this machine may use, as the key of what is remembered about
    /// a repository. By default the ``location``.
    var identity: String { get }

    /// Whether the store honors the conditions of ``put(_:bytes:condition:)``. Probed once, then remembered.
    ///
    /// Without them, two writers cannot be kept apart, and a repository rejects the second one.
    func supportsConditionalWrites() async throws -> Bool

    /// Stores `bytes` under `name` durably: once it returns, the object survives a crash.
    ///
    /// - Returns: the object's tag, for ``PutCondition/unchanged(_:)``.
    /// - Throws: `VaultError` with code `conflict` if `condition` does not hold. Nothing is stored then.
    @discardableResult
    func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ETag

    /// Stores the file at `path` under `name` durably, in constant memory.
    ///
    /// The caller must not write to the file again, because a store on the same file system may link it instead of copying
    /// it. The caller removes it.
    @discardableResult
    func put(_ name: String, file path: String, condition: PutCondition) async throws -> ETag

    /// Reads a whole object of at most 64 MiB.
    ///
    /// - Throws: `VaultError` with code `missing` if it does not exist,
    ///   `damaged` if it is larger.
    func get(_ name: String) async throws -> [UInt8]

    /// Reads a whole object of at most `limit` bytes.
    ///
    /// - Throws: as ``get(_:)``. A larger object is not read into memory.
    func get(_ name: String, upTo limit: Int) async throws -> [UInt8]

    /// Reads a range of the object's bytes; throws `VaultError` `damaged` if the object is shorter.
    func get(_ name: String, range: Range<Int64>) async throws -> [UInt8]

    /// Writes the object to a new file at `path`, in constant memory.
    func fetch(_ name: String, into path: String) async throws

    /// Writes the object to a new file at `path` if it has at most `limit` bytes.
    ///
    /// - Throws: as ``fetch(_:into:)``, and `VaultError` `damaged` for a larger object; no file is created then.
    func fetch(_ name: String, into path: String, upTo limit: Int64) async throws

    /// The attributes of the object; nil if it does not exist.
    func attributes(_ name: String) async throws -> ObjectAttributes?

    /// All objects whose names start with `prefix`, each once, in the order of their names.
    func list(_ prefix: String) async throws -> [ObjectAttributes]

    /// The objects whose names start with `prefix`, are behind `first` and, unless that is nil, before `end`, in the order of their
    /// names. Neither has to exist. Names are compared byte by byte.
    ///
    /// A store that lists in pages requests only the pages with these names.
    func list(_ prefix: String, after first: String, before end: String?) async throws -> [ObjectAttributes]

    /// Deletes the object; does nothing if it does not exist.
    func remove(_ name: String) async throws

    /// The time of the store's own clock, by which the ages of objects are measured.
    func now() async throws -> Date

    /// Deletes the remains of interrupted writes that do not appear in listings, once they are old enough to be
    /// abandoned. Pruning calls it.
    ///
    /// - Returns: the number of deleted remains.
    @discardableResult
    func removeLeftovers() async throws -> Int

    /// The object's local path, or nil for a remote store. Whether the object exists is not checked.
    func localPath(_ name: String) -> String?

    /// The best directory for files waiting to be stored; nil if any will do.
    func spoolDirectory() throws -> String?
}

extension ObjectStore {
    /// Reads the object, then checks its size. The default for stores without a better way.
    public func get(_ name: String, upTo limit: Int) async throws -> [UInt8] {
        let bytes = try await get(name)
        guard bytes.count <= limit else { throw VaultError.tooLarge(limit, path: name) }
        return bytes
    }

    /// Checks the object's size, then fetches it. The default for stores without a better way.
    public func fetch(_ name: String, into path: String, upTo limit: Int64) async throws {
        if let size = try await attributes(name)?.size, size > limit {
            throw VaultError.tooLarge(Int(limit), path: name)
        }
        try await fetch(name, into: path)
    }

    /// Lists all, and leaves out the others. The default for stores without a better way.
    public func list(_ prefix: String, after first: String, before end: String?) async throws -> [ObjectAttributes] {
        try await list(prefix).filter { ObjectName.isBetween($0.name, first, end) }
    }

    /// The location.
    public var identity: String { location }

    /// The name of the object that an error is about; nil if the error names nothing.
    ///
    /// Stores name an object by its place (`s3://bucket/r/data/…`), as a person looks for it, and readers of its content by its name.
    func object(of error: VaultError) -> String? {
        guard let path = error.path else { return nil }
        let place = location.utf8
        let rest = path.utf8.dropFirst(place.count)
        guard path.utf8.starts(with: place), rest.first == UInt8(ascii: "/") else { return path }
        return String(rest.dropFirst())
    }

    /// Returns 0: atomic writes leave nothing behind.
    public func removeLeftovers() async throws -> Int { 0 }

    /// Returns nil: the store is remote.
    public func localPath(_ name: String) -> String? { nil }

    /// Returns nil: any directory will do.
    public func spoolDirectory() throws -> String? { nil }
}

/// A condition for storing an object.
public enum PutCondition: Sendable, Equatable {
    /// No condition: an existing object is replaced.
    case none
    /// No object of that name exists (`If-None-Match: *`).
    case absent
    /// The object still has this tag (`If-Match`).
    case unchanged(ETag)
}

/// Identifies one version of an object: an S3 `ETag`, or a hash.
///
/// Two contents of an object have different tags, also at the same size and within a second. Of objects larger than 2 KiB, or than 32 KiB if
/// the name has no slash or starts with `verified/`, size and time are enough for that.
public struct ETag: Sendable, Hashable {
    /// The tag as the store writes it.
    public let value: String

    /// The tag that a store wrote as `text`.
    public init(_ value: String) { self.value = value }
}

/// The name, size and modification time of an object.
public struct ObjectAttributes: Sendable, Equatable {
    /// Its name in the store.
    public let name: String
    /// Its size in bytes.
    public let size: Int64
    /// When it was stored, by the store's clock.
    public let modified: Date
    /// Identifies this version of the object.
    public let tag: ETag

    /// Creates the attributes of an object.
    public init(name: String, size: Int64, modified: Date, tag: ETag) {
        self.name = name
        self.size = size
        self.modified = modified
        self.tag = tag
    }
}

extension [ObjectAttributes] {
    /// What a store returns as a listing: in the order of the names' bytes, and each name once. Pages and directories may repeat a name that is
    /// stored or removed meanwhile, and some servers repeat the last one of a page; what was read last counts.
    package var asListing: [ObjectAttributes] {
        sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }.reduce(into: []) { listing, object in
            if let last = listing.last, last.name.utf8.elementsEqual(object.name.utf8) { listing.removeLast() }
            listing.append(object)
        }
    }
}

/// Validates object names, which have the same syntax in every store.
///
/// A store calls ``validate(_:)`` first in each of its methods that take a name: names may come from a document in the store.
public enum ObjectName {
    /// Whether an object may have the name.
    package static func isValid(_ name: String) -> Bool { (try? validate(name)) != nil }

    /// Rejects invalid names. Valid are parts, separated by slashes, of ASCII letters, digits, `-`, `_` and `.`, none of them empty or
    /// starting with a dot; 512 bytes at most.
    ///
    /// - Throws: `VaultError` with code `internal`: names are created by this package, never by users.
    public static func validate(_ name: String) throws {
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let valid =
            name.utf8.count <= 512
            && parts.allSatisfy { part in
                part.first != nil && part.first != UInt8(ascii: ".") && part.count <= 200 && part.allSatisfy(isAllowed)
            }
        guard valid else { throw VaultError(.internalFailure, "is not a valid object name", path: name) }
    }

    /// Rejects strings that no name can start with. The empty prefix matches all objects.
    package static func validate(prefix: String) throws {
        guard prefix.utf8.allSatisfy({ isAllowed($0) || $0 == UInt8(ascii: "/") }), !prefix.hasPrefix("/"),
            !prefix.split(separator: "/").contains(where: { $0.hasPrefix(".") })
        else { throw VaultError(.internalFailure, "is not a valid prefix of object names", path: prefix) }
    }

    /// Whether a name is behind `first` and, unless that is nil, before `end`.
    package static func isBetween(_ name: String, _ first: String, _ end: String?) -> Bool {
        first.utf8.lexicographicallyPrecedes(name.utf8)
            && end.map { name.utf8.lexicographicallyPrecedes($0.utf8) } ?? true
    }

    /// Whether a part of a name may have the byte: an ASCII letter or digit, `-`, `_` or `.`.
    static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

/// The names that a listing asks for, and what it may take.
package struct WantedNames: Sendable {
    package let prefix: String
    private let first: String
    private let end: String?
    package let budget: ListingBudget

    /// The names that start with `prefix`, are behind `first` and, unless that is nil, before `end`.
    package init(prefix: String, first: String, end: String?, budget: ListingBudget) {
        self.prefix = prefix
        self.first = first
        self.end = end
        self.budget = budget
    }

    /// Whether names that start with `start` may be behind the first and before the end.
    package func mayBeBelow(_ start: String) -> Bool {
        let isBehind = first.starts(withText: start) || first.utf8.lexicographicallyPrecedes(start.utf8)
        return isBehind && end.map { start.utf8.lexicographicallyPrecedes($0.utf8) } ?? true
    }

    /// Whether the listing asks for the name.
    package func contains(_ name: String) -> Bool {
        name.starts(withText: prefix) && ObjectName.isBetween(name, first, end)
    }
}

/// The number of concurrent requests when many small objects are read: thousands of databases have thousands of
/// manifests, and an object store takes some milliseconds for each.
package let manyRequests = 16

extension ObjectStore {
    /// The condition that no object is replaced, as far as the store has conditions.
    func whereAbsent() async throws -> PutCondition { try await supportsConditionalWrites() ? .absent : .none }

    /// Stores an object that does not exist. In a store without conditions, looking for it before is the best that is possible.
    ///
    /// - Throws: `VaultError` `conflict` if it exists.
    func putNew(_ name: String, _ bytes: [UInt8]) async throws {
        let condition = try await whereAbsent()
        if condition == .none, try await attributes(name) != nil {
            throw VaultError(.conflict, "was stored by another process", path: name)
        }
        try await put(name, bytes: bytes, condition: condition)
    }
}

/// Reads something from a store, and once more if it is damaged: an answer that a connection or a proxy changed is not damage of the store, and
/// an object may have been replaced between two requests for its parts.
///
/// - Parameter forgetting: called before the second time, to drop what the first one has left.
func readingAgain<T>(forgetting: () -> Void = {}, _ body: () async throws -> T) async throws -> T {
    do { return try await body() } catch let error as VaultError where error.code == .damaged {
        forgetting()
        return try await body()
    }
}

private struct Numbered<Result: Sendable>: Sendable {
    let index: Int
    let result: Result
}

/// Applies `body` to each item, several at a time, and returns the results in the items' order.
///
/// - Parameters:
///   - width: how many at a time. With 1 each begins after the one before it has ended.
///   - completed: called in the caller's task after each item, one call at a time, in the order in which they end.
/// - Throws: the first error of a body or of `completed`; the others are cancelled then.
package func concurrently<Item: Sendable, Result: Sendable>(
    _ items: [Item], width: Int = manyRequests, _ body: @escaping @Sendable (Item) async throws -> Result,
    completed: (Item, Result) throws -> Void = { _, _ in }
) async throws -> [Result] {
    try await withThrowingTaskGroup(of: Numbered<Result>.self) { group in
        var waiting = items.indices.makeIterator()
        var results = [Result?](repeating: nil, count: items.count)
        func start() {
            guard let index = waiting.next() else { return }
            let item = items[index]
            group.addTask { Numbered(index: index, result: try await body(item)) }
        }
        for _ in 0..<width { start() }
        while let done = try await group.next() {
            results[done.index] = done.result
            try completed(items[done.index], done.result)
            start()
        }
        return results.compactMap(\.self)
    }
}

extension RepositoryFormat {
    /// Whether the name can be that of an object of the format. Objects that were set aside may have any name.
    package static func isObject(_ name: String) -> Bool {
        guard ObjectName.isValid(name) else { return false }
        let parts = name.split(separator: "/").map(String.init)
        switch parts.first {
        case config, pendingDeletions: return parts.count == 1
        case "data", "tree": return isPack(name)
        case "verified", "forgotten": return parts.count == 2 && isIdentifier(parts[1])
        case "snapshots", "fences": return parts.count == 3 && isIdentifier(parts[1]) && sequence(parts[2]) != nil
        case "segments": return parts.count > 2 && isIdentifier(parts[1]) && SegmentName(name) != nil
        case "leases": return parts.count == 2
        case "damaged": return parts.count > 1
        default: return false
        }
    }
}
