internal import ArgumentParser
internal import LiteVault

/// `litevault encrypt`: converts a plaintext database to an encrypted one.
struct Encrypt: VaultCommand {
    static let configuration = configured(
        "encrypt", "Convert a plaintext database to an encrypted one.",
        """
        Writes DEST as a new file. Before it appears, it is read back and compared with SOURCE, row by row. SOURCE is \
        not changed. With --in-place, the new file replaces SOURCE atomically: SOURCE is always the complete old file \
        or the complete new one. The old bytes may remain on the disk until they are overwritten.
        """,
        examples: [
            "litevault encrypt notes.db vault.db",
            "litevault encrypt notes.db vault.db --key-command 'pass show notes'",
            "litevault encrypt notes.db --in-place --keep-original old.db",
            "litevault encrypt notes.db ios.db --plaintext-header 32 --salt-file salt",
        ],
        usage: """
            litevault encrypt <source> <dest> [<options>]
            litevault encrypt <source> --in-place [--keep-original <path>] [<options>]
            """)

    @Argument(help: "The plaintext database.", completion: .file(), transform: PathArgument.literal)
    var source: String

    @Argument(
        help: "The encrypted database to create. It must not exist.", completion: .file(),
        transform: PathArgument.literal)
    var dest: String?

    @Flag(help: "Replace SOURCE.")
    var inPlace = false

    @Option(
        help: .init("With --in-place: keep the plaintext database under this name.", valueName: "path"),
        completion: .file(), transform: PathArgument.literal)
    var keepOriginal: String?

    @OptionGroup(title: "Key of the new database") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "Cipher settings of the new database") var written: CipherOptions<WrittenSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Result: Encodable {
        let source: String
        let destination: String
        let inPlace: Bool
        let original: String?
    }

    private struct SourceFile: Encodable {
        @Nullable var sourceSize: Int64?
    }

    func perform(_ session: Session) throws -> Report {
        try session.reserveKeySources(key)
        try checkDestination()
        try Preflight.requireEncryption()
        try Preflight.requirePlain(source)
        for path in [dest, keepOriginal].compactMap(\.self) { try Preflight.requireAbsent(path) }
        let before = SourceFile(sourceSize: Preflight.size(source))
        let result = dest ?? source
        let key = try session.key(key, for: result, confirms: true)
        try written.withSettings(for: result, key: key) { settings in
            if let dest {
                try DatabaseFile(source).encrypt(to: dest, key: key, settings: settings, progress: session.progress)
            } else {
                try DatabaseFile(source).encryptInPlace(
                    key: key, settings: settings, keepingOriginalAt: keepOriginal, progress: session.progress)
            }
        }

        let file = WrittenFile(result, session)
        var report = Report(
            Result(source: source, destination: result, inPlace: inPlace, original: keepOriginal), file, before)
        let target = dest.map { "to \(Format.visible($0))" } ?? "in place"
        report.appendLine("Encrypted \(Format.visible(source)) \(target): \(file.summary).")
        report.appendLine(WrittenFile.comparison)
        if let keepOriginal {
            report.appendLine("The plaintext database is kept as \(Format.visible(keepOriginal)).")
        } else if inPlace {
            report.appendLine("The old bytes may remain on the disk until they are overwritten.")
        } else {
            report.appendLine("\(Format.visible(source)) is still plaintext; remove it when you no longer need it.")
        }
        return report
    }

    private func checkDestination() throws(Failure) {
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
