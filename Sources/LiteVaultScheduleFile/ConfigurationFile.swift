internal import Foundation
internal import LiteVaultBackup
package import LiteVaultSchedule
internal import Yams

/// Configuration files of a schedule, in YAML. A file's absolute path is the schedule's name.
extension ScheduleConfiguration {
    private static let known =
        [
            "version", "repository", "s3", "state-folder", "concurrency", "metrics-file", "time-zone", "limits", "jobs",
        ] + KeyReference.keys("repository-secret")

    /// Reads the file at `path`.
    ///
    /// - Throws: `VaultError` `config`, which names the line.
    package init(path: String) throws {
        let data: Data
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            // At most one byte above the limit, however large the file is.
            data = try file.read(upToCount: Self.limit + 1) ?? Data()
        } catch {
            throw VaultError(
                .config, "cannot read the configuration file: \(String(cString: strerror(Self.code(error))))",
                path: path,
                remedy: "Check its path and permissions.")
        }
        guard data.count <= Self.limit, let text = String(data: data, encoding: .utf8) else {
            throw VaultError(.config, "the configuration file is not UTF-8 text of at most 1 MiB", path: path)
        }
        try self.init(text: text, path: path)
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

    private static func code(_ error: any Error) -> Int32 {
        let found = error as NSError
        if found.domain == NSPOSIXErrorDomain { return Int32(found.code) }
        if let below = found.userInfo[NSUnderlyingErrorKey] as? NSError { return Int32(below.code) }
        return ENOENT
    }

    /// Parses `text`. Messages name `path`, and relative paths start at its directory.
    package init(text: String, path: String) throws {
        let root: Node
        guard Self.hasFewReferences(text) else {
            throw VaultError(
                .config, "the configuration has more than \(Self.referenceLimit) references to anchors (*name)",
                path: path,
                remedy: "Replace some with the values they stand for.")
        }
        do {
            guard let node = try Yams.compose(yaml: text) else {
                throw VaultError(
                    .config, "the configuration is empty", path: path, typedRemedy: ScheduleRemedy.writeJobs)
            }
            root = node
        } catch let error as YamlError {
            throw Self.syntax(error, path)
        }
        let top = try ConfigurationSection(root, "the configuration", known: Self.known, file: path)
        if let version = try top.number("version"), version != 1 {
            throw top.error(
                "version", "unsupported version \(version)", "This release supports version 1. Use a newer one.")
        }
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : "\(directory)/\(path)" }
        let defaults = JobDefaults(
            repository: try RepositoryReference(top, directory: directory, inherited: nil),
            timeZone: try JobDefaults.zone(top), directory: directory, limits: try TimeLimits(top))
        self.init(name: path, jobs: try top.nodes("jobs").map { try BackupJob($0, defaults, file: path) })
        concurrency = try top.number("concurrency") ?? concurrency
        stateFolder = try top.text("state-folder").map(absolute)
        metrics = try top.text("metrics-file").map(absolute)
        let configuration = self
        try top.checking { () throws(InvalidSetting) in try configuration.check() }
    }

    /// A syntax error in the parser's own words, on one line.
    private static func syntax(_ error: YamlError, _ path: String) -> VaultError {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return ConfigurationSection.error(path, mark.line, problem)
        case .duplicatedKeysInMapping(let duplicates, let context):
            return ConfigurationSection.error(
                path, context.mark.line, "duplicate key '\(duplicates.first ?? "")'")
        default:
            return VaultError(
                .config, "the configuration is not valid YAML: \(String("\(error)".prefix(200)))", path: path)
        }
    }
}
