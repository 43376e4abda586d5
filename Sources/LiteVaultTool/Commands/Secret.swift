internal import ArgumentParser

/// `litevault secret`: the secrets that open a repository.
struct Secret: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret",
        abstract: "Manage the secrets of a repository: one for each machine or person, added and removed.",
        discussion: """
            A repository that was created with a secret can have several. Each of them opens it, and each can be removed \
            without the others: one small object of the repository is changed. What somebody who had a removed secret can \
            still do is ended by 'rotate', which gives the repository a new key.

            EXAMPLES:
              litevault secret list --repository /backup/vaults
              litevault secret add --repository /backup/vaults --repository-secret-file old --new-repository-secret-file new
              litevault secret remove --repository /backup/vaults --repository-secret-file new 1
              litevault secret rotate --repository /backup/vaults --repository-secret-file new

            \(ExitStatus.helpPointer)
            """,
        subcommands: [SecretAdd.self, SecretRemove.self, SecretChange.self, SecretRotate.self, SecretList.self])
}
