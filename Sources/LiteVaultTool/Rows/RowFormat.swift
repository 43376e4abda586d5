internal import ArgumentParser
internal import LiteVault
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// How `litevault query` prints rows. A blob is `x'…'` in hexadecimal digits in every format but `typed-json`.
enum RowFormat: String, ExpressibleByArgument, CaseIterable {
    /// Columns under their names, for people.
    case table
    /// RFC 4180 with a line of names; NULL is an empty field, and `""` in a row of one column.
    case csv
    case json
    /// An object per line.
    case jsonl
    case markdown
    /// Columns with lines around them, for terminals.
    case box
    /// A line for each value, for rows with many columns.
    case line
    /// An array of objects, in which a blob is an object: `{"blob": "00ff"}`, which no text can be.
    case typedJSON = "typed-json"
    case list
    case tabs
    /// SQL text that stands for each value, with commas between them.
    case quote
    /// A statement for each row.
    case insert

    /// The formats, for help texts.
    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    func printer(_ stream: ResultStream, _ names: [String], _ style: RowStyle = .init()) -> any RowPrinter {
        switch self {
        case .table: TablePrinter(stream, names, .plain, style)
        case .markdown: TablePrinter(stream, names, .markdown, style)
        case .box: TablePrinter(stream, names, .box, style)
        case .line: LinePrinter(stream, names, style)
        case .csv: SeparatedPrinter(stream, names, style, .csv)
        case .list: SeparatedPrinter(stream, names, style, .list)
        case .tabs: SeparatedPrinter(stream, names, style, .tabs)
        case .quote: SeparatedPrinter(stream, names, style, .quote)
        case .insert: InsertPrinter(stream, names, style)
        case .json: ObjectPrinter(stream, names, isArray: true, tagsBlobs: false)
        case .typedJSON: ObjectPrinter(stream, names, isArray: true, tagsBlobs: true)
        case .jsonl: ObjectPrinter(stream, names, isArray: false, tagsBlobs: false)
        }
    }
}

/// What a shell can set about the rows of a format.
struct RowStyle {
    /// Whether `table`, `csv`, `list`, `tabs`, `quote` and `insert` have the names of columns.
    var hasNames = true
    /// What stands for NULL in formats for people and those with separators; nil for that of the format.
    var null: String?
    /// The widths of columns in `table` and `box`, in order; 0 for as wide as the values.
    var widths: [Int] = []
    /// What is between values and behind rows in `list`, `csv`, `tabs` and `quote`, in place of the format's own.
    var separators: (column: String, row: String?)?
    /// The table that `insert` names.
    var table = "table"
}

protocol RowPrinter: AnyObject {
    func row(_ values: [StoredValue]) throws
    /// Prints what follows the last row, or what stands for no rows.
    func end() throws
}

extension RowPrinter {
    func end() throws {}

    func print(_ rows: [[StoredValue]]) throws {
        for row in rows { try self.row(row) }
        try end()
    }
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
    private let tagsBlobs: Bool
    private var isFirst = true

    init(_ stream: ResultStream, _ names: [String], isArray: Bool, tagsBlobs: Bool) {
        self.stream = stream
        self.names = names.map { Quoting.json($0) + ": " }
        (self.isArray, self.tagsBlobs) = (isArray, tagsBlobs)
    }

    func row(_ values: [StoredValue]) throws {
        let members = zip(names, values).map { $0 + (tagsBlobs ? ValueText.typedJSON($1) : ValueText.json($1)) }.joined(
            separator: ", ")
        if isArray { try stream.append(isFirst ? "[" : ",\n ") }
        try stream.append("{" + members + (isArray ? "}" : "}\n"))
        isFirst = false
    }

    func end() throws { if isArray { try stream.append(isFirst ? "[]\n" : "]\n") } }
}

enum ValueText {
    static func plain(_ value: StoredValue) -> String {
        switch value {
        case .null: ""
        case .integer(let number): String(number)
        case .real(let number): number.isInfinite ? (number < 0 ? "-Inf" : "Inf") : String(number)
        case .text(let text): text
        case .blob(let bytes): Quoting.sqlBlob(bytes)
        }
    }

    static func sql(_ value: StoredValue) -> String {
        switch value {
        case .null: "NULL"
        case .text(let text): Quoting.sqlText(text)
        case .real(let number): number.isInfinite ? infinity(number) : Quoting.sqlReal(number)
        case .integer, .blob: plain(value)
        }
    }

    private static func infinity(_ number: Double) -> String { number < 0 ? "-9e999" : "9e999" }

    /// The value as JSON in which a blob differs from any text.
    static func typedJSON(_ value: StoredValue) -> String {
        guard case .blob = value else { return json(value) }
        return "{\"blob\": \"\(plain(value).dropFirst(2).dropLast())\"}"
    }

    /// The value as JSON. An infinity is a number that overflows into one, as in SQLite's own JSON.
    static func json(_ value: StoredValue) -> String {
        switch value {
        case .null: "null"
        case .real(let number) where number.isInfinite: infinity(number)
        case .integer, .real: plain(value)
        case .text(let text): Quoting.json(text)
        case .blob: Quoting.json(plain(value))
        }
    }
}
