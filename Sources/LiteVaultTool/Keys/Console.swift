internal import Foundation

/// The terminal that a person sits at, for questions: `/dev/tty`, whatever the standard streams are connected to.
struct Console {
    let descriptor: Int32
    private let isOwned: Bool

    /// - Throws: `key-rejected` when standard input is no terminal: then nobody is asked, even if one exists.
    static func open(_ terminal: Terminal) throws(Failure) -> Console {
        guard terminal.inputIsTerminal else { throw .noKey("key") }
        let descriptor = Foundation.open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        return descriptor >= 0
            ? Console(descriptor: descriptor, isOwned: true) : Console(descriptor: STDIN_FILENO, isOwned: false)
    }

    func close() {
        if isOwned { _ = Foundation.close(descriptor) }
    }

    /// Shows text on the terminal.
    func show(_ text: String) {
        let bytes = Array(text.utf8)
        // Standard input opened for reading only can not show anything; standard error is the next best place.
        _ = Foundation.write(isOwned ? descriptor : STDERR_FILENO, bytes, bytes.count)
    }

    /// Runs `body` with echo off. A signal that ends the process meanwhile puts the terminal back first.
    func withoutEcho<T>(_ body: () throws -> T) throws -> T {
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else { return try body() }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO | ECHONL)
        silent.c_lflag |= tcflag_t(ICANON | ISIG)
        let restored = before
        let tty = descriptor
        let restore: @Sendable () -> Void = {
            var settings = restored
            _ = tcsetattr(tty, TCSANOW, &settings)
        }
        // The shell's prompt would otherwise stand behind ours.
        let leave: @Sendable () -> Void = {
            restore()
            _ = write(tty, "\n", 1)
        }
        // Stopped with Ctrl-Z here, the shell would get a terminal without echo.
        let stop = signal(SIGTSTP, SIG_IGN)
        let token = Interruption.shared.onEnd(immediately: true, leave)
        // TCSAFLUSH: what was typed ahead, visibly, is not taken for the key.
        _ = tcsetattr(descriptor, TCSAFLUSH, &silent)
        defer {
            restore()
            Interruption.shared.remove(token)
            _ = signal(SIGTSTP, stop)
        }
        return try body()
    }

    /// One line of visible input, without its newline; nil at end of file.
    func readLine() -> String? {
        var bytes: [UInt8] = []
        while bytes.count < 1024 {
            var byte: UInt8 = 0
            let count = Foundation.read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            if byte == UInt8(ascii: "\n") { break }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Failure {
    /// No key was given and nobody can be asked.
    static func noKey(_ noun: String, prefix: String = "") -> Failure {
        let names = ["file PATH", "fd N", "env NAME", "command CMD", "credential NAME"]
        let options = names.map { "--\(prefix)key-\($0)" }
        return Failure(
            .keyRejected, "no \(noun) was given, and standard input is not a terminal to ask on",
            remedy: "Use one of " + options.dropLast().joined(separator: ", ") + " or \(options[4]).")
    }
}
