internal import LiteVaultSystem

/// Reads lines from a terminal, with the usual keys: arrows, Ctrl-A, E, B, F, K, U, W, Y, P, N, R and L, Home, End, Delete,
/// words with Ctrl or Alt, and Tab.
///
/// The terminal is in raw mode only while a line is read: what runs between lines can be interrupted and may ask for keys.
final class LineEditor {
    enum Answer: Equatable {
        case line(String)
        /// Ctrl-C: what was typed is forgotten.
        case cancelled
        /// Ctrl-D on an empty line, or the terminal is gone.
        case end
    }

    /// What fits at the end of a text: how much of it a completion replaces, and the possible ones.
    typealias Completion = (_ before: String) -> (replaced: Int, candidates: [String])

    private let input: Int32
    private let output: Int32
    /// What was typed or pasted behind the end of the last line.
    private var ahead: [UInt8] = []
    private var isPasting = false
    private var line = EditedLine()
    private var prompt = ""
    /// What is shown before the further lines of a statement.
    private let continuation: String

    /// The longest line in bytes. Further characters are dropped, with a bell.
    private static let longest = 1 << 20

    init(continuation: String, input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO) {
        (self.continuation, self.input, self.output) = (continuation, input, output)
    }

    /// Reads a line. The mode of the terminal is restored at the end, also if a signal ends the process meanwhile.
    func read(_ prompt: String, history: [String], completion: Completion) -> Answer {
        var before = termios()
        guard tcgetattr(input, &before) == 0 else { return .end }
        (self.prompt, line) = (prompt, EditedLine())
        enterRawMode(before)
        let (restored, descriptor, screen) = (before, input, output)
        let token = Interruption.shared.onEnd(immediately: true) { Self.leaveRawMode(restored, descriptor, screen) }
        defer {
            Interruption.shared.remove(token)
            Self.leaveRawMode(before, input, output)
        }
        draw()
        let answer = edit(before, history, completion)
        if case .line(let text) = answer {
            // A statement of several lines was edited as one; now it is shown as it was typed.
            write("\r" + prompt + Self.replacing(text, by: "\u{1B}[K\n" + continuation) + "\u{1B}[K")
        }
        if answer == .cancelled { write("^C") }
        return answer
    }

    private func enterRawMode(_ settings: termios) {
        var raw = settings
        raw.c_iflag &= ~tcflag_t(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON)
        raw.c_lflag &= ~tcflag_t(ECHO | ICANON | IEXTEN | ISIG)
        // What was typed ahead stays.
        _ = tcsetattr(input, TCSADRAIN, &raw)
        // A paste comes in brackets, so that tabs in it complete nothing.
        write("\u{1B}[?2004h")
    }

    /// Also called by the signal thread.
    private static func leaveRawMode(_ settings: termios, _ input: Int32, _ output: Int32) {
        var settings = settings
        _ = tcsetattr(input, TCSADRAIN, &settings)
        let end = Array("\u{1B}[?2004l\n".utf8)
        _ = LiteVaultSystem.write(output, end, end.count)
    }

    // MARK: Keys

    private func edit(_ settings: termios, _ history: [String], _ completion: Completion) -> Answer {
        // The lines of the history and, behind them, the new one; changes to any are kept until Return.
        var lines = history + [""]
        var current = lines.count - 1
        while let byte = next() {
            switch byte {
            case 0x0A, 0x0D: return .line(line.text)
            case 0x03: return .cancelled
            case 0x04 where line.isEmpty: return .end
            case 0x04: line.removeAfter()
            case 0x01: line.moveToStart()
            case 0x02: line.moveLeft()
            case 0x05: line.moveToEnd()
            case 0x06: line.moveRight()
            case 0x08, 0x7F: line.removeBefore()
            case 0x09: if isPasting { line.insert(" ") } else { complete(completion) }
            case 0x0B: line.removeToEnd()
            case 0x0C: write("\u{1B}[H\u{1B}[2J")
            case 0x0E: move(1, &current, &lines)
            case 0x10: move(-1, &current, &lines)
            case 0x12: if search(history) { return .line(line.text) }
            case 0x15: line.removeToStart()
            case 0x17: line.removeWordBefore()
            case 0x19: line.putBack()
            case 0x1A: suspend(settings)
            case 0x1B: if let step = escape() { move(step, &current, &lines) }
            case 0x20...: insert(byte)
            default: break
            }
            // A long paste is drawn once.
            if ahead.isEmpty { draw() }
        }
        return .end
    }

    private func move(_ step: Int, _ current: inout Int, _ lines: inout [String]) {
        guard lines.indices.contains(current + step) else { return bell() }
        lines[current] = line.text
        current += step
        line.replace(by: lines[current])
    }

    /// Reads a character of UTF-8 whose first byte is known. What is not UTF-8 is left out.
    private func insert(_ first: UInt8) {
        var bytes = [first]
        let count = first < 0xC0 || first >= 0xF8 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        while bytes.count < count, let byte = next() {
            guard byte & 0xC0 == 0x80 else {
                ahead.insert(byte, at: 0)
                break
            }
            bytes.append(byte)
        }
        guard let text = String(validating: bytes, as: UTF8.self), let scalar = text.unicodeScalars.first,
            scalar.properties.generalCategory != .control, line.size < Self.longest
        else { return bell() }
        line.insert(scalar)
    }

    /// Reads what follows Escape, and does it.
    ///
    /// - Returns: a step through the history, which is left to the caller.
    private func escape() -> Int? {
        guard let first = next(within: 50) else { return nil }
        guard first == UInt8(ascii: "[") || first == UInt8(ascii: "O") else {
            switch first {
            case UInt8(ascii: "b"): line.moveLeftByWord()
            case UInt8(ascii: "f"): line.moveRightByWord()
            case 0x7F: line.removeWordBefore()
            default: break
            }
            return nil
        }
        var parameters = ""
        while let byte = next(within: 50) {
            guard (0x40...0x7E).contains(byte) else {
                parameters.unicodeScalars.append(Unicode.Scalar(byte))
                guard parameters.utf8.count < 16 else { return nil }
                continue
            }
            let byWord = parameters.hasSuffix(";5") || parameters.hasSuffix(";3")
            switch (Character(Unicode.Scalar(byte)), parameters) {
            case ("A", _): return -1
            case ("B", _): return 1
            case ("C", _): if byWord { line.moveRightByWord() } else { line.moveRight() }
            case ("D", _): if byWord { line.moveLeftByWord() } else { line.moveLeft() }
            case ("H", _), ("~", "1"), ("~", "7"): line.moveToStart()
            case ("F", _), ("~", "4"), ("~", "8"): line.moveToEnd()
            case ("~", "3"): line.removeAfter()
            case ("~", "200"): isPasting = true
            case ("~", "201"): isPasting = false
            default: break
            }
            return nil
        }
        return nil
    }

    /// Ctrl-Z: the program that started this one gets its terminal back, until it continues.
    private func suspend(_ settings: termios) {
        Self.leaveRawMode(settings, input, output)
        _ = raise(SIGTSTP)
        enterRawMode(settings)
    }

    // MARK: Completion and search

    private func complete(_ completion: Completion) {
        let (replaced, candidates) = completion(line.left)
        guard let first = candidates.first else { return bell() }
        guard candidates.count > 1 else {
            line.removeBefore(count: replaced)
            return line.insert(first + (first.hasSuffix("(") ? "" : " "))
        }
        let common = candidates.dropFirst().reduce(first.lowercased()) { common, other in
            String(zip(common, other.lowercased()).prefix { $0 == $1 }.map(\.0))
        }
        if common.count > replaced {
            line.removeBefore(count: replaced)
            return line.insert(String(first.prefix(common.count)))
        }
        let most = 100
        let rest = candidates.count > most ? " … and \(candidates.count - most) more" : ""
        write("\n" + candidates.prefix(most).map(Format.visible).joined(separator: "  ") + rest + "\n")
    }

    /// Ctrl-R: finds a line of the history by a part of it; Ctrl-R again an older one. Return runs it, other keys edit it.
    private func search(_ history: [String]) -> Bool {
        var wanted = EditedLine()
        var found = history.count
        let typed = line.text
        while true {
            let shown = history.indices.contains(found) ? history[found] : ""
            draw(prompt: "(search '\(wanted.text)') ", EditedLine(shown))
            guard let byte = next() else { return false }
            switch byte {
            case 0x12: break
            case 0x7F, 0x08:
                wanted.removeBefore()
                found = history.count
            case 0x20...0x7E, 0xC0...:
                (line, found) = (wanted, history.count)
                insert(byte)
                wanted = line
            case 0x03, 0x07:
                line.replace(by: typed)
                return false
            default:
                line.replace(by: history.indices.contains(found) ? shown : typed)
                if byte == 0x0A || byte == 0x0D { return true }
                if byte == 0x1B { ahead.insert(byte, at: 0) }
                return false
            }
            guard !wanted.isEmpty else { continue }
            if let older = history[..<found].lastIndex(where: { $0.contains(wanted.text) }) {
                found = older
            } else {
                bell()
            }
        }
    }

    // MARK: The terminal

    /// The next byte; nil at the end, or if none comes in time.
    private func next(within milliseconds: Int32 = -1) -> UInt8? {
        if !ahead.isEmpty { return ahead.removeFirst() }
        var block = [UInt8](repeating: 0, count: 4096)
        while true {
            var ready = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
            let polled = poll(&ready, 1, milliseconds)
            if polled < 0, errno == EINTR { continue }
            guard polled > 0 else { return nil }
            let count = LiteVaultSystem.read(input, &block, block.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return nil }
            ahead = Array(block[1..<max(1, count)])
            return block[0]
        }
    }

    private func draw() { draw(prompt: prompt, line) }

    private func draw(prompt: String, _ line: EditedLine) {
        let taken = prompt.reduce(0) { $0 + DisplayWidth.columns(of: $1) }
        let (text, cursor) = line.window(columns: max(8, (Terminal.columns(of: output) ?? 80) - taken))
        let shown = Self.replacing(text, by: "↵")
        write("\r" + prompt + shown + "\u{1B}[K\r" + (taken + cursor > 0 ? "\u{1B}[\(taken + cursor)C" : ""))
    }

    /// A text with something else in the place of each line's end.
    private static func replacing(_ text: String, by end: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: end)
    }

    private func bell() { write("\u{07}") }

    private func write(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { Terminal.write($0, to: output) }
    }
}
