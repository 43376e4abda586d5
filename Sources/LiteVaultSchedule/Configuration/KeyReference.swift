/// Where a key or a secret is read from when it is needed: the sources of the command line. The configuration never holds
/// one itself.
package struct KeyReference: Sendable, Hashable {
    /// The kinds of sources.
    package enum Source: Sendable, Hashable {
        case file(String)
        case environment(String)
        case command(String)
        case credential(String)
    }

    package let source: Source
    /// `passphrase`, `hex` or `raw`.
    package let format: String

    static func keys(_ prefix: String) -> [String] {
        ["file", "env", "command", "credential", "format"].map { "\(prefix)-\($0)" }
    }

    /// Reads `PREFIX-file` and its like; a path that is not absolute starts from `folder`.
    ///
    /// - Throws: ``BackupError`` `config` for several of them.
    init?(_ section: ConfigurationSection, prefix: String, folder: String) throws {
        var given: [(String, Source)] = []
        if let path = try section.text("\(prefix)-file") {
            given.append(("file", .file(path.hasPrefix("/") ? path : "\(folder)/\(path)")))
        }
        if let name = try section.text("\(prefix)-env") { given.append(("env", .environment(name))) }
        if let text = try section.text("\(prefix)-command") { given.append(("command", .command(text))) }
        if let name = try section.text("\(prefix)-credential") { given.append(("credential", .credential(name))) }
        let format = try section.text("\(prefix)-format")
        if let format, !["passphrase", "hex", "raw"].contains(format) {
            throw section.error("\(prefix)-format", "'\(format)' is none of passphrase, hex and raw")
        }
        guard given.count <= 1 else {
            throw section.error(
                "\(prefix)-\(given[1].0)", "there is more than one source", "Keep one of these keys.")
        }
        guard let only = given.first else { return nil }
        source = only.1
        self.format = format ?? "passphrase"
    }
}
