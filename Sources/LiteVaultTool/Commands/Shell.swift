internal import ArgumentParser
internal import LiteVault
internal import LiteVaultCipher
internal import LiteVaultFoundation

/// `litevault shell`: SQL statements, typed or from a script.
struct Shell: VaultCommand {
    static let configuration = configured(
        "shell", "Run SQL statements, typed on the terminal or from a script.",
        """
        Statements end with a semicolon and may take several lines. '.help' lists the other commands: '.tables', \
        '.schema', '.dump', '.import', '.backup', '.explain', '.mode', '.open' and '.quit'. A script on standard \
        input ends at its first error, with the number of the line and without the transaction that is still open.

        On a terminal, lines are edited with the usual keys: arrows recall earlier lines, Ctrl-R searches them, Tab completes \
        names and words of SQL, Ctrl-C forgets the statement or stops one that runs, Ctrl-D ends the shell. Statements with a key are never kept.

        The key never belongs into SQL: PRAGMA key and ATTACH … KEY are refused. With --read-only nothing is written, and \
        all statements see one state of the database, which holds up checkpoints meanwhile.
        """,
        examples: [
            "litevault shell notes.db", "litevault shell vault.db --key-file ~/.vault-key",
            "litevault shell vault.db --key-file ~/.vault-key --read-only",
            "litevault shell notes.db --history ~/.notes-history",
            "litevault shell notes.db --mode csv <report.sql >report.csv",
            "litevault shell old.db <changes.sql",
        ])

    @OptionGroup var database: DatabaseOptions<OnlyArgument>

    @Flag(help: "Write nothing to the database.")
    var readOnly = false

    @Option(
        help: .init(
            "Format of the rows: \(RowFormat.names) (default: box on a terminal, else table).", valueName: "format"))
    var mode: RowFormat?

    @Option(
        help: .init("Keep the lines that are typed in this file (default: until the shell ends).", valueName: "path"),
        completion: .file())
    var history: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(database.key)
        guard !output.json else {
            throw Failure(
                .usage, "--json is for one result, and a shell has many", remedy: "Use '--mode json' or '--mode jsonl'."
            )
        }
        let loop = try ShellLoop(session, mode: mode, isReadOnly: readOnly, history: history)
        do {
            try loop.run(database)
        } catch is ResultStream.Closed {}
        return .printed
    }
}
