import Foundation

/// A pseudo-terminal with `litevault` on it: what a person would see and type.
final class Terminal {
    private let master: Int32
    private let child: pid_t
    /// Everything that appeared on the terminal.
    private(set) var screen = ""

    /// Starts the tool with the terminal as its controlling terminal and as all of its standard streams.
    ///
    /// - Parameters:
    ///   - kind: the value of TERM; nil for that of this process.
    ///   - setting: another variable of the environment, as in `NAME=VALUE`.
    init(_ arguments: [String], in directory: URL, kind: String? = nil, setting: String? = nil) throws {
        // Swift's view of glibc has no posix_openpt and related functions; these are what they are made of.
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (number, unlocked): (Int32, Int32) = (0, 0)
        guard master >= 0, ioctl(master, 0x4004_5431, &unlocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw POSIXError(.ENXIO)
        }
        let slave = "/dev/pts/\(number)"
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        // In a new session the first terminal that is opened becomes the controlling one.
        let setsid: Int16 = 0x80  // POSIX_SPAWN_SETSID
        posix_spawnattr_setflags(&attributes, setsid)
        posix_spawn_file_actions_addopen(&actions, 0, slave, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        let setting = (kind.map { "TERM=\($0) " } ?? "") + (setting.map { "\($0) " } ?? "")
        let words =
            [
                "/bin/sh", "-c", "cd \"$1\" && shift && \(setting)exec \"$@\"", "sh", directory.path,
                Tool.executable.path,
            ]
            + arguments
        let pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, words[0], &actions, &attributes, pointers, environ)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        child = process
    }

    deinit {
        kill(child, SIGKILL)
        close(master)
    }

    /// Whether what is typed is shown.
    var echoes: Bool {
        var settings = termios()
        tcgetattr(master, &settings)
        return settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Waits until `text` appears after what was waited for before. Returns whether it did, within 5 minutes.
    func waitFor(_ text: String) -> Bool {
        let end = Date(timeIntervalSinceNow: 300)
        while Date() < end {
            if let found = screen.range(of: text, range: position..<screen.endIndex) {
                position = found.upperBound
                return true
            }
            guard read(milliseconds: 200) else { return screen[position...].contains(text) }
        }
        return false
    }

    /// Types a line.
    func type(_ text: String) {
        // As soon as the prompt is on the screen, echo is off: the tool turns it off first.
        let bytes = Array((text + "\n").utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// Types Ctrl-C.
    func interrupt() {
        _ = write(master, [3], 1)
    }

    /// Waits for the end and returns the exit status; 128 + N for signal N.
    func end() -> Int32 {
        while read(milliseconds: 30_000) {}
        var status: Int32 = 0
        waitpid(child, &status, 0)
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    private lazy var position = screen.startIndex

    /// Reads what there is. False when the tool is gone.
    private func read(milliseconds: Int32) -> Bool {
        var ready = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, milliseconds) > 0 else { return true }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Foundation.read(master, &buffer, buffer.count)
        guard count > 0 else { return false }
        let offset = screen.distance(from: screen.startIndex, to: position)
        screen += String(decoding: buffer[..<count], as: UTF8.self)
        position = screen.index(screen.startIndex, offsetBy: offset)
        return true
    }
}
