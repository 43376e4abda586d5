internal import Foundation

/// An element of a server's answer. Attributes are left out, and prefixes of names stay as they are: no answer that is read
/// here has any that matter.
///
/// A reader of its own: the answers need little of XML, and what a server sends must cost no more than its length. What is
/// read are elements, attributes, text, CDATA, comments and processing instructions, and the references that XML itself
/// defines. A document type is refused: entities of the server's making could name files of this machine, or grow without
/// end.
package struct XMLTree: Sendable {
    package let name: String
    package fileprivate(set) var text = ""
    fileprivate(set) var children: [XMLTree] = []

    /// The text of the first child of that name.
    package subscript(_ name: String) -> String? { children.first { $0.name == name }?.text }

    /// The children of that name.
    package func all(_ name: String) -> [XMLTree] { children.filter { $0.name == name } }

    /// Elements within each other, attributes of one element, bytes of a name, and elements in all, at most. A page of a
    /// listing has a thousand objects with about ten elements each.
    private static let limits = (depth: 16, attributes: 32, name: 256, elements: 200_000)

    /// Reads a document; nil for anything that is not well-formed, not in UTF-8, or beyond the limits.
    package init?(_ bytes: [UInt8]) {
        // Nothing that is not text gets further than this.
        guard String(bytes: bytes, encoding: .utf8) != nil, !bytes.contains(0) else { return nil }
        var reader = Reader(bytes)
        guard let root = reader.document() else { return nil }
        self = root
    }

    private init(name: String) { self.name = name }

    private struct Reader {
        private let bytes: [UInt8]
        private var place = 0
        private var elements = 0

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            // A byte order mark.
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
        }

        mutating func document() -> XMLTree? {
            var open: [XMLTree] = []
            while place < bytes.count {
                // Servers that work for long send spaces first, which a document may not begin with.
                if open.isEmpty { skipSpace() }
                if take("<!--") {
                    guard skip(past: "-->") else { return nil }
                } else if take("<?") {
                    guard skip(past: "?>") else { return nil }
                } else if take("<![CDATA[") {
                    let start = place
                    guard !open.isEmpty, skip(past: "]]>") else { return nil }
                    open[open.count - 1].text += Self.string(bytes[start..<(place - 3)])
                } else if take("</") {
                    guard let end = name(), let done = open.popLast(), end == done.name else { return nil }
                    skipSpace()
                    guard take(">") else { return nil }
                    if open.isEmpty { return isAtEnd() ? done : nil }
                    open[open.count - 1].children.append(done)
                } else if take("<") {
                    guard let (element, isEmpty) = start(), open.count < XMLTree.limits.depth else { return nil }
                    if !isEmpty {
                        open.append(element)
                    } else if open.isEmpty {
                        return isAtEnd() ? element : nil
                    } else {
                        open[open.count - 1].children.append(element)
                    }
                } else {
                    guard !open.isEmpty, let text = text() else { return nil }
                    open[open.count - 1].text += text
                }
            }
            return nil
        }

        /// A tag that was begun, behind its bracket.
        private mutating func start() -> (XMLTree, isEmpty: Bool)? {
            elements += 1
            guard elements <= XMLTree.limits.elements, let name = name() else { return nil }
            var attributes = 0
            while true {
                let hadSpace = skipSpace()
                if take("/>") { return (XMLTree(name: name), true) }
                if take(">") { return (XMLTree(name: name), false) }
                attributes += 1
                guard hadSpace, attributes <= XMLTree.limits.attributes, self.name() != nil else { return nil }
                skipSpace()
                guard take("=") else { return nil }
                skipSpace()
                guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") || bytes[place] == UInt8(ascii: "'")
                else { return nil }
                let quote = bytes[place]
                guard let end = bytes[(place + 1)...].firstIndex(of: quote),
                    !bytes[place..<end].contains(UInt8(ascii: "<"))
                else { return nil }
                place = end + 1
            }
        }

        private mutating func name() -> String? {
            let start = place
            while place < bytes.count, Self.isName(bytes[place]) { place += 1 }
            guard place > start, place - start <= XMLTree.limits.name, !Self.isDigitOrSign(bytes[start]) else {
                return nil
            }
            return Self.string(bytes[start..<place])
        }

        /// Text up to the next tag.
        private mutating func text() -> String? {
            var result = ""
            while place < bytes.count, bytes[place] != UInt8(ascii: "<") {
                if bytes[place] == UInt8(ascii: "&") {
                    guard let scalar = reference() else { return nil }
                    result.unicodeScalars.append(scalar)
                    continue
                }
                let end =
                    bytes[place...].firstIndex { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") } ?? bytes.count
                result += Self.string(bytes[place..<end])
                place = end
            }
            return result
        }

        /// `&lt;` and its like, `&#65;`, `&#x41;`.
        private mutating func reference() -> Unicode.Scalar? {
            guard let end = bytes[place...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else { return nil }
            let body = Self.string(bytes[(place + 1)..<end])
            place = end + 1
            switch body {
            case "lt": return "<"
            case "gt": return ">"
            case "amp": return "&"
            case "quot": return "\""
            case "apos": return "'"
            default: break
            }
            guard body.hasPrefix("#") else { return nil }
            let isHex = body.hasPrefix("#x")
            let digits = body.dropFirst(isHex ? 2 : 1)
            guard digits.first?.isHexDigit == true, let number = UInt32(digits, radix: isHex ? 16 : 10), number > 0
            else { return nil }
            return Unicode.Scalar(number)
        }

        /// Whether nothing but space, comments and instructions follow the root.
        private mutating func isAtEnd() -> Bool {
            while true {
                skipSpace()
                if place == bytes.count { return true }
                if take("<!--") {
                    guard skip(past: "-->") else { return false }
                } else if take("<?") {
                    guard skip(past: "?>") else { return false }
                } else {
                    return false
                }
            }
        }

        private mutating func take(_ sign: StaticString) -> Bool {
            guard isNext(sign, at: place) else { return false }
            place += sign.utf8CodeUnitCount
            return true
        }

        /// Goes behind the next `sign`; false where there is none.
        private mutating func skip(past sign: StaticString) -> Bool {
            while place < bytes.count {
                if take(sign) { return true }
                place += 1
            }
            return false
        }

        private func isNext(_ sign: StaticString, at start: Int) -> Bool {
            let length = sign.utf8CodeUnitCount
            guard bytes.count - start >= length else { return false }
            for index in 0..<length where bytes[start + index] != sign.utf8Start[index] { return false }
            return true
        }

        @discardableResult
        private mutating func skipSpace() -> Bool {
            let start = place
            while place < bytes.count, [32, 9, 10, 13].contains(bytes[place]) { place += 1 }
            return place > start
        }

        /// What a name may have: all that is not ASCII is taken for a letter.
        private static func isName(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
                UInt8(ascii: ":"), 0x80...0xFF:
                true
            default: isDigitOrSign(byte)
            }
        }

        private static func isDigitOrSign(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: ".")
        }

        private static func string(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
    }
}
