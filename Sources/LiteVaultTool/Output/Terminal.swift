internal import LiteVaultQuoting
internal import LiteVaultSystem

/// The two output streams. Commands do not write to them: they return a ``Report``, which a reporter prints here.
///
/// Writes are unbuffered and under a lock: the signal thread clears the progress line while the main thread may be writing.
final class Terminal: Sendable {
    /// Whether a person can be asked.
    let inputIsTerminal = isatty(STDIN_FILENO) == 1
    /// Whether a status line can be redrawn in place.
    let errorIsTerminal: Bool
    private let outputIsTerminal: Bool
    /// Whether a result can be redrawn: standard output is a terminal that moves its cursor.
    let redraws: Bool
    let usesColor: Bool
    /// Whether standard error is the journal of systemd, which reads a message's priority from its start: sd-daemon(3).
    private let errorIsJournal: Bool

    /// Whether this program was started without standard output. Reports go nowhere then; data must not be lost like that.
    private static let isOutputClosed = Locked(false)

    static func noteClosedOutput() { isOutputClosed.withLock { $0 = true } }

    /// The status line on the screen.
    private let status = Locked("")

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let dumb = environment["TERM"] == "dumb"
        errorIsTerminal = isatty(STDERR_FILENO) == 1 && !dumb
        outputIsTerminal = isatty(STDOUT_FILENO) == 1
        redraws = outputIsTerminal && !dumb
        // https://no-color.org: any value that is not empty.
        usesColor = errorIsTerminal && (environment["NO_COLOR"] ?? "").isEmpty
        var status = stat()
        errorIsJournal =
            fstat(STDERR_FILENO, &status) == 0
            && environment["JOURNAL_STREAM"] == "\(UInt64(status.st_dev)):\(UInt64(status.st_ino))"
    }

    /// Writes one line of the result to standard output. Control characters are shown, wherever its text comes from.
    ///
    /// - Throws: `io` or `no-space` if it cannot be written. A closed pipe (EPIPE) is ignored.
    func printResult(_ line: String) throws(Failure) { try printUnchanged(Quoting.terminalLines(line)) }

    private func printUnchanged(_ line: String) throws(Failure) {
        let code = status.withLock { status in
            Self.erase(&status)
            return Self.write(line + "\n", to: STDOUT_FILENO)
        }
        try Self.requireWritten(
            code,
            remedy:
                "What the command has changed stays changed. What it was to print is lost, a new key or recovery code included."
        )
    }

    private static func requireWritten(_ code: Int32, remedy: String) throws(Failure) {
        guard code == 0 || code == EPIPE else {
            throw Failure(
                code == ENOSPC ? .noSpace : .inputOutput,
                "cannot write the result to standard output: \(String(cString: strerror(code)))", remedy: remedy)
        }
    }

    /// Replaces everything on the screen with lines of the result.
    func redraw(_ lines: [String]) throws(Failure) {
        // Home, then each line and the rest of its old one, then everything below: no flicker.
        let text = lines.map { Quoting.terminalLines($0) + "\u{1B}[K" }.joined(separator: "\n")
        try printUnchanged("\u{1B}[H" + text + "\n\u{1B}[J")
    }

    /// Writes bytes of the result to standard output: as they are to a file or a pipe, with control characters shown to a terminal.
    ///
    /// - Returns: false if the reader has closed it.
    /// - Throws: `io` or `no-space` if they cannot be written.
    func writeResult(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> Bool {
        guard !Self.isOutputClosed.value else {
            throw Failure(
                .inputOutput, "standard output is closed", remedy: "Send it to a file or a pipe. Nothing was written.")
        }
        let code = status.withLock { status in
            Self.erase(&status)
            guard outputIsTerminal else { return Self.write(bytes, to: STDOUT_FILENO) }
            return Self.write(Quoting.terminalLines(String(decoding: bytes, as: UTF8.self)), to: STDOUT_FILENO)
        }
        try Self.requireWritten(code, remedy: "What was written is incomplete.")
        return code == 0
    }

    /// The priorities of messages in a system's log: syslog(3).
    enum Priority: Int {
        case error = 3
        case warning = 4
        case info = 6
        case debug = 7
    }

    /// Writes one line to standard error.
    ///
    /// - Parameters:
    ///   - line: the line. Control characters are shown.
    ///   - label: what comes before it, in a style that is used where messages are colored.
    ///   - priority: its priority in a system's log, which gets it where standard error is one.
    func printMessage(_ line: String, label: (text: String, style: String)? = nil, priority: Priority = .info) {
        let start = errorIsJournal ? "<\(priority.rawValue)>" : ""
        let name = label.map { usesColor ? "\u{1B}[\($0.style)m\($0.text)\u{1B}[0m " : $0.text + " " } ?? ""
        status.withLock { status in
            Self.erase(&status)
            _ = Self.write(start + name + Quoting.terminalLines(line) + "\n", to: STDERR_FILENO)
        }
    }

    /// Replaces the status line. An empty line removes it.
    func drawStatus(_ line: String) {
        status.withLock { status in
            guard errorIsTerminal, line != status else { return }
            _ = Self.write("\r" + Quoting.terminal(line) + "\u{1B}[K", to: STDERR_FILENO)
            status = line
        }
    }

    /// The width of the terminal in columns; 80 if unknown.
    var width: Int { Self.columns(of: STDERR_FILENO) ?? 80 }

    /// The width of the terminal that shows results, in columns; nil if standard output leads elsewhere, or its width is unknown.
    var resultWidth: Int? { outputIsTerminal ? Self.columns(of: STDOUT_FILENO) : nil }

    static func columns(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    private static func erase(_ status: inout String) {
        guard !status.isEmpty else { return }
        _ = write("\r\u{1B}[K", to: STDERR_FILENO)
        status = ""
    }

    /// Writes everything, or returns the `errno` that stopped it.
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        Array(text.utf8).withUnsafeBytes { write($0, to: descriptor) }
    }

    /// Writes everything, or returns the `errno` that stopped it.
    static func write(_ content: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var bytes = content
        while !bytes.isEmpty {
            let written = LiteVaultSystem.write(descriptor, bytes.baseAddress, bytes.count)
            if written < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN {
                    // A process that shares the descriptor made it non-blocking: wait for the reader.
                    var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&ready, 1, 1000)
                    continue
                }
                return errno
            }
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(written))
        }
        return 0
    }
}

struct ProgressState: Equatable, Sendable {
    /// The current phase, as a present participle: `copying`, `verifying`.
    var phase: String
    var done: Int64
    /// The total of units; 0 if unknown.
    var total: Int64
    /// Bytes a second so far, and the seconds that the rest takes at that rate; nil if unknown.
    var pace: Pace?

    struct Pace: Equatable, Sendable {
        let rate: Double
        let remaining: Double
    }

    var isFinished: Bool { total > 0 && done >= total }

    /// 0 to 99, and 100 only when the phase is complete.
    private var percent: Int64? {
        guard total > 0 else { return nil }
        if done >= total { return 100 }
        return min(99, Int64(Double(max(0, done)) / Double(total) * 100))
    }

    var line: String { (percent.map { "\(phase) \($0) %" } ?? phase) + paceText }

    /// `, 12.3 MB/s, 45 s left`; empty if unknown.
    private var paceText: String {
        pace.map { ", \(Format.size(Int64($0.rate)))/s, \(Format.duration($0.remaining)) left" } ?? ""
    }

    /// A line for a terminal, narrower than it: a line that wraps cannot be redrawn.
    func bar(width: Int) -> String {
        guard let percent else { return String("\(phase) …".prefix(max(0, width - 1))) }
        let number = String(percent)
        let tail = String(repeating: " ", count: 4 - number.count) + number + " %" + paceText
        let room = min(40, width - 1 - phase.count - tail.count - 3)
        guard room >= 5 else { return String((phase + tail).prefix(max(0, width - 1))) }
        let filled = Int(Int64(room) * percent / 100)
        return phase + " [" + String(repeating: "#", count: filled) + String(repeating: ".", count: room - filled)
            + "]" + tail
    }
}

/// Measures how fast each phase of an operation is.
final class ProgressClock: Sendable {
    private let begun = Locked<(phase: String, done: Int64, at: Double)?>(nil)

    /// The pace of a phase that counts bytes; nil in its first second, and at its end.
    func pace(_ phase: String, _ done: Int64, of total: Int64) -> ProgressState.Pace? {
        let now = ProcessInfo.processInfo.systemUptime
        return begun.withLock { begun in
            guard let start = begun, start.phase == phase, start.done <= done else {
                begun = (phase, done, now)
                return nil
            }
            let rate = Double(done - start.done) / max(0.001, now - start.at)
            guard now - start.at >= 1, rate >= 1, done < total else { return nil }
            return .init(rate: rate, remaining: Double(total - done) / rate)
        }
    }
}

/// Limits the rate of progress: operations report it after every few pages.
final class ProgressMeter: Sendable {
    private let interval: Double
    /// The last state shown, and the time from which the next one may be.
    private let shown = Locked<(last: ProgressState?, next: Double)>((nil, 0))

    /// - Parameter interval: the shortest time between two states of one phase, in seconds.
    init(interval: Double) { self.interval = interval }

    /// Whether to show a state: the first and the last of each phase, and one per interval between them.
    func admits(_ state: ProgressState) -> Bool {
        shown.withLock { shown in
            let now = ProcessInfo.processInfo.systemUptime
            guard shown.last != state,
                shown.last?.phase != state.phase || state.isFinished || now >= shown.next
            else { return false }
            shown = (state, now + interval)
            return true
        }
    }
}
