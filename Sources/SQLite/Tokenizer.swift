public import LiteVaultQuery

// The tokenizers by the names they have in SQLite.swift.

extension Tokenizer {
    /// Words of ASCII letters and digits, ignoring the case of A to Z. FTS4 only.
    public static let Simple = Tokenizer.simple

    /// English words by their stems: "wondering" finds "wonder".
    public static let Porter = Tokenizer.porter

    /// Words of ASCII letters and digits, ignoring the case of A to Z. FTS5 only.
    public static let Ascii = Tokenizer.ascii

    /// Words of letters and digits as Unicode 6.1 defines them, ignoring case.
    ///
    /// - Parameters:
    ///   - removeDiacritics: whether "é" is indexed as "e"; true by default.
    ///   - tokenchars: additional characters that are part of words.
    ///   - separators: characters that separate words.
    public static func Unicode61(
        removeDiacritics: Bool? = nil, tokenchars: Set<Character> = [], separators: Set<Character> = []
    ) -> Tokenizer {
        var options: [Option] = []
        if let removeDiacritics { options.append(Option("remove_diacritics", removeDiacritics ? "1" : "0")) }
        if !tokenchars.isEmpty { options.append(Option("tokenchars", text(tokenchars))) }
        if !separators.isEmpty { options.append(Option("separators", text(separators))) }
        return Tokenizer(unicode61: options)
    }

    /// Sequences of three characters, for searching parts of words. FTS5 only, SQLite 3.34 and later.
    ///
    /// - Parameter caseSensitive: whether upper and lower case differ.
    public static func Trigram(caseSensitive: Bool = false) -> Tokenizer { .trigram(caseSensitive: caseSensitive) }

    /// A tokenizer that the application or an extension has registered with the engine, by its name.
    public static func Custom(_ name: String) -> Tokenizer { .custom(name) }
}
