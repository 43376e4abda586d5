// The tokenizers by the names that the schema builder uses.

extension Tokenizer {
    /// What becomes of letters such as "é".
    public enum Diacritics: Int, Sendable {
        /// They stay different from "e".
        case keep = 0
        /// They are "e", but for a few letters that an early version left out. The engine's default.
        case removeLegacy = 1
        /// They are "e", all of them. SQLite 3.27 and later.
        case remove = 2
    }

    /// Words of ASCII letters and digits, without regard to the case of A to Z. FTS3 and FTS4.
    public static var simple: Tokenizer { .Simple }

    /// English words by their stems: "wondering" finds "wonder".
    public static var porter: Tokenizer { .Porter }

    /// Words of ASCII letters and digits, without regard to the case of A to Z. FTS5.
    public static var ascii: Tokenizer { .Ascii }

    /// English words by their stems, of the words that another tokenizer finds. FTS5.
    public static func porter(wrapping base: Tokenizer? = nil) -> Tokenizer {
        guard let base else { return .Porter }
        return Tokenizer(
            "porter \(base.name)", names: ["porter"] + base.names, arguments: base.arguments, base.options)
    }

    /// Words of ASCII letters and digits, with characters that are part of words, and others that are not. FTS5.
    public static func ascii(
        separators: Set<Character> = [], tokenCharacters: Set<Character> = []
    ) -> Tokenizer {
        Tokenizer("ascii", arguments: [], options(nil, "", separators, tokenCharacters))
    }

    /// Words as Unicode 6.1 defines letters and digits, without regard to case.
    ///
    /// - Parameters:
    ///   - diacritics: what becomes of letters such as "é".
    ///   - categories: the Unicode categories of characters that are part of words, such as `L* N* Co`. FTS5, SQLite 3.25
    ///     and later.
    ///   - separators: characters that are not part of words.
    ///   - tokenCharacters: characters that are part of words besides.
    public static func unicode61(
        diacritics: Diacritics = .removeLegacy, categories: String = "", separators: Set<Character> = [],
        tokenCharacters: Set<Character> = []
    ) -> Tokenizer {
        let options = options(
            diacritics == .removeLegacy ? nil : diacritics, categories, separators, tokenCharacters)
        // `name=value` in quotes is the form of FTS4.
        let arguments = options.map { SQLNode.identifier("\($0.name)=\($0.value)").sql }
        return Tokenizer("unicode61", arguments: arguments, options)
    }

    private static func options(
        _ diacritics: Diacritics?, _ categories: String, _ separators: Set<Character>,
        _ tokenCharacters: Set<Character>
    ) -> [Option] {
        [
            diacritics.map { Option("remove_diacritics", String($0.rawValue)) },
            categories.isEmpty ? nil : Option("categories", categories),
            separators.isEmpty ? nil : Option("separators", text(separators)),
            tokenCharacters.isEmpty ? nil : Option("tokenchars", text(tokenCharacters)),
        ].compactMap { $0 }
    }
}
