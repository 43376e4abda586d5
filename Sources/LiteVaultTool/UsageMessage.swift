internal import ArgumentParser
internal import LiteVaultSystem

/// Turns the argument parser's errors into failures.
///
/// The parser repeats unexpected arguments. One of them may be a key, passed by habit from another tool, and messages end up
/// in logs. Such arguments are counted, never repeated.
enum UsageMessage {
    /// The help for arguments, or the short one if it is `-h` that asks for it.
    static func help(_ full: String, arguments: [String]) -> String {
        guard arguments.contains("-h"), !arguments.contains("--help"), arguments.first != "help" else { return full }
        return ShortHelp.text(full, of: command(in: arguments).words)
    }

    /// The command that arguments begin with, and the first of them that is not a command's name, with the names that it could have been.
    /// Names of commands, and nothing else, are repeated.
    private static func command(
        in arguments: [String]
    ) -> (
        type: any ParsableCommand.Type, words: [String],
        unknown: (name: String, commands: [any ParsableCommand.Type])?
    ) {
        var (command, words): (any ParsableCommand.Type, [String]) = (LiteVaultCommand.self, ["litevault"])
        for argument in arguments {
            let commands = command.configuration.subcommands
            guard let next = commands.first(where: { $0._commandName == argument }) else {
                return (command, words, (argument, commands))
            }
            (command, words) = (next, words + [argument])
        }
        return (command, words, nil)
    }

    static func failure(for error: any Error, arguments: [String]) -> Failure {
        let (type, words, unknown) = command(in: Array(arguments.drop { $0 == "help" }))
        if let unknown, !unknown.commands.isEmpty, !unknown.name.hasPrefix("-") {
            return unknownCommand(unknown.name, unknown.commands, words)
        }
        let help = (words + ["--help"]).joined(separator: " ")
        let letter = unknownLetter(in: arguments, of: type)
        return Failure(
            .usage, letter.map { "unknown option '\($0)'" } ?? redacted(LiteVaultCommand.message(for: error)),
            remedy: ["-v", "-V"].contains(letter)
                ? "The version is shown by 'litevault --version'." : "See '\(help)' for arguments and examples.")
    }

    /// The first option of one letter that a command does not have. The parser may say what is missing instead. A letter cannot be a key.
    private static func unknownLetter(in arguments: [String], of command: any ParsableCommand.Type) -> String? {
        let words = Set(LiteVaultCommand.helpMessage(for: command).split { " ,\n".contains($0) })
        return arguments.prefix { $0 != "--" }
            .first { $0.utf8.count == 2 && $0.hasPrefix("-") && !words.contains($0[...]) }
    }

    /// The failure for `help WORD…` of a command that does not exist; nil if it does. The parser shows the help of another one then.
    static func unknownHelp(arguments: [String]) -> Failure? {
        guard arguments.first == "help" else { return nil }
        let (_, words, unknown) = command(in: arguments.dropFirst().filter { !$0.hasPrefix("-") && $0 != "help" })
        return unknown.map { unknownCommand($0.name, $0.commands, words) }
    }

    private static func unknownCommand(
        _ name: String, _ commands: [any ParsableCommand.Type], _ words: [String]
    ) -> Failure {
        let names = commands.map { $0._commandName }
        let parent = words.joined(separator: " ")
        let remedy =
            if name == "version" {
                "The version is shown by 'litevault --version'."
            } else if names.isEmpty {
                "'\(parent)' has no commands: see '\(parent) --help'."
            } else if let close = Spelling.closest(to: name, in: names) {
                "Did you mean '\(parent) \(close)'?"
            } else {
                "The commands of '\(parent)' are \(Format.list(names))."
            }
        return Failure(.usage, "unknown command", remedy: remedy)
    }

    /// The parser's message in the style of ours, without values that could be a key.
    private static func redacted(_ message: String) -> String {
        let line = message.split(separator: "\n").map(String.init).joined(separator: " ")
        if line.hasPrefix("Unexpected argument") { return "unexpected argument" }
        if line.contains("unexpected arguments:") {
            return line.prefix { $0.isNumber } + " unexpected arguments, or an unknown option"
        }
        if line.hasPrefix("The option"), let end = line.firstRange(ofText: ", but '") {
            return "the" + line[line.startIndex..<end.lowerBound].dropFirst(3)
        }
        if line.hasPrefix("Unknown option '-"), !line.hasPrefix("Unknown option '--"), !line.contains("Did you mean") {
            return "unknown short option"
        }
        if line.hasPrefix("The value '"), line.contains("'--"), line.contains("key-"),
            let start = line.firstRange(ofText: "' is invalid for ")
        {
            return "the value is invalid for " + line[start.upperBound...]
        }
        return line.prefix(1).lowercased() + line.dropFirst()
    }
}
