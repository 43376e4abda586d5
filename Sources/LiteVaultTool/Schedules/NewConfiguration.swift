internal import ArgumentParser
internal import LiteVaultBackup
internal import LiteVaultCipher
internal import LiteVaultQuoting
internal import LiteVaultSchedule
internal import LiteVaultScheduleFile
internal import LiteVaultSystem

/// A configuration with one job, to begin with, and the options that describe it.
struct NewConfigurationOptions: ParsableArguments {
    @Option(path: "Database to back up, or a pattern in quotes; repeat for several.")
    var source: [String] = []

    @Option(
        name: [.long, .customShort("r")],
        help: .init("Where the backups go: a directory, s3://BUCKET/PREFIX, or sftp://HOST/PATH.", valueName: "r"),
        completion: .directory)
    var repository: String?

    @Option(path: "File with the secret of a new, sealed repository.", valueName: "file")
    var repositorySecretFile: String?

    @Option(help: .init("When to run (default: '*-*-* 04:00').", valueName: "calendar"))
    var at: String?

    @Flag(help: "Store databases without encryption, too.")
    var allowPlaintext = false

    func validate() throws {
        guard source.isEmpty == (repository == nil) else {
            throw ValidationError("--source and --repository belong together: both describe a new configuration")
        }
        guard !source.isEmpty || (repositorySecretFile == nil && at == nil && !allowPlaintext) else {
            throw ValidationError(
                "--repository-secret-file, --at and --allow-plaintext need --source: they describe a new configuration")
        }
    }

    /// Whether one is described.
    var areGiven: Bool { repository != nil }

    /// The text of the file. Paths are absolute: those of a configuration start from its own directory.
    var text: String {
        let repository = repository ?? ""
        var lines = [
            "# Made by 'litevault schedule install'. The man page litevault-schedule.yml(5) describes all keys.",
            "repository: \(Quoting.yamlScalar(repository.contains("://") ? repository : Self.absolute(repository)))",
        ]
        if let repositorySecretFile {
            lines += [
                "repository-secret-file: \(Quoting.yamlScalar(Self.absolute(repositorySecretFile)))",
                "# Everything that is stored is encrypted under the secret: keep a copy of it elsewhere.",
                "repository-sealed: yes",
            ]
        }
        lines += ["jobs:", "  - name: nightly", "    sources:"]
        lines += source.map { "      - \(Quoting.yamlScalar(Self.absolute($0)))" }
        lines += ["    at: \(Quoting.yamlScalar(at ?? "*-*-* 04:00"))"]
        if allowPlaintext {
            lines += ["    # Databases without encryption are stored, too.", "    allow-plaintext: yes"]
        }
        lines += [
            "    retention: {last: 3, daily: 14, weekly: 8, monthly: 12}",
            "    # Reads what is stored. The level 'restore' restores it, and needs the key of the databases.",
            "    verify: {level: data, every: 1w}", "",
        ]
        return lines.joined(separator: "\n")
    }

    /// The configuration as it will be read.
    ///
    /// - Throws: `config` if one of the values makes no configuration; `cannot-create` if the file exists.
    func read(as path: String) throws -> ScheduleConfiguration {
        // Everybody may read the file.
        guard let repository, isSameText(repository, repository.withoutPassword) else {
            throw Failure(
                .usage, "the address of the repository has a password, which does not belong in a configuration",
                remedy: "Use a key for SSH, and the environment or a credentials file for S3.")
        }
        guard !FileManager.default.fileExists(atPath: path) else {
            throw Failure(
                .cannotCreate, "the configuration already exists", path: path,
                remedy: "Add the sources to it, and run this command without --source. Or name another file.")
        }
        switch ScheduleConfiguration.examine(path: path, text: text) {
        case .success(let configuration): return configuration
        case .failure(let found):
            throw Failure(
                .config, found.all.first?.message ?? "the options make no configuration",
                remedy: found.all.first?.remedy)
        }
    }

    /// Writes the file, which must not exist. Its directory is created.
    func write(to path: String) throws {
        try PublicText.createParents(of: path)
        try PublicText.write(text, to: path, replacing: false)
    }

    private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
}

/// A small file that everybody may read, written durably.
package enum PublicText {
    /// Creates the directories above a path that do not exist, for everybody to pass through.
    static func createParents(of path: String) throws {
        var missing: [String] = []
        var directory = LocalDirectory.parent(of: path)
        while !FileManager.default.fileExists(atPath: directory), directory.utf8.count > 1 {
            missing.append(directory)
            directory = LocalDirectory.parent(of: directory)
        }
        for directory in missing.reversed() {
            try LocalDirectory.create(directory)
            chmod(directory, 0o755)
        }
    }

    /// Whether a file has exactly this text.
    ///
    /// - Throws: what keeps an existing file from being read.
    package static func isWritten(_ text: String, at path: String) throws -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return false }
        return try withErrorContext(path: path) {
            // By bytes: texts that are canonically equal are not the same file.
            try InputFile(path: path).read(upTo: text.utf8.count + 1) == Array(text.utf8)
        }
    }

    static func write(_ text: String, to path: String, replacing: Bool) throws {
        try LocalFile.replace(path, with: Array(text.utf8), isPublic: true, replacing: replacing)
    }
}
