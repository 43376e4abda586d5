internal import ArgumentParser

/// Where a key comes from: `--key-file`, `--key-fd` and their like, with the prefix of the role.
struct KeyOptions<Role: KeyRole>: ParsableArguments {
    @Option(
        name: .customLong(Role.option + "-file"),
        help: .init("Read the \(Role.noun) from a file.", valueName: "path"),
        completion: .file())
    var file: String?

    @Option(
        name: .customLong(Role.option + "-fd"),
        help: .init("Read the \(Role.noun) from an open file descriptor.", valueName: "n"))
    var descriptor: Int32?

    @Option(
        name: .customLong(Role.option + "-env"),
        help: .init("Read the \(Role.noun) from an environment variable, and remove it there.", valueName: "name"))
    var environment: String?

    @Option(
        name: .customLong(Role.option + "-command"),
        help: .init("Read the \(Role.noun) from the output of a shell command.", valueName: "cmd"))
    var command: String?

    @Option(
        name: .customLong(Role.option + "-credential"),
        help: .init("Read the \(Role.noun) from a systemd credential ($CREDENTIALS_DIRECTORY).", valueName: "name"))
    var credential: String?

    @Flag(
        name: .customLong(Role.option + "-prompt"),
        help: "Ask for the \(Role.noun) on the terminal.")
    var prompt = false

    @Option(
        name: .customLong(Role.option + "-format"),
        help: .init(
            "What the \(Role.noun) is: \(Role.formats).", valueName: "format"))
    var format: KeyFormat = .passphrase

    /// The one source that was given; nil when none was.
    ///
    /// - Throws: `usage` when there are several.
    func source() throws(Failure) -> KeySource? {
        var given: [(name: String, source: KeySource)] = []
        if let file { given.append(("file", .file(file))) }
        if let descriptor { given.append(("fd", .descriptor(descriptor))) }
        if let environment { given.append(("env", .environment(environment))) }
        if let command { given.append(("command", .command(command))) }
        if let credential { given.append(("credential", .credential(credential))) }
        if prompt { given.append(("prompt", .prompt)) }
        guard given.count > 1 else { return given.first?.source }
        let names = given.map { "--\(Role.option)-\($0.name)" }.joined(separator: ", ")
        throw Failure(
            .usage, "more than one source for the \(Role.noun): \(names)", remedy: "Keep one of these options.")
    }
}

extension KeyFormat: ExpressibleByArgument {}
