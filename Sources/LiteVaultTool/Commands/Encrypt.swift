internal import ArgumentParser
internal import LiteVault

/// `litevault encrypt`: a plaintext database becomes an encrypted one.
struct Encrypt: VaultCommand {
    static let configuration = configured(
        "encrypt", "Make an encrypted database from a plaintext one.",
        """
        Writes DEST as a new file: a copy that was read back and compared, row by row, before it gets its name. SOURCE \
        is not changed. With --in-place SOURCE itself is replaced, in one step: whatever happens on the way, it is the \
        old file or the new one. The old bytes can remain on the disk until they are overwritten.
        """,
        examples: [
            "litevault encrypt notes.db vault.db", "litevault encrypt notes.db vault.db --key-file ~/.vault-key",
            "litevault encrypt notes.db --in-place --keep-original notes-plain.db --key-command 'pass show notes'",
            "litevault encrypt notes.db ios.db --plaintext-header 32 --salt-file ios.salt --key-prompt",
        ],
        usage: """
            litevault encrypt <source> <dest> [<options>]
            litevault encrypt <source> --in-place [--keep-original <path>] [<options>]
            """)

    @Argument(help: "The plaintext database.", completion: .file(), transform: PathArgument.literal)
    var source: String

    @Argument(
        help: "The encrypted database to make. It must not exist.", completion: .file(), transform: PathArgument.literal
    )
    var dest: String?

    @Flag(help: "Replace SOURCE itself.")
    var inPlace = false

    @Option(
        help: .init("With --in-place: keep the plaintext database under this name.", valueName: "path"),
        completion: .file(), transform: PathArgument.literal)
    var keepOriginal: String?

    @OptionGroup(title: "Key of the new database") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "Cipher settings of the new database") var written: CipherOptions<WrittenSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.claim(key)
        try checkDestination()
        try Preflight.requireEncryption()
        try Preflight.requirePlain(source)
        for path in [dest, keepOriginal].compactMap({ $0 }) { try Preflight.requireAbsent(path) }
        let before = Preflight.size(source)
        let key = try session.key(key, for: dest ?? source, confirms: true)
        try written.withSettings(for: dest ?? source, key: key) { settings in
            if let dest {
                try DatabaseFile(source).encrypt(to: dest, key: key, settings: settings, progress: session.progress)
            } else {
                try DatabaseFile(source).encryptInPlace(
                    key: key, settings: settings, keepingOriginalAt: keepOriginal, progress: session.progress)
            }
        }
        return report(session, before: before)
    }

    private func checkDestination() throws(Failure) {
        if inPlace, dest != nil {
            throw Failure(.usage, "--in-place replaces SOURCE, so there is no DEST", remedy: "Leave one of them out.")
        }
        if !inPlace, dest == nil {
            throw Failure(
                .usage, "no DEST was given", remedy: "Name the file to make, or replace SOURCE with --in-place.")
        }
        if !inPlace, keepOriginal != nil {
            throw Failure(
                .usage, "--keep-original goes with --in-place", remedy: "Without it SOURCE is not changed at all.")
        }
    }

    private func report(_ session: Session, before: Int64?) -> Report {
        var report = Report()
        let result = dest ?? source
        report.set("source", .string(source))
        report.set("destination", .string(result))
        report.set("in_place", .bool(inPlace))
        if let keepOriginal { report.set("original", .string(keepOriginal)) }
        report.addResult(of: result, session)
        report.set("source_size", JSONValue(before))
        let what = dest.map { "\(Wording.path(source)) into \(Wording.path($0))" } ?? "\(Wording.path(source)) in place"
        report.say("Encrypted \(what): \(Wording.outcome(of: result, session)).")
        report.say(Wording.verifiedCopy)
        if let keepOriginal {
            report.say("The plaintext database is kept as \(Wording.path(keepOriginal)).")
        } else if inPlace {
            report.say("The old bytes can remain on the disk until they are overwritten.")
        } else {
            report.say("\(Wording.path(source)) is still plaintext: remove it when you no longer need it.")
        }
        return report
    }
}
