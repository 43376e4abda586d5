internal import LiteVaultQuoting
internal import LiteVaultSystem

/// An XML element of a server's response. Attributes are dropped, and namespace prefixes stay in the names: neither
/// matters in the responses read here.
///
/// The parser is our own: responses use little of XML, and parsing must cost no more than their length. It supports elements,
/// attributes, text, CDATA, comments, processing instructions and the predefined references. Document type declarations are
/// rejected: entities could refer to local files or expand without end.
package struct XMLTree: Sendable {
    package let name: String
    package fileprivate(set) var text = ""
    fileprivate(set) var children: [XMLTree] = []

    package subscript(_ name: String) -> String? { children.first { $0.name == name }?.text }

    package func all(_ name: String) -> [XMLTree] { children.filter { $0.name == name } }

    /// The maximum nesting, attributes per element, length of a name in bytes, and number of elements. A page of a
    /// listing has a thousand objects with about ten elements each.
    private static let limits = (depth: 16, attributes: 32, name: 256, elements: 200_000)

    /// Parses a document; nil when it is not well-formed, not UTF-8 or exceeds the limits.
    package init?(_ bytes: [UInt8]) {
        guard String(bytes: bytes, encoding: .utf8) != nil, !bytes.contains(0) else { return nil }
        var reader = Reader(bytes)
        guard let root = reader.document() else { return nil }
        self = root
    }

    private init(name: String) { self.name = name }

    private struct Reader {
        private let bytes: [UInt8]
        private var position = 0
        private var elements = 0

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            // A byte order mark.
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        }

        mutating func document() -> XMLTree? {
            var open: [XMLTree] = []
            var root: XMLTree?
            func close(_ element: XMLTree) {
                if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
            }
            while true {
                // Servers send leading white space to keep the connection alive during long operations.
                if open.isEmpty { skipSpace() }
                guard position < bytes.count else { return open.isEmpty ? root : nil }
                if consume("<!--") {
                    guard skip(past: "-->") else { return nil }
                } else if consume("<?") {
                    guard skip(past: "?>") else { return nil }
                } else if root != nil {
                    // Only white space, comments and processing instructions follow the root.
                    return nil
                } else if consume("<![CDATA[") {
                    let start = position
                    guard !open.isEmpty, skip(past: "]]>") else { return nil }
                    open[open.count - 1].text += Self.string(bytes[start..<(position - 3)])
                } else if consume("</") {
                    guard let end = name(), let done = open.popLast(), end == done.name else { return nil }
                    skipSpace()
                    guard consume(">") else { return nil }
                    close(done)
                } else if consume("<") {
                    guard let (element, isEmpty) = start(), open.count < XMLTree.limits.depth else { return nil }
                    if isEmpty { close(element) } else { open.append(element) }
                } else {
                    guard !open.isEmpty, let text = text() else { return nil }
                    open[open.count - 1].text += text
                }
            }
        }

        /// The rest of a start tag, after its bracket.
        private mutating func start() -> (XMLTree, isEmpty: Bool)? {
            elements += 1
            guard elements <= XMLTree.limits.elements, let name = name() else { return nil }
            var attributes = 0
            while true {
                let hadSpace = skipSpace()
                if consume("/>") { return (XMLTree(name: name), true) }
                if consume(">") { return (XMLTree(name: name), false) }
                attributes += 1
                guard hadSpace, attributes <= XMLTree.limits.attributes, self.name() != nil else { return nil }
                skipSpace()
                guard consume("=") else { return nil }
                skipSpace()
                guard position < bytes.count,
                    bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "'")
                else { return nil }
                let quote = bytes[position]
                guard let end = bytes[(position + 1)...].firstIndex(of: quote),
                    !bytes[position..<end].contains(UInt8(ascii: "<"))
                else { return nil }
                position = end + 1
            }
        }

        private mutating func name() -> String? {
            let start = position
            while position < bytes.count, Self.isName(bytes[position]) { position += 1 }
            guard position > start, position - start <= XMLTree.limits.name, !Self.isDigitOrSign(bytes[start]) else {
                return nil
            }
            return Self.string(bytes[start..<position])
        }

        private mutating func text() -> String? {
            var result = ""
            while position < bytes.count, bytes[position] != UInt8(ascii: "<") {
                if bytes[position] == UInt8(ascii: "&") {
                    guard let scalar = reference() else { return nil }
                    result.unicodeScalars.append(scalar)
                    continue
                }
                let end =
                    bytes[position...].firstIndex { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") } ?? bytes.count
                result += Self.string(bytes[position..<end])
                position = end
            }
            return result
        }

        /// `&lt;` and other named ones, `&#65;`, `&#x41;`.
        private mutating func reference() -> Unicode.Scalar? {
            guard let end = bytes[position...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else { return nil }
            let body = Self.string(bytes[(position + 1)..<end])
            position = end + 1
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

        private mutating func consume(_ sign: StaticString) -> Bool {
            let wanted = UnsafeBufferPointer(start: sign.utf8Start, count: sign.utf8CodeUnitCount)
            guard bytes[position...].starts(with: wanted) else { return false }
            position += wanted.count
            return true
        }

        /// Moves past the next `sign`; false when there is none.
        private mutating func skip(past sign: StaticString) -> Bool {
            while position < bytes.count {
                if consume(sign) { return true }
                position += 1
            }
            return false
        }

        @discardableResult
        private mutating func skipSpace() -> Bool {
            let start = position
            while position < bytes.count, [32, 9, 10, 13].contains(bytes[position]) { position += 1 }
            return position > start
        }

        /// Whether a byte may be part of a name; all of non-ASCII counts as letters.
        private static func isName(_ byte: UInt8) -> Bool {
            Quoting.isLetterOrDigit(byte) || byte >= 0x80 || "_:-.".utf8.contains(byte)
        }

        /// Whether a name cannot begin with a byte that may be part of one.
        private static func isDigitOrSign(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-.".utf8.contains(byte)
        }

        private static func string(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
    }
}
