internal import Foundation
internal import LiteVaultCore
internal import LiteVaultSupport

/// Who may use which connection when. Made and used by ``DatabasePool`` and ``DatabaseQueue``.
public final class AccessCore: Sendable {
    /// What an access is for.
    enum Kind { case read, write, writeWithoutTransaction, barrier }

    /// A reader that nobody uses.
    struct IdleReader {
        let connection: Connection
        let since: ContinuousClock.Instant
    }

    struct State {
        var writer: Connection?
        var tracker: ChangeTracker?
        var readers: [IdleReader] = []
        var openReaders = 0
        var setups: [@Sendable (Connection) throws -> Void] = []
        var isClosed = false
        var isSweeping = false
    }

    let source: ConnectionSource
    let configuration: DatabaseConfiguration
    let writerGate = Gate(count: 1)
    /// nil: reads use the writer.
    let readerGate: Gate?
    let state = Locked(State())
    let broker = ChangeBroker()
    let knowledge = SchemaKnowledge()
    let pressure = MemoryPressure()

    /// - Throws: as opening a connection.
    init(_ source: ConnectionSource, _ configuration: DatabaseConfiguration, hasReaders: Bool) throws {
        self.source = source
        self.configuration = configuration
        readerGate = hasReaders ? Gate(count: max(configuration.maximumReaderCount, 1)) : nil
        // Whether the database opens is known before the first access.
        _ = try openedWriter()
        pressure.start { [weak self] in self?.releaseMemory() }
    }

    var path: String { source.path }

    /// How many readers are open, idle or not.
    package var openReaderCount: Int { state.withLock { $0.openReaders } }

    /// How many accesses are under way.
    package var accessCount: Int { writerGate.inUse + (readerGate?.inUse ?? 0) }

    /// How often a key was derived from a passphrase.
    package var keyDerivations: Int { source.derivations }

    /// Whether changes are observed.
    package var isObserved: Bool { broker.isObserved }

    private func gate(for kind: Kind) -> Gate { kind == .read ? readerGate ?? writerGate : writerGate }

    func sync<T>(_ kind: Kind, _ body: (Connection) throws -> T) throws -> T {
        guard !CurrentAccess.isWithin(self) else { throw AccessError.reentrant(path) }
        let gate = gate(for: kind)
        gate.acquire()
        defer { gate.release() }
        return try perform(kind, nil, body)
    }

    func async<T: Sendable>(_ kind: Kind, _ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await job(in: gate(for: kind)) { cancellation, _ in try self.perform(kind, cancellation, body) }
    }

    /// A barrier whose body asks for itself whether it was cancelled: what it has done by then is done.
    func asyncBarrier<T: Sendable>(
        _ body: @escaping @Sendable (Connection, Cancellation) throws -> T
    ) async throws -> T {
        try await job(in: writerGate) { cancellation, _ in
            try CurrentAccess.within(self) {
                try self.drained(cancellation) {
                    try cancellation.check()
                    return try self.withWriter { try body($0, cancellation) }
                }
            }
        }
    }

    /// Runs a body on a thread of its own, at once.
    func onThread<T: Sendable>(_ body: @escaping @Sendable (Cancellation) throws -> T) async throws -> T {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
                WorkerThreads.shared.run {
                    continuation.resume(
                        with: Result {
                            try cancellation.check()
                            return try body(cancellation)
                        })
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }

    /// Runs a body on a thread of its own when the gate lets it in. The body may give its permit back before it is done.
    func job<T: Sendable>(
        in gate: Gate, _ body: @escaping @Sendable (Cancellation, Permit) throws -> T
    ) async throws -> T {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
                let job = Gate.Job {
                    let permit = Permit(gate)
                    continuation.resume(with: Result { try body(cancellation, permit) })
                    return permit.keep()
                }
                let waits = cancellation.willWait {
                    if gate.withdraw(job) { continuation.resume(throwing: CancellationError()) }
                }
                guard waits else { return continuation.resume(throwing: CancellationError()) }
                gate.enqueue(job)
            }
        } onCancel: {
            cancellation.cancel()
        }
    }

    func readSnapshot<C, T>(
        after changes: (Connection) throws -> C, _ body: (Connection, C) throws -> T
    ) throws -> T {
        guard !CurrentAccess.isWithin(self) else { throw AccessError.reentrant(path) }
        writerGate.acquire()
        let permit = Permit(writerGate)
        defer { permit.release() }
        return try performSnapshot(permit, nil, after: changes, body)
    }

    func readSnapshot<C, T: Sendable>(
        after changes: @escaping @Sendable (Connection) throws -> C,
        _ body: @escaping @Sendable (Connection, C) throws -> T
    ) async throws -> T {
        try await job(in: writerGate) { cancellation, permit in
            try self.performSnapshot(permit, cancellation, after: changes, body)
        }
    }
}

/// A permit that is given back once.
final class Permit: Sendable {
    private let gate: Gate
    private let isHeld = Locked(true)

    init(_ gate: Gate) { self.gate = gate }

    func release() { if keep() { gate.release() } }

    /// Whether it is still held: it is then no longer this object's to give back.
    func keep() -> Bool {
        isHeld.withLock { held in
            defer { held = false }
            return held
        }
    }
}
