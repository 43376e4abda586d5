import Foundation
import LiteVaultBackup
import LiteVaultSystem

/// A store on a disk that sometimes does not respond to writes.
final class HangingStore: ObjectStore {
    private let store: any ObjectStore
    private let isHanging: Locked<Bool>
    private let hung: Locked<Int>

    /// - Parameter hung: counts the writes that had to wait.
    init(_ store: any ObjectStore, _ isHanging: Locked<Bool>, _ hung: Locked<Int>) {
        (self.store, self.isHanging, self.hung) = (store, isHanging, hung)
    }

    var location: String { store.location }

    func supportsConditionalWrites() async throws -> Bool { try await store.supportsConditionalWrites() }

    func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ETag {
        hang()
        return try await store.put(name, bytes: bytes, condition: condition)
    }

    func put(_ name: String, file path: String, condition: PutCondition) async throws -> ETag {
        hang()
        return try await store.put(name, file: path, condition: condition)
    }

    func get(_ name: String) async throws -> [UInt8] { try await store.get(name) }

    func get(_ name: String, range: Range<Int64>) async throws -> [UInt8] { try await store.get(name, range: range) }

    func fetch(_ name: String, into path: String) async throws { try await store.fetch(name, into: path) }

    func attributes(_ name: String) async throws -> ObjectAttributes? { try await store.attributes(name) }

    func list(_ prefix: String) async throws -> [ObjectAttributes] { try await store.list(prefix) }

    func remove(_ name: String) async throws { try await store.remove(name) }

    func now() async throws -> Date { try await store.now() }

    private func hang() {
        guard isHanging.value else { return }
        hung.withLock { $0 += 1 }
        while isHanging.value { usleep(5000) }
    }
}
