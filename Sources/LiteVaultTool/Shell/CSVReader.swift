internal import LiteVaultSystem

/// Reads CSV by RFC 4180, a record at a time. An empty field is nil, as `query` prints NULL in a row of several; an
/// empty text is in quotes.
struct CSVReader {
    /// What separates fields and records.
    struct Dialect {
        var column: UInt8
        var row: UInt8
        /// Whether quotes keep separators in a field.
        let hasQuotes: Bool

        static let csv = Dialect(column: UInt8(ascii: ","), row: newline, hasQuotes: true)
        /// The separators of ASCII for units and records.
        static let ascii = Dialect(column: 0x1F, row: 0x1E, hasQuotes: false)

        /// Whether a CR in front of the end of a line, or of the file, belongs to that.
        fileprivate var dropsReturns: Bool { row == newline && column != CSVReader.return }
    }

    private let dialect: Dialect
    private let next: () throws -> UInt8?
    private var pushed: UInt8?
    private var line = 1
    /// The number of the line on which the last record starts, from 1.
    private(set) var recordLine = 1
    /// Whether a field of the last record that is not in quotes contains a CR: lines may end with it alone.
    private(set) var hasReturn = false
    /// Whether a record so far has such a field, and none was ended by a line feed: the lines end with CR alone, if there are several.
    var hasOnlyReturns: Bool { hadReturn && !hadRowEnd }
    private var hadReturn = false
    private var hadRowEnd = false

    /// The longest field in bytes: a quote that is never closed would take in the rest of the file.
    private static let longest = 1 << 28

    /// - Parameter next: the next byte; nil at the end.
    init(_ dialect: Dialect = .csv, _ next: @escaping () throws -> UInt8?) {
        (self.dialect, self.next) = (dialect, next)
    }

    /// Reads a file in blocks. A byte order mark at its start is left out.
    init(_ file: InputFile, _ dialect: Dialect) {
        var block: [UInt8] = []
        var position = 0
        var isAtStart = true
        self.init(dialect) {
            while position == block.count {
                try Interruption.shared.check()
                block = try file.read(upTo: 1 << 16)
                position = 0
                if block.isEmpty { return nil }
                guard isAtStart else { break }
                isAtStart = false
                // A pipe may give less than the mark.
                while block.count < Self.mark.count {
                    let more = try file.read(upTo: Self.mark.count - block.count)
                    if more.isEmpty { break }
                    block += more
                }
                if block.starts(with: Self.mark) { position = Self.mark.count }
            }
            defer { position += 1 }
            return block[position]
        }
    }

    /// The fields of the next record; nil after the last one. Empty lines are skipped.
    ///
    /// - Throws: `usage` for a quote that is not closed, or text that is not UTF-8.
    mutating func record() throws -> [String?]? {
        var fields: [String?] = []
        hasReturn = false
        while true {
            guard let first = try takeUnquoted() else { return fields.isEmpty ? nil : fields + [nil] }
            if fields.isEmpty, first == dialect.row {
                hadRowEnd = true
                if first == Self.newline { line += 1 }
                continue
            }
            if fields.isEmpty { recordLine = line }
            let (field, end) = try self.field(first)
            fields.append(field)
            if end != dialect.column { return fields }
        }
    }

    /// A field, and the byte that ended it; nil for the end of the file.
    private mutating func field(_ first: UInt8) throws -> (String?, UInt8?) {
        var bytes: [UInt8] = []
        let isQuoted = first == Self.quote && dialect.hasQuotes
        if isQuoted { bytes = try quoted() }
        var next = isQuoted ? try takeUnquoted() : first
        while let byte = next {
            if byte == Self.newline { line += 1 }
            if byte == dialect.row { hadRowEnd = true }
            if byte == dialect.column || byte == dialect.row { return (try text(bytes, isQuoted), byte) }
            if byte == Self.return, dialect.dropsReturns { (hasReturn, hadReturn) = (true, true) }
            bytes.append(byte)
            guard bytes.count <= Self.longest else { throw tooLong() }
            next = try takeUnquoted()
        }
        return (try text(bytes, isQuoted), nil)
    }

    private mutating func quoted() throws -> [UInt8] {
        var bytes: [UInt8] = []
        let start = line
        while let byte = try take() {
            if byte == Self.newline { line += 1 }
            if byte == Self.quote {
                guard let after = try take() else { return bytes }
                guard after == Self.quote else {
                    pushed = after
                    return bytes
                }
            }
            bytes.append(byte)
            guard bytes.count <= Self.longest else { throw tooLong() }
        }
        throw Failure(.usage, "a quote on line \(start) is not closed", remedy: "Check the CSV text.")
    }

    private func text(_ bytes: [UInt8], _ isQuoted: Bool) throws -> String? {
        if bytes.isEmpty, !isQuoted { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.usage, "line \(line) is not text in UTF-8", remedy: "Convert the file.")
        }
        return text
    }

    private func tooLong() -> Failure {
        Failure(
            .usage, "a field of the record on line \(recordLine) is longer than \(Self.longest) bytes",
            remedy: "Check its quotes.")
    }

    private mutating func take() throws -> UInt8? {
        if let byte = pushed {
            pushed = nil
            return byte
        }
        return try next()
    }

    /// The next byte outside of quotes, without a CR in front of the end of a line or of the file.
    private mutating func takeUnquoted() throws -> UInt8? {
        let next = try take()
        guard let byte = next, byte == Self.return, dialect.dropsReturns else { return next }
        guard let after = try take() else { return nil }
        guard after != Self.newline else { return after }
        pushed = after
        return byte
    }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let quote = UInt8(ascii: "\"")
    private static let newline = UInt8(ascii: "\n")
    fileprivate static let `return` = UInt8(ascii: "\r")
}
