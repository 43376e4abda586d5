internal import ArgumentParser
internal import LiteVault
internal import LiteVaultCipher
internal import LiteVaultSystem

struct Diff: VaultCommand {
    static let configuration = configured(
        "diff", "Show what differs between two databases.",
        """
        Compares schema and rows, and counts the rows of each table that B adds, lacks or has with other values. Each of the \
        two may be encrypted, or not; without a --to-key-… option B has the key of A. Both may be in use, and \
        nothing is written. Memory does not grow with the databases.

        Rows are matched by rowid, or by the primary key of a table WITHOUT ROWID. Page size, free pages and the statistics \
        of ANALYZE do not count. With --sql the result is SQL text that turns A into B, in one transaction. It is not \
        encrypted, and meant for A as it is now: run it with a shell that stops at the first error.

        The exit status is 0 if the databases are equal, and 1 if they differ.
        """,
        examples: [
            "litevault diff notes.db restored.db",
            "litevault diff vault.db notes.db --key-file ~/.vault-key",
            "litevault diff a.db b.db --key-file a.key --to-key-file b.key",
            "litevault diff old.db new.db --sql >changes.sql",
            "litevault diff old.db new.db --json | jq .tables",
        ])

    @OptionGroup var left: DatabaseOptions<LeftArgument>

    @Argument(path: "The database to compare with it.")
    var b: String

    @Flag(help: "Print SQL text that turns A into B.")
    var sql = false

    @Option(help: "Print only the list of tables, in one of the formats: \(RowFormat.names).")
    var format: RowFormat?

    @OptionGroup(title: "Key of B") var rightKey: KeyOptions<OtherKeyRole>
    @OptionGroup(title: "Cipher settings of B") var rightCipher: CipherOptions<OtherReadSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(left.key, rightKey)
        guard [output.json, format != nil, sql].count(where: { $0 }) <= 1 else {
            throw Failure(.usage, "--json, --format and --sql exclude each other", remedy: "Keep one of them.")
        }
        for path in [left.path, b] { try Preflight.requireSource(path) }
        let (leftSettings, rightSettings) = (try left.cipher.settings(), try rightCipher.settings())
        let leftKey = try key(
            left.key, of: left.path, leftSettings, or: nil, session,
            remedy: "The options '--key-…' are for A. Give a key of B with '--to-key-…', as '--to-key-file'.")
        let rightKey = try key(
            self.rightKey, of: b, rightSettings, or: leftKey, session,
            remedy: "The options '--to-key-…' are for B. Give a key of A with '--key-…', as '--key-file'.")
        // Nothing is written, so a signal may end the process at any point.
        let token = Interruption.shared.onEnd(immediately: true) {}
        defer { Interruption.shared.remove(token) }
        let stream = ResultStream(session.terminal)
        var difference: ContentDifference?
        do {
            difference = try DatabaseFile(left.path).read(key: leftKey, settings: leftSettings) { one in
                try DatabaseFile(b).read(key: rightKey, settings: rightSettings) { other in
                    let found = try ContentDifference(from: one, to: other)
                    if sql {
                        try DifferenceScript.write(from: one, to: other, found) { text in
                            try text.withBytes { try stream.append($0) }
                        }
                        try stream.flush()
                    }
                    return found
                }
            }
        } catch is ResultStream.Closed {}
        // Without a result, the reader of the SQL text has closed it: there was one.
        guard let difference else { return .printed(.different) }
        return try report(difference, stream, session)
    }

    /// The key of a database; nil if it is plaintext.
    ///
    /// - Parameters:
    ///   - other: its key if it is encrypted and the options name none: that of A for B.
    ///   - remedy: for a key that is given for plaintext. With a single key, it is often the plaintext database that comes first.
    private func key<Role>(
        _ options: KeyOptions<Role>, of path: String, _ settings: CipherSettings, or other: DatabaseKey?,
        _ session: Session, remedy: String
    ) throws -> DatabaseKey? {
        let kind = try DatabaseFile(path).kind()
        if [.plain, .empty].contains(kind), try options.isGiven { throw Failure.notEncrypted(path, remedy: remedy) }
        return try session.keyIfEncrypted(options, for: path, kind, settings: settings, or: other)
    }

    private func report(
        _ difference: ContentDifference, _ stream: ResultStream, _ session: Session
    ) throws -> Report {
        let status: ExitStatus = difference.isEmpty ? .done : .different
        if sql { return .printed(status) }
        let tables = difference.tables
        if let format {
            do {
                try format.printer(stream, ContentDifference.Table.columns).print(tables.map(\.values))
                try stream.flush()
            } catch is ResultStream.Closed {}
            return .printed(status)
        }
        let objects = difference.virtualTables + difference.objects
        let settings = difference.settings
        var report = Report([
            "a": left.path, "b": b, "equal": difference.isEmpty, "settings": settings.map(\.members),
            "tables": tables.map(\.members), "objects": objects.map(\.members), "seconds": session.elapsed,
        ])
        report.status = status
        for setting in settings { report.appendLine("\(setting.name): \(setting.left) -> \(setting.right)") }
        for object in objects {
            report.appendLine("\(object.shownType) \(Format.visible(object.name)): \(object.change.rawValue)")
        }
        for table in tables { report.appendLine("table \(Format.visible(table.name)): \(table.line)") }
        let names = "\(Format.visible(left.path)) and \(Format.visible(b))"
        report.appendLine(difference.isEmpty ? "\(names) are equal." : "\(names) differ.")
        return report
    }
}

extension ContentDifference.Setting {
    fileprivate var members: Members { ["name": name, "a": left, "b": right] }
}

extension ContentDifference.Object {
    fileprivate var members: Members { ["type": shownType, "name": name, "change": change.rawValue] }

    fileprivate var shownType: String { type == "table" ? "virtual table" : type }
}

extension ContentDifference.Table {
    fileprivate var members: Members {
        [
            // What happened to the definition.
            "name": name, "definition": Nullable(definition?.rawValue), "added": added, "removed": removed,
            "changed": changed, "matched": isMatched,
        ]
    }

    fileprivate static let columns = ["name", "definition", "added", "removed", "changed"]

    fileprivate var values: [StoredValue] {
        [
            .text(name), definition.map { StoredValue.text($0.rawValue) } ?? .null, .integer(added), .integer(removed),
            .integer(changed),
        ]
    }

    /// `definition changed; rows: 3 added, 1 removed`.
    fileprivate var line: String {
        let counts = [(added, "added"), (removed, "removed"), (changed, "changed")].filter { $0.0 > 0 }
        let rows = counts.isEmpty ? nil : "rows: " + counts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        let change = definition.map { $0 == .changed ? "definition changed" : $0.rawValue }
        return [change, rows].compactMap { $0 }.joined(separator: "; ")
            + (isMatched ? "" : " (not matched: it has other columns, or no key)")
    }
}
