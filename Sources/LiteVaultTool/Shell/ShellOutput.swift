internal import LiteVaultSystem
internal import LiteVault
internal import LiteVaultFoundation

/// Where the shell prints: standard output, or a new file that `.output` or `.once` names.
final class ShellOutput {
    private let standard: ResultStream
    private var file: NewTextFile?
    /// Of `.once`: the next command or statement prints to the file, and its end completes it.
    private var once: Once?

    private enum Once { case next, running }

    init(_ terminal: Terminal) { standard = ResultStream(terminal) }

    var stream: ResultStream { file?.stream ?? standard }

    /// Prints to a new file from now on, or the next result only. What was printed to another file is complete.
    ///
    /// - Throws: `cannot-create` if the path exists: the open database, say.
    func redirect(to path: String, once isOnce: Bool) throws {
        try restore()
        try standard.flush()
        file = try NewTextFile(path)
        once = isOnce ? .next : nil
    }

    /// Completes the file, and prints to standard output again.
    func restore() throws {
        defer { (file, once) = (nil, nil) }
        try file?.publish()
    }

    /// A command or statement begins.
    func begin() { if once == .next { once = .running } }

    /// It has ended. After an error nothing is left of a file that was for it alone.
    func end(failed: Bool = false) throws {
        guard once == .running else { return }
        if failed { (file, once) = (nil, nil) } else { try restore() }
    }

    func flush() throws { try stream.flush() }

    /// Shows the prompt, on standard output in any case.
    func prompt(_ text: String) throws {
        try standard.append(text)
        try standard.flush()
    }

    /// Prints a line.
    func print(_ line: String) throws { try stream.append(line + "\n") }
}

/// A file of text that appears with mode 0600 once it is complete, or not at all.
final class NewTextFile {
    let stream: ResultStream
    private let file: ReplacementFile
    private let path: String
    private let descriptor: Int32

    /// - Throws: `cannot-create` if the path exists or cannot be created.
    init(_ path: String) throws {
        try Preflight.requireAbsent(path)
        file = try withErrorContext(path: path) { try ReplacementFile(destination: path) }
        let descriptor = open(file.path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(errno, path) }
        (self.path, self.descriptor) = (path, descriptor)
        stream = ResultStream { bytes in
            let code = Terminal.write(bytes, to: descriptor)
            guard code == 0 else { throw Self.failure(code, path) }
        }
    }

    deinit { close(descriptor) }

    /// Makes it durable and gives it its name.
    func publish() throws {
        try stream.flush()
        try withErrorContext(path: path) { try file.publish() }
    }

    private static func failure(_ code: Int32, _ path: String) -> Failure {
        Failure(
            code == ENOSPC || code == EDQUOT ? .noSpace : .inputOutput,
            "the file cannot be written: \(String(cString: strerror(code)))", path: path,
            remedy: "Nothing is left of it. Free some space, or choose another place.")
    }
}
