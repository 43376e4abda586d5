internal import ArgumentParser
internal import LiteVault
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultQuoting
internal import LiteVaultSystem

struct ShellCommands {
    let database: ShellDatabase
    let session: Session
    let output: ShellOutput
    let settings: ShellSettings

    /// Runs one command.
    ///
    /// - Throws: `usage` for an unknown command or wrong arguments; what the command throws.
    func run(_ line: String) throws -> ShellLoop.Request? {
        let typed = line.prefix { !$0.isWhitespace }
        let entry = try ShellCommandList.entry(String(typed))
        let arguments = Array(try Self.words(line, keepsOpenQuote: entry.name == ".explain").dropFirst())
        guard entry.counts.contains(arguments.count) else {
            throw Failure(
                .usage, "wrong arguments of \(entry.name)",
                remedy: "Write '\(entry.name)\(entry.arguments.isEmpty ? "" : " " + entry.arguments)'.")
        }
        switch entry.name {
        case ".quit": return .quit
        case ".open":
            let target = try Self.target(arguments)
            let key = target.database.key
            for path in [key.file, key.keyring.path].compactMap(\.self) { try database.refuseOpenFile(path) }
            return .open(target)
        case ".read": return .read(try Self.file(arguments[0]))
        case ".help": try print(ShellCommandList.help)
        case ".tables": try print(database.tables(like: arguments.first).map(Format.visible))
        case ".indexes": try print(database.indexes(of: arguments.first).map(Format.visible))
        case ".databases": try print(database.databases().map(Format.visible))
        case ".schema": try print(database.schema(of: arguments.first))
        case ".explain":
            let sql = String(line.dropFirst(typed.count))
            try MisplacedKey.refuse(inStatement: sql)
            try print(database.explain(sql))
        case ".print": try print([arguments.joined(separator: " ")])
        case ".dump": try dump(arguments)
        case ".backup", ".save": try backup(to: PathArgument.literal(arguments[0]))
        case ".import":
            let work = try TableImport(arguments, settings)
            let lines = try database.interruptible { try work.run(database) }
            try print(lines)
        case ".output" where arguments.isEmpty || arguments == ["stdout"]: try output.restore()
        case ".output", ".once": try output.redirect(to: try Self.file(arguments[0]), once: entry.name == ".once")
        default: try set(entry.name, arguments, line)
        }
        return nil
    }

    /// The commands that set something for the statements after them.
    private func set(_ name: String, _ arguments: [String], _ line: String) throws {
        switch name {
        case ".mode" where arguments.isEmpty: try print([settings.format.rawValue])
        case ".mode": try settings.setFormat(arguments)
        case ".width": try settings.setWidths(arguments)
        case ".nullvalue": settings.style.null = arguments[0]
        case ".parameter":
            // Its value may be an expression, of any length.
            try print(database.interruptible { try settings.parameter(arguments, line, database.connection) })
        case ".separator": try settings.setSeparators(arguments)
        case ".headers": settings.style.hasNames = try ShellSettings.isOn(arguments[0])
        case ".timer": settings.showsTime = try ShellSettings.isOn(arguments[0])
        case ".changes": settings.showsChanges = try ShellSettings.isOn(arguments[0])
        case ".echo": settings.echoes = try ShellSettings.isOn(arguments[0])
        case ".eqp": settings.showsPlans = try ShellSettings.isOn(arguments[0])
        default: settings.bails = try ShellSettings.isOn(arguments[0])
        }
    }

    /// Words between spaces; quotes keep spaces in a word, and are doubled within it to stand for themselves.
    ///
    /// - Parameter keepsOpenQuote: whether the text has quotes of its own, which need not be paired by these rules.
    private static func words(_ line: String, keepsOpenQuote: Bool) throws(Failure) -> [String] {
        var words: [String] = []
        var word: String.UnicodeScalarView?
        var quote: Unicode.Scalar?
        var rest = line.unicodeScalars[...]
        // A combining mark behind a quote does not make another sign of it.
        while let sign = rest.popFirst() {
            if let open = quote {
                if sign != open {
                    word?.append(sign)
                } else if rest.first == open {
                    word?.append(sign)
                    rest.removeFirst()
                } else {
                    quote = nil
                }
            } else if sign == "'" || sign == "\"" {
                quote = sign
                word = word ?? .init()
            } else if sign.properties.isWhitespace {
                if let word { words.append(String(word)) }
                word = nil
            } else {
                word = word ?? .init()
                word?.append(sign)
            }
        }
        guard quote == nil || keepsOpenQuote else {
            throw Failure(.usage, "a quote is not closed", remedy: "Put names with spaces in quotes.")
        }
        return words + (word.map { [String($0)] } ?? [])
    }

    private static func target(_ arguments: [String]) throws -> ShellTarget {
        if let failure = MisplacedKey.failure(inArguments: arguments) { throw failure }
        do { return try ShellTarget.parse(arguments) } catch {
            // What the parser says may repeat a key.
            throw Failure(
                .usage, "wrong arguments of .open", remedy: "Write '.open PATH' and key options as '--key-file PATH'.")
        }
    }

    private func print(_ lines: [String]) throws {
        for line in lines { try output.print(line) }
    }

    /// The file that a command names.
    ///
    /// - Throws: `usage` for what would start a program in other shells.
    static func file(_ word: String) throws(Failure) -> String {
        guard !word.hasPrefix("|"), !word.hasPrefix("-") else {
            throw Failure(
                .usage, "this is not the name of a file", remedy: "No programs are started from here: name a file.")
        }
        return PathArgument.literal(word)
    }

    // MARK: Files

    /// Prints the database or some of its tables, or writes it to a new file.
    private func dump(_ arguments: [String]) throws {
        let tables = Set(try database.tables().map { SQLName($0) })
        let named = arguments.filter { tables.contains(SQLName($0)) }
        // People who name a table want to see it, and not the whole database in a file of that name.
        guard named.isEmpty else {
            guard named.count == arguments.count else {
                throw Failure(.usage, "not all of these are tables", remedy: "'.tables' lists them.")
            }
            return try dump(arguments, to: output.stream)
        }
        guard arguments.count <= 1 else {
            throw Failure(
                .usage, "there are no such tables", remedy: "'.tables' lists them. Write '.dump FILE' for one file.")
        }
        guard let path = arguments.first else { return try dump(nil, to: output.stream) }
        // A mistyped table would be a file with all of the database, unencrypted.
        guard path.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ".") }) else {
            let name = Format.visible(path)
            throw Failure(
                .usage, "no such table: \(name)",
                remedy: "'.tables' lists them. For a file of that name write '.dump ./\(name)'.")
        }
        let file = try NewTextFile(PathArgument.literal(path))
        try dump(nil, to: file.stream)
        try file.publish()
        try print(["Dumped to \(Format.visible(path)), unencrypted."])
    }

    private func dump(_ tables: [String]?, to stream: ResultStream) throws {
        let isOpen = database.connection.isInTransaction
        // One state: a transaction of the user is one already.
        if !isOpen { try database.connection.execute("BEGIN") }
        defer { if !isOpen { try? database.connection.execute("COMMIT") } }
        var content = SQLDump.Content()
        content.tables = tables
        _ = try database.interruptible { [content] in
            try SQLDump.write(database.connection, content) { text in try text.withBytes { try stream.append($0) } }
        }
    }

    private func backup(to path: String) throws {
        guard database.opening.isReadOnly || !database.connection.isInTransaction else {
            throw Failure(.usage, "a transaction is open, and would not be in the copy", remedy: "End it first.")
        }
        try Preflight.requireAbsent(path)
        let opening = database.opening
        try DatabaseFile(opening.path).backup(
            to: path, key: opening.key, settings: opening.settings, progress: session.progress)
        try print(["Backed up to \(Format.visible(path)), verified."])
    }
}
