internal import ArgumentParser
internal import LiteVault
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSystem

/// `litevault stats`: what tables and indexes take in the file.
struct Stats: VaultCommand {
    static let configuration = configured(
        "stats", "Show what each table and index takes in the file.",
        """
        Lists tables and indexes, the largest first, with rows, pages, size and share of the file. Reads the whole \
        database, pending log included, and writes nothing; it may be in use. With an engine without SQLite's 'dbstat', \
        pages cannot be counted: the sizes are then those of the values in each table, and indexes have none. With \
        --repository it reads a snapshot without restoring it.
        """,
        examples: [
            "litevault stats notes.db", "litevault stats vault.db --key-file ~/.vault-key",
            "litevault stats notes.db --format csv >sizes.csv",
            "litevault stats notes.db --json | jq .trees[0]",
        ])

    @OptionGroup var database: DatabaseOptions<ReadArgument>

    @Option(help: "Print only the list, in one of the formats: \(RowFormat.names).")
    var format: RowFormat?

    @OptionGroup(title: "A snapshot instead of a file") var source: SnapshotSource
    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Result: Encodable {
        let database: String
        let size: Int64
        @Nullable var walSize: Int64?
        let pageSize: Int64
        let pageCount: Int64
        let freePages: Int64
        @Nullable var otherPages: Int64?
        let measured: String
        let trees: [TreeSummary]
        let seconds: Double
    }

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(database, source)
        if output.json, format != nil {
            throw Failure(.usage, "--json and --format exclude each other", remedy: "Keep one of them.")
        }
        let opened = try session.open(database, source)
        // Nothing is written, so a signal may end the process at any point.
        let token = Interruption.shared.onEnd(immediately: true) {}
        defer { Interruption.shared.remove(token) }
        let found = try opened.read { try StorageStatistics(of: $0) }
        let trees = found.trees.map { TreeSummary($0, found) }
        if let format {
            let stream = ResultStream(session.terminal)
            do {
                try format.printer(stream, TreeSummary.columns).print(trees.map(\.values))
                try stream.flush()
            } catch is ResultStream.Closed {}
            return .printed()
        }
        return report(found, trees, size: opened.size, session)
    }

    private func report(
        _ found: StorageStatistics, _ trees: [TreeSummary], size: Int64, _ session: Session
    ) -> Report {
        let path = database.path
        let result = Result(
            database: path, size: size, walSize: source.location == nil ? Preflight.size(path + "-wal") : nil,
            pageSize: found.pageSize, pageCount: found.pageCount, freePages: found.freePages,
            otherPages: found.otherPages, measured: found.method.rawValue, trees: trees, seconds: session.elapsed)
        var report = Report(of: result)
        report.appendLine("\(Format.visible(path)): \(Format.size(result.size))")
        let free = Format.share(found.freePages, of: found.pageCount)
        report.appendRow("pages", "\(found.pageCount) of \(found.pageSize) bytes, \(found.freePages) free (\(free))")
        if let other = result.otherPages, other > 0 { report.appendRow("other pages", "\(other), for auto-vacuum") }
        if let size = result.walSize { report.appendRow("-wal", Format.size(size)) }
        report.appendLine("")
        let text = ResultText()
        // Collected in memory: neither can fail.
        try? RowFormat.table.printer(text.stream, TreeSummary.columns).print(trees.map(\.text))
        for line in text.lines() { report.appendLine(line) }
        if found.method == .values {
            report.appendLine("")
            report.appendLine("This engine cannot count pages (it has no dbstat): sizes are those of the values.")
        }
        return report
    }
}

/// A table or an index in results.
private struct TreeSummary: Encodable {
    let name: String
    let type: String
    let table: String
    @Nullable var rows: Int64?
    @Nullable var pages: Int64?
    /// In bytes: that of its pages, or else of its values.
    @Nullable var size: Int64?
    /// The part of the database that its pages are, from 0 to 1.
    @Nullable var share: Double?
    @Nullable var payload: Int64?
    @Nullable var unused: Int64?

    static let columns = ["name", "type", "table", "rows", "pages", "size", "share"]

    init(_ tree: StorageStatistics.Tree, _ database: StorageStatistics) {
        name = tree.name
        type = tree.isIndex ? "index" : "table"
        table = tree.table
        rows = tree.rows
        pages = tree.pages
        size = tree.pages.map { $0 * database.pageSize } ?? tree.payload
        let share = tree.pages.map { Double($0) / Double(max(1, database.pageCount)) }
        self.share = share.map { ($0 * 10_000).rounded() / 10_000 }
        payload = tree.payload
        unused = tree.unused
    }

    /// The columns as numbers.
    var values: [StoredValue] {
        [.text(name), .text(type), .text(table)] + [rows, pages, size].map { $0.map(StoredValue.integer) ?? .null }
            + [share.map(StoredValue.real) ?? .null]
    }

    /// The columns for people.
    var text: [StoredValue] {
        [.text(name), .text(type), .text(table)]
            + [rows, pages].map { $0.map(StoredValue.integer) ?? .text("") } + [
                .text(size.map(Format.size) ?? ""), .text(share.map(Format.share) ?? ""),
            ]
    }
}
