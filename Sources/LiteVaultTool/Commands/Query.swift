internal import ArgumentParser
internal import LiteVault
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultQuoting
internal import LiteVaultSystem

struct Query: VaultCommand {
    static let configuration = configured(
        "query", "Run one SQL statement and print its rows.",
        """
        Reads the database without writing a byte, pending log included, even if it is in use. With --write the \
        statement may change the database. SQL is one statement; '-' reads it from standard input. The key never \
        belongs in SQL: PRAGMA key and ATTACH … KEY are refused. The options below give it. Cipher settings are read by SQL, and \
        not changed.

        Rows are printed as they come, so a result may be of any size; --quiet does not silence them. NULL is null in JSON and an \
        empty field in CSV, where a row of one column has "" for NULL as for an empty text: readers skip empty lines. A blob is x'…' in hexadecimal digits, and {"blob": "…"} in typed-json. On a terminal, \
        wide values take several lines.

        With --repository a snapshot is read where it is, without a restore: only the blocks that the statement needs are \
        fetched, and checked against their hashes.
        """,
        examples: [
            "litevault query notes.db 'SELECT * FROM note'",
            "litevault query vault.db 'SELECT count(*) FROM note' --key-file ~/.vault-key",
            "litevault query vault.db - --format csv <report.sql >report.csv",
            "litevault query notes.db 'SELECT * FROM note WHERE title = :title' \\",
            "    --bind title=Groceries --format json",
            "litevault query notes.db 'DELETE FROM note WHERE done' --write",
            "litevault query new.db 'CREATE TABLE note (title)' --create",
            "litevault query --repository /backup/vaults --at 2026-11-21 vault.db \\",
            "    'SELECT * FROM note WHERE id = 42' --key-file ~/.vault-key",
        ])

    @OptionGroup var database: DatabaseOptions<ReadArgument>

    @Argument(help: "One SQL statement, or '-' for standard input.")
    var sql: String

    @Option(help: "Format of the rows: \(RowFormat.names) (default: table).")
    var format: RowFormat?

    @Option(
        name: .customLong("bind"),
        help: .init(
            "Value for the parameter :NAME. Integers and reals are bound as numbers, all else as text.",
            valueName: "name=value"))
    var bindings: [String] = []

    @Flag(help: "Let the statement change the database.")
    var write = false

    @Flag(help: "Make a new database if there is none, encrypted if a key is given. Implies --write.")
    var create = false

    @OptionGroup(title: "A snapshot instead of a file") var source: SnapshotSource
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if changes, source.location != nil {
            throw ValidationError(
                "--write and --create cannot be combined with --repository: restore the snapshot, and change the copy")
        }
    }

    private var changes: Bool { write || create }

    func perform(_ session: Session) throws -> Report {
        let path = database.path
        try MisplacedKey.refuse(inStatement: sql)
        try session.reserveKeySources(source.secret, database.key)
        if output.json, format != nil {
            throw Failure(
                .usage, "--json and --format exclude each other", remedy: "Use '--format json' for plain rows.")
        }
        var values: [(name: String, value: (any Binding)?)] = []
        for argument in bindings {
            let (name, value) = try Self.binding(argument)
            values.removeAll { isSameText($0.name, name) }
            values.append((name: name, value: value))
        }
        let made = try create ? session.createIfMissing(database) : nil
        let opened: ReadableDatabase =
            try made.map { .file(DatabaseFile(path), key: $0.key, settings: $0.settings) }
            ?? (source.location == nil
                ? session.suggestingCreate { try session.open(database, source) } : session.open(database, source))
        let sql = sql == "-" ? try Self.inputText() : sql
        try MisplacedKey.refuse(inStatement: sql)
        let stream = ResultStream(session.terminal)
        var changed: Int?
        do {
            if changes, case .file(_, let key, _) = opened {
                changed = try withErrorContext(path: path) { try change(path, key, sql, values, stream) }
            } else {
                // Nothing is written, so a signal may end the process at any point.
                let token = Interruption.shared.onEnd(immediately: true) {}
                defer { Interruption.shared.remove(token) }
                changed = try opened.read { connection in
                    try run(connection, sql, values, stream)
                }
            }
            try stream.flush()
        } catch is ResultStream.Closed {}
        guard let changed else { return .printed() }
        var report = Report(["columns": [String](), "rows": [String](), "changes": changed])
        report.appendLine(Format.count(changed, "row") + " changed.")
        return report
    }

    private func change(
        _ path: String, _ key: DatabaseKey?, _ sql: String, _ values: [(name: String, value: (any Binding)?)],
        _ stream: ResultStream
    ) throws -> Int? {
        let connection =
            try key.map { try Connection(path, key: $0, settings: database.cipher.settings()) } ?? Connection(path)
        defer { try? connection.close() }
        connection.lockTimeout = .seconds(5)
        // The engine would write temporary data to plaintext files.
        try connection.execute("PRAGMA temp_store = MEMORY")
        let changed = try run(connection, sql, values, stream)
        try connection.close()
        return changed
    }

    /// Standard input.
    ///
    /// - Throws: `usage` for text that is not UTF-8: a repaired one would store other values than it has; for more than the engine takes.
    private static func inputText() throws -> String {
        let limit = StatementBuffer.largest
        let bytes = try InputFile(descriptor: STDIN_FILENO).read(upTo: limit + 1)
        guard bytes.count <= limit else {
            throw Failure(
                .usage, "standard input has more than \(limit) bytes",
                remedy: "Give one statement; 'litevault shell' runs several.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(
                .usage, "standard input is not text in UTF-8",
                remedy: "Convert it; bytes that are not text are a literal such as x'00ff'.")
        }
        return text
    }

    /// Runs the statement on an open database and prints its rows.
    ///
    /// - Returns: as ``print(_:_:_:_:)``.
    /// - Throws: as ``GivenSQL``; `usage` for what the engine refuses.
    private func run(
        _ connection: Connection, _ sql: String, _ values: [(name: String, value: (any Binding)?)],
        _ stream: ResultStream
    ) throws -> Int? {
        try connection.guardSettings()
        return try reportingRefusals(sql) {
            try GivenSQL.run(sql, on: connection) { try print(connection, sql, values, stream) }
        }
    }

    /// Turns the engine's refusal of the statement into a usage error, which shows the place in its text.
    private func reportingRefusals<T>(_ sql: String, _ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as DatabaseError {
            // In the words of the library, it names a call.
            guard error.message.firstRange(ofText: "more than one statement") == nil else {
                throw Failure(
                    .usage, "the text holds more than one statement", path: database.path,
                    remedy: "Give one at a time; 'litevault shell' runs several.")
            }
            let refusal = PlacedStatement(sql: sql).refusal(
                error, path: database.path,
                remedy: error.resultCode.primary == .range
                    ? "Give each parameter its value: '--bind a=VALUE' is for :a."
                    : "Check the statement and its values.")
            throw refusal ?? error
        }
    }

    /// - Returns: the number of rows changed by a statement that returns none; nil after printing rows.
    private func print(
        _ connection: Connection, _ sql: String, _ values: [(name: String, value: (any Binding)?)],
        _ stream: ResultStream
    ) throws -> Int? {
        guard !SQLTokens(sql).allSatisfy({ !$0.isSignificant || $0.text == ";" }) else {
            throw Failure(.usage, "the SQL text is empty", remedy: "Give one statement.")
        }
        let statement = try connection.prepare(sql)
        guard changes || statement.isReadOnly else {
            throw Failure(
                .usage, "this statement changes the database", path: database.path,
                remedy: source.location == nil
                    ? "Add --write to allow that."
                    : "Restore the snapshot with 'litevault restore', and change the copy.")
        }
        let names = statement.columnNames
        if names.isEmpty {
            return try (values.isEmpty ? statement.run() : statement.run(with: Bindings(named: values))).changes
        }
        let printer: any RowPrinter =
            output.json ? try ArrayPrinter(stream, names) : (format ?? .table).printer(stream, names)
        // A statement that changes something runs to its end, whether or not its rows are read.
        var isClosed = false
        func printing(_ body: () throws -> Void) throws {
            guard !isClosed else { return }
            do { try body() } catch is ResultStream.Closed where changes { isClosed = true }
        }
        let count = names.count
        let handle = { (row: borrowing RowView) in
            var stored: [StoredValue] = []
            stored.reserveCapacity(count)
            for index in 0..<count { stored.append(try row.get(index)) }
            try printing { try printer.row(stored) }
        }
        if values.isEmpty {
            try statement.forEach(body: handle)
        } else {
            try statement.forEach(with: Bindings(named: values), body: handle)
        }
        try printing { try printer.end() }
        return nil
    }

    /// `title=Groceries` as `:title` and its value.
    private static func binding(_ argument: String) throws(Failure) -> (name: String, value: any Binding) {
        guard let equals = argument.firstIndex(of: "="), equals != argument.startIndex else {
            throw Failure(.usage, "'\(argument)' is not NAME=VALUE", remedy: "Write --bind title=Groceries.")
        }
        let text = String(argument[argument.index(after: equals)...])
        let name = ":" + argument[..<equals]
        if let integer = Int64(text) { return (name, integer) }
        // As a literal of SQL. Swift also reads `nan`, `inf` and hexadecimal digits.
        let isDecimal = text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
        if isDecimal, let number = Double(text) { return (name, number) }
        return (name, text)
    }
}
