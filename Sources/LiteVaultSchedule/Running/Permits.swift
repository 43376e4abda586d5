internal import Foundation

/// A number of permits, which are waited for in turn.
///
/// Whoever is cancelled has its permit given back at once: what it does may hang, and the others are not to wait for that.
actor Permits {
    private var free: Int
    private var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    private var next = 0

    init(_ count: Int) { free = count }

    /// Does something that takes a permit.
    ///
    /// - Throws: what the body throws; `CancellationError` where it is cancelled while it waits.
    nonisolated func with<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
        try await take()
        let permit = Permit(self)
        return try await withTaskCancellationHandler {
            do {
                let result = try await body()
                permit.giveBack()
                return result
            } catch {
                permit.giveBack()
                throw error
            }
        } onCancel: {
            permit.giveBack()
        }
    }

    private func take() async throws {
        try Task.checkCancellation()
        if free > 0 {
            free -= 1
            return
        }
        let number = next
        next += 1
        let isGiven = await withTaskCancellationHandler {
            await withCheckedContinuation { waiting.append((number, $0)) }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
        guard isGiven else { throw CancellationError() }
    }

    private func giveUp(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume(returning: false)
    }

    fileprivate func give() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().continuation.resume(returning: true) }
    }
}

/// A permit that is given back once.
private final class Permit: @unchecked Sendable {  // the lock guards `isHeld`
    private let permits: Permits
    private let lock = NSLock()
    private var isHeld = true

    init(_ permits: Permits) { self.permits = permits }

    func giveBack() {
        let wasHeld = lock.withLock {
            defer { isHeld = false }
            return isHeld
        }
        if wasHeld { Task { [permits] in await permits.give() } }
    }
}
