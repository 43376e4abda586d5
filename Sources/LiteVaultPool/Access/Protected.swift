internal import Foundation

/// State that is only reached under its lock.
final class Protected<State>: @unchecked Sendable {  // `state` only under `lock`
    private let lock = NSLock()
    private var state: State

    init(_ state: sending State) { self.state = state }

    func withLock<T>(_ body: (inout State) throws -> T) rethrows -> T {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}
