internal import LiteVaultCore
internal import LiteVaultEngine
internal import LiteVaultSystem

/// Standard input of the shell or a file of `.read`, line by line. On a terminal, lines are edited as the system's own line discipline
/// allows.
package final class ShellInput {
    /// The file; nil for standard input.
    let path: String?
    private let limit: Int
    private let descriptor: Int32
    private var bytes: [UInt8] = []
    private var position = 0
    private var isAtEnd = false
    /// The number of the last line, from 1.
    private(set) var line = 0

    /// Standard input.
    init() { (path, descriptor, limit) = (nil, STDIN_FILENO, StatementBuffer.largest) }

    /// A file.
    ///
    /// - Parameter limit: the bytes that a line may have.
    /// - Throws: `no-input` if it is missing or cannot be read, `wrong-kind` if it is not a regular file.
    package init(path: String, limit: Int = StatementBuffer.largest) throws {
        try Preflight.requireSource(path)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(
                .noInput, "the file cannot be read: \(String(cString: strerror(errno)))", path: path,
                remedy: "Check its permissions.")
        }
        (self.path, self.descriptor, self.limit) = (path, descriptor, limit)
    }

    deinit { if path != nil { close(descriptor) } }

    /// The next line without the LF at its end; nil after the last one. A CR before that is left: it may be within a literal.
    ///
    /// - Throws: `io` if standard input cannot be read, `usage` for text that is not UTF-8, and for a line that is too long.
    package func next() throws -> String? {
        var scanned = position
        while true {
            if let end = bytes[scanned...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { position = end + 1 }
                return try text(bytes[position..<end])
            }
            scanned = bytes.count - position
            bytes.removeFirst(position)
            position = 0
            guard bytes.count <= limit else {
                line += 1
                throw Failure(.usage, "the line has more than \(limit) bytes", remedy: "Check what is read.")
            }
            guard !isAtEnd else {
                guard !bytes.isEmpty else {
                    // On a terminal more may be typed after Ctrl-D.
                    isAtEnd = false
                    return nil
                }
                defer { bytes = [] }
                return try text(bytes[...])
            }
            try fill()
        }
    }

    private func text(_ bytes: ArraySlice<UInt8>) throws -> String {
        line += 1
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw Failure(.usage, "the input is not text in UTF-8")
        }
        return text
    }

    private func fill() throws {
        // Only the signal thread can end the process while it waits for input.
        let token = Interruption.shared.onEnd(immediately: true) {}
        defer { Interruption.shared.remove(token) }
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &block, block.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                // Another attempt would fail as this one has.
                isAtEnd = true
                throw Failure(
                    .inputOutput,
                    "cannot read \(path.map(Format.visible) ?? "standard input"): \(String(cString: strerror(errno)))")
            }
            if count == 0 { isAtEnd = true }
            bytes.append(contentsOf: block[..<count])
            return
        }
    }
}

/// SQL text that has been read, and is not complete yet. Each byte is looked at once, so that long literals cost no more.
package struct StatementBuffer {
    /// The bytes that the engine takes at most, by its default (`SQLITE_LIMIT_SQL_LENGTH`).
    package static let largest = 1_000_000_000

    private enum Place: Equatable {
        case outside
        /// Inside a literal or a quoted name, until this byte.
        case quoted(UInt8)
        case lineComment
        case blockComment
    }

    private let limit: Int
    private var bytes: [UInt8] = []
    private var place = Place.outside
    /// Whether there is more than spaces, comments and semicolons.
    private var hasContent = false
    /// The number of the line on which the statement starts.
    private(set) var line = 0
    /// That on which the last quote or comment begins.
    private var opening = 0
    /// The characters of its line that are before the text.
    private var column = 0

    /// Why the text is not complete at its end, and what would complete it.
    var problem: (line: Int, message: String, remedy: String) {
        switch place {
        case .quoted(let end):
            let sign = String(UnicodeScalar(end))
            return (
                opening, "what is quoted from here on has no closing \(sign)",
                "Close it, and end the statement with ';'."
            )
        case .blockComment: return (opening, "the comment that begins here does not end", "End it with '*/'.")
        case .outside, .lineComment: return (line, "the last statement is not complete", "End it with ';'.")
        }
    }

    /// - Parameter limit: the bytes that a statement may have.
    package init(limit: Int = StatementBuffer.largest) { self.limit = limit }

    /// The line on which what is larger than the limit begins; nil if nothing is.
    package var excess: (line: Int, limit: Int)? {
        guard bytes.count > limit else { return nil }
        return (hasContent ? line : max(opening, 1), limit)
    }

    /// Whether no statement is open.
    var isBlank: Bool { !hasContent && place != .blockComment }

    /// Adds a line, and takes out the statements that are complete by the rule of `sqlite3_complete`.
    ///
    /// - Parameters:
    ///   - next: the line, without its end. What was recalled from the history may be several.
    ///   - number: its number; that of the first is 1.
    package mutating func add(_ next: String, line number: Int) -> [PlacedStatement] {
        var position = bytes.count
        bytes.append(contentsOf: next.utf8)
        bytes.append(UInt8(ascii: "\n"))
        var found: [PlacedStatement] = []
        var start = 0
        while position < bytes.count {
            let byte = bytes[position]
            if place == .outside, byte == UInt8(ascii: ";") {
                let sql = String(decoding: bytes[start...position], as: UTF8.self)
                if !hasContent || sqlite3_complete(sql) != 0 {
                    if hasContent {
                        let lines = bytes[start...position].count { $0 == Self.newline }
                        found.append(
                            PlacedStatement(sql: sql, line: line, textLine: number - lines, textColumn: column))
                    }
                    moveColumn(past: bytes[start...position])
                    start = position + 1
                    hasContent = false
                }
                position += 1
            } else {
                position += step(byte, position + 1 < bytes.count ? bytes[position + 1] : 0, number)
            }
        }
        bytes.removeFirst(start)
        return found
    }

    private mutating func moveColumn(past text: ArraySlice<UInt8>) {
        let line = text.lastIndex(of: Self.newline).map { text[($0 + 1)...] }
        column = String(decoding: line ?? text, as: UTF8.self).count + (line == nil ? column : 0)
    }

    private static let newline = UInt8(ascii: "\n")

    /// Moves on by a byte, or by the two that begin or end a comment.
    private mutating func step(_ byte: UInt8, _ next: UInt8, _ number: Int) -> Int {
        switch (place, byte, next) {
        case (.outside, UInt8(ascii: "-"), UInt8(ascii: "-")): place = .lineComment
        case (.outside, UInt8(ascii: "/"), UInt8(ascii: "*")): (place, opening) = (.blockComment, number)
        case (.blockComment, UInt8(ascii: "*"), UInt8(ascii: "/")): place = .outside
        case (.lineComment, UInt8(ascii: "\n"), _):
            place = .outside
            return 1
        case (.quoted(let end), _, _):
            if byte == end { place = .outside }
            return 1
        case (.outside, _, _):
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): (place, opening) = (.quoted(byte), number)
            case UInt8(ascii: "["): (place, opening) = (.quoted(UInt8(ascii: "]")), number)
            case UInt8(ascii: " "), 0x09...0x0d: return 1
            default: break
            }
            if !hasContent { line = number }
            hasContent = true
            return 1
        default: return 1
        }
        return 2
    }

    mutating func clear() { self = StatementBuffer(limit: limit) }
}
