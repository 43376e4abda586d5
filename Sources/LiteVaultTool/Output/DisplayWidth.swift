/// The columns that text takes on a terminal.
enum DisplayWidth {
    /// The columns of a character: two for wide ones of East Asian scripts and for emoji, none for marks alone.
    static func columns(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if wide.contains(where: { $0.contains(first.value) }) { return 2 }
        if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return 1
        }
    }

    /// The columns of a text without control characters.
    static func columns(of text: String) -> Int {
        // Most text is ASCII, a column for each byte.
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + columns(of: $1) }
    }

    /// The lines of a text that is broken where it gets wider than that number of columns. Nothing of it is lost.
    static func lines(_ text: String, columns width: Int) -> [String] {
        guard columns(of: text) > width else { return [text] }
        var lines: [String] = []
        var (line, used) = ("", 0)
        for character in text {
            let columns = columns(of: character)
            // A character that is wider than a line has one of its own.
            if used > 0, used + columns > width {
                lines.append(line)
                (line, used) = ("", 0)
            }
            line.append(character)
            used += columns
        }
        return lines + [line]
    }

    /// The greatest width for columns that have to fit into a line together: wider ones get that, narrower ones stay.
    static func limit(_ widths: [Int], total: Int, least: Int) -> Int {
        var (low, high) = (least, max(least, widths.max() ?? least))
        while low < high {
            let middle = (low + high + 1) / 2
            if widths.reduce(0, { $0 + min($1, middle) }) <= total { low = middle } else { high = middle - 1 }
        }
        return low
    }

    /// What UAX #11 calls wide, in blocks.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
        0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
        0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD,
    ]
}
