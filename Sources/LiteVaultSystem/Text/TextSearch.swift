/// Searching and replacing text byte by byte, as SQL, shells and file formats read it.
///
/// Foundation compares user-perceived characters instead: for it, a quotation mark with a combining accent is not a quotation mark.
extension StringProtocol {
    /// The first occurrence of `other`, which is not empty; nil if there is none.
    package func firstRange(ofText other: String) -> Range<String.Index>? {
        let (bytes, wanted) = (utf8, Array(other.utf8))
        guard let first = wanted.first else { return nil }
        var rest = bytes[...]
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: wanted) { return start..<bytes.index(start, offsetBy: wanted.count) }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Whether the text starts with the bytes of another one. `hasPrefix` compares characters, and a slash is one with a combining mark behind it.
    package func starts(withText other: String) -> Bool { utf8.starts(with: other.utf8) }

    package func ends(withText other: String) -> Bool {
        utf8.count >= other.utf8.count && utf8.suffix(other.utf8.count).elementsEqual(other.utf8)
    }

    /// The text with each occurrence of `old`, which is not empty, replaced by `new`.
    package func replacing(text old: String, with new: String) -> String {
        let wanted = Array(old.utf8)
        guard let first = wanted.first, utf8.contains(first) else { return String(self) }
        var result: [UInt8] = []
        result.reserveCapacity(utf8.count + 16)
        var rest = utf8[...]
        while let start = rest.firstIndex(of: first) {
            result.append(contentsOf: rest[..<start])
            rest = rest[start...]
            if rest.starts(with: wanted) {
                result.append(contentsOf: new.utf8)
                rest = rest.dropFirst(wanted.count)
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        result.append(contentsOf: rest)
        return String(decoding: result, as: UTF8.self)
    }

    /// The text without white space and line breaks at both ends.
    package var trimmed: String { trimmed { $0.properties.isWhitespace } }

    /// The text without the characters for which `isDropped` holds at both ends.
    package func trimmed(_ isDropped: (Unicode.Scalar) -> Bool) -> String {
        let scalars = unicodeScalars
        guard let start = scalars.firstIndex(where: { !isDropped($0) }),
            let end = scalars.lastIndex(where: { !isDropped($0) })
        else { return "" }
        return String(self[start..<scalars.index(after: end)])
    }
}

extension String {
    package var pathNames: [Substring] { utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) } }

    /// A URL for a message, without the password that it may contain: `s3://user:…@bucket`.
    package var withoutPassword: String {
        guard let start = firstRange(ofText: "://")?.upperBound, let sign = utf8.lastIndex(of: UInt8(ascii: "@")),
            start < sign, let colon = utf8[start..<sign].firstIndex(of: UInt8(ascii: ":"))
        else { return self }
        return self[..<colon] + ":…" + self[sign...]
    }

    /// The last occurrence of `other`, which is not empty; nil if there is none.
    package func lastRange(ofText other: String) -> Range<String.Index>? {
        let (bytes, wanted) = (utf8, Array(other.utf8))
        guard !wanted.isEmpty, bytes.count >= wanted.count else { return nil }
        var start = bytes.index(bytes.endIndex, offsetBy: -wanted.count)
        while true {
            if bytes[start...].starts(with: wanted) { return start..<bytes.index(start, offsetBy: wanted.count) }
            guard start > bytes.startIndex else { return nil }
            start = bytes.index(before: start)
        }
    }
}

/// The Levenshtein distance of two words, as arrays of their bytes or characters: how many elements have to be inserted, removed or
/// replaced at least to make one of the other. It finds what a misspelt word was meant to be.
package func editDistance<Element: Equatable>(_ left: [Element], _ right: [Element]) -> Int {
    var row = Array(0...right.count)
    for (i, a) in left.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, b) in right.enumerated() {
            let above = row[j + 1]
            row[j + 1] = min(row[j] + 1, above + 1, diagonal + (a == b ? 0 : 1))
            diagonal = above
        }
    }
    return row[right.count]
}
