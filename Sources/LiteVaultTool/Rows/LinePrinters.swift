internal import LiteVault
internal import LiteVaultQuoting

// Formats that print rows as they come, a line for each row or each value.

/// Values with a sign between them, in a line for each row.
final class SeparatedPrinter: RowPrinter {
    enum Style {
        /// RFC 4180 with a line of names; NULL is an empty field, and an empty text is in quotes. In a row of one column both are in
        /// quotes.
        case csv
        case list
        case tabs
        case quote

        var separator: String {
            switch self {
            case .csv, .quote: ","
            case .list: "|"
            case .tabs: "\t"
            }
        }
    }

    private let stream: ResultStream
    private let style: Style
    private let null: String?
    private let separator: String
    private let ending: String
    private var names: [String]?

    init(_ stream: ResultStream, _ names: [String], _ row: RowStyle, _ style: Style) {
        (self.stream, self.style, null) = (stream, style, row.null)
        separator = row.separators?.column ?? style.separator
        ending = row.separators?.row ?? (style == .csv ? "\r\n" : "\n")
        self.names = row.hasNames ? names : nil
    }

    func row(_ values: [StoredValue]) throws {
        try printNames()
        try line(values.map(field))
    }

    func end() throws { try printNames() }

    private func field(_ value: StoredValue) -> String {
        if value == .null { return style == .quote ? "NULL" : null ?? "" }
        return switch style {
        case .csv: Quoting.csvField(ValueText.plain(value), separators: [separator, ending])
        case .quote: ValueText.sql(value)
        case .list, .tabs: ValueText.plain(value)
        }
    }

    private func printNames() throws {
        if let names { try line(names.map { field(.text($0)) }) }
        names = nil
    }

    private func line(_ fields: [String]) throws {
        let text = fields.joined(separator: separator)
        // A line with one empty field would be an empty line, which readers skip: an empty text is better than no row.
        try stream.append((style == .csv && fields == [""] ? "\"\"" : text) + ending)
    }
}

/// `INSERT INTO "table" ("a") VALUES (1);` for each row.
final class InsertPrinter: RowPrinter {
    private let stream: ResultStream
    private let start: String

    init(_ stream: ResultStream, _ names: [String], _ style: RowStyle) {
        self.stream = stream
        let columns = style.hasNames ? " (" + names.map(quoted).joined(separator: ", ") + ")" : ""
        start = "INSERT INTO " + quoted(style.table) + columns + " VALUES ("
    }

    func row(_ values: [StoredValue]) throws {
        try stream.append(start + values.map(ValueText.sql).joined(separator: ", ") + ");\n")
    }
}

/// `name = value`, and an empty line between rows.
final class LinePrinter: RowPrinter {
    private let stream: ResultStream
    private let names: [String]
    private let null: String
    private var isFirst = true

    init(_ stream: ResultStream, _ names: [String], _ style: RowStyle) {
        (self.stream, null) = (stream, style.null ?? "NULL")
        let visible = names.map(Format.visible)
        let width = visible.map(\.count).max() ?? 0
        self.names = visible.map { String(repeating: " ", count: width - $0.count) + $0 + " = " }
    }

    func row(_ values: [StoredValue]) throws {
        if !isFirst { try stream.append("\n") }
        isFirst = false
        for (name, value) in zip(names, values) {
            try stream.append(name + Format.visible(value == .null ? null : ValueText.plain(value)) + "\n")
        }
    }
}
