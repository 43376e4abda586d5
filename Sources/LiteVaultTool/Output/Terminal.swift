internal import Foundation

/// The two output streams. Commands never write to them: they return a `Report`, and this is what prints it.
///
/// Writes go to the descriptors without a buffer, and under a lock, because the thread that waits for signals clears
/// the progress line while the main thread may be writing it.
final class Terminal: @unchecked Sendable {  // its lock guards `status`
    /// Whether somebody can be asked for something.
    let inputIsTerminal = isatty(STDIN_FILENO) == 1
    /// Whether progress can be drawn in place.
    let errorIsTerminal: Bool
    /// Whether standard error may carry escape sequences for colour.
    let colours: Bool

    private let lock = NSLock()
    /// What is drawn on the last line of standard error now.
    private var status = ""

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let dumb = environment["TERM"] == "dumb"
        errorIsTerminal = isatty(STDERR_FILENO) == 1 && !dumb
        // no-color.org: present and not empty.
        colours = errorIsTerminal && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// Writes one line of the result to standard output.
    ///
    /// - Throws: `io` or `no-space` when it can not be written; a reader that went away (EPIPE) is no error.
    func result(_ line: String) throws(Failure) {
        lock.lock()
        defer { lock.unlock() }
        erase()
        let code = Self.write(line + "\n", to: STDOUT_FILENO)
        guard code == 0 || code == EPIPE else {
            throw Failure(
                code == ENOSPC ? .noSpace : .inputOutput,
                "the result could not be written to standard output: \(String(cString: strerror(code)))",
                remedy: "The work itself is done; only the report of it is lost.")
        }
    }

    /// Writes one line for people, or one JSON object, to standard error.
    func message(_ line: String) {
        lock.lock()
        defer { lock.unlock() }
        erase()
        _ = Self.write(line + "\n", to: STDERR_FILENO)
    }

    /// Draws `line` in place of the previous status; an empty one takes it away.
    func draw(_ line: String) {
        lock.lock()
        defer { lock.unlock() }
        guard errorIsTerminal, line != status else { return }
        _ = Self.write("\r" + line + "\u{1B}[K", to: STDERR_FILENO)
        status = line
    }

    /// The width of the terminal in columns; 80 when unknown.
    var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    private func erase() {
        guard !status.isEmpty else { return }
        _ = Self.write("\r\u{1B}[K", to: STDERR_FILENO)
        status = ""
    }

    /// Writes everything, or returns the `errno` that stopped it.
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN {
                    // Standard error shared with a process that made it non-blocking: wait for the reader.
                    var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&ready, 1, 1000)
                    continue
                }
                return errno
            }
            bytes = bytes.dropFirst(written)
        }
        return 0
    }
}
