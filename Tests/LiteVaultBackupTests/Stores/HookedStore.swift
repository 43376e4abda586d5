import Foundation
import LiteVaultBackup

/// A store that lets a test step in before and after a call.
final class HookedStore: ObjectStore, @unchecked Sendable {  // its lock guards the hooks
    typealias Hook = @Sendable (_ call: String, _ name: String) async throws -> Void

    private let base: any ObjectStore
    private let lock = NSLock()
    private let conditional: Bool
    private var hooks: (before: Hook?, after: Hook?) = (nil, nil)
    private var ahead = 0.0
    private var listed: (@Sendable (_ prefix: String, _ count: Int) -> Void)?

    /// - Parameter conditional: whether conditions of writes are kept.
    init(_ base: any ObjectStore, conditional: Bool = true) {
        self.base = base
        self.conditional = conditional
    }

    /// Sets the store's clock forward by this many seconds from its initial time.
    func setClock(ahead seconds: Double) { lock.withLock { ahead = seconds } }

    func setHooks(before: Hook? = nil, after: Hook? = nil) { lock.withLock { hooks = (before, after) } }

    /// Called after each listing, with the number of names.
    func setListed(_ body: @escaping @Sendable (_ prefix: String, _ count: Int) -> Void) {
        lock.withLock { listed = body }
    }

    private func noting(_ prefix: String, _ objects: [ObjectAttributes]) -> [ObjectAttributes] {
        lock.withLock { listed }?(prefix, objects.count)
        return objects
    }

    private func call<T>(_ call: String, _ name: String, _ body: () async throws -> T) async throws -> T {
        let (before, after) = lock.withLock { hooks }
        try await before?(call, name)
        let result = try await body()
        try await after?(call, name)
        return result
    }

    var location: String { base.location }
    func supportsConditionalWrites() async throws -> Bool { conditional }
    func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ETag {
        try await call("put", name) {
            try await base.put(name, bytes: bytes, condition: conditional ? condition : .none)
        }
    }
    func put(_ name: String, file path: String, condition: PutCondition) async throws -> ETag {
        try await call("put", name) { try await base.put(name, file: path, condition: conditional ? condition : .none) }
    }
    func get(_ name: String) async throws -> [UInt8] { try await call("get", name) { try await base.get(name) } }
    func get(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try await call("get", name) { try await base.get(name, range: range) }
    }
    func fetch(_ name: String, into path: String) async throws {
        try await call("fetch", name) { try await base.fetch(name, into: path) }
    }
    func fetch(_ name: String, into path: String, upTo limit: Int64) async throws {
        try await call("fetch", name) { try await base.fetch(name, into: path, upTo: limit) }
    }
    func attributes(_ name: String) async throws -> ObjectAttributes? {
        try await call("attributes", name) { try await base.attributes(name) }
    }
    func list(_ prefix: String) async throws -> [ObjectAttributes] {
        noting(prefix, try await call("list", prefix) { try await base.list(prefix) })
    }
    func list(_ prefix: String, after first: String, before end: String?) async throws -> [ObjectAttributes] {
        noting(prefix, try await call("list", prefix) { try await base.list(prefix, after: first, before: end) })
    }
    func remove(_ name: String) async throws { try await call("remove", name) { try await base.remove(name) } }
    func now() async throws -> Date { try await base.now() + lock.withLock { ahead } }
}

/// Does something the first time that it is asked to.
actor OnceOnly {
    private var isDone = false

    func callAsFunction(_ body: @Sendable () async throws -> Void) async rethrows {
        guard !isDone else { return }
        isDone = true
        try await body()
    }
}
