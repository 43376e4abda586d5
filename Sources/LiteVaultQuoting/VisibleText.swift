extension Quoting {
    /// Whether a character must not reach a terminal, or a source that a person reads, as it is: control characters move the cursor
    /// and change colors, line separators break lines, and direction marks make text look like another.
    package static func isHazard(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // C0, DEL and C1; the Arabic letter mark, left-to-right and right-to-left marks; line and paragraph separators, embeddings
        // and overrides; isolates; deprecated format characters; the byte order mark; interlinear annotations.
        case 0x00...0x1F, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x206F, 0xFEFF, 0xFFF9...0xFFFB:
            true
        default: false
        }
    }

    /// Text for a terminal or a log: one line, without control characters and those that change the direction of text. `\u{202e}`
    /// stands for such a character.
    package static func terminal(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHazard) else { return text }
        return escapedScalars(text)
    }

    /// Lines for a terminal: as ``terminal(_:)``, but with their line breaks and tabs.
    package static func terminalLines(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard scalars.contains(where: { isHazard($0) && $0 != "\n" && $0 != "\t" }) else { return text }
        return escapedScalars(text) { index in
            let next = scalars.index(after: index)
            let endsLine = scalars[index] == "\r" && next < scalars.endIndex && scalars[next] == "\n"
            return scalars[index] == "\n" || scalars[index] == "\t" || endsLine
        }
    }

    /// The content of a comment in Swift source that is one line: a line break would end it, and the rest become code.
    package static func swiftComment(_ text: String) -> String { terminal(text) }

    package static func swiftLiteral(_ text: String) -> String { "\"\(swiftContent(text))\"" }

    private static func swiftContent(_ text: String) -> String {
        let content = escaped(text) {
            switch $0 {
            case backslash: "\\\\"
            case doubleQuote: "\\\""
            case 0x0A: "\\n"
            case 0x0D: "\\r"
            case 0x09: "\\t"
            default: nil
            }
        }
        return escapedScalars(content)
    }

    /// A piece of a literal of Swift source.
    package enum SwiftPiece {
        case text(String)
        /// An expression whose value is put in its place.
        case code(String)
    }

    /// A text of many lines as lines of Swift source that are one raw literal, `#"""`; as one line with escapes if it contains what
    /// raw literals cannot contain, or would change.
    package static func swiftRawLiteral(_ pieces: [SwiftPiece]) -> [String] {
        let texts = pieces.compactMap { if case .text(let text) = $0 { text } else { nil } }
        // The compiler makes a line feed of a carriage return, and refuses or warns of other control characters.
        let isPlain = !texts.contains { $0.unicodeScalars.contains { isHazard($0) && $0 != "\n" && $0 != "\t" } }
        let fence = isPlain ? String(repeating: "#", count: longestFence(Array(texts.joined().utf8)) + 1) : ""
        let content = pieces.map { piece in
            switch piece {
            case .text(let text): isPlain ? text : swiftContent(text)
            case .code(let code): "\\\(fence)(\(code))"
            }
        }.joined()
        return isPlain ? [fence + "\"\"\"", content, "\"\"\"" + fence] : ["\"\(content)\""]
    }

    /// The largest number of `#` that follow a backslash or three quotation marks, which would end or interpolate a raw literal with
    /// as many.
    private static func longestFence(_ bytes: [UInt8]) -> Int {
        var longest = 0
        var quotes = 0
        var fence: Int?
        for byte in bytes {
            if byte == UInt8(ascii: "#"), let length = fence {
                fence = length + 1
                longest = max(longest, length + 1)
                continue
            }
            quotes = byte == doubleQuote ? quotes + 1 : 0
            fence = byte == backslash || quotes >= 3 ? 0 : nil
        }
        return longest
    }

    private static func escapedScalars(
        _ text: String, except isKept: (String.Index) -> Bool = { _ in false }
    ) -> String {
        var result = String.UnicodeScalarView()
        for index in text.unicodeScalars.indices {
            let scalar = text.unicodeScalars[index]
            if isHazard(scalar), !isKept(index) {
                result.append(contentsOf: ("\\u{" + String(scalar.value, radix: 16) + "}").unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}
