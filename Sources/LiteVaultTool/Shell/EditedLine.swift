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
            let width = DisplayWidth.columns(of: character)
            guard cursor + width < columns else { break }
            shown.append(character)
            cursor += width
        }
        shown = String(shown.reversed())
        var used = cursor
        for character in right {
            used += DisplayWidth.columns(of: character)
            guard used < columns else { break }
            shown.append(character)
        }
        return (shown, cursor)
    }
}
