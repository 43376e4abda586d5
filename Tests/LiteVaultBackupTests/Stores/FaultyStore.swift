import Foundation
import LiteVaultBackup

/// A store that is not of this machine and fails at one call, before it does what it was asked or after.
final class FaultyStore: ObjectStore, @unchecked Sendable {  // its lock guards the counters
    enum Fault: CaseIterable, Sendable {
        /// Nothing was done.
        case refused
        /// It was done, but the answer was lost.
        case answerLost
    }

    private let base: any ObjectStore
    private let lock = NSLock()
    private var calls = 0
    private var fault: (at: Int, kind: Fault)?

    init(_ base: any ObjectStore) { self.base = base }

    /// Fails the call of that number from now on, from 1; nil: none.
    func fail(at number: Int?, _ kind: Fault = .refused) {
        lock.withLock {
            calls = 0
            fault = number.map { ($0, kind) }
        }
    }

    /// Calls since ``fail(at:_:)``.
    var count: Int { lock.withLock { calls } }

    private func call<T>(_ body: () async throws -> T) async throws -> T {
        let kind: Fault? = lock.withLock {
            calls += 1
            return fault.flatMap { $0.at == calls ? $0.kind : nil }
        }
        guard let kind else { return try await body() }
        if kind == .answerLost { _ = try? await body() }
        throw VaultError(.io, "the store does not answer")
    }

    var location: String { "faulty" }
    func supportsConditionalWrites() async throws -> Bool { true }
    func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ETag {
        try await call { try await base.put(name, bytes: bytes, condition: condition) }
    }
    func put(_ name: String, file path: String, condition: PutCondition) async throws -> ETag {
        try await call { try await base.put(name, file: path, condition: condition) }
    }
    func get(_ name: String) async throws -> [UInt8] { try await call { try await base.get(name) } }
    func get(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try await call { try await base.get(name, range: range) }
    }
    func fetch(_ name: String, into path: String) async throws {
        try await call { try await base.fetch(name, into: path) }
    }
    func attributes(_ name: String) async throws -> ObjectAttributes? {
        try await call { try await base.attributes(name) }
    }
    func list(_ prefix: String) async throws -> [ObjectAttributes] { try await call { try await base.list(prefix) } }
    func remove(_ name: String) async throws { try await call { try await base.remove(name) } }
    func now() async throws -> Date { try await call { try await base.now() } }
}
