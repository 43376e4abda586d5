internal import ArgumentParser
internal import DurableFile
internal import LiteVault
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultFoundation
internal import LiteVaultSupport

/// The commands of the shell that begin with a point.
struct ShellCommands {
    private let database: ShellDatabase
    private let session: Session
    private let stream: ResultStream

    init(_ database: ShellDatabase, _ session: Session, _ stream: ResultStream) {
        (self.database, self.session, self.stream) = (database, session, stream)
    }

    private static let help = [
        ".backup FILE         copy the database to a new file, under its key",
        ".dump [FILE]         print it as SQL text, unencrypted; or create FILE",
        ".explain STATEMENT   show how the engine would run a statement",
        ".help                show this list",
        ".import FILE TABLE   insert the rows of a CSV file; its first line names columns",
        ".mode [FORMAT]       how rows are printed: \(RowFormat.names)",
        ".open FILE [--key-…] close this database and open another; key options as usual",
        ".quit                end the shell",
        ".schema [NAME]       show the statements of the schema, or of one table",
        ".tables              show the names of tables and views",
    ]

    /// What to use instead of commands that other shells of SQLite have.
    private static let others = [
        ".bail": "A script ends at its first error; after a typed statement the shell stays.",
        ".cd": "Name files by their paths, or start the shell in that directory.",
        ".changes": "'SELECT changes();' has the number of rows.",
        ".clone": "'.backup FILE' copies the database under its key.",
        ".databases": "A shell has one database; '.open FILE' opens another one.",
        ".dbinfo": "'litevault info FILE' shows what the file is.",
        ".echo": "Run the script with 'sh -x', or print with SELECT.",
        ".eqp": "'.explain STATEMENT' shows the plan.",
        ".excel": "'.mode csv' prints what a spreadsheet reads.",
        ".expert": "'.explain STATEMENT' shows whether an index is used.",
        ".fullschema": "'.schema' shows the schema, 'litevault stats FILE' the sizes.",
        ".headers": "All formats have the names of columns: '.mode' sets the format.",
        ".indexes": "'.schema TABLE' shows the indexes of a table.",
        ".load": "Extensions are not loaded.",
        ".log": "Redirect standard error.",
        ".nullvalue": "NULL is shown as NULL; '.mode json' tells it from text.",
        ".once": "Redirect the output of 'litevault query', or use '.dump FILE'.",
        ".output": "Redirect the output of 'litevault query', or use '.dump FILE'.",
        ".parameter": "'litevault query --bind NAME=VALUE' binds values.",
        ".print": "'SELECT 'text';' prints a text.",
        ".read": "Start another shell with '<FILE'.",
        ".recover": "'litevault verify FILE' shows what is damaged, 'litevault restore' brings a backup back.",
        ".restore": "'litevault restore' brings a backup back.",
        ".save": "'.backup FILE' copies the database under its key.",
        ".separator": "'.mode csv' separates with commas.",
        ".shell": "Use another terminal.",
        ".stats": "'litevault stats FILE' shows what tables and indexes take.",
        ".system": "Use another terminal.",
        ".timer": "'time litevault query FILE STATEMENT' measures one.",
        ".version": "'litevault --version' names the engine.",
        ".width": "Columns are as wide as their values; '.mode line' prints a value a line.",
    ]

    /// The names of the commands.
    static var names: [String] { help.compactMap { $0.split(separator: " ").first.map(String.init) } }

    /// Runs one command.
    ///
    /// - Throws: `usage` for an unknown command or wrong arguments; what the command throws.
    func run(_ line: String, _ mode: inout RowFormat) throws -> ShellLoop.Request? {
        let words = try Self.words(line)
        guard let name = words.first else { return nil }
        let arguments = Array(words.dropFirst())
        switch (name, arguments.count) {
        case (".quit", 0), (".exit", 0): return .quit
        case (".help", _): try print(Self.help)
        case (".tables", 0): try print(database.tables().map(Format.visible))
        case (".schema", 0...1): try print(database.schema(of: arguments.first))
        case (".explain", 1...):
            let sql = String(line.dropFirst(name.count))
            try MisplacedKey.refuse(inStatement: sql)
            try print(database.explain(sql))
        case (".mode", 0): try print([mode.rawValue])
        case (".mode", 1):
            guard let format = RowFormat(rawValue: arguments[0]) else {
                throw Failure(.usage, "unknown format", remedy: "The formats are \(RowFormat.names).")
            }
            mode = format
        case (".dump", 0): try dump(to: stream)
        case (".dump", 1): try dump(toNew: PathArgument.literal(arguments[0]))
        case (".backup", 1): try backup(to: PathArgument.literal(arguments[0]))
        case (".import", 2):
            try database.interruptible { try load(PathArgument.literal(arguments[0]), into: arguments[1]) }
        case (".open", 1...): return .open(try Self.options(arguments))
        default:
            let known = Self.help.contains { $0.hasPrefix(name + " ") }
            if !known, let other = Self.others[name] {
                throw Failure(.usage, "\(name) is a command of another shell", remedy: other)
            }
            throw Failure(
                .usage, known ? "wrong arguments of \(name)" : "unknown command", remedy: "'.help' lists the commands.")
        }
        return nil
    }

    /// Words between spaces; quotes keep spaces in a word, and are doubled to stand for themselves.
    static func words(_ line: String) throws(Failure) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word?.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character.isWhitespace {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        // The SQL text of .explain has quotes of its own, which need not be paired by these rules.
        guard quote == nil || words.first == ".explain" else {
            throw Failure(.usage, "a quote is not closed", remedy: "Put names with spaces in quotes.")
        }
        return words + (word.map { [$0] } ?? [])
    }

    private static func options(_ arguments: [String]) throws -> DatabaseOptions<OnlyArgument> {
        if let failure = MisplacedKey.failure(inArguments: arguments) { throw failure }
        do { return try DatabaseOptions<OnlyArgument>.parse(arguments) } catch {
            // What the parser says may repeat a key.
            throw Failure(
                .usage, "wrong arguments of .open", remedy: "Write '.open PATH' and key options as '--key-file PATH'.")
        }
    }

    private func print(_ lines: [String]) throws {
        for line in lines { try stream.append(line + "\n") }
    }

    // MARK: Files

    private func dump(to stream: ResultStream) throws {
        let isOpen = database.connection.isInTransaction
        // One state: a transaction of the user is one already.
        if !isOpen { try database.connection.execute("BEGIN") }
        defer { if !isOpen { try? database.connection.execute("COMMIT") } }
        _ = try database.interruptible {
            try SQLDump.write(database.connection, .init()) { text in try text.withBytes { try stream.append($0) } }
        }
    }

    private func dump(toNew path: String) throws {
        try Preflight.requireAbsent(path)
        let file = try withErrorContext(path: path) { try ReplacementFile(destination: path) }
        let descriptor = open(file.path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(errno, path) }
        defer { close(descriptor) }
        let stream = ResultStream { bytes in
            let code = Terminal.write(bytes, to: descriptor)
            guard code == 0 else { throw Self.failure(code, path) }
        }
        try dump(to: stream)
        try stream.flush()
        try withErrorContext(path: path) { try file.publish() }
    }

    private static func failure(_ code: Int32, _ path: String) -> Failure {
        Failure(
            code == ENOSPC || code == EDQUOT ? .noSpace : .inputOutput,
            "the dump cannot be written: \(String(cString: strerror(code)))", path: path,
            remedy: "Nothing is left of it. Free some space, or choose another place.")
    }

    private func backup(to path: String) throws {
        guard database.isReadOnly || !database.connection.isInTransaction else {
            throw Failure(.usage, "a transaction is open, and would not be in the copy", remedy: "End it first.")
        }
        try Preflight.requireAbsent(path)
        try DatabaseFile(database.path).backup(
            to: path, key: database.key, settings: database.settings, progress: session.progress)
        try print(["Backed up to \(Format.visible(path)), verified."])
    }

    /// Inserts the records of a CSV file, all of them or none. Affinities make numbers of texts.
    private func load(_ path: String, into table: String) throws {
        try Preflight.requireSource(path)
        guard try !database.isOwnFile(path) else {
            throw Failure(.usage, "this is the database itself", path: path, remedy: "Name a CSV file.")
        }
        guard let file = try? InputFile(path: path, allowsPipes: true) else {
            throw Failure(.noInput, "the file cannot be read", path: path, remedy: "Check its permissions.")
        }
        var reader = CSVReader(file)
        guard let names = try reader.record()?.map({ $0 ?? "" }), !names.contains("") else {
            throw Failure(.usage, "the first line does not name the columns", path: path, remedy: "Add such a line.")
        }
        let columns = names.enumerated().map { $0 == 0 && $1.hasPrefix("\u{FEFF}") ? String($1.dropFirst()) : $1 }
        let connection = database.connection
        var count = 0
        // A savepoint works inside a transaction of the user, too.
        try connection.execute("SAVEPOINT litevault_import")
        do {
            let list = columns.map(quoted).joined(separator: ", ")
            // A table that does not exist gets the columns of the file.
            try connection.execute("CREATE TABLE IF NOT EXISTS \(quoted(table)) (\(list))")
            let values = repeatElement("?", count: columns.count).joined(separator: ", ")
            let insert = try connection.prepare("INSERT INTO \(quoted(table)) (\(list)) VALUES (\(values))")
            while let record = try reader.record() {
                guard record.count == columns.count else {
                    throw Failure(
                        .usage,
                        "the record on line \(reader.recordLine) has \(Format.count(record.count, "field")), not "
                            + "\(columns.count)", path: path, remedy: "Correct the CSV text: nothing was imported.")
                }
                try insert.run(with: Bindings(record))
                count += 1
            }
            try connection.execute("RELEASE litevault_import")
        } catch {
            try? connection.execute("ROLLBACK TO litevault_import; RELEASE litevault_import")
            throw error
        }
        try print(["\(Format.count(count, "row")) imported."])
    }
}
