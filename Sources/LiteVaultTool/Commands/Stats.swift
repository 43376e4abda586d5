internal import ArgumentParser
internal import LiteVault
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultSystem

struct Stats: VaultCommand {
    static let configuration = configured(
        "stats", "Show how much of the file each table and index takes.",
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

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(source.secret, database.key)
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
        let walSize = source.location == nil ? Preflight.size("-wal", of: path) : nil
        var report = Report([
            "database": path, "size": size, "wal_size": Nullable(walSize), "page_size": found.pageSize,
            "page_count": found.pageCount, "free_pages": found.freePages, "other_pages": Nullable(found.otherPages),
            "measured": found.method.rawValue, "trees": trees.map(\.members), "seconds": session.elapsed,
        ])
        report.appendLine("\(Format.visible(path)): \(Format.size(size))")
        let free = Format.share(found.freePages, of: found.pageCount)
        report.appendRow("pages", "\(found.pageCount) of \(found.pageSize) bytes, \(found.freePages) free (\(free))")
        if let other = found.otherPages, other > 0 { report.appendRow("other pages", "\(other), for auto-vacuum") }
        if let walSize { report.appendRow("-wal", Format.size(walSize)) }
        report.appendLine("")
        var bytes: [UInt8] = []
        let stream = ResultStream { bytes.append(contentsOf: $0) }
        // Collected in memory: neither can fail.
        try? RowFormat.table.printer(stream, TreeSummary.columns).print(trees.map(\.text))
        try? stream.flush()
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        for line in lines { report.appendLine(line) }
        if found.method == .values {
            report.appendLine("")
            report.appendLine("This engine cannot count pages (it has no dbstat): sizes are those of the values.")
        }
        return report
    }
}

/// A table or an index in results.
private struct TreeSummary {
    private let tree: StorageStatistics.Tree
    /// In bytes: that of its pages, or else of its values.
    private let size: Int64?
    /// The part of the database that its pages are, from 0 to 1.
    private let share: Double?

    static let columns = ["name", "type", "table", "rows", "pages", "size", "share"]

    init(_ tree: StorageStatistics.Tree, _ database: StorageStatistics) {
        self.tree = tree
        size = tree.pages.map { $0 * database.pageSize } ?? tree.payload
        let share = tree.pages.map { Double($0) / Double(max(1, database.pageCount)) }
        self.share = share.map { ($0 * 10_000).rounded() / 10_000 }
    }

    private var type: String { tree.isIndex ? "index" : "table" }

    var members: Members {
        [
            "name": tree.name, "type": type, "table": tree.table, "rows": Nullable(tree.rows),
            "pages": Nullable(tree.pages), "size": Nullable(size), "share": Nullable(share),
            "payload": Nullable(tree.payload), "unused": Nullable(tree.unused),
        ]
    }

    /// The columns as numbers.
    var values: [StoredValue] {
        names + [tree.rows, tree.pages, size].map { $0.map(StoredValue.integer) ?? .null }
            + [share.map(StoredValue.real) ?? .null]
    }

    /// The columns for people.
    var text: [StoredValue] {
        names + [tree.rows, tree.pages].map { $0.map(StoredValue.integer) ?? .text("") }
            + [.text(size.map(Format.size) ?? ""), .text(share.map(Format.share) ?? "")]
    }

    private var names: [StoredValue] { [.text(tree.name), .text(type), .text(tree.table)] }
}
