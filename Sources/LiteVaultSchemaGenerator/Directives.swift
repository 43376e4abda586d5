/// What comments of the form `-- litevault: …` ask for.
///
///     -- litevault: public
///     -- litevault: user.status as Status
struct Directives {
    /// Whether the tables are for other modules too.
    private(set) var isPublic = false
    private var types: [String: String] = [:]

    init(_ scripts: [Script]) throws {
        for script in scripts {
            for (index, line) in script.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let line = line.trimmingPrefix { $0.isWhitespace }
                guard line.hasPrefix("-- litevault:") else { continue }
                let words = line.dropFirst("-- litevault:".count).split(whereSeparator: \.isWhitespace).map(String.init)
                guard read(words) else {
                    throw Diagnostics(
                        Location(path: script.path, line: index + 1, column: 1),
                        "not understood: write '-- litevault: public' or '-- litevault: table.column as Type'")
                }
            }
        }
    }

    /// The Swift type that was asked for.
    func type(of column: String, in table: String) -> String? { types["\(table).\(column)".lowercased()] }

    private mutating func read(_ words: [String]) -> Bool {
        if words == ["public"] {
            isPublic = true
            return true
        }
        guard words.count >= 3, words[1] == "as", words[0].contains(".") else { return false }
        types[words[0].lowercased()] = words[2...].joined(separator: " ")
        return true
    }
}
