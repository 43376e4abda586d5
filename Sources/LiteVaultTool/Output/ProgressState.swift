/// How far an operation got, as the reporters show it.
struct ProgressState: Equatable, Sendable {
    /// What is being done, as a present participle: `copying`, `verifying`.
    var phase: String
    /// Units done, and their total (0: unknown).
    var done: Int64
    var total: Int64

    /// Whether this is the last state of its phase.
    var isFinished: Bool { total > 0 && done >= total }

    /// 0 to 100, never 100 before the end.
    var percent: Int64? {
        guard total > 0 else { return nil }
        if done >= total { return 100 }
        return min(99, Int64(Double(max(0, done)) / Double(total) * 100))
    }

    /// One line for a log.
    var line: String {
        percent.map { "\(phase) \($0) %" } ?? phase
    }

    /// One line for a terminal, never wider than it: a line that wraps can not be drawn over.
    func bar(width: Int) -> String {
        guard let percent else { return String("\(phase) …".prefix(max(0, width - 1))) }
        let number = String(percent)
        let tail = String(repeating: " ", count: 4 - number.count) + number + " %"
        let room = min(40, width - 1 - phase.count - tail.count - 3)
        guard room >= 5 else { return String((phase + tail).prefix(max(0, width - 1))) }
        let filled = Int(Int64(room) * percent / 100)
        return phase + " [" + String(repeating: "#", count: filled) + String(repeating: ".", count: room - filled)
            + "]" + tail
    }
}
