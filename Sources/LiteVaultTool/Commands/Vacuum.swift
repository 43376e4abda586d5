internal import ArgumentParser
internal import LiteVault

/// `litevault vacuum`: a database without its free pages.
struct Vacuum: VaultCommand {
    static let configuration = configured(
        "vacuum", "Rebuild a database without its free space.",
        """
        In place, by the engine's own VACUUM, or with --into as a new file while DATABASE stays as it is. The result \
        is encrypted as DATABASE is, with the same key. Plaintext databases need no key. In place, the engine numbers the \
        rows of tables without an INTEGER PRIMARY KEY anew; with --into their rowids stay.
        """,
        examples: [
            "litevault vacuum vault.db --key-file ~/.vault-key",
            "litevault vacuum vault.db --into compact.db --key-file ~/.vault-key",
        ])

    @Argument(help: "The database.", completion: .file(), transform: PathArgument.literal)
    var database: String

    @Option(
        help: .init("Write a new file instead. It must not exist.", valueName: "dest"), completion: .file(),
        transform: PathArgument.literal)
    var into: String?

    @OptionGroup(title: "Key") var key: KeyOptions<DatabaseKeyRole>
    @OptionGroup(title: "Cipher settings of the database") var read: CipherOptions<ReadSide>
    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try session.claim(key)
        try Preflight.requireSource(database)
        if let into { try Preflight.requireAbsent(into) }
        let key = try session.keyIfEncrypted(key, database)
        let before = Preflight.size(database) ?? 0
        let file = DatabaseFile(database)
        if let into {
            try file.vacuum(into: into, key: key, settings: read.settings(), progress: session.progress)
        } else {
            try file.vacuum(key: key, settings: read.settings())
        }

        var report = Report()
        let result = into ?? database
        report.set("database", .string(database))
        if let into { report.set("destination", .string(into)) }
        report.set("size_before", .integer(before))
        report.addResult(of: result, session, verified: into != nil)
        let target = into.map { " into \(Wording.path($0))" } ?? ""
        report.say(
            "Vacuumed \(Wording.path(database))\(target): \(Wording.size(before)) became "
                + "\(Wording.outcome(of: result, session)).")
        return report
    }
}
