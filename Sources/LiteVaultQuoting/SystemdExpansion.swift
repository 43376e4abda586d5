/// A part of a unit's text that stands for something which is not known.
package struct UnknownSystemdValue: Error, Equatable, Sendable {
    /// A phrase that names it, as `%m has a value that is not known here`.
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}

/// What systemd puts in place of specifiers and variables, in words that were split before (systemd.unit(5), systemd.service(5)).
extension Quoting {
    /// A word, or the value of a setting, with what its specifiers stand for.
    ///
    /// - Throws: ``UnknownSystemdValue`` for a letter that is not known. What is not a letter stays, as systemd keeps it.
    package static func systemdText(
        _ word: String, of unit: SystemdUnitName
    ) throws(UnknownSystemdValue) -> String {
        var result: [UInt8] = []
        var rest = Array(word.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let letter = rest.first else {
                result.append(byte)
                continue
            }
            if letter == UInt8(ascii: "%") {
                result.append(letter)
            } else if isLetterOrDigit(letter), !digits.contains(letter) {
                guard let value = unit.value(ofSpecifier: letter) else {
                    throw UnknownSystemdValue(
                        "the value of %\(String(decoding: [letter], as: UTF8.self)) is not known here")
                }
                result += Array(value.utf8)
            } else {
                result += [byte, letter]
            }
            rest = rest.dropFirst()
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The words that a word of a command becomes: `$NAME` alone is split into words, `${NAME}` within a word is replaced as it is, and `$$` is
    /// one sign.
    package static func systemdWords(
        replacingVariablesIn word: String, _ value: (String) throws(UnknownSystemdValue) -> String
    ) throws(UnknownSystemdValue) -> [String] {
        let bytes = Array(word.utf8)
        if bytes.first == dollar, !bytes.dropFirst().starts(with: [dollar]), !bytes.dropFirst().starts(with: [brace]) {
            let name = String(decoding: bytes.dropFirst(), as: UTF8.self)
            // Anything else is not the name of a variable, and the word is left out.
            return isVariableName(name) ? systemdWords(ofValue: try value(name)) : []
        }
        var result: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            if byte == dollar, rest.first == dollar {
                result.append(dollar)
                rest = rest.dropFirst()
            } else if byte == dollar, rest.first == brace, let end = rest.firstIndex(of: UInt8(ascii: "}")) {
                let name = String(decoding: rest[..<end].dropFirst(), as: UTF8.self)
                if isVariableName(name) { result += Array(try value(name).utf8) }
                rest = rest[(end + 1)...]
            } else {
                result.append(byte)
            }
        }
        return [String(decoding: result, as: UTF8.self)]
    }

    /// A word of a command for `sh`, which gets the variables of the service and replaces them itself.
    ///
    /// - Throws: ``UnknownSystemdValue`` for what only the shell can evaluate, as `$(…)`.
    package static func shellText(
        replacingVariablesIn word: String, _ value: (String) throws(UnknownSystemdValue) -> String
    ) throws(UnknownSystemdValue) -> String {
        var result: [UInt8] = []
        var rest = Array(word.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte != UInt8(ascii: "`") else { throw UnknownSystemdValue("its shell evaluates `…`") }
            guard byte == dollar, let next = rest.first else {
                result.append(byte)
                continue
            }
            let isBraced = next == brace
            if isBraced { rest = rest.dropFirst() }
            let name = rest.prefix { isLetterOrDigit($0) || $0 == UInt8(ascii: "_") }
            let text = String(decoding: name, as: UTF8.self)
            rest = rest.dropFirst(name.count)
            guard isVariableName(text), !isBraced || rest.popFirst() == UInt8(ascii: "}") else {
                throw UnknownSystemdValue("its shell evaluates $\(String(decoding: [next], as: UTF8.self))…")
            }
            result += Array(try value(text).utf8)
        }
        return String(decoding: result, as: UTF8.self)
    }

    package static func isVariableName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !digits.contains(first) else { return false }
        return text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "_") }
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    private static let dollar = UInt8(ascii: "$")
    private static let brace = UInt8(ascii: "{")
}
