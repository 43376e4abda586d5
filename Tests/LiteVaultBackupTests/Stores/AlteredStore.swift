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
