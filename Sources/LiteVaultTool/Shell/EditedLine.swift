/// A line that is being typed: text with a cursor in it.
struct EditedLine {
    private(set) var left = ""
    private(set) var right = ""
    /// What was removed last, for Ctrl-Y.
    private var removed = ""

    init(_ text: String = "") { left = text }

    var text: String { left + right }
    /// The size in bytes.
    var size: Int { left.utf8.count + right.utf8.count }
    var isEmpty: Bool { left.isEmpty && right.isEmpty }

    mutating func replace(by text: String) { (left, right) = (text, "") }

    /// Inserts a scalar at the cursor; a combining one joins the character before it.
    mutating func insert(_ scalar: Unicode.Scalar) { left.unicodeScalars.append(scalar) }

    mutating func insert(_ text: String) { left += text }

    // MARK: Moving

    mutating func moveLeft() {
        if let last = left.popLast() { right = String(last) + right }
    }

    mutating func moveRight() {
        if !right.isEmpty { left.append(right.removeFirst()) }
    }

    mutating func moveToStart() { (left, right) = ("", text) }

    mutating func moveToEnd() { (left, right) = (text, "") }

    mutating func moveLeftByWord() {
        for isSpace in [true, false] {
            while let last = left.last, Self.isBetweenWords(last) == isSpace { moveLeft() }
        }
    }

    mutating func moveRightByWord() {
        for isSpace in [true, false] {
            while let first = right.first, Self.isBetweenWords(first) == isSpace { moveRight() }
        }
    }

    private static func isBetweenWords(_ character: Character) -> Bool {
        !(character.isLetter || character.isNumber || character == "_")
    }

    // MARK: Removing

    mutating func removeBefore() { _ = left.popLast() }

    mutating func removeAfter() {
        if !right.isEmpty { right.removeFirst() }
    }

    mutating func removeToStart() { (removed, left) = (left, "") }

    mutating func removeToEnd() { (removed, right) = (right, "") }

    /// Removes back to a space, as Ctrl-W does elsewhere.
    mutating func removeWordBefore() {
        let end = left
        for isSpace in [true, false] {
            while let last = left.last, last.isWhitespace == isSpace { left.removeLast() }
        }
        removed = String(end.dropFirst(left.count))
    }

    mutating func putBack() { left += removed }

    /// Takes characters off the end of the text before the cursor, to put a completion in their place.
    mutating func removeBefore(count: Int) { left.removeLast(min(count, left.count)) }

    // MARK: On the screen

    /// The part of the line that fits into that number of columns with the cursor in it, and the cursor's column in that part.
    func window(columns: Int) -> (text: String, cursor: Int) {
        var shown = "", cursor = 0
        for character in left.reversed() {
            let width = Self.columns(of: character)
            guard cursor + width < columns else { break }
            shown.append(character)
            cursor += width
        }
        shown = String(shown.reversed())
        var used = cursor
        for character in right {
            used += Self.columns(of: character)
            guard used < columns else { break }
            shown.append(character)
        }
        return (shown, cursor)
    }

    /// The columns that a character takes: two for wide ones of East Asian scripts and for emoji, none for marks alone.
    static func columns(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if wide.contains(where: { $0.contains(first.value) }) { return 2 }
        if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return 1
        }
    }

    /// What UAX #11 calls wide, in blocks.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
        0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
        0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
