internal import ArgumentParser

/// `litevault key`: what opens a database's keyring.
struct Key: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Manage keyrings: a database's random key, and the passphrases and others that open it.",
        discussion: """
            A keyring is a small file beside a database. Each of its slots opens it: a passphrase, a recovery code, a \
            colleague's public key, a key management service, a file. Slots are changed without touching the database.

            EXAMPLES:
              litevault encrypt notes.db vault.db --new-keyring vault.db.keys
              litevault key add vault.db.keys --kind recovery
              litevault key list vault.db.keys
              litevault verify vault.db --keyring vault.db.keys
              litevault key remove vault.db.keys 1 --rekey vault.db

            \(ExitStatus.helpPointer)
            """,
        subcommands: [
            KeyInit.self, KeyAdd.self, KeyRemove.self, KeyChange.self, KeyList.self, KeyRecover.self, KeyTest.self,
            KeyExportRecipient.self, KeyAudit.self,
        ])
}
