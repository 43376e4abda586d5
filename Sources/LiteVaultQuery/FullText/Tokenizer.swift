internal import LiteVaultCore

/// A tokenizer: how a full-text index splits text into words (https://sqlite.org/fts3.html#tokenizer,
/// https://sqlite.org/fts5.html#tokenizers).
public struct Tokenizer: Sendable, CustomStringConvertible {
    /// How letters with diacritics, such as "é", are indexed.
    public enum Diacritics: Int, Sendable {
        /// As they are: "é" differs from "e".
        case keep = 0
        /// Without diacritics, except for a few letters that an early version missed. The engine's default.
        case removeLegacy = 1
        /// Without diacritics. SQLite 3.27 and later.
        case remove = 2
    }

    /// Words of ASCII letters and digits, ignoring the case of A to Z. FTS3 and FTS4.
    public static var simple: Tokenizer { Tokenizer("simple") }

    /// English words by their stems: "wondering" finds "wonder".
    public static var porter: Tokenizer { Tokenizer("porter") }

    /// Words of ASCII letters and digits, ignoring the case of A to Z. FTS5.
    public static var ascii: Tokenizer { Tokenizer("ascii") }

    /// English words by their stems, applied to the words of another tokenizer. FTS5.
    ///
    /// - Parameter base: the tokenizer that splits the text; nil for `unicode61`.
    public static func porter(wrapping base: Tokenizer? = nil) -> Tokenizer {
        guard let base else { return .porter }
        return Tokenizer(
            "porter \(base.name)", names: ["porter"] + base.names, arguments: base.arguments, base.options)
    }

    /// Words of ASCII letters and digits, with additional separators and word characters. FTS5.
    ///
    /// - Parameters:
    ///   - separators: characters that separate words.
    ///   - tokenCharacters: additional characters that are part of words.
    public static func ascii(
        separators: Set<Character> = [], tokenCharacters: Set<Character> = []
    ) -> Tokenizer {
        Tokenizer("ascii", arguments: [], options(nil, "", separators, tokenCharacters))
    }

    /// Words of letters and digits as Unicode 6.1 defines them, ignoring case.
    ///
    /// - Parameters:
    ///   - diacritics: how letters such as "é" are indexed.
    ///   - categories: the Unicode categories of characters that are part of words, such as `L* N* Co`. FTS5, SQLite 3.25
    ///     and later.
    ///   - separators: characters that separate words.
    ///   - tokenCharacters: additional characters that are part of words.
    public static func unicode61(
        diacritics: Diacritics = .removeLegacy, categories: String = "", separators: Set<Character> = [],
        tokenCharacters: Set<Character> = []
    ) -> Tokenizer {
        let diacritics = diacritics == .removeLegacy ? nil : diacritics
        return Tokenizer(unicode61: options(diacritics, categories, separators, tokenCharacters))
    }

    /// Sequences of three characters, for searching parts of words. FTS5, SQLite 3.34 and later.
    ///
    /// - Parameter caseSensitive: whether upper and lower case differ.
    public static func trigram(caseSensitive: Bool = false) -> Tokenizer {
        let value = caseSensitive ? "1" : "0"
        return Tokenizer("trigram", arguments: ["case_sensitive", value], [Option("case_sensitive", value)])
    }

    /// A tokenizer that the application or an extension has registered with the engine.
    ///
    /// - Parameter name: its name, which is quoted.
    public static func custom(_ name: String) -> Tokenizer { Tokenizer(quoted(name), names: [name]) }

    /// The name in SQL.
    public let name: String

    /// The arguments, in the form FTS4 takes them.
    public let arguments: [String]

    package struct Option: Sendable {
        let name: String
        let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The unquoted name, after those of the tokenizers around it.
    private let names: [String]
    private let options: [Option]

    private init(_ name: String, names: [String]? = nil, arguments: [String] = [], _ options: [Option] = []) {
        self.name = name
        self.names = names ?? [name]
        self.arguments = arguments
        self.options = options
    }

    /// `unicode61` with options, which FTS4 takes as `name=value` in quotes.
    package init(unicode61 options: [Option]) {
        self.init("unicode61", arguments: options.map { quoted("\($0.name)=\($0.value)") }, options)
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

    /// The characters as text. Sorted, so that equal sets give equal SQL.
    package static func text(_ characters: Set<Character>) -> String { String(characters.sorted()) }

    /// The name and arguments, in the form FTS4 takes them.
    public var description: String { ([name] + arguments).joined(separator: " ") }

    /// The name and arguments, in the form FTS5 takes them: one text of words, with each option as a name and a value. A word
    /// is bare or a literal; whatever is neither a name nor a number, `-1` and `+1` included, has to be a literal.
    package var fts5Description: String {
        let words =
            names.map { Self.word($0, isBare: Self.isNameByte) }
            + options.flatMap { [$0.name, Self.word($0.value, isBare: Self.isDigit)] }
        return words.count == 1 && words == names ? name : quoted(words.joined(separator: " "))
    }

    private static func word(_ text: String, isBare: (UInt8) -> Bool) -> String {
        !text.isEmpty && text.utf8.allSatisfy(isBare) ? text : LiteralSQL.literal(text)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || byte == UInt8(ascii: "_") || byte >= 0x80
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
