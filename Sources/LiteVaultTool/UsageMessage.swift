internal import ArgumentParser

/// Turns the argument parser's errors into failures.
///
/// The parser repeats unexpected arguments. One of them may be a key, passed by habit from another tool, and messages end up
/// in logs. Such arguments are counted, never repeated.
enum UsageMessage {
    /// Options with which other tools take a key. None of them exists here.
    private static let keyOptions: Set<String> = {
        let nouns = [
            "key", "hexkey", "rawkey", "raw-key", "hex-key", "textkey", "pass", "passphrase", "password", "secret",
        ]
        return Set(["", "new-", "old-", "to-", "source-"].flatMap { prefix in nouns.map { "--" + prefix + $0 } })
    }()

    /// The failure for a key among the arguments; nil if there is none. Checked before the arguments are parsed.
    static func failure(forKeyIn arguments: [String]) -> Failure? {
        for argument in arguments.prefix(while: { $0 != "--" }) {
            let name = argument.split(separator: "=", maxSplits: 1).first.map(String.init) ?? ""
            if keyOptions.contains(name) { return keyInArguments(name) }
            // -k KEY, -kKEY, -p PASSWORD: our only short option is -h.
            if argument.hasPrefix("-k") || argument.hasPrefix("-p") {
                return keyInArguments(String(argument.prefix(2)))
            }
        }
        return nil
    }

    private static func keyInArguments(_ option: String) -> Failure {
        Failure(
            .usage, "no option '\(option)': a key must not be an argument, which other processes can read",
            remedy: "Use --key-file PATH, --key-fd N, --key-env NAME, --key-command CMD or --key-credential NAME,"
                + " or let litevault ask on the terminal. Change a key that you have passed as an argument.")
    }

    /// The failure for an error of the parser.
    static func failure(for error: any Error, arguments: [String]) -> Failure {
        // Names of commands, and nothing else, are repeated.
        var (command, words): (any ParsableCommand.Type, [String]) = (LiteVaultCommand.self, ["litevault"])
        for argument in arguments {
            let commands = command.configuration.subcommands
            guard let next = commands.first(where: { $0._commandName == argument }) else {
                if !commands.isEmpty, !argument.hasPrefix("-") { return unknownCommand(argument, commands, words) }
                break
            }
            (command, words) = (next, words + [argument])
        }
        let help = (words + ["--help"]).joined(separator: " ")
        return Failure(
            .usage, redacted(LiteVaultCommand.message(for: error)), remedy: "See '\(help)' for arguments and examples.")
    }

    private static func unknownCommand(
        _ name: String, _ commands: [any ParsableCommand.Type], _ words: [String]
    ) -> Failure {
        let names = commands.map { $0._commandName }
        let close = names.map { ($0, distance($0, name)) }.min { $0.1 < $1.1 }
        if let close, close.1 <= 2 {
            return Failure(
                .usage, "unknown command", remedy: "Did you mean '\((words + [close.0]).joined(separator: " "))'?")
        }
        return Failure(
            .usage, "unknown command",
            remedy: "The commands of '\(words.joined(separator: " "))' are \(Format.list(names)).")
    }

    /// The parser's message in the style of ours, without values that could be a key.
    private static func redacted(_ message: String) -> String {
        let line = message.split(separator: "\n").map(String.init).joined(separator: " ")
        if line.hasPrefix("Unexpected argument") { return "unexpected argument" }
        if line.contains("unexpected arguments:") {
            return line.prefix { $0.isNumber } + " unexpected arguments, or an unknown option"
        }
        if line.hasPrefix("The option"), let end = line.range(of: ", but '") {
            return "the" + line[line.startIndex..<end.lowerBound].dropFirst(3)
        }
        if line.hasPrefix("Unknown option '-"), !line.hasPrefix("Unknown option '--"), !line.contains("Did you mean") {
            return "unknown short option"
        }
        if line.hasPrefix("The value '"), line.contains("'--"), line.contains("key-"),
            let start = line.range(of: "' is invalid for ")
        {
            return "the value is invalid for " + line[start.upperBound...]
        }
        return line.prefix(1).lowercased() + line.dropFirst()
    }

    /// The Levenshtein distance.
    private static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.utf8.prefix(32)), Array(right.utf8.prefix(32)))
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let above = row[j + 1]
                row[j + 1] = min(row[j] + 1, above + 1, diagonal + (a == b ? 0 : 1))
                diagonal = above
            }
        }
        return row[right.count]
    }
}
