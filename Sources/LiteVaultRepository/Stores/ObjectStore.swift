internal import LiteVaultCapture

/// Where a repository keeps its objects: a folder, a bucket.
///
/// Names are relative paths of ASCII letters, digits, `-`, `_`, `.` and `/`. An object appears whole or not at all, and its
/// bytes never change afterwards unless it is replaced whole. Everything a store throws is a ``BackupError``; what may go
/// through on a later try (a time-out, a 503) the store has tried again by itself before it throws.
public protocol ObjectStore: Sendable {
    /// Where it is, for messages: a path, or `s3://bucket/prefix`. Never holds credentials.
    var location: String { get }

    /// What tells this place from every other that this machine may use: ``location``, as long as that says all. What is
    /// remembered of a repository belongs to it.
    var identity: String { get }

    /// Whether ``put(_:bytes:condition:)`` keeps its conditions here; probed once, then remembered.
    ///
    /// Where it does not, two writers can not be kept apart, and a repository refuses the second one.
    func keepsConditions() async throws -> Bool

    /// Stores `bytes` under `name`, durably: when it returns, the object outlives a crash.
    ///
    /// - Returns: a tag that ``PutCondition/unchanged(_:)`` can name.
    /// - Throws: ``BackupError`` with code ``BackupError/Code/conflict`` if `condition` does not hold; nothing is stored then.
    @discardableResult
    func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ObjectTag

    /// Stores the file at `path` under `name`, in flat memory, durably.
    ///
    /// The caller never writes to the file again, as a store on the same file system may give it a second name instead of
    /// copying it; removing it is the caller's.
    @discardableResult
    func put(_ name: String, file path: String, condition: PutCondition) async throws -> ObjectTag

    /// The whole object, which is small: 64 MiB at most.
    ///
    /// - Throws: ``BackupError`` with code ``BackupError/Code/missing`` if there is none, ``BackupError/Code/damaged`` if it is
    ///   larger.
    func get(_ name: String) async throws -> [UInt8]

    /// The whole object, if it has no more than `limit` bytes.
    ///
    /// - Throws: as ``get(_:)``. What is larger is not read into memory.
    func get(_ name: String, upTo limit: Int) async throws -> [UInt8]

    /// `range` of the object's bytes; throws ``BackupError/Code/damaged`` if the object is shorter.
    func get(_ name: String, range: Range<Int64>) async throws -> [UInt8]

    /// Writes the object into a new file at `path`, in flat memory.
    func fetch(_ name: String, into path: String) async throws

    /// Writes the object into a new file at `path` if it has no more than `limit` bytes.
    ///
    /// - Throws: as ``fetch(_:into:)``, and ``BackupError/Code/damaged`` for a larger one; there is no file then.
    func fetch(_ name: String, into path: String, upTo limit: Int64) async throws

    /// What is stored under `name`; nil if nothing is.
    func attributes(_ name: String) async throws -> ObjectAttributes?

    /// All objects whose names start with `prefix`, in the order of their names.
    func list(_ prefix: String) async throws -> [ObjectAttributes]

    /// Removes the object; does nothing if there is none.
    func remove(_ name: String) async throws

    /// The store's own clock, in seconds since 1970: what ages of objects are measured by.
    func now() async throws -> Double

    /// Removes what writes that ended in the middle have left in the store and no listing shows, once it is old enough to be
    /// nobody's. Pruning calls it.
    ///
    /// - Returns: how many were removed.
    @discardableResult
    func removeLeftovers() async throws -> Int

    /// Where the object lies as a file of this machine, if it does; whether there is one is not looked at.
    func localPath(_ name: String) -> String?

    /// Where files that are to be stored are best made; nil where that does not matter.
    func spoolFolder() throws -> String?
}

extension ObjectStore {
    /// Reads it, and looks at its size then: what a store does that has no better way.
    public func get(_ name: String, upTo limit: Int) async throws -> [UInt8] {
        let bytes = try await get(name)
        guard bytes.count <= limit else { throw BackupError.tooLarge(limit, path: name) }
        return bytes
    }

    /// Asks for its size first: what a store does that has no better way.
    public func fetch(_ name: String, into path: String, upTo limit: Int64) async throws {
        if let size = try await attributes(name)?.size, size > limit {
            throw BackupError.tooLarge(Int(limit), path: name)
        }
        try await fetch(name, into: path)
    }

    /// The location.
    public var identity: String { location }

    /// Nothing is left in a store whose writes appear whole.
    public func removeLeftovers() async throws -> Int { 0 }

    /// No file of this machine.
    public func localPath(_ name: String) -> String? { nil }

    /// Any folder does.
    public func spoolFolder() throws -> String? { nil }
}

/// What must hold for an object to be stored.
public enum PutCondition: Sendable, Equatable {
    /// Nothing: an object of the name is replaced.
    case none
    /// There is no object of the name (`If-None-Match: *`).
    case absent
    /// The object is still the one that the tag names (`If-Match`).
    case unchanged(ObjectTag)
}

/// Names one version of an object: an S3 `ETag`, or a hash.
public struct ObjectTag: Sendable, Hashable {
    /// As the store writes it.
    public let text: String

    /// The tag that a store wrote as `text`.
    public init(_ text: String) { self.text = text }
}

/// An object's name, size and age.
public struct ObjectAttributes: Sendable, Equatable {
    /// Its name in the store.
    public let name: String
    /// Bytes.
    public let size: Int64
    /// When it was stored, by the store's clock, in seconds since 1970.
    public let modified: Double
    /// This version of it.
    public let tag: ObjectTag

    /// What a store tells of one object.
    public init(name: String, size: Int64, modified: Double, tag: ObjectTag) {
        self.name = name
        self.size = size
        self.modified = modified
        self.tag = tag
    }
}
