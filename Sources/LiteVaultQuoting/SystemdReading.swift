extension Quoting {
    /// The words of a command line, or of another list, in a systemd unit, without quotes and escapes (systemd.syntax(7), systemd.service(5)).
    ///
    /// Specifiers and variables stay as they are written: systemd replaces them after it has split the line.
    ///
    /// - Returns: the words; nil for a quote that is not closed, which systemd refuses.
    package static func systemdWords(of command: String) -> [String]? {
        var reader = SystemdWordReader(text: Array(command.utf8))
        return reader.words()
    }

    /// The words of the value of a variable that is a word of its own in a command. A backslash keeps the character behind it.
    package static func systemdWords(ofValue value: String) -> [String] {
        var reader = SystemdWordReader(text: Array(value.utf8), isValue: true)
        return reader.words() ?? []
    }

    /// The settings of a unit file, in order: without comments, and with continued lines joined.
    package static func systemdSettings(in file: String) -> [(name: String, value: String)] {
        var result: [(name: String, value: String)] = []
        func add(_ line: [UInt8]) {
            guard let sign = line.firstIndex(of: UInt8(ascii: "=")) else { return }
            let (name, value) = (trimmed(line[..<sign]), trimmed(line[(sign + 1)...]))
            result.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
        }
        var continued: [UInt8] = []
        for part in file.utf8.split(separator: UInt8(ascii: "\n")) {
            let line = Array(part)
            // Comments and empty lines end no line that continues.
            guard let first = trimmed(line[...]).first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";") else {
                continue
            }
            continued += line
            // A backslash that another one escapes continues nothing.
            if line.reversed().prefix(while: { $0 == backslash }).count % 2 == 1 {
                continued[continued.count - 1] = UInt8(ascii: " ")
            } else {
                add(continued)
                continued = []
            }
        }
        add(continued)
        return result
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes
        while let first = rest.first, isSystemdSpace(first) { rest.removeFirst() }
        while let last = rest.last, isSystemdSpace(last) { rest.removeLast() }
        return rest
    }

    static func isSystemdSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}

/// Reads words as systemd's `extract_first_word` does.
private struct SystemdWordReader {
    private let text: [UInt8]
    /// Whether it is the value of a variable: without escapes of C, and a quote need not be closed.
    private let isValue: Bool
    private var position = 0

    init(text: [UInt8], isValue: Bool = false) { (self.text, self.isValue) = (text, isValue) }

    mutating func words() -> [String]? {
        var words: [String] = []
        while true {
            while position < text.count, Quoting.isSystemdSpace(text[position]) { position += 1 }
            guard position < text.count else { return words }
            guard let word = word() else { return nil }
            words.append(String(decoding: word, as: UTF8.self))
        }
    }

    private mutating func word() -> [UInt8]? {
        var word: [UInt8] = []
        var quote: UInt8?
        while position < text.count {
            let byte = text[position]
            position += 1
            if byte == Quoting.backslash {
                word += escape()
            } else if byte == quote {
                quote = nil
            } else if quote == nil, byte == Quoting.singleQuote || byte == Quoting.doubleQuote {
                quote = byte
            } else if quote == nil, Quoting.isSystemdSpace(byte) {
                return word
            } else {
                word.append(byte)
            }
        }
        return quote == nil || isValue ? word : nil
    }

    /// What a backslash and the characters behind it stand for. systemd keeps a backslash before others.
    private mutating func escape() -> [UInt8] {
        guard position < text.count else { return isValue ? [] : [Quoting.backslash] }
        let byte = text[position]
        position += 1
        if isValue { return [byte] }
        switch byte {
        case UInt8(ascii: "a"): return [0x07]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "v"): return [0x0B]
        case UInt8(ascii: "s"): return [0x20]
        case Quoting.backslash, Quoting.singleQuote, Quoting.doubleQuote: return [byte]
        case UInt8(ascii: "x"):
            if let value = number(from: position, digits: 2, radix: 16) { return [UInt8(truncatingIfNeeded: value)] }
        case UInt8(ascii: "u"), UInt8(ascii: "U"):
            let digits = byte == UInt8(ascii: "u") ? 4 : 8
            if let scalar = number(from: position, digits: digits, radix: 16).flatMap(Unicode.Scalar.init) {
                return Array(String(scalar).utf8)
            }
        case UInt8(ascii: "0")...UInt8(ascii: "3"):
            if let value = number(from: position - 1, digits: 3, radix: 8) { return [UInt8(truncatingIfNeeded: value)] }
        default: break
        }
        return [Quoting.backslash, byte]
    }

    /// Reads a number with exactly this count of digits; nil, and nothing is read, for anything else.
    private mutating func number(from start: Int, digits: Int, radix: Int) -> UInt32? {
        guard start + digits <= text.count else { return nil }
        let read = text[start..<start + digits]
        // Swift's numbers may have a sign.
        guard read.first != UInt8(ascii: "+"), read.first != UInt8(ascii: "-") else { return nil }
        guard let value = UInt32(String(decoding: read, as: UTF8.self), radix: radix) else { return nil }
        position = start + digits
        return value
    }
}
