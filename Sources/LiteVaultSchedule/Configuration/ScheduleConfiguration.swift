internal import Foundation
internal import LiteVaultBackup
internal import Yams

/// What is written in a configuration file.
package struct ScheduleConfiguration: Sendable {
    /// The file.
    package let path: String
    package let jobs: [Job]
    /// Databases that are worked on at the same time, over all jobs.
    package let concurrency: Int
    /// Where what happened is remembered; nil takes the standard folder.
    package let stateFolder: String?
    /// The Prometheus text file; nil writes none.
    package let metrics: String?

    private static let known =
        [
            "version", "repository", "s3", "state-folder", "concurrency", "metrics-file", "time-zone", "limits", "jobs",
        ] + KeyReference.keys("repository-secret")

    /// Reads the file at `path`.
    ///
    /// - Throws: ``BackupError`` `config`, with the line.
    package init(path: String) throws {
        let data: Data
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            // No more than one byte too many, however long the file says that it is.
            data = try file.read(upToCount: Self.limit + 1) ?? Data()
        } catch {
            throw BackupError(
                .config, "can not be read: \(String(cString: strerror(Self.code(error))))", path: path,
                remedy: "Check the path and the permissions of the configuration file.")
        }
        guard data.count <= Self.limit, let text = String(data: data, encoding: .utf8) else {
            throw BackupError(.config, "is no text in UTF-8 of at most 1 MiB", path: path)
        }
        try self.init(text: text, path: path)
    }

    /// Bytes of a configuration.
    private static let limit = 1 << 20
    /// References to anchors in it.
    private static let referenceLimit = 32

    /// Whether it has few enough references (`*name`) to anchors (`&name`): each level of anchors within anchors multiplies
    /// what the next one stands for. What is in quotes or comments counts as well where it looks the same, so that only
    /// texts with anchors are counted.
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

    /// Reads `text`; `path` is for messages, and what relative paths start from.
    package init(text: String, path: String) throws {
        let root: Node
        guard Self.hasFewReferences(text) else {
            throw BackupError(
                .config, "has more than \(Self.referenceLimit) references to anchors (*name)", path: path,
                remedy: "Write out what they stand for.")
        }
        do {
            guard let node = try Yams.compose(yaml: text) else {
                throw BackupError(
                    .config, "is empty", path: path, remedy: "'litevault schedule --help' shows an example.")
            }
            root = node
        } catch let error as YamlError {
            throw Self.syntax(error, path)
        }
        let top = try ConfigurationSection(root, "the configuration", known: Self.known, file: path)
        if let version = try top.number("version"), version != 1 {
            throw top.error("version", "this litevault knows version 1 only", "Use a newer litevault.")
        }
        self.path = path
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : "\(folder)/\(path)" }
        concurrency = try top.number("concurrency") ?? 4
        stateFolder = try top.text("state-folder").map(absolute)
        metrics = try top.text("metrics-file").map(absolute)
        let defaults = JobDefaults(
            repository: try RepositoryReference(top, folder: folder, inherited: nil),
            timeZone: try JobDefaults.zone(top), folder: folder, limits: try TimeLimits(top))
        jobs = try top.nodes("jobs").map { try Job($0, defaults, file: path) }
        guard !jobs.isEmpty else { throw top.error(nil, "there is no job", "Write at least one below 'jobs:'.") }
        let names = Dictionary(grouping: jobs, by: \.name).filter { $0.value.count > 1 }
        if let twice = names.keys.sorted().first { throw top.error("jobs", "two jobs have the name '\(twice)'") }
    }

    /// The parser's own words, on one line.
    private static func syntax(_ error: YamlError, _ path: String) -> BackupError {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return ConfigurationSection.error(path, mark.line, problem)
        case .duplicatedKeysInMapping(let duplicates, let context):
            return ConfigurationSection.error(
                path, context.mark.line, "the key '\(duplicates.first ?? "")' is there twice")
        default:
            return BackupError(.config, "is no YAML: \(String("\(error)".prefix(200)))", path: path)
        }
    }
}
