import Foundation
import LiteVaultBackup
import LiteVaultSystem

/// A store some calls of which are replaced, by wrong ones for instance. A file is put like its bytes.
struct AlteredStore: ObjectStore {
    let base: any ObjectStore
    var conditional: @Sendable (any ObjectStore) async throws -> Bool = { try await $0.supportsConditionalWrites() }
    var put: @Sendable (any ObjectStore, String, [UInt8], PutCondition) async throws -> ETag = {
        try await $0.put($1, bytes: $2, condition: $3)
    }
    var putFile: (@Sendable (any ObjectStore, String, String, PutCondition) async throws -> ETag)?
    var get: @Sendable (any ObjectStore, String) async throws -> [UInt8] = { try await $0.get($1) }
    var getUpTo: (@Sendable (any ObjectStore, String, Int) async throws -> [UInt8])?
    var getRange: @Sendable (any ObjectStore, String, Range<Int64>) async throws -> [UInt8] = {
        try await $0.get($1, range: $2)
    }
    var fetch: @Sendable (any ObjectStore, String, String) async throws -> Void = { try await $0.fetch($1, into: $2) }
    var attributes: @Sendable (any ObjectStore, String) async throws -> ObjectAttributes? = {
        try await $0.attributes($1)
    }
    var list: @Sendable (any ObjectStore, String) async throws -> [ObjectAttributes] = { try await $0.list($1) }
    var part: @Sendable (any ObjectStore, String, String, String?) async throws -> [ObjectAttributes] = {
        try await $0.list($1, after: $2, before: $3)
    }
    var remove: @Sendable (any ObjectStore, String) async throws -> Void = { try await $0.remove($1) }
    var clock: @Sendable (any ObjectStore) async throws -> Date = { try await $0.now() }
    var leftovers: @Sendable (any ObjectStore) async throws -> Int = { try await $0.removeLeftovers() }
    var local: @Sendable (any ObjectStore, String) -> String? = { $0.localPath($1) }
    var spool: @Sendable (any ObjectStore) throws -> String? = { try $0.spoolDirectory() }
    var named: String?

    init(_ base: any ObjectStore, _ change: (inout AlteredStore) -> Void) {
        self.base = base
        change(&self)
    }

    var location: String { base.location }
    var identity: String { named ?? base.identity }
    func supportsConditionalWrites() async throws -> Bool { try await conditional(base) }
    func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ETag {
        try await put(base, name, bytes, condition)
    }
    func put(_ name: String, file path: String, condition: PutCondition) async throws -> ETag {
        if let putFile { return try await putFile(base, name, path, condition) }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw VaultError(.noInput, "cannot be read", path: path)
        }
        return try await put(base, name, Array(data), condition)
    }
    func get(_ name: String) async throws -> [UInt8] { try await get(base, name) }
    func get(_ name: String, upTo limit: Int) async throws -> [UInt8] {
        if let getUpTo { return try await getUpTo(base, name, limit) }
        return try await base.get(name, upTo: limit)
    }
    func get(_ name: String, range: Range<Int64>) async throws -> [UInt8] { try await getRange(base, name, range) }
    func fetch(_ name: String, into path: String) async throws { try await fetch(base, name, path) }
    func attributes(_ name: String) async throws -> ObjectAttributes? { try await attributes(base, name) }
    func list(_ prefix: String) async throws -> [ObjectAttributes] { try await list(base, prefix) }
    func list(_ prefix: String, after first: String, before end: String?) async throws -> [ObjectAttributes] {
        try await part(base, prefix, first, end)
    }
    func remove(_ name: String) async throws { try await remove(base, name) }
    func now() async throws -> Date { try await clock(base) }
    func removeLeftovers() async throws -> Int { try await leftovers(base) }
    func localPath(_ name: String) -> String? { local(base, name) }
    func spoolDirectory() throws -> String? { try spool(base) }
}

extension AlteredStore {
    /// A store on another machine, with a network in between that flips one bit of what is read.
    ///
    /// - Parameters:
    ///   - prefix: the objects whose answers are changed, if they have more than the 64 bytes that tell whether an object is sealed.
    ///   - calls: those of `get` and `fetch` whose answers are changed.
    ///   - left: how many answers are still to be changed.
    ///   - place: the byte that is changed, by the number of bytes.
    static func misreading(
        _ base: any ObjectStore, _ prefix: String, in calls: Set<String> = ["get", "fetch"], left: Locked<Int>,
        at place: @escaping @Sendable (Int) -> Int = { $0 / 2 }
    ) -> AlteredStore {
        @Sendable func answer(_ call: String, _ name: String, _ bytes: [UInt8]) -> [UInt8] {
            guard calls.contains(call), name.hasPrefix(prefix), bytes.count > 64 else { return bytes }
            let isChanged = left.withLock { left in
                guard left > 0 else { return false }
                left -= 1
                return true
            }
            guard isChanged else { return bytes }
            var bytes = bytes
            bytes[place(bytes.count)] ^= 1
            return bytes
        }
        return AlteredStore(base) {
            $0.get = { answer("get", $1, try await $0.get($1)) }
            $0.getUpTo = { answer("get", $1, try await $0.get($1, upTo: $2)) }
            $0.getRange = { answer("get", $1, try await $0.get($1, range: $2)) }
            $0.fetch = { store, name, path in
                let bytes = answer("fetch", name, try await store.get(name))
                try Data(bytes).write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
            }
            $0.local = { _, _ in nil }
        }
    }
}
