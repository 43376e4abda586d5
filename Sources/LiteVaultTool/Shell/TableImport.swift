internal import LiteVault
internal import LiteVaultCore
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// `.import`: the records of a file become rows of a table, all of them or none. Affinities make numbers of texts.
struct TableImport {
    private let path: String
    private let table: String
    private var schema: String?
    private var dialect: CSVReader.Dialect
    /// How many records are left out at the start; nil if nobody has said so.
    private var skipped: Int?
    private var isVerbose = false

    private static let form = "Write '.import [--csv|--ascii] [--skip N] [--schema NAME] [-v] FILE TABLE'."

    /// - Parameters:
    ///   - words: the arguments, as other shells take them.
    ///   - settings: with the separators that were set, or that the format has.
    /// - Throws: `usage` for arguments that it does not have.
    init(_ words: [String], _ settings: ShellSettings) throws(Failure) {
        var (names, rest) = ([String](), words[...])
        var chosen: CSVReader.Dialect?
        while let word = rest.popFirst() {
            switch word.hasPrefix("--") ? String(word.dropFirst()) : word {
            case "-csv": chosen = .csv
            case "-ascii": chosen = .ascii
            case "-v": isVerbose = true
            case "-skip":
                guard let number = rest.popFirst().flatMap({ Int($0) }), number >= 0 else {
                    throw Failure(.usage, "--skip needs a number of records", remedy: Self.form)
                }
                skipped = number
            case "-schema":
                guard let name = rest.popFirst() else {
                    throw Failure(.usage, "--schema needs the name of a database", remedy: Self.form)
                }
                schema = name
            case let option where option.hasPrefix("-"):
                throw Failure(.usage, "unknown option of .import", remedy: Self.form)
            default: names.append(word)
            }
        }
        guard names.count == 2 else { throw Failure(.usage, "wrong arguments of .import", remedy: Self.form) }
        (path, table) = (try ShellCommands.file(names[0]), names[1])
        if let chosen { dialect = chosen } else { dialect = try Self.dialect(of: settings) }
    }

    /// The separators that were set, or that the format has; commas for one that has none.
    private static func dialect(of settings: ShellSettings) throws(Failure) -> CSVReader.Dialect {
        var dialect = CSVReader.Dialect.csv
        switch settings.format {
        case .list: dialect.column = UInt8(ascii: "|")
        case .tabs: dialect.column = UInt8(ascii: "\t")
        default: break
        }
        guard let set = settings.style.separators else { return dialect }
        let row = set.row == "\r\n" ? "\n" : set.row ?? "\n"
        guard let column = set.column.utf8.first, set.column.utf8.count == 1, let end = row.utf8.first,
            row.utf8.count == 1, column != end
        else {
            throw Failure(
                .usage, "the separators of .import have one byte each", remedy: "Set others with '.separator COL ROW'.")
        }
        (dialect.column, dialect.row) = (column, end)
        return dialect
    }

    /// Inserts the records.
    func run(_ database: ShellDatabase) throws -> [String] {
        try Preflight.requireSource(path)
        try database.refuseOpenFile(path)
        guard let file = try? InputFile(path: path, allowsPipes: true) else {
            throw Failure(.noInput, "the file cannot be read", path: path, remedy: "Check its permissions.")
        }
        var reader = CSVReader(file, dialect)
        for _ in 0..<(skipped ?? 0) {
            guard try reader.record() != nil else { break }
        }
        let connection = database.connection
        // A savepoint works inside a transaction of the user, too.
        try connection.execute("SAVEPOINT litevault_import")
        do {
            let (insert, columns) = try prepare(connection, &reader)
            let statement = try prepared(insert, connection)
            var count = 0
            while let record = try reader.record() {
                guard record.count == columns else {
                    throw Failure(
                        .usage,
                        "the record on line \(reader.recordLine) has \(Format.count(record.count, "field")), not "
                            + "\(columns)", path: path, remedy: "Correct the CSV text: nothing was imported.")
                }
                try statement.run(with: Bindings(record))
                count += 1
            }
            // All lines were one to the reader: left out, or a row of one column.
            guard !reader.hasOnlyReturns else { throw otherLineEnds }
            try connection.execute("RELEASE litevault_import")
            let told = isVerbose ? [Format.visible(insert)] : []
            return told + ["\(Format.count(count, "row")) imported."]
        } catch {
            try? connection.execute("ROLLBACK TO litevault_import; RELEASE litevault_import")
            throw error
        }
    }

    private var otherLineEnds: Failure {
        Failure(
            .usage, "the first lines contain a CR without quotes: the lines of the file may end with that alone",
            path: path,
            remedy: "Convert its line ends to LF.")
    }

    private func prepared(_ insert: String, _ connection: Connection) throws -> Statement {
        do { return try connection.prepare(insert) } catch let error as DatabaseError
            where skipped == nil && containsText(error.message, "no column named")
        {
            throw Failure(
                .usage, error.message, path: path,
                remedy: "The first line names the columns. If it is a row, as those after it, give --skip 0.")
        }
    }

    /// The statement that inserts a record, and the number of its values. A table that does not exist gets the columns of the file.
    private func prepare(_ connection: Connection, _ reader: inout CSVReader) throws -> (sql: String, columns: Int) {
        let database = schema.map { quoted($0) + "." } ?? ""
        let place = database + quoted(table)
        func values(_ count: Int) -> String { repeatElement("?", count: count).joined(separator: ", ") }
        if skipped != nil {
            let known = try connection.all("PRAGMA \(sql: database)table_info(\(table: table))") {
                try $0.get(1, as: String.self)
            }
            // What was left out were the names.
            if !known.isEmpty { return ("INSERT INTO \(place) VALUES (\(values(known.count)))", known.count) }
        }
        guard let names = try reader.record()?.map({ $0 ?? "" }), !names.contains("") else {
            throw Failure(
                .usage, "the first line does not name the columns", path: path,
                remedy: "Add such a line, or give --skip 0 if all lines are rows of a table that exists.")
        }
        guard !reader.hasReturn else { throw otherLineEnds }
        let list = names.map(quoted).joined(separator: ", ")
        try connection.execute("CREATE TABLE IF NOT EXISTS \(place) (\(list))")
        return ("INSERT INTO \(place) (\(list)) VALUES (\(values(names.count)))", names.count)
    }
}
