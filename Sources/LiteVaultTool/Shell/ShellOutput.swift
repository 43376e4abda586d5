/// Where the shell prints: standard output, or a new file that `.output` or `.once` names.
final class ShellOutput {
    private let standard: ResultStream
    private var file: NewTextFile?
    /// Of `.once`: the next command or statement prints to the file, and its end completes it.
    private var once: Once?

    private enum Once { case next, running }

    /// - Parameter outlivesReader: as ``ResultStream``.
    init(_ terminal: Terminal, outlivesReader: Bool) {
        standard = ResultStream(terminal, outlivesReader: outlivesReader)
    }

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

    /// Gives up a file that could not be written, and prints to standard output again. Nothing is left of the file.
    ///
    /// - Returns: whether there was one.
    func dropFailedFile() -> Bool {
        guard file?.stream.hasFailed == true else { return false }
        (file, once) = (nil, nil)
        return true
    }

    func flush() throws { try stream.flush() }

    /// Shows the prompt, on standard output in any case.
    func prompt(_ text: String) throws {
        try standard.append(text)
        try standard.flush()
    }

    func print(_ line: String) throws { try stream.append(line + "\n") }
}
