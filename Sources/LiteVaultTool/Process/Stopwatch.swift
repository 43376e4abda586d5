internal import Foundation

/// Measures how long a command works. Used from the main thread only.
final class Stopwatch {
    private var started = ProcessInfo.processInfo.systemUptime

    /// Seconds since the start, to the millisecond.
    var elapsed: Double {
        ((ProcessInfo.processInfo.systemUptime - started) * 1000).rounded() / 1000
    }

    /// Counts from now.
    func restart() { started = ProcessInfo.processInfo.systemUptime }
}
