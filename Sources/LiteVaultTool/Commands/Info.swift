internal import ArgumentParser
internal import LiteVault

/// `litevault info`: what a file is, and with the key what is in it.
struct Info: VaultCommand {
    static let configuration = configured(
        "info", "Tell what a file is; with its key, also what is in it.",
        """
        Without a key the bytes of the file decide: plain, encrypted (or unknown: ciphertext has no mark), \
        plaintext-header, empty, or not-a-database. With the key: cipher settings, sizes, versions, and a summary \
        of the schema. Nothing is written: a log or journal that is pending beside the file stays as it is, is said to \
        be there, and is read through. Nobody is asked for a key unless --key-prompt says so.
        """,
        examples: [
            "litevault info notes.db", "litevault info vault.db --key-prompt",
            "litevault info vault.db --key-file ~/.vault-key --json",
        ])

    @Argument(help: "The file to look at.", completion: .file(), transform: PathArgument.literal)
    var database: String

    @OptionGroup(title: "Key") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "Settings of the file") var source: CipherOptions<ReadSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.claim(key)
        try Preflight.requireSource(database)
        let kind = try DatabaseFile(database).kind()
        var report = Report()
        report.set("database", .string(database))
        report.set("kind", .string(kind.rawValue))
        let headline = report.lines.count
        addSizes(to: &report)
        let isOpened = try addContents(kind, session, to: &report)
        let meaning = isOpened && kind == .encryptedOrUnknown ? kind.rawValue : Self.meaning(of: kind)
        report.lines.insert("\(Wording.visible(database)): \(meaning)", at: headline)
        report.set("opened", .bool(isOpened))
        report.set("engine", Version.engineJSON)
        report.row("engine", Version.engine.joined(separator: ", "))
        for defect in Version.defects { report.row("defect", defect) }
        if !isOpened, kind == .encryptedOrUnknown || kind == .plaintextHeader {
            report.say("With the key (--key-file, --key-prompt …) there is more to tell.")
        }
        return report
    }

    private static func meaning(of kind: FileKind) -> String {
        switch kind {
        case .plain: "plain, a SQLite database without encryption"
        case .encryptedOrUnknown: "encrypted (or unknown: only the key can tell)"
        case .plaintextHeader: "plaintext-header, an encrypted database whose first bytes are readable"
        case .empty: "empty, which SQLite takes for a database without tables, under any key"
        case .notADatabase: "not-a-database"
        }
    }

    private func addSizes(to report: inout Report) {
        let size = Preflight.size(database) ?? 0
        report.set("size", .integer(size))
        report.row("size", size < 1000 ? Wording.size(size) : "\(Wording.size(size)) (\(size) bytes)")
        for (ending, name) in [("-wal", "wal_size"), ("-journal", "journal_size")] {
            guard let size = Preflight.size(database + ending) else { continue }
            report.set(name, .integer(size))
            report.row(ending, Wording.size(size))
        }
    }

    /// Returns whether the database could be opened.
    private func addContents(_ kind: FileKind, _ session: Session, to report: inout Report) throws -> Bool {
        let given = try session.keyIfGiven(key, for: database)
        if given != nil { try Preflight.requireEncryption() }
        if kind == .plain, given != nil { throw Failure.notEncrypted(database) }
        let info = try DatabaseFile(database).info(key: given, settings: source.settings())
        report.add(info.pending)
        guard let content = info.content else { return false }
        ContentSummary(content: content).add(to: &report)
        return true
    }
}

extension Report {
    /// Says what lies beside a database and was read with it.
    mutating func add(_ pending: PendingLog?) {
        set(
            "pending", pending.map { ["kind": .string($0.kind.rawValue), "pages": .integer(Int64($0.pages))] } ?? .null)
        guard let pending else { return }
        let name = pending.kind == .writeAheadLog ? "-wal" : "-journal"
        row("pending", "\(Wording.count(pending.pages, "page")) in the \(name), which is read and left as it is")
    }
}
