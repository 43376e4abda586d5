internal import ArgumentParser
internal import LiteVault
internal import LiteVaultCipher

struct Dump: VaultCommand {
    static let configuration = configured(
        "dump", "Print a database as SQL text, unencrypted.",
        """
        Run in an empty database, the text makes the same schema with the same rows; SQLite's shell reads it too. The \
        database may be in use: the dump is one consistent state, and nothing is written. Two dumps of equal content \
        are equal, so 'diff' compares databases, whatever their keys, but for user_version and application_id, which a dump \
        does not have: 'litevault diff' compares them, too.

        The text is not encrypted. --output creates a file that only its owner can read, complete or not at all. \
        The engine assigns new implicit rowids when the text is run, unless --preserve-rowids is given: an external-content \
        full-text index needs them. With --repository the database is a snapshot, which is read without restoring it.
        """,
        examples: [
            "litevault dump vault.db --key-file ~/.vault-key | less",
            "litevault dump vault.db --key-file ~/.vault-key --output vault.sql",
            "litevault dump notes.db --schema-only",
            "diff <(litevault dump a.db) <(litevault dump b.db)",
        ])

    @OptionGroup var database: DatabaseOptions<ReadArgument>

    @Option(help: .init("Only this table or view, with its indexes and triggers. Repeatable.", valueName: "name"))
    var table: [String] = []

    @Flag(help: "Leave out the rows, and the transaction: a migration can run the text.")
    var schemaOnly = false

    @Flag(help: "Keep the rowids of tables without an INTEGER PRIMARY KEY.")
    var preserveRowids = false

    @Option(name: .customLong("output"), path: "The file to create. It must not exist.", valueName: "file")
    var destination: String?

    @OptionGroup(title: "A snapshot instead of a file") var source: SnapshotSource
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let path = database.path
        try session.reserveKeySources(source.secret, database.key)
        if output.json, destination == nil {
            throw Failure(
                .usage, "--json needs --output: the text itself is not JSON", remedy: "Name a file with --output.")
        }
        if source.location == nil { try Preflight.requireSource(path) }
        if let destination { try Preflight.requireAbsent(destination) }
        let opened = try session.open(database, source)
        guard let destination else {
            let token = Interruption.shared.onEnd(immediately: true) {}
            defer { Interruption.shared.remove(token) }
            let stream = ResultStream(session.terminal)
            do { _ = try write(to: stream, opened) } catch is ResultStream.Closed {}
            return .printed()
        }
        let file = try NewTextFile(destination, noun: "the dump")
        let summary = try write(to: file.stream, opened)
        try file.publish()
        var report = Report([
            "database": path, "output": destination, "size": file.stream.size, "tables": summary.tables,
            "rows": summary.rows, "seconds": session.elapsed,
        ])
        report.appendLine(
            "Dumped \(Format.visible(path)) to \(Format.visible(destination)): "
                + "\(Format.count(Int(summary.rows), "row")), \(Format.size(file.stream.size)).")
        return report
    }

    private func write(to stream: ResultStream, _ opened: ReadableDatabase) throws -> SQLDump.Summary {
        var content = SQLDump.Content()
        content.rows = !schemaOnly
        content.rowids = preserveRowids
        content.tables = table.isEmpty ? nil : table
        let summary = try opened.read {
            try SQLDump.write($0, content) { text in try text.withBytes { try stream.append($0) } }
        }
        try stream.flush()
        return summary
    }
}
