internal import ArgumentParser
internal import LiteVault

/// `litevault vacuum`: rebuilds a database without its free pages.
struct Vacuum: VaultCommand {
    static let configuration = configured(
        "vacuum", "Rebuild a database without its free pages.",
        """
        Runs the engine's VACUUM in place. With --into, the result is a new file, and DATABASE is not changed. The \
        result has the same key. A plaintext database needs no key. In place, VACUUM may renumber the rows of tables \
        without an INTEGER PRIMARY KEY; with --into, rowids are preserved.
        """,
        examples: [
            "litevault vacuum vault.db --key-file ~/.vault-key",
            "litevault vacuum vault.db --into compact.db --key-file ~/.vault-key",
        ])

    @OptionGroup var database: DatabaseOptions<OnlyArgument>

    @Option(
        help: .init("Write a new file instead. It must not exist.", valueName: "dest"), completion: .file(),
        transform: PathArgument.literal)
    var into: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Result: Encodable {
        let database: String
        let destination: String?
        let sizeBefore: Int64
    }

    func perform(_ session: Session) throws -> Report {
        let path = database.path
        try session.reserveKeySources(database.key)
        try Preflight.requireSource(path)
        if let into { try Preflight.requireAbsent(into) }
        let key = try session.keyIfEncrypted(database)
        let before = Preflight.size(path) ?? 0
        if let into {
            try DatabaseFile(path).vacuum(
                into: into, key: key, settings: database.cipher.settings(), progress: session.progress)
        } else {
            try DatabaseFile(path).vacuum(key: key, settings: database.cipher.settings())
        }

        let file = WrittenFile(into ?? path, session, verified: into != nil)
        var report = Report(Result(database: path, destination: into, sizeBefore: before), file)
        let target = into.map { " into \(Format.visible($0))" } ?? ""
        report.appendLine(
            "Vacuumed \(Format.visible(path))\(target): \(Format.size(before)) became \(file.summary).")
        return report
    }
}
