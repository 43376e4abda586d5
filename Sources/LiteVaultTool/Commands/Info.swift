internal import ArgumentParser
internal import LiteVault

/// `litevault info`: shows what a file is and, with the key, what it contains.
struct Info: VaultCommand {
    static let configuration = configured(
        "info", "Show what a file is and, with its key, what it contains.",
        """
        Without a key, the file's bytes decide: plain, encrypted (or unknown, as ciphertext has no signature), \
        plaintext-header, empty, or not-a-database. With the key it also shows cipher settings, sizes, versions and a \
        summary of the schema. It writes nothing: a pending log or journal beside the file is reported, read and left \
        as it is. It asks for the key only with --key-prompt.
        """,
        examples: [
            "litevault info notes.db", "litevault info vault.db --key-prompt",
            "litevault info vault.db --key-file ~/.vault-key --json",
        ])

    @OptionGroup var database: DatabaseOptions<OnlyArgument>
    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Result: Encodable {
        let database: String
        let kind: String
        let size: Int64
        let walSize: Int64?
        let journalSize: Int64?
        @Nullable var pending: PendingSummary?
    }

    private struct Opening: Encodable {
        let opened: Bool
        let engine = Version.Engine()
    }

    func perform(_ session: Session) throws -> Report {
        let path = database.path
        try session.reserveKeySources(database.key)
        try Preflight.requireSource(path)
        let kind = try DatabaseFile(path).kind()
        let key = try session.keyIfGiven(database.key, for: path)
        if key != nil { try Preflight.requireEncryption() }
        if kind == .plain, key != nil { throw Failure.notEncrypted(path) }
        let result = Result(
            database: path, kind: kind.rawValue, size: Preflight.size(path) ?? 0,
            walSize: Preflight.size(path + "-wal"), journalSize: Preflight.size(path + "-journal"), pending: nil)
        let info = try DatabaseFile(path).info(key: key, settings: database.cipher.settings())
        return report(result, kind, info)
    }

    private func report(_ found: Result, _ kind: FileKind, _ info: DatabaseFile.Info) -> Report {
        var result = found
        result.pending = info.pending.map(PendingSummary.init)
        let isOpened = info.content != nil
        let content = info.content.map(ContentSummary.init)
        var report = Report(of: result)
        if let content { report.add(content) }
        report.add(Opening(opened: isOpened))

        let meaning = isOpened && kind == .encryptedOrUnknown ? kind.rawValue : Self.meaning(of: kind)
        report.appendLine("\(Format.visible(result.database)): \(meaning)")
        let size = Format.size(result.size)
        report.appendRow("size", result.size < 1000 ? size : "\(size) (\(result.size) bytes)")
        if let size = result.walSize { report.appendRow("-wal", Format.size(size)) }
        if let size = result.journalSize { report.appendRow("-journal", Format.size(size)) }
        result.pending?.addRow(to: &report)
        content?.addRows(to: &report)
        report.appendRow("engine", Version.libraries.joined(separator: ", "))
        for defect in Version.defects { report.appendRow("defect", defect) }
        if !isOpened, kind == .encryptedOrUnknown || kind == .plaintextHeader {
            report.appendLine("Give the key (--key-file, --key-prompt …) to see what it contains.")
        }
        return report
    }

    private static func meaning(of kind: FileKind) -> String {
        switch kind {
        case .plain: "plain, a SQLite database without encryption"
        case .encryptedOrUnknown: "encrypted (or unknown: only the key can tell)"
        case .plaintextHeader: "plaintext-header, an encrypted database with a readable header"
        case .empty: "empty, which SQLite opens as a database without tables under any key"
        case .notADatabase: "not-a-database"
        }
    }
}

/// A log or journal beside a database that was read with it.
struct PendingSummary: Encodable {
    let kind: String
    let pages: Int64

    init(_ pending: DatabaseFile.PendingLog) {
        kind = pending.kind.rawValue
        pages = Int64(pending.pages)
    }

    func addRow(to report: inout Report) {
        let name = kind == DatabaseFile.PendingLog.Kind.writeAheadLog.rawValue ? "-wal" : "-journal"
        report.appendRow("pending", "\(Format.count(Int(pages), "page")) in the \(name), read and left as they are")
    }
}

/// The contents of a database.
private struct ContentSummary: Encodable {
    struct Contents: Encodable {
        let tables: [String]
        let views: [String]
        let indexes: Int
        let triggers: Int
    }

    let cipher: CipherSummary?
    let pageSize: Int64
    let pageCount: Int64
    let freePages: Int64
    let encoding: String
    let journalMode: String
    let autoVacuum: String
    let userVersion: Int64
    let applicationID: Int64
    let contents: Contents

    init(_ content: DatabaseFile.Info.Content) {
        cipher = content.settings.map(CipherSummary.init)
        pageSize = content.pageSize
        pageCount = content.pageCount
        freePages = content.freePageCount
        encoding = content.encoding
        journalMode = content.journalMode.rawValue.lowercased()
        autoVacuum =
            switch content.autoVacuum {
            case 1: "full"
            case 2: "incremental"
            default: "none"
            }
        userVersion = Int64(content.userVersion)
        applicationID = Int64(content.applicationID)
        contents = Contents(
            tables: content.tables, views: content.views, indexes: content.indexes.count,
            triggers: content.triggers.count)
    }

    func addRows(to report: inout Report) {
        if let cipher { report.appendRow("cipher", cipher.line) }
        report.appendRow("pages", "\(pageCount) of \(pageSize) bytes, \(freePages) free")
        report.appendRow("encoding", encoding)
        report.appendRow("journal mode", journalMode)
        report.appendRow("auto-vacuum", autoVacuum)
        report.appendRow("user_version", String(userVersion))
        report.appendRow("application_id", String(applicationID))
        report.appendRow(
            "contents",
            [
                Format.count(contents.tables.count, "table"), Format.count(contents.views.count, "view"),
                Format.count(contents.indexes, "index", "indexes"), Format.count(contents.triggers, "trigger"),
            ].joined(separator: ", "))
        guard !contents.tables.isEmpty else { return }
        let shown = contents.tables.prefix(8).map(Format.visible).joined(separator: ", ")
        let more = contents.tables.count > 8 ? " … and \(contents.tables.count - 8) more" : ""
        report.appendRow("tables", shown + more)
    }
}

/// Cipher settings in results. Unknown ones are left out.
struct CipherSummary: Encodable {
    private let pageSize: Int?
    private let kdfIterations: Int?
    private let kdfAlgorithm: String?
    private let hmac: Bool?
    private let hmacAlgorithm: String?
    private let plaintextHeader: Int?
    private let compatibility: Int?

    init(_ settings: CipherSettings) {
        pageSize = settings.pageSize
        kdfIterations = settings.kdfIterations
        kdfAlgorithm = settings.kdfAlgorithm?.rawValue
        hmac = settings.usesHMAC
        hmacAlgorithm = settings.usesHMAC == false ? nil : settings.hmacAlgorithm?.rawValue
        plaintextHeader = settings.plaintextHeaderSize
        compatibility = settings.compatibility
    }

    /// `4096-byte pages, PBKDF2-SHA512 x 256000, HMAC-SHA512`.
    var line: String {
        var parts: [String] = []
        if let compatibility { parts.append("SQLCipher \(compatibility) defaults") }
        if let pageSize { parts.append("\(pageSize)-byte pages") }
        let derivation = kdfAlgorithm.map { "PBKDF2-\($0.uppercased())" } ?? "PBKDF2"
        if let kdfIterations { parts.append("\(derivation) x \(kdfIterations)") }
        switch hmac {
        case false?: parts.append("no page authentication")
        case true?: parts.append(hmacAlgorithm.map { "HMAC-\($0.uppercased())" } ?? "HMAC")
        case nil: break
        }
        if let plaintextHeader, plaintextHeader > 0 { parts.append("\(plaintextHeader)-byte plaintext header") }
        return parts.joined(separator: ", ")
    }
}
