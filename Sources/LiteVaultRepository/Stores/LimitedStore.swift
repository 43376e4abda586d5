internal import LiteVaultCapture
public import LiteVaultSystem

/// A store that lets a limited number of calls through to another one at a time: for a slow link, or a server that others need as well.
///
/// Further calls wait in their order. A waiting call ends with `CancellationError` when its task is cancelled. Without it, a repository
/// reads up to 8 MiB of blocks in each of 4 requests or more, and up to 16 small objects, at a time.
public final class LimitedStore: ObjectStore {
    private let base: any ObjectStore
    private let permits: TaskSemaphore

    /// Limits the calls to `store`.
    ///
    /// - Parameter calls: how many are under way at a time; 1 at least.
    public init(_ store: any ObjectStore, calls: Int) {
        base = store
        permits = TaskSemaphore(max(1, calls))
    }

    /// The location of the other store.
    public var location: String { base.location }

    /// The identity of the other store.
    public var identity: String { base.identity }

    /// What the other store says, which may make several requests for it, one after the other.
    public func supportsConditionalWrites() async throws -> Bool {
        try await permits.perform { try await self.base.supportsConditionalWrites() }
    }

    /// Stores the bytes in the other store.
    @discardableResult
    public func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ETag {
        try await permits.perform { try await self.base.put(name, bytes: bytes, condition: condition) }
    }

    /// Stores the file in the other store, which may send a large one in several requests at a time.
    @discardableResult
    public func put(_ name: String, file path: String, condition: PutCondition) async throws -> ETag {
        try await permits.perform { try await self.base.put(name, file: path, condition: condition) }
    }

    /// Reads the object from the other store.
    public func get(_ name: String) async throws -> [UInt8] {
        try await permits.perform { try await self.base.get(name) }
    }

    /// Reads the object from the other store, up to a limit.
    public func get(_ name: String, upTo limit: Int) async throws -> [UInt8] {
        try await permits.perform { try await self.base.get(name, upTo: limit) }
    }

    /// Reads a range of the object from the other store.
    public func get(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try await permits.perform { try await self.base.get(name, range: range) }
    }

    /// Fetches the object from the other store.
    public func fetch(_ name: String, into path: String) async throws {
        try await permits.perform { try await self.base.fetch(name, into: path) }
    }

    /// Fetches the object from the other store, up to a limit.
    public func fetch(_ name: String, into path: String, upTo limit: Int64) async throws {
        try await permits.perform { try await self.base.fetch(name, into: path, upTo: limit) }
    }

    /// The attributes of the object in the other store.
    public func attributes(_ name: String) async throws -> ObjectAttributes? {
        try await permits.perform { try await self.base.attributes(name) }
    }

    /// Lists the objects of the other store.
    public func list(_ prefix: String) async throws -> [ObjectAttributes] {
        try await permits.perform { try await self.base.list(prefix) }
    }

    /// Lists a part of the objects of the other store.
    public func list(_ prefix: String, after first: String, before end: String?) async throws -> [ObjectAttributes] {
        try await permits.perform { try await self.base.list(prefix, after: first, before: end) }
    }

    /// Removes the object from the other store.
    public func remove(_ name: String) async throws {
        try await permits.perform { try await self.base.remove(name) }
    }

    /// The time of the other store's clock.
    public func now() async throws -> Date { try await permits.perform { try await self.base.now() } }

    /// Removes leftovers of the other store.
    @discardableResult
    public func removeLeftovers() async throws -> Int {
        try await permits.perform { try await self.base.removeLeftovers() }
    }

    /// The local path of the object in the other store. What is read there is not limited.
    public func localPath(_ name: String) -> String? { base.localPath(name) }

    /// The spool directory of the other store.
    public func spoolDirectory() throws -> String? { try base.spoolDirectory() }
}
