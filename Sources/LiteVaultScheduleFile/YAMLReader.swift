internal import CYAML

/// Reads the one document of a YAML text, with libyaml.
///
/// A text from outside is harmless: nesting and the number of values are limited, references to anchors included.
package struct YAMLReader: ~Copyable {
    /// The deepest nesting, and the maximum number of values with what references stand for.
    private static let limits = (depth: 64, nodes: 100_000)

    private var anchors: [String: (node: YAMLNode, count: Int)] = [:]
    private var count = 0
    /// Keys that a mapping has already. The first one counts.
    private var duplicates: [YAMLError] = []
    // libyaml keeps pointers to its own parser: it must not move.
    private let parser: UnsafeMutablePointer<yaml_parser_t>

    /// The document of `text`; nil if there is none, or comments only. Of keys that come twice the first one counts.
    ///
    /// - Parameter duplicates: receives the others.
    package static func document(_ text: String, duplicates: inout [YAMLError]) throws(YAMLError) -> YAMLNode? {
        let bytes = Array(text.utf8)
        let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
        defer { buffer.deallocate() }
        buffer.initialize(from: bytes, count: bytes.count)
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw YAMLError(message: "there is no memory for the parser", place: YAMLPlace())
        }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, buffer, bytes.count)
        var reader = YAMLReader(parser)
        let root = try reader.document()
        duplicates = reader.duplicates
        return root
    }

    /// - Parameter parser: initialized, and the reader's from now on. The text that it reads has to outlive the reader.
    private init(_ parser: UnsafeMutablePointer<yaml_parser_t>) { self.parser = parser }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    private mutating func document() throws(YAMLError) -> YAMLNode? {
        _ = try next()  // the start of the stream
        guard case .documentStart = try next() else { return nil }
        let root = try node(try next(), depth: 0)
        _ = try next()  // the end of the document
        if case .documentStart(let place) = try next() {
            throw YAMLError(message: "but found another document", place: place)
        }
        return root
    }

    private mutating func node(_ event: Event, depth: Int) throws(YAMLError) -> YAMLNode {
        let before = count
        count += 1
        let (content, anchor, place): (YAMLNode.Content, String?, YAMLPlace)
        switch event {
        case .alias(let name, let start):
            guard let found = anchors[name] else { throw YAMLError(message: "found undefined alias", place: start) }
            count += found.count
            try checkCount(place: start)
            return found.node
        case .scalar(let text, let name, let start):
            (content, anchor, place) = (.scalar(text), name, start)
        case .sequenceStart(let name, let start):
            (content, anchor, place) = (.sequence(try sequence(depth: depth, place: start)), name, start)
        case .mappingStart(let name, let start):
            (content, anchor, place) = (.mapping(try mapping(depth: depth, place: start)), name, start)
        case .documentStart(let start), .end(let start):
            throw YAMLError(message: "did not find a value", place: start)
        }
        try checkCount(place: place)
        let node = YAMLNode(content: content, place: place)
        // An anchor may be defined again. References stand for the last definition before them.
        if let anchor { anchors[anchor] = (node, count - before) }
        return node
    }

    private func checkCount(place: YAMLPlace) throws(YAMLError) {
        guard count <= Self.limits.nodes else {
            throw YAMLError(message: "more than \(Self.limits.nodes) values", place: place)
        }
    }

    private func checkDepth(_ depth: Int, place: YAMLPlace) throws(YAMLError) {
        guard depth < Self.limits.depth else {
            throw YAMLError(message: "nested more than \(Self.limits.depth) levels deep", place: place)
        }
    }

    private mutating func sequence(depth: Int, place: YAMLPlace) throws(YAMLError) -> [YAMLNode] {
        try checkDepth(depth, place: place)
        var nodes: [YAMLNode] = []
        while true {
            let event = try next()
            if case .end = event { return nodes }
            nodes.append(try node(event, depth: depth + 1))
        }
    }

    private mutating func mapping(depth: Int, place: YAMLPlace) throws(YAMLError) -> [YAMLNode.Pair] {
        try checkDepth(depth, place: place)
        var pairs: [YAMLNode.Pair] = []
        var keys: Set<YAMLNode> = []
        while true {
            let event = try next()
            if case .end = event { return pairs }
            let key = try node(event, depth: depth + 1)
            let value = try node(try next(), depth: depth + 1)
            if keys.insert(key).inserted {
                pairs.append(.init(key: key, value: value))
            } else {
                duplicates.append(
                    YAMLError(message: "duplicate key '\(key.text?.prefix(64) ?? "")'", place: key.place))
            }
        }
    }

    /// What the parser finds: the start of a value, with its anchor and place, or the end of what was started.
    private enum Event {
        case documentStart(YAMLPlace)
        case alias(String, YAMLPlace)
        case scalar(String, anchor: String?, YAMLPlace)
        case sequenceStart(anchor: String?, YAMLPlace)
        case mappingStart(anchor: String?, YAMLPlace)
        case end(YAMLPlace)
    }

    private mutating func next() throws(YAMLError) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw failure() }
        defer { yaml_event_delete(&event) }
        let place = YAMLPlace(event.start_mark)
        switch event.type {
        case YAML_DOCUMENT_START_EVENT: return .documentStart(place)
        case YAML_ALIAS_EVENT: return .alias(Self.text(event.data.alias.anchor) ?? "", place)
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            return .scalar(text, anchor: Self.text(scalar.anchor), place)
        case YAML_SEQUENCE_START_EVENT:
            return .sequenceStart(anchor: Self.text(event.data.sequence_start.anchor), place)
        case YAML_MAPPING_START_EVENT:
            return .mappingStart(anchor: Self.text(event.data.mapping_start.anchor), place)
        default: return .end(place)
        }
    }

    private static func text(_ text: UnsafePointer<UInt8>?) -> String? { text.map { String(cString: $0) } }

    private func failure() -> YAMLError {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "the parser has no memory"
        // An error of the reader is in a byte, which has no line yet.
        return YAMLError(message: problem, place: YAMLPlace(parser.pointee.problem_mark))
    }
}
