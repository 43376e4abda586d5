internal import LiteVault
internal import LiteVaultSystem

/// Where rows go: standard output, or a new file. Bytes are collected and written in large pieces.
///
/// Used on the main thread only.
final class ResultStream {
    /// The reader of standard output has closed it: nobody wants the rest.
    struct Closed: Error {}

    private let write: (UnsafeRawBufferPointer) throws -> Void
    /// Whether the work continues when the reader has closed it.
    private let outlivesReader: Bool
    /// Whether the reader has closed it, and what is printed goes nowhere.
    private(set) var isClosed = false
    /// Why it could not be written: bytes of it are lost, and more would not mend that.
    private var failure: (any Error)?
    private var pending: [UInt8] = []
    private(set) var size: Int64 = 0
    /// The width of the terminal that shows the rows, in columns; nil for files and pipes, where nothing is cut.
    private(set) var screen: Int?

    init(outlivesReader: Bool = false, _ write: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        (self.write, self.outlivesReader) = (write, outlivesReader)
        pending.reserveCapacity(Self.capacity + 1024)
    }

    /// Standard output.
    ///
    /// - Parameter outlivesReader: whether nothing is thrown when the reader has closed it: a script has other things to do.
    convenience init(_ terminal: Terminal, outlivesReader: Bool = false) {
        self.init(outlivesReader: outlivesReader) { bytes in
            guard try terminal.writeResult(bytes) else { throw Closed() }
        }
        screen = terminal.resultWidth
    }

    func append(_ text: String) throws {
        pending.append(contentsOf: text.utf8)
        try flushIfFull()
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        pending.append(contentsOf: bytes)
        try flushIfFull()
    }

    var hasFailed: Bool { failure != nil }

    /// Writes what was collected.
    ///
    /// - Throws: ``Closed``; what writing throws, and from then on the same.
    func flush() throws {
        defer { pending.removeAll(keepingCapacity: true) }
        if let failure { throw failure }
        guard !isClosed else { return }
        do {
            try pending.withUnsafeBytes(write)
            size += Int64(pending.count)
        } catch is Closed where outlivesReader {
            isClosed = true
        } catch {
            failure = error
            throw error
        }
    }

    private func flushIfFull() throws {
        guard pending.count >= Self.capacity else { return }
        try Interruption.shared.check()
        try flush()
    }

    private static let capacity = 1 << 16
}

/// A file of text that appears with mode 0600 once it is complete, or not at all.
final class NewTextFile {
    let stream: ResultStream
    private let file: ReplacementFile
    private let path: String
    private let descriptor: Int32

    /// - Parameter noun: what it is in messages.
    /// - Throws: `cannot-create` if the path exists or cannot be created.
    init(_ path: String, noun: String = "the file") throws {
        try Preflight.requireAbsent(path)
        file = try withErrorContext(path: path) { try ReplacementFile(destination: path) }
        let descriptor = open(file.path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(errno, path, noun) }
        (self.path, self.descriptor) = (path, descriptor)
        stream = ResultStream { bytes in
            let code = Terminal.write(bytes, to: descriptor)
            guard code == 0 else { throw Self.failure(code, path, noun) }
        }
    }

    deinit { close(descriptor) }

    /// Makes it durable and gives it its name.
    func publish() throws {
        try stream.flush()
        try withErrorContext(path: path) { try file.publish() }
    }

    private static func failure(_ code: Int32, _ path: String, _ noun: String) -> Failure {
        Failure(
            code == ENOSPC || code == EDQUOT ? .noSpace : .inputOutput,
            "\(noun) cannot be written: \(String(cString: strerror(code)))", path: path,
            remedy: "Nothing is left of it. Free some space, or choose another place.")
    }
}
