internal import ArgumentParser
internal import LiteVault
internal import LiteVaultFoundation
internal import LiteVaultQuoting
internal import LiteVaultSupport

/// How `litevault query` prints rows. A blob is `x'…'` in hexadecimal digits in every format.
enum RowFormat: String, ExpressibleByArgument, CaseIterable {
    /// Columns under their names, for people.
    case table
    /// RFC 4180 with a line of names; NULL is an empty field.
    case csv
    /// An array of objects.
    case json
    /// An object per line.
    case jsonl
    /// A table of Markdown.
    case markdown
    /// Columns with lines around them, for terminals.
    case box
    /// A line for each value, for rows with many columns.
    case line

    /// The formats, for help texts.
    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// Creates a printer for the rows of one query.
    func printer(_ stream: ResultStream, _ names: [String]) -> any RowPrinter {
        switch self {
        case .table: TablePrinter(stream, names, .plain)
        case .markdown: TablePrinter(stream, names, .markdown)
        case .box: TablePrinter(stream, names, .box)
        case .line: LinePrinter(stream: stream, names: names)
        case .csv: CSVPrinter(stream: stream, names: names)
        case .json: ObjectPrinter(stream: stream, names: names, isArray: true)
        case .jsonl: ObjectPrinter(stream: stream, names: names, isArray: false)
        }
    }
}

/// Prints the rows of a query as they come.
protocol RowPrinter: AnyObject {
    func row(_ values: [StoredValue]) throws
    /// Prints what follows the last row, or what stands for no rows.
    func end() throws
}

/// The JSON of `--json`: `"columns": […], "rows": [[…], …]`, inside the object of the contract.
final class ArrayPrinter: RowPrinter {
    private let stream: ResultStream
    private var isFirst = true

    init(_ stream: ResultStream, _ names: [String]) throws {
        self.stream = stream
        let columns = names.map { Quoting.json($0) }.joined(separator: ", ")
        try stream.append("{\"schema\": 1, \"command\": \"query\", \"columns\": [\(columns)], \"rows\": [")
    }

    func row(_ values: [StoredValue]) throws {
        let text = values.map(ValueText.json).joined(separator: ", ")
        try stream.append((isFirst ? "[" : ", [") + text + "]")
        isFirst = false
    }

    func end() throws { try stream.append("]}\n") }
}

private final class ObjectPrinter: RowPrinter {
    private let stream: ResultStream
    private let names: [String]
    private let isArray: Bool
    private var isFirst = true

    init(stream: ResultStream, names: [String], isArray: Bool) {
        self.stream = stream
        self.names = names.map { Quoting.json($0) + ": " }
        self.isArray = isArray
    }

    func row(_ values: [StoredValue]) throws {
        let members = zip(names, values).map { $0 + ValueText.json($1) }.joined(separator: ", ")
        if isArray { try stream.append(isFirst ? "[" : ",\n ") }
        try stream.append("{" + members + (isArray ? "}" : "}\n"))
        isFirst = false
    }

    func end() throws { if isArray { try stream.append(isFirst ? "[]\n" : "]\n") } }
}

private final class CSVPrinter: RowPrinter {
    private let stream: ResultStream
    private var names: [String]?

    init(stream: ResultStream, names: [String]) {
        self.stream = stream
        self.names = names
    }

    func row(_ values: [StoredValue]) throws {
        try printNames()
        try line(values.map { $0 == .null ? "" : Quoting.csvField(ValueText.plain($0)) })
    }

    func end() throws { try printNames() }

    private func printNames() throws {
        if let names { try line(names.map(Quoting.csvField)) }
        names = nil
    }

    private func line(_ fields: [String]) throws {
        // A line with one empty field would be an empty line, which readers skip.
        try stream.append((fields == [""] ? "\"\"" : fields.joined(separator: ",")) + "\r\n")
    }
}

/// `name = value`, and an empty line between rows.
private final class LinePrinter: RowPrinter {
    private let stream: ResultStream
    private let names: [String]
    private var isFirst = true

    init(stream: ResultStream, names: [String]) {
        self.stream = stream
        let visible = names.map(Format.visible)
        let width = visible.map(\.count).max() ?? 0
        self.names = visible.map { String(repeating: " ", count: width - $0.count) + $0 + " = " }
    }

    func row(_ values: [StoredValue]) throws {
        if !isFirst { try stream.append("\n") }
        isFirst = false
        for (name, value) in zip(names, values) { try stream.append(name + TablePrinter.text(value) + "\n") }
    }

    func end() throws {}
}

/// Columns as wide as the first rows need: later rows may be wider, so that memory does not grow with the result.
private final class TablePrinter: RowPrinter {
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

    private static let measuredRows = 1000

    private let stream: ResultStream
    private let names: [String]
    private let style: Style
    private var measured: [[(text: String, isNumber: Bool)]]? = []
    private var widths: [Int]

    init(_ stream: ResultStream, _ names: [String], _ style: Style) {
        self.stream = stream
        self.style = style
        self.names = names.map { Self.cell($0, style) }
        widths = self.names.map { max(style == .markdown ? 3 : 1, $0.count) }
    }

    func row(_ values: [StoredValue]) throws {
        let cells = values.map { value in
            let isNumber =
                switch value {
                case .integer, .real: true
                default: false
                }
            return (text: Self.cell(value == .null ? "NULL" : ValueText.plain(value), style), isNumber: isNumber)
        }
        guard measured != nil else { return try line(cells) }
        for (index, cell) in cells.enumerated() { widths[index] = max(widths[index], min(cell.text.count, 60)) }
        measured?.append(cells)
        if measured?.count == Self.measuredRows { try printMeasured() }
    }

    func end() throws {
        try printMeasured()
        if style == .box, !names.isEmpty { try rule("└", "┴", "┘") }
    }

    private func printMeasured() throws {
        guard let rows = measured else { return }
        measured = nil
        guard !names.isEmpty else { return }
        if style == .box { try rule("┌", "┬", "┐") }
        try line(names.map { ($0, false) })
        if style == .box {
            try rule("├", "┼", "┤")
        } else {
            try line(widths.map { (String(repeating: "-", count: $0), false) })
        }
        for row in rows { try line(row) }
    }

    private func rule(_ start: String, _ cross: String, _ end: String) throws {
        let lines = widths.map { String(repeating: "─", count: $0 + 2) }
        try stream.append(start + lines.joined(separator: cross) + end + "\n")
    }

    private func line(_ cells: [(text: String, isNumber: Bool)]) throws {
        let padded = zip(cells, widths).map { cell, width in
            let padding = String(repeating: " ", count: max(0, width - cell.text.count))
            return cell.isNumber ? padding + cell.text : cell.text + padding
        }
        let edges = style.edges
        var text = edges.start + padded.joined(separator: edges.between) + edges.end
        while text.last == " " { text.removeLast() }
        try stream.append(text + "\n")
    }

    /// A value on one line, without control characters.
    static func text(_ value: StoredValue) -> String {
        cell(value == .null ? "NULL" : ValueText.plain(value), .plain)
    }

    private static func cell(_ text: String, _ style: Style) -> String {
        let visible = Format.visible(text)
        return style == .markdown ? Quoting.markdownCell(visible) : visible
    }
}

/// Values as text.
enum ValueText {
    /// The value without quotes.
    static func plain(_ value: StoredValue) -> String {
        switch value {
        case .null: ""
        case .integer(let number): String(number)
        case .real(let number): number.isInfinite ? (number < 0 ? "-Inf" : "Inf") : String(number)
        case .text(let text): text
        case .blob(let bytes): Quoting.sqlBlob(bytes)
        }
    }

    /// The value as JSON. An infinity is a number that overflows into one, as in SQLite's own JSON.
    static func json(_ value: StoredValue) -> String {
        switch value {
        case .null: "null"
        case .integer(let number): String(number)
        case .real(let number): number.isInfinite ? (number < 0 ? "-9e999" : "9e999") : String(number)
        case .text(let text): Quoting.json(text)
        case .blob: Quoting.json(plain(value))
        }
    }
}
