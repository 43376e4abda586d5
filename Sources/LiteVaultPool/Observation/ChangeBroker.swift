internal import Foundation
internal import LiteVaultSupport

/// Tells observers of committed changes.
final class ChangeBroker: Sendable {
    private let observers = Locked<[ObjectIdentifier: ChangeSignal]>([:])

    /// Whether anybody wants to be told.
    var isObserved: Bool { observers.withLock { !$0.isEmpty } }

    func add(_ signal: ChangeSignal) { observers.withLock { $0[ObjectIdentifier(signal)] = signal } }

    func remove(_ signal: ChangeSignal) { observers.withLock { $0[ObjectIdentifier(signal)] = nil } }

    func notify(_ changes: ChangeSet) {
        guard !changes.isEmpty else { return }
        for signal in observers.withLock({ Array($0.values) }) { signal.raise(changes) }
    }
}

/// What an observer waits for. Changes that come while it is busy are told once.
final class ChangeSignal: Sendable {
    private struct State {
        var region: DatabaseRegion
        var pending = ChangeSet.Effect.none
        var waiting: CheckedContinuation<ChangeSet.Effect?, Never>?
        /// Changes while it is being found out what the region is.
        var recorded: ChangeSet?
        var isOver = false
    }

    private let state: Locked<State>

    init(region: DatabaseRegion) { state = Locked(State(region: region)) }

    /// A read begins that sees all that was told until now, and of which it is not known yet what it reads.
    func beginRead() {
        state.withLock { state in
            state.pending = .none
            state.recorded = ChangeSet()
        }
    }

    /// The read is over: changes of this region are told, from when it began.
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

    /// Waits until something was changed; nil when the task is cancelled.
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

    /// From now on `next` returns nil.
    func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: nil)
    }
}
