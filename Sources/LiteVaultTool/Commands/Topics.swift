internal import ArgumentParser
internal import LiteVaultSystem

struct Topics: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topics",
        abstract: "Explain what several commands share: keys, times, JSON, exit statuses.",
        discussion: """
            EXAMPLES:
              litevault help topics
              litevault help topics exit-status
              litevault topics keys
            """,
        subcommands: [
            ExitStatusTopic.self, KeysTopic.self, RepositoriesTopic.self, TimesTopic.self, JSONTopic.self,
            EnvironmentTopic.self,
        ])
}

/// A page of text.
private protocol Topic: ParsableCommand {
    static var name: String { get }
    static var abstract: String { get }
    static var page: String { get }
}

extension Topic {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: name, abstract: abstract, discussion: page)
    }

    /// Prints the page, in lines of at most 80 characters, without the usage that the parser adds to help.
    func run() throws {
        let help = Topics.helpMessage(for: Self.self, columns: 80)
        let page = help.components(separatedBy: "\n\nUSAGE:").first ?? help
        try Terminal().printResult(page.hasPrefix("OVERVIEW: ") ? String(page.dropFirst(10)) : page)
    }
}

private struct ExitStatusTopic: Topic {
    static let name = "exit-status"
    static let abstract = "The exit statuses of all commands."
    static let page = ExitStatus.helpSection
}

private struct KeysTopic: Topic {
    static let name = "keys"
    static let abstract = "Where keys and secrets come from."
    static let page = """
        A key is never an argument: other users of the machine could see it. One of these options names its source:

        SOURCES:
          -k, --key-file PATH    a file, which only its owner should be able to read
          --key-fd N             an open file descriptor
          --key-env NAME         an environment variable, removed before work begins
          --key-command CMD      the output of a shell command
          --key-credential NAME  a systemd credential
          --key-prompt           the terminal; also without any of these options

        A passphrase does not include the newline at the end. With --key-format hex, it is the key itself as 64 digits, \
        or 96 with the salt; with --key-format raw, as 32 or 48 bytes. 'litevault keygen' makes new ones.

        With --keyring PATH, the key is in a keyring, and these options give the secret of one of its slots: see \
        'litevault help key'.

        The same options with other names: --new-key-… for a key that is set, --to-key-… for the key of a second \
        database, --repository-secret-… for that of a repository.
        """
}

private struct RepositoriesTopic: Topic {
    static let name = "repositories"
    static let abstract = "Repository locations, and what this machine remembers of them."
    static let page = """
        A repository is a directory, s3://BUCKET/PREFIX, or sftp://[USER@]HOST[:PORT]/PATH.

        s3:// is an object store: Amazon's, or another with --s3-endpoint. Credentials are found as the AWS tools find them: \
        in the environment, in shared files (keys, roles, 'aws sso login', credential_process), or by the machine's role.

        A proxy is taken from HTTPS_PROXY, HTTP_PROXY and NO_PROXY, unless --s3-proxy names one, or 'none'. One that requires a \
        password must be set in the environment.

        --s3-storage-class, --s3-encryption and --s3-lock-mode with --s3-lock-days set how the object store keeps what a command \
        stores. Locked versions remain after 'forget --prune' until their retention is over.

        sftp:// is a directory on an SSH server; /~/PATH starts at the user's home directory. The system's ssh connects, \
        with its configuration, keys and known hosts, and never prompts: make sure that 'ssh HOST' works \
        non-interactively. --sftp-command names another program that connects standard input and output to an SFTP server.

        Snapshots need no database key, and neither does restoring them. A repository secret authenticates what is \
        stored; the content of an encrypted database is encrypted by its own key.

        LOCAL DIRECTORIES:
          --state-directory PATH  remembers the newest snapshots seen, to notice a
                                  repository that was rolled back or replaced
          --cache-directory PATH  copies of block maps; may be removed at any time
          --spool-directory PATH  data until it is stored

        If a repository was replaced on purpose, --accept-repository accepts the new one.
        """
}

private struct TimesTopic: Topic {
    static let name = "times"
    static let abstract = "How times and durations are written."
    static let page = """
        A time is ISO 8601, in UTC without a zone: 2026-11-21T12:30:00Z, 2026-11-21T13:30:00+01:00, '2026-11-21 12:30', \
        2026-11-21. With 'local' after it, it is in this machine's local time zone: '2026-11-21 13:30 local'.

        A duration is a number with a unit: 90s, 15m, 36h, 30d, 8w.

        The times that commands print are in UTC, to the millisecond.
        """
}

private struct JSONTopic: Topic {
    static let name = "json"
    static let abstract = "JSON output for scripts."
    static let page = """
        With --json, standard output is one object on one line, and standard error has an object on each line.

        OBJECTS:
          {"schema": 1, "command": "…", …}                      a result
          {"schema": 1, "error": {"code", "message", "path", "remedy"}}
          {"schema": 1, "warning": {"message", "path"}}
          {"schema": 1, "progress": {"phase", "done", "total"}} with --progress

        Sizes are in bytes, durations in seconds. Ignore members that you do not know: later versions add some. The code of \
        an error is a word such as 'key-rejected', which decides the exit status.
        """
}

private struct EnvironmentTopic: Topic {
    static let name = "environment"
    static let abstract = "The environment variables that are read."
    static let page = """
        VARIABLES:
          NO_COLOR                  no color, if it is set and not empty
          LITEVAULT_REPOSITORY      the repository, where --repository is not given
          XDG_STATE_HOME            parent of the state directory (~/.local/state)
          XDG_CACHE_HOME            parent of the cache directory (~/.cache)
          STATE_DIRECTORY, CACHE_DIRECTORY, CREDENTIALS_DIRECTORY
                                    directories of a systemd service
          TMPDIR                    parent of temporary directories
          SSL_CERT_FILE             certificates of authorities for object stores
          AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL_S3, AWS_ACCESS_KEY_ID,
          AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_CA_BUNDLE and others
                                    object stores, as for the AWS tools
          HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                                    proxies of object stores and heartbeats, also in
                                    lowercase, which comes first

        The variables that --key-env and similar options name are wiped before any work begins, and not passed on.
        """
}
