internal import ArgumentParser
internal import LiteVault
internal import LiteVaultSystem

struct Shell: VaultCommand {
    static let configuration = configured(
        "shell", "Run SQL statements, typed on the terminal or from a script.",
        """
        Statements end with a semicolon and may take several lines. '.help' lists the commands that begin with a point: \
        '.tables', '.schema', '.read', '.once', '.dump', '.import', '.mode', '.parameter', '.open', '.quit' and more. A script on \
        standard input ends at its first error, with the number of the line and without the transaction that is still open. \
        With --no-bail it continues; a transaction in which something fails is then rolled back and left out as a whole.

        On a terminal, lines are edited with the usual keys: arrows recall earlier statements, Ctrl-R searches them, Tab completes \
        names and words of SQL, Ctrl-C forgets the statement or stops one that runs, Ctrl-D ends the shell. Statements with a key are never kept.

        The key never belongs in SQL: PRAGMA key and ATTACH … KEY are refused. Cipher settings are read by SQL, and not changed: \
        pragmas that would change them, or send temporary data of an encrypted database to files, are refused. With --read-only nothing is written, and \
        all statements see one state of the database, which holds up checkpoints meanwhile.
        """,
        examples: [
            "litevault shell notes.db", "litevault shell vault.db --key-file ~/.vault-key",
            "litevault shell vault.db --key-file ~/.vault-key --read-only",
            "litevault shell new.db --create --key-file ~/.vault-key",
            "litevault shell notes.db --history ~/.notes-history",
            "litevault shell notes.db --mode csv <report.sql >report.csv",
            "litevault shell old.db <changes.sql",
        ])

    @OptionGroup var target: ShellTarget

    @Flag(help: "Write nothing to the database.")
    var readOnly = false

    @Flag(
        name: [.customLong("bail"), .customLong("bail", withSingleDash: true)],
        help: "End at the first error (default for a script).")
    var bail = false

    @Flag(
        name: [.customLong("no-bail"), .customLong("nobail", withSingleDash: true)],
        help: "Continue after errors (default on a terminal). A script then ends with the first one's status.")
    var noBail = false

    @Option(
        help: .init(
            "Format of the rows: \(RowFormat.names) (default: box on a terminal, else table).", valueName: "format"))
    var mode: RowFormat?

    @Option(
        help: .init("Keep typed lines in this file (default: only until the shell ends).", valueName: "path"),
        completion: .file())
    var history: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if bail, noBail { throw ValidationError("--bail and --no-bail exclude each other") }
        if readOnly, target.create { throw ValidationError("--create cannot be combined with --read-only") }
    }

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(target.database.key)
        guard !output.json else {
            throw Failure(
                .usage, "--json is for one result, and a shell has many", remedy: "Use '--mode json' or '--mode jsonl'."
            )
        }
        let loop = try ShellLoop(
            session, mode: mode, isReadOnly: readOnly, bails: bail ? true : noBail ? false : nil,
            history: history)
        do {
            try loop.run(target)
        } catch is ResultStream.Closed {}
        return .printed()
    }
}
