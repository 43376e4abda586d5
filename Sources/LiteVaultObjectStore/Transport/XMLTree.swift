internal import Foundation
#if canImport(FoundationXML)
    internal import FoundationXML
#endif

/// An element of a server's answer. Attributes and namespaces are left out: no answer that is read here has any that matter.
struct XMLTree: Sendable {
    let name: String
    fileprivate(set) var text = ""
    fileprivate(set) var children: [XMLTree] = []

    /// The text of the first child of that name.
    subscript(_ name: String) -> String? { children.first { $0.name == name }?.text }

    /// The children of that name.
    func all(_ name: String) -> [XMLTree] { children.filter { $0.name == name } }

    /// Reads a document; nil for anything that is not well-formed, or that declares a document type: entities of the
    /// server's making could name files of this machine, or grow without end.
    init?(_ bytes: [UInt8]) {
        // Servers that work for long send spaces first, which a document may not begin with.
        let data = Data(bytes.drop { $0 == 32 || $0 == 9 || $0 == 10 || $0 == 13 })
        guard data.range(of: Data("<!DOCTYPE".utf8)) == nil, data.range(of: Data("<!ENTITY".utf8)) == nil else {
            return nil
        }
        let reader = Reader()
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        parser.delegate = reader
        guard parser.parse(), !reader.isTooDeep, let root = reader.root else { return nil }
        self = root
    }

    private init(name: String) { self.name = name }

    private final class Reader: NSObject, XMLParserDelegate {
        var root: XMLTree?
        var isTooDeep = false
        private var open: [XMLTree] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String] = [:]
        ) {
            guard open.count < 16 else {
                isTooDeep = true
                return parser.abortParsing()
            }
            open.append(XMLTree(name: name))
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) {
            guard !open.isEmpty else { return }
            open[open.count - 1].text += string
        }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) {
            guard let done = open.popLast() else { return }
            if open.isEmpty { root = done } else { open[open.count - 1].children.append(done) }
        }
    }
}
