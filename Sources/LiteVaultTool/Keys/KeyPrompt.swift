internal import LiteVaultSystem

/// Asks for a key on the terminal, without echo.
struct KeyPrompt {
    /// What the key is for: `for notes.db`.
    let subject: String
    /// Whether a new key is being set. It is then asked for twice, as a typing error would make the data unreadable.
    let confirms: Bool
    let terminal: Terminal
    /// What is asked for; by default a passphrase or a hexadecimal key.
    var noun: String?

    /// Asks for the key.
    ///
    /// - Throws: `key-rejected` without a terminal, at end of file, or if the two answers differ three times.
    func ask(format: KeyFormat) throws -> SecretBuffer {
        guard terminal.inputIsTerminal else {
            throw Failure(
                .keyRejected, "cannot ask for the key: standard input is not a terminal",
                remedy: "Use another source of the key, such as --key-file PATH.")
        }
        let console = Console.open()
        defer { console.close() }
        let noun = noun ?? (format == .hex ? "hexadecimal key" : "passphrase")
        let what = confirms ? "New " + noun : noun.prefix(1).uppercased() + noun.dropFirst()
        for attempt in 1...3 {
            let first = try answer(on: console, "\(what) \(subject): ")
            guard confirms else { return first }
            guard first.count > 0 else {
                console.show("It cannot be empty.\n")
                continue
            }
            let second = try answer(on: console, "Repeat it: ")
            if first.equals(second) { return first }
            console.show(attempt < 3 ? "The entries differ. Try again.\n" : "The entries differ.\n")
        }
        throw Failure(.keyRejected, "no key was set: the answers differed or were empty")
    }

    private func answer(on console: Console, _ question: String) throws -> SecretBuffer {
        try console.withoutEcho {
            console.show(question)
            let buffer = SecretBuffer()
            let complete = try buffer.fillLine(from: console.descriptor)
            // The newline was not echoed either.
            console.show("\n")
            guard complete || buffer.count > 0 else { throw Failure(.keyRejected, "no key was entered") }
            return buffer
        }
    }
}

/// The terminal for questions: `/dev/tty`, wherever the standard streams lead.
struct Console {
    let descriptor: Int32
    private let isOwned: Bool

    /// Opens the terminal. The caller has made sure that standard input is one.
    static func open() -> Console {
        let descriptor = LiteVaultSystem.open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        return descriptor >= 0
            ? Console(descriptor: descriptor, isOwned: true) : Console(descriptor: STDIN_FILENO, isOwned: false)
    }

    func close() {
        if isOwned { _ = LiteVaultSystem.close(descriptor) }
    }

    func show(_ text: String) {
        let bytes = Array(text.utf8)
        // Standard input may be open for reading only.
        _ = LiteVaultSystem.write(isOwned ? descriptor : STDERR_FILENO, bytes, bytes.count)
    }

    /// Runs `body` with echo off. A signal that ends the process meanwhile restores the terminal first.
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
        // The shell's prompt belongs on a line of its own.
        let leave: @Sendable () -> Void = {
            restore()
            _ = write(tty, "\n", 1)
        }
        // Ctrl-Z would leave the shell a terminal without echo.
        let stop = signal(SIGTSTP, SIG_IGN)
        let token = Interruption.shared.onEnd(immediately: true, leave)
        // TCSAFLUSH discards what was typed ahead, with echo.
        _ = tcsetattr(descriptor, TCSAFLUSH, &silent)
        defer {
            restore()
            Interruption.shared.remove(token)
            _ = signal(SIGTSTP, stop)
        }
        return try body()
    }

    /// Reads one line, without its newline; nil at end of file.
    func readLine() -> String? {
        var bytes: [UInt8] = []
        while bytes.count < 1024 {
            var byte: UInt8 = 0
            let count = LiteVaultSystem.read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            if byte == UInt8(ascii: "\n") { break }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
