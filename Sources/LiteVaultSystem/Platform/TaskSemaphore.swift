/// A counting semaphore for tasks, first come, first served.
package final class TaskSemaphore: Sendable {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    private struct State {
        var free: Int
        var last = 0
        var waiting: [(number: Int, waiter: Waiter)] = []
    }

    private let state: Locked<State>

    package init(_ count: Int) { state = Locked(State(free: count)) }

    /// Runs `body` while it holds a permit.
    ///
    /// - Parameter isReleasedByCancellation: whether a cancelled task returns its permit at once: its work may hang, and the others do not
    ///   wait for that. Otherwise `body` has ended when another one gets its permit.
    /// - Throws: what `body` throws; `CancellationError` if the task is cancelled while it waits.
    package func perform<T: Sendable>(
        isReleasedByCancellation: Bool = false, _ body: @Sendable () async throws -> T
    ) async throws -> T {
        try await take()
        let isHeld = Locked(true)
        return try await withTaskCancellationHandler {
            defer { release(isHeld) }
            return try await body()
        } onCancel: {
            if isReleasedByCancellation { release(isHeld) }
        }
    }

    private func take() async throws {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    // What is cancelled later is found in the queue.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard state.free > 0 else {
                        state.waiting.append((number, waiter))
                        return nil
                    }
                    state.free -= 1
                    return .success(())
                }
                if let result { waiter.resume(with: result) }
            }
        } onCancel: {
            let waiter: Waiter? = state.withLock { state in
                guard let place = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
                return state.waiting.remove(at: place).waiter
            }
            waiter?.resume(throwing: CancellationError())
        }
    }

    /// Passes a permit to the longest waiter, if it is still held.
    private func release(_ isHeld: Locked<Bool>) {
        let wasHeld = isHeld.withLock { isHeld in
            defer { isHeld = false }
            return isHeld
        }
        guard wasHeld else { return }
        let next: Waiter? = state.withLock { state in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().waiter
        }
        next?.resume()
    }
}
