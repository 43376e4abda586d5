internal import ArgumentParser
internal import LiteVault

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

    func perform(_ session: Session) throws -> Report {
        let path = database.path
        try session.reserveKeySources(database.key)
        try Preflight.requireSource(path)
        let kind = try DatabaseFile(path).kind()
        let cipher = try database.cipher.settings()
        let key = try session.keyIfGiven(database.key, for: path, settings: cipher)
        if key != nil { try Preflight.requireEncryption() }
        if kind == .plain, key != nil { throw Failure.notEncrypted(path) }
        let (size, walSize, journalSize) = (
            Preflight.size(path) ?? 0, Preflight.size("-wal", of: path), Preflight.size("-journal", of: path)
        )
        let info = try DatabaseFile(path).info(key: key, settings: cipher)
        let isOpened = info.content != nil
        var report = Report([
            "database": path, "kind": kind.rawValue, "size": size, "wal_size": walSize, "journal_size": journalSize,
            "pending": Nullable(info.pending?.members),
        ])
        if let content = info.content { report.add(content.members) }
        report.add(["opened": isOpened, "engine": Version.engine])

        let meaning = isOpened && kind == .encryptedOrUnknown ? kind.rawValue : Self.meaning(of: kind)
        report.appendLine("\(Format.visible(path)): \(meaning)")
        report.appendRow("size", size < 1000 ? Format.size(size) : "\(Format.size(size)) (\(size) bytes)")
        if let walSize { report.appendRow("-wal", Format.size(walSize)) }
        if let journalSize { report.appendRow("-journal", Format.size(journalSize)) }
        info.pending?.addRow(to: &report)
        info.content?.addRows(to: &report)
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
        case .empty: "empty (SQLite opens the file as an empty database with any key)"
        case .notADatabase: "not-a-database"
        }
    }
}

// A log or journal beside a database that was read with it, in results.
extension DatabaseFile.PendingLog {
    var members: Members { ["kind": kind.rawValue, "pages": pages] }

    func addRow(to report: inout Report) {
        let name = kind == .writeAheadLog ? "-wal" : "-journal"
        report.appendRow("pending", "\(Format.count(pages, "page")) in the \(name), read and left as they are")
    }
}

// The contents of a database, in results.
extension DatabaseFile.Info.Content {
    fileprivate var members: Members {
        let contents: Members = [
            "tables": tables, "views": views, "indexes": indexes.count, "triggers": triggers.count,
        ]
        return [
            "cipher": settings?.members, "page_size": pageSize, "page_count": pageCount, "free_pages": freePageCount,
            "encoding": encoding, "journal_mode": journalModeName, "auto_vacuum": autoVacuumName,
            "user_version": userVersion, "application_id": applicationID, "contents": contents,
        ]
    }

    private var journalModeName: String { journalMode.rawValue.lowercased() }

    private var autoVacuumName: String {
        switch autoVacuum {
        case 1: "full"
        case 2: "incremental"
        default: "none"
        }
    }

    fileprivate func addRows(to report: inout Report) {
        if let settings { report.appendRow("cipher", settings.line) }
        report.appendRow("pages", "\(pageCount) of \(pageSize) bytes, \(freePageCount) free")
        report.appendRow("encoding", encoding)
        report.appendRow("journal mode", journalModeName)
        report.appendRow("auto-vacuum", autoVacuumName)
        report.appendRow("user_version", String(userVersion))
        report.appendRow("application_id", String(applicationID))
        report.appendRow(
            "contents",
            [
                Format.count(tables.count, "table"), Format.count(views.count, "view"),
                Format.count(indexes.count, "index", "indexes"), Format.count(triggers.count, "trigger"),
            ].joined(separator: ", "))
        guard !tables.isEmpty else { return }
        let shown = tables.prefix(8).map(Format.visible).joined(separator: ", ")
        let more = tables.count > 8 ? " … and \(tables.count - 8) more" : ""
        report.appendRow("tables", shown + more)
    }
}

// Cipher settings in results. Unknown ones are left out.
extension CipherSettings {
    var members: Members {
        [
            "page_size": pageSize, "kdf_iterations": kdfIterations, "kdf_algorithm": kdfAlgorithm?.rawValue,
            "hmac": usesHMAC, "hmac_algorithm": usesHMAC == false ? nil : hmacAlgorithm?.rawValue,
            "plaintext_header": plaintextHeaderSize, "compatibility": compatibility,
        ]
    }

    /// `4096-byte pages, PBKDF2-SHA512 x 256000, HMAC-SHA512`; `the engine's defaults` if nothing else is set.
    var line: String {
        var parts: [String] = []
        if let compatibility { parts.append("SQLCipher \(compatibility) defaults") }
        if let pageSize { parts.append("\(pageSize)-byte pages") }
        let derivation = kdfAlgorithm.map { "PBKDF2-\($0.rawValue.uppercased())" } ?? "PBKDF2"
        if let kdfIterations { parts.append("\(derivation) x \(kdfIterations)") }
        switch usesHMAC {
        case false?: parts.append("no page authentication")
        case true?: parts.append(hmacAlgorithm.map { "HMAC-\($0.rawValue.uppercased())" } ?? "HMAC")
        case nil: break
        }
        if let size = plaintextHeaderSize, size > 0 { parts.append("\(size)-byte plaintext header") }
        return parts.isEmpty ? "the engine's defaults" : parts.joined(separator: ", ")
    }
}
