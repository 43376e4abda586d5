internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSystem

/// The statements and commands that were typed: in memory and, if a file was named, in that file. Never those that may have a key in
/// them.
struct ShellHistory {
    /// The entries, the oldest first. A statement of several lines is one.
    private(set) var lines: [String] = []
    /// Nil once it could not be written.
    private var path: String?
    /// The lines of a statement that is not complete: whether a key is in it shows at its end.
    private var open: [String] = []

    /// The first line of the file. Nothing else is ever appended to.
    private static let header = "# litevault shell history"
    private static let most = 1000
    /// What further lines of an entry begin with in the file. No statement does.
    private static let continuation = "...> "
    /// The size in bytes from which the file is replaced by one with its last lines.
    private static let largest: UInt64 = 1 << 20

    /// Reads the file, or creates it with mode 0600.
    ///
    /// - Throws: `usage` if it is another kind of file, `cannot-create` if it cannot be opened or created, `io` if it cannot be
    ///   read.
    init(path: String?) throws {
        self.path = path
        guard let path else { return }
        let descriptor = LiteVaultSystem.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT {
            try write(to: path, replacing: false)
            return
        }
        guard descriptor >= 0 else {
            throw Failure(
                .cannotCreate, "the history cannot be opened: \(String(cString: strerror(errno)))", path: path,
                remedy: "Choose another file, or leave out --history.")
        }
        defer { close(descriptor) }
        var status = stat()
        let header = Array((Self.header + "\n").utf8)
        let file = InputFile(descriptor: descriptor)
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1,
            try file.read(upTo: header.count) == header
        else {
            throw Failure(
                .usage, "this is not a history of the shell", path: path,
                remedy: "Name a new file: another one is never written to.")
        }
        // Others must not read here what they could not read in the database.
        _ = fchmod(descriptor, 0o600)
        try withErrorContext(path: path) {
            let skipped = max(
                UInt64(header.count), UInt64(max(0, status.st_size)) - min(UInt64(max(0, status.st_size)), Self.largest)
            )
            guard lseek(descriptor, off_t(skipped), SEEK_SET) >= 0 else { throw SystemError(code: errno) }
            let text = String(decoding: try file.read(upTo: Int(Self.largest)), as: UTF8.self)
            // Of a line that the limit has cut, the rest is left out.
            let read = text.split(separator: "\n").dropFirst(skipped > header.count ? 1 : 0).map {
                String($0.unicodeScalars.filter { $0.properties.generalCategory != .control })
            }
            lines = Self.entries(read).suffix(Self.most)
            // A kill or a full disk may have cut the last line.
            if !text.isEmpty, !text.hasSuffix("\n") {
                guard lseek(descriptor, 0, SEEK_END) >= 0, LiteVaultSystem.write(descriptor, "\n", 1) == 1 else {
                    throw SystemError(code: errno)
                }
            }
        }
        // If that fails, the file stays as long as it is.
        if status.st_size > Self.largest { try? write(to: path, replacing: true) }
    }

    private func write(to path: String, replacing: Bool) throws {
        let text = ([Self.header] + lines.map(Self.written)).joined(separator: "\n") + "\n"
        try LocalFile.replace(path, with: Array(text.utf8), replacing: replacing)
    }

    /// The entries of a file's lines. Of one that the limit has cut, the rest is left out.
    private static func entries(_ lines: [String]) -> [String] {
        var entries: [String] = []
        for line in lines {
            if !line.hasPrefix(continuation) {
                entries.append(line)
            } else if let last = entries.popLast() {
                entries.append(last + "\n" + line.dropFirst(continuation.count))
            }
        }
        return entries
    }

    private static func written(_ entry: String) -> String {
        entry.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n" + continuation)
    }

    /// Adds a line that was typed; it is kept once ``keep(ran:)`` learns that its statement is complete.
    mutating func add(_ line: String) { open.append(line) }

    /// Forgets the lines of a statement that was not completed.
    mutating func forget() { open = [] }

    /// Keeps the lines of a statement that is complete, unless they may have a key in them.
    ///
    /// - Parameter ran: whether it was run without an error. If it was not, a key may be misspelled.
    /// - Returns: the failure if the file cannot be written. Nothing more is written to it then.
    mutating func keep(ran: Bool) -> Failure? {
        // Nobody types a script.
        guard !open.isEmpty else { return nil }
        defer { open = [] }
        let entry = open.filter { !$0.allSatisfy(\.isWhitespace) }.joined(separator: "\n")
        guard !MisplacedKey.isSuspected(in: entry, ran: ran) else { return nil }
        guard !entry.isEmpty, entry != lines.last else { return nil }
        lines = (lines + [entry]).suffix(Self.most)
        guard let path else { return nil }
        let descriptor = LiteVaultSystem.open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        let bytes = Array((Self.written(entry) + "\n").utf8)
        // Other shells append to it too: a single call each.
        let count = descriptor < 0 ? -1 : LiteVaultSystem.write(descriptor, bytes, bytes.count)
        let code = count >= 0 ? ENOSPC : errno
        if descriptor >= 0 { close(descriptor) }
        guard count != bytes.count else { return nil }
        self.path = nil
        return Failure(
            code == ENOSPC || code == EDQUOT ? .noSpace : .inputOutput,
            "the history cannot be written: \(String(cString: strerror(code)))", path: path)
    }
}
