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
        subcommands: [
            Encrypt.self, Decrypt.self, Rekey.self, Export.self, Migrate.self, Info.self, Verify.self, Query.self,
            Shell.self,
            Dump.self, Stats.self, Diff.self, Vacuum.self, Backup.self, Init.self, Upgrade.self, SnapshotCommand.self,
            SnapshotsCommand.self,
            Restore.self, RestoreAll.self, FollowRestore.self, Forget.self,
            Compact.self, Check.self, Repair.self, Copy.self, Schedule.self, Doctor.self, Key.self, Keygen.self,
            Secret.self, Topics.self,
        ])
}
