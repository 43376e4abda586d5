internal import ArgumentParser
internal import LiteVault

/// `litevault` without a command.
struct LiteVaultCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "litevault",
        abstract: "Encrypts SQLite databases, checks them, and backs them up.",
        discussion: """
            A key is never an argument: it comes from a file, a descriptor, the environment, a command, a systemd \
            credential, or is asked for on the terminal.

            EXAMPLES:
              litevault encrypt notes.db vault.db
              litevault verify vault.db --key-file ~/.vault-key
              litevault backup vault.db vault-$(date +%F).db --key-file ~/.vault-key
              litevault info anything.db

            \(ExitStatus.helpSection)
            """,
        version: Version.text,
        subcommands: [
            Encrypt.self, Decrypt.self, Rekey.self, Export.self, Migrate.self, Info.self, Verify.self, Vacuum.self,
            Backup.self, TakeSnapshot.self, ListSnapshots.self, Restore.self, Forget.self, Check.self, Repair.self,
            Schedule.self,
        ])
}
