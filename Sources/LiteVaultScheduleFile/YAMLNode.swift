/// A value of a YAML document.
struct YAMLNode: Hashable, Sendable {
    indirect enum Content: Hashable, Sendable {
        case scalar(String)
        case sequence([YAMLNode])
        case mapping([Pair])
    }

    /// A key of a mapping with its value, in the order of the text.
    struct Pair: Hashable, Sendable {
        let key: YAMLNode
        let value: YAMLNode
    }

    let content: Content
    /// The line on which the value starts, from 1.
    let line: Int

    /// The text of a scalar; nil for other values. Numbers and words such as `true` and `null` are texts, too.
    var text: String? { if case .scalar(let text) = content { text } else { nil } }

    /// The elements of a sequence; nil for other values.
    var sequence: [YAMLNode]? { if case .sequence(let nodes) = content { nodes } else { nil } }

    /// The keys and values of a mapping; nil for other values.
    var mapping: [Pair]? { if case .mapping(let pairs) = content { pairs } else { nil } }

    // Equal keys are duplicates wherever they are.
    static func == (left: Self, right: Self) -> Bool { left.content == right.content }

    func hash(into hasher: inout Hasher) { hasher.combine(content) }
}

/// A text that is not a YAML document.
struct YAMLError: Error {
    /// What is wrong, in the parser's words.
    let message: String
    /// The line, from 1.
    let line: Int
}
