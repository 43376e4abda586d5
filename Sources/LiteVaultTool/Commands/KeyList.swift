internal import ArgumentParser
internal import LiteVault
internal import LiteVaultKeyring

/// `litevault key list`: shows the slots of a keyring.
struct KeyList: VaultCommand {
    static let configuration = configured(
        "list", "Show the slots of a keyring.",
        """
        Needs no secret and shows none. That nobody else has changed the keyring is known only once it was opened: \
        'litevault key test'.
        """,
        examples: ["litevault key list vault.db.keys", "litevault key list vault.db.keys --json"])

    @Argument(help: .init("The keyring.", valueName: "keyring"), completion: .file(), transform: PathArgument.literal)
    var path: String

    @OptionGroup(title: "Output") var output: OutputOptions

    func perform(_ session: Session) throws -> Report {
        try Preflight.requireSource(path)
        let keyring = Keyring(path)
        let slots = try keyring.slots()
        let generation = try keyring.generation()
        var report = Report(["keyring": path, "generation": generation, "slots": slots.map(\.members)])
        report.appendLine(
            "\(Format.visible(path)): \(Format.count(slots.count, "slot")), generation \(generation)")
        for slot in slots {
            report.appendRow("slot \(slot.id)", slot.line)
            if let recipient = slot.recipient { report.appendRow("", recipient) }
        }
        return report
    }
}
