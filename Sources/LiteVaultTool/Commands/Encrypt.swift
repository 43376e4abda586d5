internal import ArgumentParser
internal import LiteVault
internal import LiteVaultKeyring
internal import LiteVaultSystem

struct Encrypt: VaultCommand {
    static let configuration = configured(
        "encrypt", "Convert a plaintext database to an encrypted one.",
        """
        Writes DEST as a new file. Before it appears, it is read back and compared with SOURCE, row by row. SOURCE is \
        not changed. With --in-place, the new file replaces SOURCE atomically: SOURCE is always the complete old file \
        or the complete new one. The old bytes may remain on the disk until they are overwritten, \
        those of a '-wal' or '-journal' beside it in any case.
        """,
        examples: [
            "litevault encrypt notes.db vault.db",
            "litevault encrypt notes.db vault.db --key-command 'pass show notes'",
            "litevault encrypt notes.db vault.db --new-keyring vault.db.keys",
            "litevault encrypt notes.db --in-place --keep-original old.db",
            "litevault encrypt notes.db ios.db --plaintext-header 32 --salt-file salt",
        ],
        usage: """
            litevault encrypt <source> <dest> [<options>]
            litevault encrypt <source> --in-place [--keep-original <path>] [<options>]
            """)

    @Argument(path: "The plaintext database.")
    var source: String

    @Argument(path: "The encrypted database to create. It must not exist.")
    var dest: String?

    @Flag(help: "Replace SOURCE.")
    var inPlace = false

    @Option(path: "With --in-place: keep the plaintext database under this name.")
    var keepOriginal: String?

    @Option(path: "Create this keyring with a random key, and a first slot that the key options' secret opens.")
    var newKeyring: String?

    @Flag(help: "With --new-keyring: accept a passphrase that is easy to guess.")
    var allowWeak = false

    @OptionGroup(title: "Key of the new database") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "Key of the new database") var trust: TrustOptions
    @OptionGroup(title: "Cipher settings of the new database") var written: CipherOptions<WrittenSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(key)
        try checkDestination()
        try Preflight.requireEncryption()
        try Preflight.requirePlain(source)
        // A copy that a killed run has left is compared with SOURCE later.
        let kept = keepOriginal.flatMap { (try? DatabaseFile($0).kind()) == .plain ? nil : $0 }
        for path in [dest, kept, newKeyring].compactMap(\.self) { try Preflight.requireAbsent(path) }
        try Preflight.requireDistinct([
            ("SOURCE", source), ("DEST", dest), ("--keep-original", keepOriginal), ("--new-keyring", newKeyring),
            ("--salt-file", written.saltFile),
        ])
        let before = Preflight.size(source)
        let result = dest ?? source
        let created = try newKeyring.map { path in
            let passphrase = try session.slotSecret(key, "passphrase", for: path, confirms: true)
            return try session.keyring(path).create(with: [.passphrase(passphrase, allowingWeak: allowWeak)])
        }
        let databaseKey =
            try created?.databaseKey()
            ?? session.key(key, for: result, confirms: true, trusted: trust.fingerprints())
        try withCleanup(newKeyring, of: result) { try encrypt(to: result, databaseKey, session) }
        if let created { created.remember(warning: session.reporter) }

        let file = WrittenFile(result, session)
        var report = Report(
            [
                "source": source, "destination": result, "in_place": inPlace, "original": keepOriginal,
                "keyring": newKeyring,
            ], file.members, ["source_size": Nullable(before)])
        session.addKeyWarnings(to: &report)
        let target = dest.map { "to \(Format.visible($0))" } ?? "in place"
        report.appendLine("Encrypted \(Format.visible(source)) \(target): \(file.summary).")
        report.appendLine(WrittenFile.comparison)
        if let newKeyring {
            report.appendLine(
                "The key is in \(Format.visible(newKeyring)). Without it the database is lost: keep copies, and add a"
                    + " second slot with 'litevault key add'.")
        }
        if let keepOriginal {
            report.appendLine("The plaintext database is kept as \(Format.visible(keepOriginal)).")
        } else if inPlace {
            report.appendLine("The old bytes may remain on the disk until they are overwritten.")
        } else {
            report.appendLine("\(Format.visible(source)) is still plaintext; remove it when you no longer need it.")
        }
        return report
    }

    private func encrypt(to result: String, _ key: DatabaseKey, _ session: Session) throws {
        try written.withSettings(for: result, key: key) { settings in
            if let dest {
                try DatabaseFile(source).encrypt(to: dest, key: key, settings: settings, progress: session.progress)
            } else {
                try DatabaseFile(source).encryptInPlace(
                    key: key, settings: settings, keepingOriginalAt: keepOriginal, progress: session.progress)
            }
        }
    }

    /// Removes a keyring that was created for a database that was not.
    private func withCleanup(_ keyring: String?, of result: String, _ body: () throws -> Void) throws {
        guard let keyring else { return try body() }
        // A signal ends the process without a return from `body`. A file that is being replaced may be the new one already.
        let token = Interruption.shared.onEnd { if access(result, F_OK) != 0 { unlink(keyring) } }
        defer { Interruption.shared.remove(token) }
        do { try body() } catch {
            // Some errors come after the rename: only a file that is missing or still plaintext proves that the key is not needed.
            let kind = try? DatabaseFile(result).kind()
            if access(result, F_OK) != 0 || kind == .plain { unlink(keyring) }
            throw error
        }
    }

    private func checkDestination() throws(Failure) {
        if newKeyring != nil, key.keyring.path != nil || key.keyring.method != nil {
            throw Failure(
                .usage, "--new-keyring creates a keyring, --keyring uses one", remedy: "Keep one of these options.")
        }
        if inPlace, dest != nil {
            throw Failure(
                .usage, "--in-place replaces SOURCE and takes no DEST", remedy: "Leave out --in-place or DEST.")
        }
        if !inPlace, dest == nil {
            throw Failure(
                .usage, "missing argument DEST", remedy: "Name the file to create, or replace SOURCE with --in-place.")
        }
        if !inPlace, keepOriginal != nil {
            throw Failure(
                .usage, "--keep-original requires --in-place", remedy: "Without --in-place, SOURCE is not changed.")
        }
    }
}
