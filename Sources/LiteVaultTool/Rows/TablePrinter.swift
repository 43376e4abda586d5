internal import LiteVault
internal import LiteVaultQuoting

/// Columns as wide as the first rows need: later rows may be wider, so that memory does not grow with the result.
///
/// On a terminal the columns fit its width, and wider values take several lines. In a file or a pipe columns are as wide as
/// their values.
final class TablePrinter: RowPrinter {
    enum Style {
        case plain
        case markdown
        case box

        /// What is before, between and after the columns of a row.
        var edges: (start: String, between: String, end: String) {
            switch self {
            case .plain: ("", "  ", "")
            case .markdown: ("| ", " | ", " |")
            case .box: ("│ ", " │ ", " │")
            }
        }
    }

    private typealias Cell = (text: String, isNumber: Bool)

    private static let measuredRows = 1000
    /// The text after which no more rows are measured: a thousand of them may be gigabytes.
    private static let measuredBytes = 1 << 20
    /// The widest column where nothing else limits it: a value of megabytes would pad a thousand rows to its size.
    private static let widest = 1000
    /// The narrowest that a terminal makes a column, and the most lines that a value takes there.
    private static let (narrowest, mostLines) = (6, 20)

    private let stream: ResultStream
    private let names: [String]
    private let style: Style
    private let row: RowStyle
    private let null: String
    private var measured: [[Cell]]? = []
    /// The bytes of their text.
    private var size = 0
    private var widths: [Int]

    init(_ stream: ResultStream, _ names: [String], _ style: Style, _ row: RowStyle) {
        (self.stream, self.style, self.row) = (stream, style, row)
        null = Self.cell(row.null ?? "NULL", style)
        self.names = names.map { Self.cell($0, style) }
        widths = self.names.map { max(style == .markdown ? 3 : 1, DisplayWidth.columns(of: $0)) }
    }

    /// Whether a value that is wider than its column takes several lines. A plain table in a pipe has no lines to keep.
    private var wraps: Bool {
        style == .box || style == .plain && (stream.screen != nil || !row.widths.isEmpty)
    }

    func row(_ values: [StoredValue]) throws {
        let cells = values.map { value -> Cell in
            let isNumber =
                switch value {
                case .integer, .real: true
                default: false
                }
            return (value == .null ? null : Self.cell(ValueText.plain(value), style), isNumber)
        }
        guard measured != nil else { return try line(cells) }
        let limit = style == .markdown ? 60 : Self.widest
        for (index, cell) in cells.enumerated() {
            widths[index] = max(widths[index], min(DisplayWidth.columns(of: cell.text), limit))
        }
        measured?.append(cells)
        size += cells.reduce(0) { $0 + $1.text.utf8.count }
        if measured?.count == Self.measuredRows || size >= Self.measuredBytes { try printMeasured() }
    }

    func end() throws {
        try printMeasured()
        if style == .box, !names.isEmpty { try rule("└", "┴", "┘") }
    }

    private func printMeasured() throws {
        guard let rows = measured else { return }
        measured = nil
        guard !names.isEmpty else { return }
        fit()
        if style == .box { try rule("┌", "┬", "┐") }
        if style != .plain || row.hasNames {
            try line(names.map { ($0, false) })
            if style == .box {
                try rule("├", "┼", "┤")
            } else {
                try line(widths.map { (String(repeating: "-", count: $0), false) })
            }
        }
        for row in rows { try line(row) }
    }

    /// Makes the columns as wide as they were set, or as fits the terminal.
    private func fit() {
        guard style != .markdown else { return }
        let (start, between, end) = style.edges
        if let screen = stream.screen {
            let taken = start.count + end.count + between.count * (widths.count - 1)
            let limit = DisplayWidth.limit(widths, total: screen - taken, least: Self.narrowest)
            widths = widths.map { min($0, limit) }
        }
        for (index, width) in row.widths.enumerated() where index < widths.count && width != 0 {
            widths[index] = min(abs(width), Self.widest)
        }
    }

    private func rule(_ start: String, _ cross: String, _ end: String) throws {
        let lines = widths.map { String(repeating: "─", count: $0 + 2) }
        try stream.append(start + lines.joined(separator: cross) + end + "\n")
    }

    private func line(_ cells: [Cell]) throws {
        guard wraps else { return try printLine(cells) }
        let parts = zip(cells, widths).map { cell, width in
            let lines = DisplayWidth.lines(cell.text, columns: width)
            guard stream.screen != nil, lines.count > Self.mostLines else { return lines }
            return lines.prefix(Self.mostLines - 1) + ["…"]
        }
        for index in 0..<(parts.map(\.count).max() ?? 0) {
            try printLine(zip(parts, cells).map { (index < $0.count ? $0[index] : "", $1.isNumber) })
        }
    }

    private func printLine(_ cells: [Cell]) throws {
        let padded = zip(cells, widths).map { cell, width in
            let padding = String(repeating: " ", count: max(0, width - DisplayWidth.columns(of: cell.text)))
            return cell.isNumber ? padding + cell.text : cell.text + padding
        }
        let edges = style.edges
        var text = edges.start + padded.joined(separator: edges.between) + edges.end
        while text.last == " " { text.removeLast() }
        try stream.append(text + "\n")
    }

    private static func cell(_ text: String, _ style: Style) -> String {
        let visible = Format.visible(text)
        return style == .markdown ? Quoting.markdownCell(visible) : visible
    }
}
