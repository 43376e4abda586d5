internal import CYAML

package struct YAMLNode: Hashable, Sendable {
    package indirect enum Content: Hashable, Sendable {
        case scalar(String)
        case sequence([YAMLNode])
        case mapping([Pair])
    }

    /// A key of a mapping with its value, in the order of the text.
    package struct Pair: Hashable, Sendable {
        package let key: YAMLNode
        package let value: YAMLNode

        /// What is accepted in place of the value; nil if nothing is known to be, or it is that already.
        fileprivate func standIn(_ all: [String: String]) -> YAMLNode? {
            let other = key.text.flatMap { all[$0] }.map { YAMLNode(content: .scalar($0), place: value.place) }
            return other == value ? nil : other
        }
    }

    package let content: Content
    /// Where the value starts.
    package let place: YAMLPlace

    /// The text of a scalar; nil for other values. Numbers and words such as `true` and `null` are texts, too.
    package var text: String? { if case .scalar(let text) = content { text } else { nil } }

    /// The elements of a sequence; nil for other values.
    package var sequence: [YAMLNode]? { if case .sequence(let nodes) = content { nodes } else { nil } }

    /// The keys and values of a mapping; nil for other values.
    package var mapping: [Pair]? { if case .mapping(let pairs) = content { pairs } else { nil } }

    /// The value without a part, or with the key that was meant or is missing; nil if that is all of it.
    ///
    /// - Parameters:
    ///   - standIns: what takes the place of the value of a key that others depend on; it is left out as well if it is not accepted.
    ///   - around: receives the places of the mappings and sequences that lack something then.
    func without(_ part: Part, _ standIns: [String: String], around: inout [YAMLPlace]) -> YAMLNode? {
        if case .value(let place) = part, place == self.place { return nil }
        if case .missing(let key, in: place) = part, let pairs = mapping {
            let text = standIns[key] ?? "line-\(place.line):\(place.column)"
            let new = [key, text].map { YAMLNode(content: .scalar($0), place: place) }
            return YAMLNode(content: .mapping(pairs + [Pair(key: new[0], value: new[1])]), place: place)
        }
        switch content {
        case .scalar: return self
        case .sequence(let nodes):
            for (index, node) in nodes.enumerated() {
                let before = around.count
                let rest = node.without(part, standIns, around: &around)
                guard rest != node else { continue }
                if rest == nil || around.count > before { around.append(place) }
                let kept = rest.map { [$0] } ?? []
                return YAMLNode(content: .sequence(nodes.replacing(index, with: kept)), place: place)
            }
        case .mapping(let pairs):
            for (index, pair) in pairs.enumerated() {
                if case .misspelt(pair.key.place, let meant) = part, !pairs.contains(where: { $0.key.text == meant }) {
                    let right = Pair(key: YAMLNode(content: .scalar(meant), place: pair.key.place), value: pair.value)
                    return YAMLNode(content: .mapping(pairs.replacing(index, with: [right])), place: place)
                }
                let before = around.count
                let rest =
                    part.key == pair.key.place
                    ? pair.standIn(standIns) : pair.value.without(part, standIns, around: &around)
                guard rest != pair.value else { continue }
                if rest == nil || around.count > before { around.append(place) }
                let kept = rest.map { [Pair(key: pair.key, value: $0)] } ?? []
                return YAMLNode(content: .mapping(pairs.replacing(index, with: kept)), place: place)
            }
        }
        return self
    }

    /// What a message is about.
    enum Part: Hashable, Sendable {
        /// The key at a place, with its value.
        case pair(YAMLPlace)
        /// The same, if another key was meant.
        case misspelt(YAMLPlace, as: String)
        /// The value at a place. A mapping in block style begins where its first key does.
        case value(YAMLPlace)

        /// A key that the mapping at a place has to have.
        case missing(String, in: YAMLPlace)

        /// The place of the key; nil if it is about a value.
        var key: YAMLPlace? {
            switch self {
            case .pair(let place), .misspelt(let place, as: _): place
            case .value, .missing: nil
            }
        }
    }

    // Equal keys are duplicates wherever they are.
    package static func == (left: Self, right: Self) -> Bool { left.content == right.content }

    package func hash(into hasher: inout Hasher) { hasher.combine(content) }
}

/// A text that is not a YAML document.
package struct YAMLError: Error {
    /// What is wrong, in the parser's words.
    package let message: String
    package let place: YAMLPlace
}

package struct YAMLPlace: Hashable, Sendable {
    /// From 1; the column counts characters.
    package let (line, column): (Int, Int)

    init(_ mark: yaml_mark_t) { (line, column) = (mark.line + 1, mark.column + 1) }

    /// The beginning of the text.
    init() { (line, column) = (1, 1) }
}

extension Array {
    fileprivate func replacing(_ index: Int, with elements: [Element]) -> [Element] {
        Array(self[..<index]) + elements + Array(self[(index + 1)...])
    }
}
