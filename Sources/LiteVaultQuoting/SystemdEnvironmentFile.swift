extension Quoting {
    /// The variables of a file that `EnvironmentFile=` names, in order, as systemd reads it (systemd.exec(5)). What is not an assignment is
    /// left out.
    package static func systemdEnvironment(in file: String) -> [(name: String, value: String)] {
        var reader = EnvironmentFileReader()
        for byte in file.utf8 { reader.read(byte) }
        return reader.end()
    }
}

/// Reads assignments as systemd's `parse_env_file` does.
private struct EnvironmentFileReader {
    private enum Place {
        case beforeName, name, beforeValue, value, escape, single, double, doubleEscape, comment, commentEscape
    }

    private var place = Place.beforeName
    private var name: [UInt8] = []
    private var value: [UInt8] = []
    /// How much of the value stays if nothing but spaces follows.
    private var kept = 0
    private var found: [(name: String, value: String)] = []

    mutating func read(_ byte: UInt8) {
        let isEnd = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
        let isSpace = isEnd || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
        switch place {
        case .beforeName:
            if byte == UInt8(ascii: "#") || byte == UInt8(ascii: ";") {
                place = .comment
            } else if !isSpace {
                (place, name) = (.name, [byte])
            }
        case .name:
            if isEnd {
                place = .beforeName
            } else if byte == UInt8(ascii: "=") {
                (place, value, kept) = (.beforeValue, [], 0)
            } else {
                name.append(byte)
            }
        case .beforeValue, .value:
            if isEnd {
                add()
            } else if byte == Quoting.backslash {
                place = .escape
            } else if place == .beforeValue, byte == Quoting.singleQuote || byte == Quoting.doubleQuote {
                place = byte == Quoting.singleQuote ? .single : .double
            } else if place == .value || !isSpace {
                place = .value
                append(byte, stays: !isSpace)
            }
        case .escape:
            place = .value
            if isEnd { kept = value.count } else { append(byte) }
        case .single:
            if byte == Quoting.singleQuote { place = .beforeValue } else { append(byte) }
        case .double:
            switch byte {
            case Quoting.doubleQuote: place = .beforeValue
            case Quoting.backslash: place = .doubleEscape
            default: append(byte)
            }
        case .doubleEscape:
            place = .double
            guard byte != UInt8(ascii: "\n") else { return }
            // The others keep their backslash, as in a shell.
            if ![Quoting.doubleQuote, Quoting.backslash, UInt8(ascii: "`"), UInt8(ascii: "$")].contains(byte) {
                append(Quoting.backslash)
            }
            append(byte)
        case .comment:
            if byte == Quoting.backslash { place = .commentEscape } else if isEnd { place = .beforeName }
        case .commentEscape: place = isEnd ? .beforeName : .comment
        }
    }

    /// What was read, once the file has ended.
    mutating func end() -> [(name: String, value: String)] {
        switch place {
        case .beforeValue, .value, .escape, .single, .double, .doubleEscape: add()
        case .beforeName, .name, .comment, .commentEscape: break
        }
        return found
    }

    private mutating func append(_ byte: UInt8, stays: Bool = true) {
        value.append(byte)
        if stays { kept = value.count }
    }

    private mutating func add() {
        place = .beforeName
        while let last = name.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") { name.removeLast() }
        let name = String(decoding: name, as: UTF8.self)
        guard Quoting.isVariableName(name) else { return }
        found.append((name, String(decoding: value.prefix(kept), as: UTF8.self)))
    }
}
