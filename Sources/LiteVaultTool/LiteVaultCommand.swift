internal import ArgumentParser

/// `litevault` without a command.
struct LiteVaultCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "litevault",
        abstract: "Encrypt, verify and back up SQLite databases.",
        discussion: """
            A key is never an argument. It is read from a file, a descriptor, the environment, a command or a systemd \
            credential, or asked for on the terminal.

            EXAMPLES:
              litevault encrypt notes.db vault.db
              litevault verify vault.db --key-file ~/.vault-key
              litevault snapshot vault.db --repository /backup/vaults
              litevault info anything.db

            \(ExitStatus.helpSection)
            """,
        version: Version.text,
        subcommands: [Topics.self],
        groupedSubcommands: [
            CommandGroup(
                name: "Databases",
                subcommands: [
                    Encrypt.self, Decrypt.self, Rekey.self, Export.self, Migrate.self, Vacuum.self, Backup.self,
                    Keygen.self, Key.self,
                ]),
            CommandGroup(
                name: "Inspection",
                subcommands: [
                    Info.self, Verify.self, Query.self, Shell.self, Dump.self, Stats.self, Diff.self,
                ]),
            CommandGroup(
                name: "Repositories",
                subcommands: [
                    SnapshotCommand.self, SnapshotsCommand.self, Restore.self, RestoreAll.self, FollowRestore.self,
                    Schedule.self, Doctor.self,
                ]),
            CommandGroup(
                name: "Repository maintenance",
                subcommands: [
                    Init.self, Upgrade.self, Secret.self, Forget.self, Compact.self, Check.self, Repair.self, Copy.self,
                ]),
        ])
}
