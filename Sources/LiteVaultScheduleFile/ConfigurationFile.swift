internal import LiteVaultBackup
package import LiteVaultSchedule
internal import LiteVaultSystem

/// Configuration files of a schedule, in YAML. A file's absolute path is the schedule's name.
extension ScheduleConfiguration {
    private static let known =
        [
            "version", "repository", "s3", "sftp", "state-directory", "concurrency", "metrics-file", "listen",
            "time-zone",
            "limits", "jobs",
        ] + KeyReference.keys("repository-secret") + ["repository-sealed"]

    /// What `state-directory` was called in 0.x.
    private static let formerStateDirectory = "state-folder"

    /// Reads the file at `path`.
    ///
    /// - Throws: `VaultError` `config`, which names the line.
    package init(path: String) throws {
        let text = try Self.text(of: path)
        try self.init(text: text, path: path)
        self.text = text
    }

    /// The text of the file at `path`.
    ///
    /// - Throws: `VaultError` `config` if it cannot be read.
    package static func text(of path: String) throws -> String {
        let bytes: [UInt8]
        do {
            // At most one byte above the limit, however large the file is.
            bytes = try InputFile(path: path).read(upTo: Self.limit + 1)
        } catch {
            throw VaultError(
                .config, "cannot read the configuration file: \(error)", path: path,
                remedy: "Check its path and permissions.")
        }
        guard bytes.count <= Self.limit, let text = String(bytes: bytes, encoding: .utf8) else {
            throw VaultError(
                .config, "the configuration file is not UTF-8 text of at most 1 MiB", path: path,
                remedy: "Check its path.")
        }
        return text
    }

    /// The largest configuration in bytes.
    private static let limit = 1 << 20
    /// The maximum number of references to anchors.
    private static let referenceLimit = 32

    /// Whether a text has few enough references (`*name`) to anchors (`&name`): nested anchors expand exponentially. Quoted
    /// text and comments count too, so texts without any anchor are exempt.
    private static func hasFewReferences(_ text: String) -> Bool {
        func count(_ sign: UInt8) -> Int {
            var count = 0
            var previous = UInt8(ascii: " ")
            var isSign = false
            for byte in text.utf8 {
                if isSign,
                    byte == 95 || (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                {
                    count += 1
                }
                isSign = byte == sign && [32, 9, 10, 13, 44, 58, 91, 123].contains(previous)
                previous = byte
            }
            return count
        }
        return count(UInt8(ascii: "&")) == 0 || count(UInt8(ascii: "*")) <= referenceLimit
    }

    /// Parses `text`. Messages name `path`, and relative paths start at its directory.
    package init(text: String, path: String) throws {
        var duplicates: [YAMLError] = []
        let root = try Self.document(text, path, duplicates: &duplicates)
        if let first = duplicates.first { throw ConfigurationSection.error(path, nil, first.place, first.message) }
        try self.init(root, path: path)
    }

    /// The value of a text, without an error for keys that come twice: the first one counts.
    static func document(_ text: String, _ path: String, duplicates: inout [YAMLError]) throws -> YAMLNode {
        guard Self.hasFewReferences(text) else {
            throw VaultError(
                .config, "the configuration has more than \(Self.referenceLimit) references to anchors (*name)",
                path: path,
                remedy: "Replace some with the values they stand for.")
        }
        do {
            guard let node = try YAMLReader.document(text, duplicates: &duplicates) else {
                throw VaultError(
                    .config, "the configuration is empty", path: path, typedRemedy: ScheduleRemedy.writeJobs)
            }
            return node
        } catch let error as YAMLError {
            throw ConfigurationSection.error(path, nil, error.place, error.message)
        }
    }

    init(_ root: YAMLNode, path: String) throws {
        let top = try ConfigurationSection(
            root, "the configuration", known: Self.known, former: [Self.formerStateDirectory], file: path)
        if let version = try top.number("version"), version != 1 {
            throw top.error(
                "version", "unsupported version \(version)", "This release supports version 1. Use a newer one.")
        }
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        func absolute(_ key: String) throws -> String? {
            try top.text(key).map { try top.absolute($0, key, directory) }
        }
        let defaults = JobDefaults(
            repository: try RepositoryReference(top, directory: directory, inherited: nil),
            timeZone: try JobDefaults.zone(top), directory: directory, limits: try TimeLimits(top))
        self.init(name: path, jobs: try top.nodes("jobs").map { try BackupJob($0, defaults, file: path) })
        concurrency = try top.number("concurrency") ?? concurrency
        guard !top.has("state-directory") || !top.has(Self.formerStateDirectory) else {
            throw top.error(
                Self.formerStateDirectory, "is the former name of state-directory, which is set as well",
                "Remove one of them.")
        }
        stateDirectory = try absolute("state-directory") ?? absolute(Self.formerStateDirectory)
        metrics = try absolute("metrics-file")
        let text = try top.text("listen")
        var address: ListenAddress?
        try top.checking { () throws(InvalidSetting) in address = try text.map(ListenAddress.init) }
        listen = address
        let configuration = self
        try top.checking { () throws(InvalidSetting) in try configuration.check() }
    }
}
