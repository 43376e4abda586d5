internal import LiteVault
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultFoundation

/// Reads statements and commands, and runs them: until the first error, or on a terminal until the end of the input.
final class ShellLoop {
    private let session: Session
    private let isReadOnly: Bool
    /// Whether a person types: then errors end nothing.
    private let isInteractive: Bool
    private let showsPrompts: Bool
    private let input = ShellInput()
    /// What reads lines where they can be edited: on a terminal that moves its cursor.
    private let editor: LineEditor?
    private var history: ShellHistory
    private let stream: ResultStream
    private var mode: RowFormat
    private var buffer = StatementBuffer()

    /// What a line asks for beyond printing.
    enum Request {
        case open(DatabaseOptions<OnlyArgument>)
        case quit
    }

    /// - Parameter history: the file that keeps the lines that are typed; nil keeps them until the shell ends.
    /// - Throws: as ``ShellHistory`` for a file that it cannot use.
    init(_ session: Session, mode: RowFormat?, isReadOnly: Bool, history: String?) throws {
        self.session = session
        self.isReadOnly = isReadOnly
        isInteractive = session.terminal.inputIsTerminal
        let outputIsTerminal = isatty(STDOUT_FILENO) == 1
        showsPrompts = isInteractive && outputIsTerminal
        editor = isInteractive && session.terminal.redraws ? LineEditor() : nil
        self.history = try ShellHistory(path: editor == nil ? nil : history)
        stream = ResultStream(session.terminal)
        self.mode = mode ?? (outputIsTerminal ? .box : .table)
    }

    /// Runs the shell on a database, and on those that '.open' names after it.
    ///
    /// - Throws: the failure that ends a script: what the statement or the database is wrong with.
    func run(_ database: DatabaseOptions<OnlyArgument>) throws {
        if showsPrompts { try say("'.help' lists the commands, '.quit' ends the shell.") }
        var next: DatabaseOptions<OnlyArgument>? = database
        while let database = next {
            next = nil
            try Preflight.requireSource(database.path)
            let key = try session.keyIfEncrypted(database)
            let settings = try database.cipher.settings()
            if isReadOnly {
                next = try DatabaseFile(database.path).read(key: key, settings: settings) {
                    var opened = ShellDatabase(reading: $0, database.path, key: key, settings: settings)
                    opened.isInteractive = isInteractive
                    return try loop(opened)
                }
            } else {
                var opened = try ShellDatabase(database.path, key: key, settings: settings)
                opened.isInteractive = isInteractive
                defer { opened.close() }
                next = try loop(opened)
            }
        }
    }

    /// - Returns: the database to open then; nil at the end.
    private func loop(_ database: ShellDatabase) throws -> DatabaseOptions<OnlyArgument>? {
        let commands = ShellCommands(database, session, stream)
        while true {
            guard let line = try next(database) else { break }
            do {
                let request = try handle(line, database, commands)
                if buffer.isBlank { keep(ran: true) }
                switch request {
                case .open(let options)?: return options
                case .quit?: return nil
                case nil: try stream.flush()
                }
            } catch {
                try stream.flush()
                try Interruption.shared.check()
                guard isInteractive, !(error is ResultStream.Closed) else { throw error }
                session.reporter.failure(Failure(error))
                buffer.clear()
                keep(ran: false)
            }
        }
        guard buffer.isBlank else {
            let problem = buffer.problem
            throw Failure(.usage, "line \(problem.line): \(problem.message)", remedy: problem.remedy)
        }
        guard isInteractive || isReadOnly || !database.connection.isInTransaction else {
            throw Failure(
                .usage, "the script ended inside a transaction, which was rolled back", path: database.path,
                remedy: "End it with COMMIT.")
        }
        return nil
    }

    private func handle(
        _ line: String, _ database: ShellDatabase, _ commands: ShellCommands
    ) throws -> Request? {
        if buffer.isBlank, line.hasPrefix(".") {
            buffer.clear()
            return try located(input.line, database.path) { try commands.run(line, &mode) }
        }
        for statement in buffer.add(line, line: input.line) {
            try located(statement.line, database.path) {
                try MisplacedKey.refuse(inStatement: statement.sql)
                try database.run(statement.sql, mode, stream)
            }
        }
        return nil
    }

    /// Adds the number of the line to what fails.
    private func located<T>(_ line: Int, _ path: String, _ body: () throws -> T) throws -> T {
        do { return try withErrorContext(path: path) { try reportingRefusals(body) } } catch let error
            as ResultStream.Closed
        {
            throw error
        } catch {
            var failure = Failure(error)
            if !isInteractive { failure.message = "line \(line): " + failure.message }
            throw failure
        }
    }

    /// What the engine refuses is wrong with the SQL text, its values or a constraint, and not with the file.
    private func reportingRefusals<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as DatabaseError
            where [.error, .misuse, .range, .mismatch, .constraint, .tooBig].contains(error.resultCode.primary)
        {
            throw Failure(.usage, error.message, remedy: "Check the statement. '.schema' shows the tables.")
        }
    }

    private func keep(ran: Bool) {
        if let failure = history.keep(ran: ran) { session.reporter.warning(failure.message, path: failure.path) }
    }

    private func prompt(_ database: ShellDatabase) -> String {
        guard buffer.isBlank else { return "      ...> " }
        return database.connection.isInTransaction && !database.isReadOnly ? "litevault*> " : "litevault> "
    }

    /// The next line; nil after the last one.
    private func next(_ database: ShellDatabase) throws -> String? {
        guard let editor else {
            if showsPrompts { try stream.append(prompt(database)) }
            try stream.flush()
            return try input.next()
        }
        let completion = ShellCompletion(database)
        while true {
            let isStatementOpen = !buffer.isBlank
            let answer = editor.read(prompt(database), history: history.lines) {
                completion.candidates($0, isStatementOpen: isStatementOpen)
            }
            switch answer {
            case .line(let line):
                history.add(line)
                return line
            case .cancelled:
                buffer.clear()
                history.forget()
            case .end: return nil
            }
        }
    }

    private func say(_ line: String) throws {
        try stream.append(line + "\n")
        try stream.flush()
    }
}
