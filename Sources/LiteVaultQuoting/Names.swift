/// Whether two texts are the same bytes.
///
/// Swift's `==` holds for canonically equal texts as well: "é" as one character, and as "e" with a combining accent. For SQLite and
/// file systems these are two names.
@inlinable
package func isSameText(_ left: String, _ right: String) -> Bool {
    isSameObject(left, right) || isSameContent(left, right)
}

@usableFromInline
func isSameContent(_ left: String, _ right: String) -> Bool {
    let (left, right) = (left.utf8, right.utf8)
    let isSame = left.withContiguousStorageIfAvailable { left in
        right.withContiguousStorageIfAvailable { right in isSameBytes(left, right) }
    }
    // All native strings are contiguous.
    return (isSame ?? nil) ?? left.elementsEqual(right)
}

/// Whether two names denote the same table, column or other object of SQLite: bytes are compared, and A to Z without case
/// (`sqlite3_stricmp`).
@inlinable
package func isSameName(_ left: String, _ right: String) -> Bool {
    isSameObject(left, right) || isSameFoldedContent(left, right)
}

@usableFromInline
func isSameFoldedContent(_ left: String, _ right: String) -> Bool {
    let (left, right) = (left.utf8, right.utf8)
    let isSame = left.withContiguousStorageIfAvailable { left in
        right.withContiguousStorageIfAvailable { right in
            isSameBytes(left, right) || isSameFolded(left, right)
        }
    }
    return (isSame ?? nil) ?? left.elementsEqual(right) { foldedByte($0) == foldedByte($1) }
}

/// Whether a text comes before another one in the order of their bytes. Swift's `<` has no order for two that are canonically equal.
package func isBefore(_ left: String, _ right: String) -> Bool { left.utf8.lexicographicallyPrecedes(right.utf8) }

/// Whether a text contains the bytes of another one, which is not empty.
package func containsText(_ text: String, _ other: String) -> Bool {
    let wanted = other.utf8
    guard let first = wanted.first else { return true }
    var rest = text.utf8[...]
    while let start = rest.firstIndex(of: first) {
        rest = rest[start...]
        if rest.starts(with: wanted) { return true }
        rest = rest.dropFirst()
    }
    return false
}

/// Whether a text ends with the bytes of another one.
package func hasTextSuffix(_ text: String, _ suffix: String) -> Bool {
    text.utf8.count >= suffix.utf8.count && text.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
}

/// A name with A to Z in lower case, as SQLite compares it; other letters stay as they are.
package func foldedName(_ name: some StringProtocol) -> String { folded(name, UInt8(ascii: "A"), UInt8(ascii: "Z")) }

/// A word of SQL with a to z in upper case, as SQLite compares keywords. `uppercased()` would make keywords of other words: "ı"
/// becomes "I", and "ſ" an "S".
package func foldedKeyword(_ word: some StringProtocol) -> String { folded(word, UInt8(ascii: "a"), UInt8(ascii: "z")) }

private func folded(_ text: some StringProtocol, _ first: UInt8, _ last: UInt8) -> String {
    guard text.utf8.contains(where: { $0 >= first && $0 <= last }) else { return String(text) }
    return String(decoding: text.utf8.map { $0 >= first && $0 <= last ? $0 ^ 0x20 : $0 }, as: UTF8.self)
}

/// A name of SQLite as a key of dictionaries and sets: equal to another as in ``isSameName(_:_:)``.
package struct SQLName: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// As it is written.
    package let text: String

    package init(_ text: String) { self.text = text }
    package init(stringLiteral text: String) { self.text = text }

    package var description: String { text }

    /// The names of a table's rowid (https://sqlite.org/rowidtable.html), the usual one first. A column of one of them hides it.
    package static let ofRowid: [SQLName] = ["rowid", "_rowid_", "oid"]

    package static func == (left: SQLName, right: SQLName) -> Bool { isSameName(left.text, right.text) }

    /// Eight bytes at a time: a call of the hasher for each would take most of the time.
    package func hash(into hasher: inout Hasher) {
        var (word, count) = (UInt64(0), 0)
        for byte in text.utf8 {
            word = word << 8 | UInt64(foldedByte(byte))
            count += 1
            if count & 7 == 0 {
                hasher.combine(word)
                word = 0
            }
        }
        hasher.combine(word)
        hasher.combine(count)
    }
}

/// A text as a key of dictionaries and sets: equal to another if their bytes are, as in ``isSameText(_:_:)``.
package struct ExactText: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let text: String

    package init(_ text: String) { self.text = text }
    package init(stringLiteral text: String) { self.text = text }

    package var description: String { text }

    package static func == (left: ExactText, right: ExactText) -> Bool { isSameText(left.text, right.text) }

    package func hash(into hasher: inout Hasher) {
        let utf8 = text.utf8
        let isHashed: Void? = utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isHashed == nil { Array(utf8).withUnsafeBytes { hasher.combine(bytes: $0) } }
        hasher.combine(utf8.count)
    }
}

@inlinable
@inline(__always)
package func foldedByte(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}

/// Whether two strings refer to the same memory, or hold the same bytes themselves, as those of up to 15 bytes do: most names. A false
/// answer means nothing.
@inlinable
@inline(__always)
func isSameObject(_ left: String, _ right: String) -> Bool {
    guard MemoryLayout<String>.size == MemoryLayout<(UInt64, UInt64)>.size else { return false }
    return unsafeBitCast(left, to: (UInt64, UInt64).self) == unsafeBitCast(right, to: (UInt64, UInt64).self)
}

@inline(__always)
private func isSameBytes(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    guard left.baseAddress != right.baseAddress, let one = UnsafeRawPointer(left.baseAddress),
        let other = UnsafeRawPointer(right.baseAddress)
    else { return true }
    var index = 0
    while index &+ 8 <= left.count {
        guard
            one.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                == other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        else { return false }
        index &+= 8
    }
    while index < left.count {
        guard left[index] == right[index] else { return false }
        index &+= 1
    }
    return true
}

private func isSameFolded(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in 0..<left.count where left[index] != right[index] {
        guard foldedByte(left[index]) == foldedByte(right[index]) else { return false }
    }
    return true
}
