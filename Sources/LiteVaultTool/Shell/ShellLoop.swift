internal import LiteVault
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSystem

/// Reads statements and commands, and runs them: until the first error, or on a terminal until the end of the input.
final class ShellLoop {
    private let session: Session
    private let isReadOnly: Bool
    /// Whether a person types: then errors end nothing.
    private let isInteractive: Bool
    private let showsPrompts: Bool
    /// Standard input, and the files of '.read' that are being run; the last one is read.
    private var inputs = [ShellInput()]
    /// What reads lines where they can be edited: on a terminal that moves its cursor.
    private let editor: LineEditor?
    private var history: ShellHistory
    private let output: ShellOutput
    private let settings: ShellSettings
    private var buffer = StatementBuffer()
    /// The statements that were read and have not run, the last one first.
    private var pending: [PlacedStatement] = []

    // Errors and transactions

    /// How often a script continued after an error, and the first one.
    private var failures: (count: Int, first: Failure)?
    /// The statement that began the transaction that is open.
    private var opening: String?
    /// The statement that runs, or ran last.
    private var current = ""
    private var abandoned: AbandonedTransaction?
    /// Whether the shell was asked to end inside a transaction, by what was typed last.
    private var isLeaving = false
    /// Whether what failed ends the shell in any case.
    private var endsShell = false

    /// What a line asks for beyond printing.
    enum Request {
        case open(ShellTarget)
        case read(String)
        case quit
    }

    private static let continuation = "      ...> "

    /// - Parameters:
    ///   - bails: whether the first error ends it; nil for the usual.
    ///   - history: the file that keeps what is typed; nil keeps it until the shell ends.
    /// - Throws: as ``ShellHistory`` for a file that it cannot use.
    init(_ session: Session, mode: RowFormat?, isReadOnly: Bool, bails: Bool?, history: String?) throws {
        self.session = session
        self.isReadOnly = isReadOnly
        isInteractive = session.terminal.inputIsTerminal
        let outputIsTerminal = isatty(STDOUT_FILENO) == 1
        showsPrompts = isInteractive && outputIsTerminal
        editor = isInteractive && session.terminal.redraws ? LineEditor(continuation: Self.continuation) : nil
        self.history = try ShellHistory(path: editor == nil ? nil : history)
        // The statements behind one whose rows nobody reads are wanted all the same.
        output = ShellOutput(session.terminal, outlivesReader: !isInteractive && !isReadOnly)
        settings = ShellSettings(mode ?? (outputIsTerminal ? .box : .table), bails: bails)
    }

    /// Runs the shell on a database, and on those that '.open' names after it.
    ///
    /// - Throws: the failure that ends a script: what the statement or the database is wrong with.
    func run(_ target: ShellTarget) throws {
        var next: ShellOpening? = try open(target)
        if showsPrompts {
            try output.print("'.help' lists the commands, '.quit' ends the shell.")
            try output.flush()
        }
        while let opening = next { next = try opening.use(loop) }
        try output.restore()
        guard let failures else { return }
        throw Failure(
            failures.first.code,
            "\(Format.count(failures.count, "statement or command", "statements or commands"))"
                + " of the script failed", remedy: "The messages above say which. With --bail it ends at the first.")
    }

    private func open(_ target: ShellTarget) throws -> ShellOpening {
        try ShellOpening(target, session, isReadOnly: isReadOnly, isInteractive: isInteractive)
    }

    /// Whether what is read was typed, and not in a file or a script.
    private var isTyped: Bool { isInteractive && inputs.count == 1 }

    /// - Returns: the database to open then; nil at the end.
    private func loop(_ database: ShellDatabase) throws -> ShellOpening? {
        let commands = ShellCommands(database: database, session: session, output: output, settings: settings)
        while true {
            let wasInTransaction = database.connection.isInTransaction
            endsShell = pending.isEmpty && inputs.count == 1
            do {
                let request = try step(database, commands)
                if pending.isEmpty {
                    if buffer.isBlank { keep(ran: true) }
                    try output.flush()
                }
                switch request {
                case .open(let target)?:
                    // A script must not continue with another database than it thinks.
                    endsShell = !isInteractive
                    if let next = try switching(to: target, database) { return next }
                case .quit?:
                    endsShell = !isInteractive
                    if try mayEnd(database) { return nil }
                case .read(let path)?: try read(path, database)
                case nil: break
                }
            } catch {
                let hasLostFile = output.dropFailedFile()
                try output.end(failed: true)
                // Only a failure of standard output ends the shell in any case.
                try output.flush()
                try Interruption.shared.check()
                guard !endsShell, !(error is ResultStream.Closed) else { throw error }
                var failure = Failure(error)
                if hasLostFile { failure.message += "; results go to standard output again" }
                try proceed(after: failure, database, wasInTransaction)
            }
        }
    }

    private func step(_ database: ShellDatabase, _ commands: ShellCommands) throws -> Request? {
        if let statement = pending.popLast() {
            try run(statement, database)
            return nil
        }
        if let excess = buffer.excess {
            let failure = Failure(
                .usage, "the statement has more than \(excess.limit) bytes", remedy: "End statements with ';'.")
            throw endOfFile(failure, line: excess.line)
        }
        guard let line = try next(database) else { return try ended() }
        // What follows is wrong with the line, not with the input.
        endsShell = false
        guard buffer.isBlank, line.hasPrefix(".") else {
            isLeaving = false
            pending = buffer.add(line, line: inputs[inputs.count - 1].line).reversed()
            return nil
        }
        buffer.clear()
        current = ""
        output.begin()
        let request = try located(nil, database.opening.path) {
            guard abandoned == nil || !ShellCommandList.isImport(line) else {
                throw Failure(.usage, "left out: it belongs to the transaction that was rolled back")
            }
            return try commands.run(line.last == "\r" ? String(line.dropLast()) : line)
        }
        if case .quit? = request {} else { isLeaving = false }
        try output.end()
        return request
    }

    private func run(_ statement: PlacedStatement, _ database: ShellDatabase) throws {
        if let abandoned {
            if abandoned.isEnded(by: statement.sql) { self.abandoned = nil }
            return
        }
        let start = ContinuousClock.now
        current = statement.sql
        let wasInTransaction = database.connection.isInTransaction
        output.begin()
        try located(statement, database.opening.path) {
            try MisplacedKey.refuse(inStatement: statement.sql)
            // The engine ignores an unknown pragma, whose value may be a key.
            if settings.echoes, !MisplacedKey.isSuspected(in: statement.sql, ran: false) {
                try output.print(String(statement.sql.drop { $0.isWhitespace }))
            }
            if settings.showsPlans, let plan = try? database.explain(statement.sql) {
                for line in plan { try output.print(line) }
            }
            try database.run(statement.sql, settings, output.stream)
        }
        try output.end()
        if !wasInTransaction, database.connection.isInTransaction { opening = statement.sql }
        guard settings.showsTime else { return }
        try output.flush()
        let time = Int((ContinuousClock.now - start) / .microseconds(1))
        let fraction = String(1000 + time % 1000).dropFirst()
        session.terminal.printMessage("Run time: \(time / 1000).\(fraction) ms")
    }

    // MARK: Files and ends

    private func read(_ path: String, _ database: ShellDatabase) throws {
        // A file that reads itself would not end.
        guard inputs.count < 16 else {
            throw Failure(
                .usage, "too many files read one another", path: path, remedy: "Check whether one reads itself.")
        }
        try database.refuseOpenFile(path)
        inputs.append(try ShellInput(path: path))
    }

    /// The end of the input. Behind a file of '.read' the one that named it continues.
    private func ended() throws -> Request? {
        let input = inputs[inputs.count - 1]
        if inputs.count > 1 { inputs.removeLast() }
        // What is typed behind a file is not part of its transaction.
        if isTyped { abandoned = nil }
        guard buffer.isBlank else {
            let problem = buffer.problem
            buffer.clear()
            let line = isTyped && input.path == nil ? "" : "\(place(input))line \(problem.line): "
            throw Failure(.usage, line + problem.message, remedy: problem.remedy)
        }
        return input.path == nil ? .quit : nil
    }

    /// - Returns: the database to run then; nil to keep this one.
    private func switching(to target: ShellTarget, _ database: ShellDatabase) throws -> ShellOpening? {
        try located(nil, target.database.path) {
            guard isReadOnly || !database.connection.isInTransaction, abandoned == nil else {
                throw Failure(
                    .usage,
                    isInteractive
                        ? "a transaction is open: its changes would be lost"
                        : "a transaction was open at '.open', and was rolled back",
                    remedy: isInteractive
                        ? "Type 'COMMIT;' to keep them or 'ROLLBACK;' to undo them." : "End it with COMMIT.")
            }
            let next = try open(target)
            if isInteractive { try next.prove() }
            return next
        }
    }

    /// Whether the shell may end: not inside a transaction, unless a person asks for it twice.
    private func mayEnd(_ database: ShellDatabase) throws -> Bool {
        guard !isReadOnly, database.connection.isInTransaction else { return true }
        guard isInteractive else {
            throw Failure(
                .usage, "the script ended inside a transaction, which was rolled back", path: database.opening.path,
                remedy: "End it with COMMIT.")
        }
        if isLeaving { return true }
        isLeaving = true
        throw Failure(
            .usage, "a transaction is open: its changes would be lost",
            remedy:
                "Type 'COMMIT;' to keep them or 'ROLLBACK;' to undo them. '.quit' again ends the shell, and undoes them."
        )
    }

    // MARK: Errors

    /// Reports a failure after which the shell continues.
    ///
    /// - Throws: the failure, if it ends the shell.
    private func proceed(after failure: Failure, _ database: ShellDatabase, _ wasInTransaction: Bool) throws {
        guard !(settings.bails ?? !isInteractive) else { throw failure }
        var failure = failure
        if isInteractive, inputs.count == 1 || settings.bails == nil {
            // Nobody wants the rest of a line, or of a file, behind what failed.
            inputs.removeLast(inputs.count - 1)
            pending = []
            buffer.clear()
        } else if wasInTransaction, !isReadOnly, abandoned == nil {
            abandoned = AbandonedTransaction(of: database.connection, begunBy: opening)
            failure.message += "; the transaction was rolled back"
            // A COMMIT that fails was its end.
            if abandoned?.isEnded(by: current) == true {
                abandoned = nil
            } else {
                failure.message += ", and the statements up to its end are left out"
            }
        }
        if !isInteractive { failures = ((failures?.count ?? 0) + 1, failures?.first ?? failure) }
        session.reporter.failure(failure)
        keep(ran: false)
    }

    /// The start of a message about a file of '.read'.
    private func place(_ input: ShellInput) -> String { input.path.map { Format.visible($0) + ", " } ?? "" }

    /// Adds the number of the line to what fails, and shows the place in a statement.
    private func located<T>(_ statement: PlacedStatement?, _ path: String, _ body: () throws -> T) throws -> T {
        let input = inputs[inputs.count - 1]
        do {
            return try withErrorContext(path: path) {
                do { return try body() } catch let error as DatabaseError {
                    let shown =
                        isTyped ? PlacedStatement(sql: statement?.sql ?? "") : statement ?? PlacedStatement(sql: "")
                    throw shown.refusal(error, remedy: "Check the statement. '.schema' shows the tables.") ?? error
                }
            }
        } catch let error as ResultStream.Closed {
            throw error
        } catch {
            var failure = Failure(error)
            if !isTyped {
                failure.message = "\(place(input))line \(statement?.line ?? input.line): " + failure.message
            }
            throw failure
        }
    }

    private func keep(ran: Bool) {
        if let failure = history.keep(ran: ran) { session.reporter.warning(failure.message, path: failure.path) }
    }

    // MARK: Lines

    /// The next line of a file, or of standard input. One that cannot be read ends its file, whatever else ends at an error: without
    /// the line, the statement around it is another one.
    private func nextLine() throws -> String? {
        let input = inputs[inputs.count - 1]
        do { return try input.next() } catch { throw endOfFile(Failure(error), line: input.line) }
    }

    /// Reads no more of what is read, standard input excepted, and forgets the statement that is open.
    ///
    /// - Returns: the failure, with the place.
    private func endOfFile(_ failure: Failure, line: Int) -> Failure {
        var failure = failure
        if !isTyped { failure.message = "\(place(inputs[inputs.count - 1]))line \(line): " + failure.message }
        buffer.clear()
        current = ""
        if inputs.count > 1 { inputs.removeLast() }
        return failure
    }

    private func prompt(_ database: ShellDatabase) -> String {
        guard buffer.isBlank else { return Self.continuation }
        return database.connection.isInTransaction && !database.opening.isReadOnly ? "litevault*> " : "litevault> "
    }

    /// The next line; nil after the last one.
    private func next(_ database: ShellDatabase) throws -> String? {
        guard let editor, isTyped else {
            // The prompt is the terminal's, wherever results go.
            if showsPrompts, isTyped { try output.prompt(prompt(database)) }
            return try nextLine()
        }
        let completion = ShellCompletion(database: database)
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
}
