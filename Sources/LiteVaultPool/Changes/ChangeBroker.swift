internal import LiteVaultSystem

final class ChangeBroker: Sendable {
    private let observers = Locked<[ObjectIdentifier: ChangeSignal]>([:])

    var isObserved: Bool { observers.withLock { !$0.isEmpty } }

    func add(_ signal: ChangeSignal) { observers.withLock { $0[ObjectIdentifier(signal)] = signal } }

    func remove(_ signal: ChangeSignal) { observers.withLock { $0[ObjectIdentifier(signal)] = nil } }

    func notify(_ changes: ChangeSet) {
        guard !changes.isEmpty else { return }
        for signal in observers.withLock({ Array($0.values) }) { signal.raise(changes) }
    }
}

/// The signal that an observer waits for. Changes made while it is busy are coalesced.
final class ChangeSignal: Sendable {
    private struct State {
        var region: DatabaseRegion
        var pending = ChangeSet.Effect.none
        var waiting: CheckedContinuation<ChangeSet.Effect?, Never>?
        /// The changes recorded while the region is being determined.
        var recorded: ChangeSet?
        var isOver = false
    }

    private let state: Locked<State>

    init(region: DatabaseRegion) { state = Locked(State(region: region)) }

    /// Begins a read that sees all changes reported so far, and whose region is not known yet.
    func beginRead() {
        state.withLock { state in
            state.pending = .none
            state.recorded = ChangeSet()
        }
    }

    /// Ends the read: changes of this region since its start are reported.
    func endRead(of region: DatabaseRegion) {
        state.withLock { state in
            state.region = region
            state.pending = state.recorded?.effect(on: region) ?? .none
            state.recorded = nil
        }
    }

    func raise(_ changes: ChangeSet) {
        let waiting: (CheckedContinuation<ChangeSet.Effect?, Never>, ChangeSet.Effect)? = state.withLock { state in
            state.recorded?.merge(changes)
            guard state.recorded == nil else { return nil }
            state.pending = max(state.pending, changes.effect(on: state.region))
            guard state.pending > .none, let waiting = state.waiting else { return nil }
            defer { (state.waiting, state.pending) = (nil, .none) }
            return (waiting, state.pending)
        }
        if let (continuation, effect) = waiting { continuation.resume(returning: effect) }
    }

    /// Waits for a change; nil when the task is cancelled.
    func next() async -> ChangeSet.Effect? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let effect: ChangeSet.Effect?? = state.withLock { state in
                    if state.isOver { return .some(nil) }
                    guard state.pending == .none else {
                        defer { state.pending = .none }
                        return state.pending
                    }
                    state.waiting = continuation
                    return nil
                }
                if let effect { continuation.resume(returning: effect) }
            }
        } onCancel: {
            end()
        }
    }

    /// Makes `next` return nil from now on.
    func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            return state.waiting.take()
        }
        waiting?.resume(returning: nil)
    }
}
