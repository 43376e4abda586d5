internal import LiteVaultCore
internal import LiteVaultQuoting
internal import LiteVaultSystem

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
        let options = Array(arguments.prefix(while: { $0 != "--" }))
        for (index, argument) in options.enumerated() {
            let name = argument.split(separator: "=", maxSplits: 1).first.map(String.init) ?? ""
            if keyOptions.contains(name) { return keyInArguments(name) }
            // -k KEY, -kKEY, -p PASSWORD: what other tools take a key by. Here, -k names a file with it.
            if argument.hasPrefix("-p") { return keyInArguments("-p") }
            guard argument.hasPrefix("-k") else { continue }
            // What follows is not repeated: it may be the key.
            let path = index + 1 < options.count ? options[index + 1] : nil
            if argument != "-k" || path.map({ access($0, F_OK) != 0 }) == true { return notAFile }
        }
        return nil
    }

    private static let notAFile = Failure(
        .usage, "what follows '-k' is not a file: a key must not be an argument, which other processes can read",
        remedy: "-k is short for --key-file, and takes PATH as a word of its own. Check it, or use --key-fd N,"
            + " --key-env NAME, --key-command CMD or --key-credential NAME. Change a key that you have passed as an argument."
    )

    private static func keyInArguments(_ option: String) -> Failure {
        Failure(
            .usage, "no option '\(option)': a key must not be an argument, which other processes can read",
            remedy: "Use --key-file PATH, --key-fd N, --key-env NAME, --key-command CMD or --key-credential NAME,"
                + " or let litevault ask on the terminal. Change a key that you have passed as an argument.")
    }

    /// Whether a name is that of a pragma that takes a key.
    private static func isKeyPragma(_ name: String) -> Bool { ProtectedPragma(name)?.subject == .key }

    /// Refuses a statement with a key: what is typed may end up in histories and logs.
    ///
    /// - Throws: `usage` for `PRAGMA key` and similar pragmas, and for `ATTACH … KEY`.
    static func refuse(inStatement sql: String) throws(Failure) {
        let text = SQLTokens(sql).lazy.filter { $0.isSignificant && $0.text != ";" }
            .map { foldedName($0.unquoted) }
            .drop { ["explain", "query", "plan"].contains($0) }
        // Of most statements only the first word is read: a script has thousands of them.
        guard let first = text.first(where: { _ in true }), ["pragma", "attach"].contains(first) else { return }
        let words = Array(text)
        guard first == "pragma" else {
            // As a word, or as a parameter of a URI.
            guard words.contains("key") || words.contains(where: { containsText($0, "key=") }) else { return }
            throw refusal("'litevault diff' and 'litevault export' take two databases, each with its key.")
        }
        // PRAGMA NAME, or PRAGMA SCHEMA . NAME
        let names = words.dropFirst(words.dropFirst(2).first == "." ? 3 : 1)
        // A parameter cannot be a name, but `:key` is meant to be one.
        guard let name = names.first?.drop(while: { ":@$#?".contains($0) }), isKeyPragma(String(name)) else { return }
        throw refusal("Give the key by an option, in the shell to '.open'; 'litevault rekey' changes a key.")
    }

    /// Whether text that was typed into a shell may have a key in it, so that it must not be kept.
    ///
    /// - Parameter ran: whether it was run without an error. Then it was none of the statements that are refused, and their
    ///   words are names of columns; otherwise they may be a misspelled one.
    static func isSuspected(in text: String, ran: Bool) -> Bool {
        // A raw key has 64 digits, or 96 with its salt.
        if text.split(whereSeparator: { !$0.isHexDigit }).contains(where: { $0.count >= 64 }) { return true }
        let words = SQLTokens(text).filter(\.isSignificant).map { foldedName($0.unquoted) }
        // The engine ignores a pragma that it does not know, without an error.
        if setsUnknownPragma(words) { return true }
        // The text of a key command may have the key in it.
        if text.utf8.first == UInt8(ascii: "."), containsText(text, "-command") { return true }
        if ran { return false }
        return containsText(foldedName(text), "key=") || words.contains("attach")
            || text.utf8.first == UInt8(ascii: ".") && containsText(text, " -")
            || words.contains { word in isKeyPragma(word) || word.hasPrefix("pragm") || word.hasSuffix("key") }
    }

    /// Whether a statement gives a value to a pragma that is not one of SQLite or SQLCipher: `PRAGMA keyy = 'secret'`.
    private static func setsUnknownPragma(_ words: [String]) -> Bool {
        words.indices.contains { index in
            guard words[index] == "pragma", index + 1 < words.count else { return false }
            let hasSchema = index + 3 < words.count && words[index + 2] == "."
            let name = index + (hasSchema ? 3 : 1)
            guard name + 1 < words.count, ["=", "("].contains(words[name + 1]) else { return false }
            return !knownPragmas.contains(words[name])
        }
    }

    /// The pragmas that take a value, which is not a key.
    private static let knownPragmas: Set<String> = Set(
        """
        analysis_limit application_id auto_vacuum automatic_index busy_timeout cache_size cache_spill case_sensitive_like \
        cell_size_check checkpoint_fullfsync cipher_compatibility cipher_default_compatibility \
        cipher_default_hmac_algorithm cipher_default_kdf_algorithm cipher_default_kdf_iter cipher_default_page_size \
        cipher_default_plaintext_header_size cipher_default_use_hmac cipher_hmac_algorithm cipher_kdf_algorithm \
        cipher_log cipher_log_level cipher_log_source cipher_memory_security cipher_page_size \
        cipher_plaintext_header_size cipher_profile cipher_use_hmac data_version default_cache_size \
        defer_foreign_keys encoding foreign_key_check foreign_key_list foreign_keys fullfsync hard_heap_limit \
        ignore_check_constraints incremental_vacuum index_info index_list index_xinfo integrity_check journal_mode \
        journal_size_limit kdf_iter legacy_alter_table locking_mode max_page_count mmap_size optimize page_size \
        query_only quick_check read_uncommitted recursive_triggers reverse_unordered_selects secure_delete \
        soft_heap_limit synchronous table_info table_list table_xinfo temp_store threads trusted_schema user_version \
        wal_autocheckpoint wal_checkpoint writable_schema
        """.split(separator: " ").map(String.init))

    private static func refusal(_ remedy: String) -> Failure {
        Failure(
            .usage, "a key does not belong in SQL: the statement was not run",
            remedy: remedy + " Change a key that you have typed.")
    }
}
