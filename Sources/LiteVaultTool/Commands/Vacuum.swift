internal import ArgumentParser
internal import LiteVault

struct Vacuum: VaultCommand {
    static let configuration = configured(
        "vacuum", "Rebuild a database without its free pages.",
        """
        Writes a compact copy, compares it with DATABASE, and replaces DATABASE with it atomically. With --into, the \
        copy becomes a new file instead, and DATABASE is not changed. The result has the same key. A plaintext database \
        needs no key. All rowids are kept. In place, no other program may have DATABASE open.
        """,
        examples: [
            "litevault vacuum vault.db --key-file ~/.vault-key",
            "litevault vacuum vault.db --into compact.db --key-file ~/.vault-key",
        ])

    @OptionGroup var database: DatabaseOptions<OnlyArgument>

    @Option(path: "Write a new file instead. It must not exist.", valueName: "dest")
    var into: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        let path = database.path
        try session.reserveKeySources(database.key)
        try Preflight.requireSource(path)
        if let into { try Preflight.requireAbsent(into) }
        try Preflight.requireDistinct([("DATABASE", path), ("--into", into)])
        let settings = try database.cipher.settings()
        let key = try session.keyIfEncrypted(database, settings: settings)
        let before = Preflight.size(path) ?? 0
        if let into {
            try DatabaseFile(path).vacuum(
                into: into, key: key, settings: settings, progress: session.progress)
        } else {
            try DatabaseFile(path).vacuum(
                key: key, settings: settings, progress: session.progress)
        }

        let file = WrittenFile(into ?? path, session)
        var report = Report(["database": path, "destination": into, "size_before": before], file.members)
        let target = into.map { " into \(Format.visible($0))" } ?? ""
        report.appendLine(
            "Vacuumed \(Format.visible(path))\(target): \(Format.size(before)) became \(file.summary).")
        return report
    }
}
