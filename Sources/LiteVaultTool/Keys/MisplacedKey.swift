internal import LiteVaultCore

/// Keys in places where they do not belong: in arguments, which other processes can read, and in SQL text. They are refused, and
/// never repeated.
enum MisplacedKey {
    /// Options with which other tools take a key. None of them exists here.
    private static let keyOptions: Set<String> = {
        let nouns = [
            "key", "hexkey", "rawkey", "raw-key", "hex-key", "textkey", "pass", "passphrase", "password", "secret",
        ]
        return Set(["", "new-", "old-", "to-", "source-"].flatMap { prefix in nouns.map { "--" + prefix + $0 } })
    }()

    /// The failure for a key among the arguments; nil if there is none. Checked before the arguments are parsed.
    static func failure(inArguments arguments: [String]) -> Failure? {
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

    /// Pragmas that take a key.
    private static let pragmas: Set<String> = ["key", "rekey", "hexkey", "hexrekey", "textkey", "textrekey"]

    /// Refuses a statement with a key: what is typed may end up in histories and logs.
    ///
    /// - Throws: `usage` for `PRAGMA key` and its like, and for `ATTACH … KEY`.
    static func refuse(inStatement sql: String) throws(Failure) {
        let words = SQLTokens(sql).filter { ![.space, .comment].contains($0.kind) && $0.text != ";" }
            .map { $0.unquoted.lowercased() }
            .drop { ["explain", "query", "plan"].contains($0) }
        switch words.first {
        case "pragma"?:
            // PRAGMA NAME, or PRAGMA SCHEMA . NAME
            let names = words.dropFirst(words.dropFirst(2).first == "." ? 3 : 1)
            guard let name = names.first, pragmas.contains(name) else { return }
            throw refusal("'.open PATH --key-file …' takes the key options, 'litevault rekey' changes a key.")
        case "attach"?:
            // As a word, or as a parameter of a URI.
            guard words.contains("key") || words.contains(where: { $0.contains("key=") }) else { return }
            throw refusal("'litevault diff' and 'litevault export' work on databases with keys of their own.")
        default: return
        }
    }

    /// Whether text that was typed into a shell may have a key in it, so that it must not be kept.
    ///
    /// - Parameter ran: whether it was run without an error. Then it was none of the statements that are refused, and their
    ///   words are names of columns; otherwise they may be a misspelled one.
    static func isSuspected(in text: String, ran: Bool) -> Bool {
        // A raw key has 64 digits, or 96 with its salt.
        if text.split(whereSeparator: { !$0.isHexDigit }).contains(where: { $0.count >= 64 }) { return true }
        if ran { return false }
        let words = SQLTokens(text).filter { ![.space, .comment].contains($0.kind) }.map { $0.unquoted.lowercased() }
        return text.lowercased().contains("key=") || words.contains("attach")
            || text.hasPrefix(".") && text.contains(" -")
            || words.contains { word in pragmas.contains(word) || word.hasPrefix("pragm") || word.hasSuffix("key") }
    }

    private static func refusal(_ remedy: String) -> Failure {
        Failure(
            .usage, "a key does not belong into SQL: the statement was not run",
            remedy: remedy + " Change a key that you have typed.")
    }
}
