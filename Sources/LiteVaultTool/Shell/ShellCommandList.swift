internal import LiteVaultQuoting

/// The commands of the shell: names, arguments, and a line of help each.
enum ShellCommandList {
    struct Entry {
        let name: String
        /// The arguments, as the help shows them.
        let arguments: String
        /// How many there may be.
        let counts: ClosedRange<Int>
        let help: String

        init(_ name: String, _ arguments: String, _ counts: ClosedRange<Int>, _ help: String) {
            (self.name, self.arguments, self.counts, self.help) = (name, arguments, counts, help)
        }
    }

    static let all: [Entry] = [
        .init(".backup", "FILE", 1...1, "copy the database to a new file, under its key"),
        .init(".bail", "on|off", 1...1, "whether a script ends at its first error"),
        .init(".changes", "on|off", 1...1, "show how many rows a statement has changed"),
        .init(".databases", "", 0...0, "show the files of the database and of attached ones"),
        .init(".dump", "[FILE|TABLE …]", 0...100, "print it, or tables, as SQL text, unencrypted; or create FILE"),
        .init(".echo", "on|off", 1...1, "print statements before they run"),
        .init(".eqp", "on|off", 1...1, "show the plan of each statement before it runs"),
        .init(".explain", "STATEMENT", 1...10_000, "show how the engine would run a statement"),
        .init(".headers", "on|off", 1...1, "whether rows have the names of columns above them"),
        .init(".help", "", 0...100, "show this list"),
        .init(".import", "FILE TABLE", 2...20, "insert the rows of a CSV file; options: see below"),
        .init(".indexes", "[TABLE]", 0...1, "show the names of indexes"),
        .init(".mode", "[FORMAT]", 0...2, "how rows are printed: see below"),
        .init(".nullvalue", "TEXT", 1...1, "what is printed for NULL"),
        .init(".once", "FILE", 1...1, "print the next result to a new file"),
        .init(".open", "FILE [--key-…]", 1...100, "close this database and open another; key options as usual"),
        .init(".output", "[FILE]", 0...1, "print to a new file from now on, or to the terminal again"),
        .init(".parameter", "set|unset|list|clear", 1...100, "the values of :name, @name, $name and ?1 in statements"),
        .init(".print", "TEXT", 0...10_000, "print a text"),
        .init(".quit", "", 0...0, "end the shell"),
        .init(".read", "FILE", 1...1, "run the statements and commands of a file"),
        .init(".save", "FILE", 1...1, "the same as .backup"),
        .init(".schema", "[NAME]", 0...1, "show the statements of the schema, or of one table"),
        .init(".separator", "COL [ROW]", 1...2, "what is between values and between rows: list, csv, tabs, quote"),
        .init(".tables", "[PATTERN]", 0...1, "show the names of tables and views"),
        .init(".timer", "on|off", 1...1, "show how long each statement takes"),
        .init(".width", "[N …]", 0...1000, "the widths of columns; 0 is as wide as the values"),
    ]

    static var help: [String] {
        all.map { entry in
            let start = entry.arguments.isEmpty ? entry.name : entry.name + " " + entry.arguments
            return start + String(repeating: " ", count: max(1, 33 - start.count)) + entry.help
        } + [
            "", "Formats: \(RowFormat.names).",
            "Options of .import: --csv, --ascii, --skip N, --schema NAME, -v. Without --skip, the first line names columns;",
            "with it, N records are left out, and fields are the columns of a table that exists, in order.",
            "A name may be shortened: '.q' ends the shell.",
        ]
    }

    /// Other names of commands.
    private static let aliases = [".exit": ".quit", ".indices": ".indexes", ".param": ".parameter"]

    /// What to use instead of commands that other shells of SQLite have.
    private static let others = [
        ".archive": "'tar' packs files.",
        ".cd": "Name files by their paths, or start the shell in that directory.",
        ".clone": "'.backup FILE' copies the database under its key.",
        ".dbinfo": "'litevault info FILE' shows what the file is.",
        ".excel": "'.mode csv' and '.once FILE' write what a spreadsheet reads.",
        ".expert": "'.explain STATEMENT' shows whether an index is used.",
        ".fullschema": "'.schema' shows the schema, 'litevault stats FILE' the sizes.",
        ".load": "Extensions are not loaded.",
        ".log": "Redirect standard error.",
        ".recover": "'litevault verify FILE' shows what is damaged, 'litevault restore' brings a backup back.",
        ".restore": "'litevault restore' brings a backup back.",
        ".scanstats": "'.explain STATEMENT' shows the plan.",
        ".shell": "No programs are started from here: use another terminal.",
        ".show": "'.mode' shows the format, '.parameter list' the values.",
        ".stats": "'litevault stats FILE' shows what tables and indexes take.",
        ".system": "No programs are started from here: use another terminal.",
        ".trace": "'.echo on' prints statements before they run.",
        ".version": "'litevault --version' names the engine.",
        ".vfsname": "'litevault --version' names the engine.",
    ]

    /// Whether a line is an `.import`, however it is shortened.
    static func isImport(_ line: String) -> Bool {
        let name = String(line.prefix { !$0.isWhitespace })
        return (try? entry(name))?.name == ".import"
    }

    /// The command of that name, or the only one that begins with it.
    ///
    /// - Throws: `usage` for others, with what was meant or is to be used.
    static func entry(_ name: String) throws(Failure) -> Entry {
        let name = aliases[name] ?? name
        if let entry = all.first(where: { isSameText($0.name, name) }) { return entry }
        if let other = others[name] {
            throw Failure(.usage, "\(name) is a command of another shell", remedy: other)
        }
        let begun = name.count > 1 ? all.filter { $0.name.hasPrefix(name) } : []
        if begun.count == 1 { return begun[0] }
        guard begun.isEmpty else {
            throw Failure(
                .usage, "the name of the command is not complete",
                remedy: "It may be \(begun.map(\.name).joined(separator: ", ")).")
        }
        let close = Spelling.closest(to: name, in: all.map(\.name) + Array(aliases.keys))
        throw Failure(
            .usage, "unknown command",
            remedy: close.map { "Did you mean '\($0)'? '.help' lists the commands." } ?? "'.help' lists the commands.")
    }
}
