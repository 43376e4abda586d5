internal import LiteVaultSystem
internal import LiteVaultFoundation

/// Where rows go: standard output, or a new file. Bytes are collected and written in large pieces.
///
/// Used on the main thread only.
final class ResultStream {
    /// The reader of standard output has closed it: nobody wants the rest.
    struct Closed: Error {}

    private let write: (UnsafeRawBufferPointer) throws -> Void
    private var pending: [UInt8] = []
    private(set) var size: Int64 = 0
    /// The width of the terminal that shows the rows, in columns; nil for files and pipes, where nothing is cut.
    private(set) var screen: Int?

    init(_ write: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        self.write = write
        pending.reserveCapacity(Self.capacity + 1024)
    }

    /// Standard output.
    convenience init(_ terminal: Terminal) {
        self.init { bytes in
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

    /// Writes what was collected.
    func flush() throws {
        try pending.withUnsafeBytes(write)
        size += Int64(pending.count)
        pending.removeAll(keepingCapacity: true)
    }

    private func flushIfFull() throws {
        guard pending.count >= Self.capacity else { return }
        try Interruption.shared.check()
        try flush()
    }

    private static let capacity = 1 << 16
}

/// Rows as lines of a report: for a result that is small.
final class ResultText {
    private final class Bytes { var all: [UInt8] = [] }

    private let bytes = Bytes()
    let stream: ResultStream

    init() {
        stream = ResultStream { [bytes] in bytes.all.append(contentsOf: $0) }
    }

    /// The lines written so far.
    func lines() -> [String] {
        try? stream.flush()
        return String(decoding: bytes.all, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
