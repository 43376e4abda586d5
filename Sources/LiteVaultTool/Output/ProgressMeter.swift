internal import Foundation

/// Thins out progress: operations report after every few pages, and a terminal or a log wants far less.
final class ProgressMeter: @unchecked Sendable {  // its lock guards `last` and `next`
    private let interval: Double
    private let lock = NSLock()
    private var last: ProgressState?
    private var next = 0.0

    /// - Parameter interval: seconds between two states of one phase.
    init(interval: Double) {
        self.interval = interval
    }

    /// Whether `state` is worth showing now: the first and the last of a phase, and between them one per interval.
    func admits(_ state: ProgressState) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        let now = ProcessInfo.processInfo.systemUptime
        let sameAsBefore = last == state
        let samePhase = last?.phase == state.phase
        guard !sameAsBefore, !samePhase || state.isFinished || now >= next else { return false }
        last = state
        next = now + interval
        return true
    }
}
